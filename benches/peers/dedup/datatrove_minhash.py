"""Deduplication with datatrove: datatrove_minhash.py INPUT OUT N.

The four stages of its example, with the 14 bands of 8 that it has by default; the threshold is in them. Numbers and names of
days and months stay as they are, as for the other tools; words are those of spaCy, which cuts some in two. Candidates in a
chain are one cluster, of which any one stays.
"""
import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import ParquetWriter
from datatrove.utils.text import TextNormConfig

source, out, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
norm = TextNormConfig(norm_numbers=False, norm_weekdays=False, norm_monthnames=False)
config = MinhashConfig(n_grams=n, norm_config=norm)
reader = ParquetReader(str(source.absolute().parent), glob_pattern=source.name)


def columns(writer, document):
    return {"id": int(document.id), "text": document.text}


def stage(name, tasks, *pipeline):
    LocalPipelineExecutor(pipeline=list(pipeline), tasks=tasks, workers=1, logging_dir=f"{out}/logs/{name}").run()


stage("signatures", 1, reader, MinhashDedupSignature(f"{out}/signatures", config=config))
stage("buckets", config.num_buckets, MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=config))
stage("clusters", 1, MinhashDedupCluster(f"{out}/buckets", f"{out}/clusters", config=config))
stage("filter", 1, reader,
      MinhashDedupFilter(f"{out}/clusters", exclusion_writer=ParquetWriter(f"{out}/removed.parquet", adapter=columns)),
      ParquetWriter(f"{out}/kept.parquet", adapter=columns))
