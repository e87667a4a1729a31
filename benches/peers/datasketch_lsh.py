"""MinHash with banding in datasketch, pairs by the estimate: datasketch_lsh.py INPUT OUTPUT N THRESHOLD."""
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from datasketch import MinHash, MinHashLSH

source, output, n, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
table = pq.read_table(source)
ids = table["id"].to_pylist()
shingles = []
for text in table["text"].to_pylist():
    words = text.encode().split(b" ")
    shingles.append([b" ".join(words[i:i + n]) for i in range(max(1, len(words) - n + 1))])
hashes = MinHash.bulk(shingles, num_perm=128)
lsh = MinHashLSH(num_perm=128, params=(16, 8))
found = []
for b, minhash in enumerate(hashes):
    found += [(ids[a], ids[b]) for a in lsh.query(minhash) if hashes[a].jaccard(minhash) >= threshold]
    lsh.insert(b, minhash)
id_a, id_b = zip(*found) if found else ((), ())
pq.write_table(pa.table({"id_a": pa.array(id_a, pa.int64()), "id_b": pa.array(id_b, pa.int64())}), output)
