"""A stream that is larger than memory: `make test-long PART=python`; IBID_GB says how large it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

GIGABYTES = float(os.environ.get("IBID_GB", "0"))

# In a process of its own, whose memory is measured. A document is 200 words, forty times; one in a thousand is a copy of the
# one before.
SCRIPT = """
import ibid, json, pyarrow, random, resource, sys

def batches(schema, wanted):
    of, made, number, last = random.Random(1), 0, 0, ""
    while made < wanted:
        texts = []
        for _ in range(100):
            number += 1
            if number % 1000:
                last = " ".join([of.randbytes(800).hex(" ", 4)] * 40)
            texts.append(last)
        made += sum(map(len, texts))
        yield pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(range(number - 99, number + 1)), pyarrow.array(texts, pyarrow.large_string())], schema=schema)

schema = pyarrow.schema([("id", pyarrow.int64()), ("text", pyarrow.large_string())])
reader = pyarrow.RecordBatchReader.from_batches(schema, batches(schema, {bytes}))
with ibid.connect(memory="1GiB") as db:
    found = db.pairs(reader, max_frequency=1_000_000)
    documents, pairs = found.summary.counts["documents"], len(found.pairs)
print(json.dumps({{"documents": documents, "pairs": pairs, "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}}))
"""


@pytest.mark.skipif(GIGABYTES == 0, reason="it takes long; IBID_GB=10 runs it")
def test_a_stream_larger_than_memory_is_compared_within_its_limit() -> None:
    script = SCRIPT.format(bytes=int(GIGABYTES * 1e9))
    said = json.loads(subprocess.check_output([sys.executable, "-c", script]))
    print(said)
    assert said["documents"] // 1000 == said["pairs"] > 0
    assert said["mebibytes"] < 1024
