"""The similarity join of SetSimilaritySearch: set_similarity_search.py INPUT OUTPUT N THRESHOLD."""
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from SetSimilaritySearch import all_pairs

source, output, n, threshold = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
table = pq.read_table(source)
ids = table["id"].to_pylist()
sets = []
for text in table["text"].to_pylist():
    words = text.split(" ")
    sets.append(set(words) if n == 1 else set(zip(*(words[k:] for k in range(n)))))
found = [(ids[a], ids[b]) if ids[a] < ids[b] else (ids[b], ids[a])
         for a, b, _ in all_pairs(sets, similarity_func_name="jaccard", similarity_threshold=threshold)]
id_a, id_b = zip(*found) if found else ((), ())
pq.write_table(pa.table({"id_a": pa.array(id_a, pa.int64()), "id_b": pa.array(id_b, pa.int64())}), output)
