"""MinHash with banding in rensa, pairs by the estimate of the similarity: rensa_lsh.py INPUT OUTPUT N THRESHOLD."""
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from rensa import RMinHash, RMinHashLSH

source, output, n, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
table = pq.read_table(source)
ids = table["id"].to_pylist()
shingles = []
for text in table["text"].to_pylist():
    words = text.split(" ")
    shingles.append([" ".join(words[i:i + n]) for i in range(max(1, len(words) - n + 1))])
hashes = RMinHash.from_token_sets(shingles, num_perm=128, seed=42)
lsh = RMinHashLSH(threshold=threshold, num_perm=128, num_bands=16)
lsh.insert_many(hashes)
found = [(ids[a], ids[b]) for a, candidates in enumerate(lsh.query_all(hashes)) for b in candidates
         if a < b and hashes[a].jaccard(hashes[b]) >= threshold]
id_a, id_b = zip(*found) if found else ((), ())
pq.write_table(pa.table({"id_a": pa.array(id_a, pa.int64()), "id_b": pa.array(id_b, pa.int64())}), output)
