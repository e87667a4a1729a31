"""Deduplication with text-dedup: text_dedup_minhash.py INPUT OUT N THRESHOLD.

The steps of `python -m text_dedup.minhash`, with the settings of its README but for the threshold, and Parquet in the end.
Candidates in a chain are one cluster. The sets in it are compared, and of those that match any other the first stays. Without
this check (check_false_positive) version 0.4.1 compares numbers of clusters with numbers of rows, and keeps none of most.
"""
import os
import sys
from pathlib import Path

source, out, n, threshold = sys.argv[1:]
# Answers of an earlier run would be taken from the cache.
os.environ.update(HF_HOME=str(Path(out).absolute() / "cache"), HF_HUB_OFFLINE="1")

from text_dedup import minhash  # noqa: E402
from text_dedup.config.base import load_config_from_toml  # noqa: E402

Path(out).mkdir()
settings = Path(out) / "config.toml"
settings.write_text(f"""
[input]
input_type = "local_files"
file_type = "parquet"
read_arguments = {{ path = "parquet", data_files = "{source}", split = "train" }}
[algorithm]
algorithm_name = "minhash"
text_column = "text"
seed = 42
batch_size = 10000
num_perm = 240
threshold = {threshold}
hash_bits = 64
ngram_size = {n}
check_false_positive = true
[output]
output_dir = "{out}"
[debug]
enable_profiling = false
""")
config = load_config_from_toml(settings)
rows, _, _ = minhash.load_and_preprocess(config)
clusters = minhash.cluster(config, minhash.fingerprint(config, rows))
rows = minhash.assign(config, rows, clusters)
rows, clusters = minhash.check_false_positives(config, rows)
ids = rows["id"][:]
removed = {"id": [ids[row] for row, first in clusters.items() if row != first],
           "kept_id": [ids[first] for row, first in clusters.items() if row != first]}
minhash.remove_duplicates(config, rows).select_columns(["id", "text"]).to_parquet(f"{out}/kept.parquet")
minhash.Dataset.from_dict(removed).to_parquet(f"{out}/removed.parquet")
