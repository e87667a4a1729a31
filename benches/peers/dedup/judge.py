"""Judge what a deduplication kept, by a sample that is compared with everything, in a process of its own.

judge.py truth INPUT TRUTH N THRESHOLD SAMPLE    writes TRUTH, for SAMPLE random documents of INPUT
judge.py judge INPUT TRUTH OUT                   prints JSON about OUT/kept.parquet, or OUT/kept

Two documents match if the Jaccard similarity of their sets of N words in a row is THRESHOLD or more. A match of a document of
the sample is found by one of its rarest shingles: it has all but a share of 1 - THRESHOLD of them, so one in as many and one
more of them. What shares one of these is counted with all shingles. Shingles are numbers of 64 bits.
"""
import json
import math
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq


class Sets:
    """The shingles of each document and the documents of each shingle, as numbers from 0."""

    def __init__(self, texts, n):
        words = pc.split_pattern(texts.cast(pa.large_string()).combine_chunks(), " ")
        ends = words.offsets.to_numpy().astype(np.int64)
        codes = words.values.dictionary_encode().indices.to_numpy().astype(np.uint64)
        if (np.diff(ends) < n).any():
            sys.exit(f"a text has fewer than {n} words")
        factors = np.random.Generator(np.random.PCG64(7)).integers(0, 2**64, n, np.uint64) | np.uint64(1)
        hashes = np.zeros(len(codes) - n + 1, np.uint64)
        for i in range(n):
            hashes = (hashes ^ (codes[i:len(codes) - n + 1 + i] + np.uint64(1))) * factors[i]
            hashes ^= hashes >> np.uint64(32)
        documents = np.repeat(np.arange(len(ends) - 1, dtype=np.int32), np.diff(ends))[:len(hashes)]
        # A run of n words that begins in one document and ends in another is no shingle.
        inside = np.arange(len(hashes)) + n <= ends[documents + 1]
        hashes, documents = hashes[inside], documents[inside]
        order = np.lexsort((documents, hashes))
        hashes, documents = hashes[order], documents[order]
        new = np.concatenate([[True], hashes[1:] != hashes[:-1]])
        once = new | np.concatenate([[True], documents[1:] != documents[:-1]])
        self.documents, shingles = documents[once], np.cumsum(new)[once] - 1
        self.of_shingle = np.searchsorted(shingles, np.arange(shingles[-1] + 2))
        by_document = np.argsort(self.documents, kind="stable")
        self.shingles = shingles[by_document]
        self.of_document = np.searchsorted(self.documents[by_document], np.arange(len(ends)))

    def set(self, document):
        return self.shingles[self.of_document[document]:self.of_document[document + 1]]

    def matches(self, document, threshold):
        """Returns the other documents that match this one, in order."""
        own = self.set(document)
        counts = self.of_shingle[own + 1] - self.of_shingle[own]
        # One more than the share that a match may lack, for what is lost in the fraction.
        rarest = own[np.argsort(counts, kind="stable")[:math.floor((1 - threshold) * len(own)) + 2]]
        found = np.concatenate([self.documents[self.of_shingle[shingle]:self.of_shingle[shingle + 1]] for shingle in rarest])
        return [other for other in np.unique(found).tolist() if other != document and self.jaccard(own, other) >= threshold]

    def jaccard(self, own, other):
        shared = len(np.intersect1d(own, self.set(other), assume_unique=True))
        return shared / (len(own) + self.of_document[other + 1] - self.of_document[other] - shared)


def truth(source, path, n, threshold, size):
    sets = Sets(pq.read_table(source, columns=["text"])["text"], n)
    total = len(sets.of_document) - 1
    sample = np.sort(np.random.Generator(np.random.PCG64(11)).permutation(total)[:size])
    matches, goes, wanted = {}, {}, sample.tolist()
    while wanted:  # the sample, and all that has to be decided before it
        document = wanted.pop()
        if document not in matches:
            matches[document] = sets.matches(document, threshold)
            wanted += [other for other in matches[document] if other < document]
    for document in sorted(matches):
        goes[document] = any(not goes[other] for other in matches[document] if other < document)
    listed = [matches[document] for document in sample.tolist()]
    np.savez(path, sample=sample, goes=[goes[document] for document in sample.tolist()],
             ends=np.cumsum([len(others) for others in listed]), matches=np.concatenate([*listed, []]).astype(np.int64))


def judge(source, path, out):
    ids = pq.read_table(source, columns=["id"])["id"].to_numpy()
    kept = f"{out}/kept" if os.path.isdir(f"{out}/kept") else f"{out}/kept.parquet"
    kept_ids = ds.dataset(kept).to_table(columns=["id"])["id"].to_numpy()
    kept = np.isin(ids, kept_ids)
    if kept.sum() != len(kept_ids):
        sys.exit(f"{out} has documents twice, or that are not in {source}")
    known = np.load(path)
    sample, ends, all_matches = known["sample"], known["ends"].tolist(), known["matches"]
    duplicates = left = removed = wrong = 0
    for document, goes, begin, end in zip(sample.tolist(), known["goes"], [0, *ends], ends):
        matches = all_matches[begin:end]
        earlier = matches[matches < document]
        duplicates += len(earlier) > 0
        left += bool(kept[document] and kept[earlier].any())
        removed += not kept[document]
        wrong += not kept[document] and not kept[matches].any()
    print(json.dumps({"kept": len(kept_ids), "removed": len(ids) - len(kept_ids), "sample": len(sample),
                      "duplicates": duplicates, "left": left, "sample_removed": removed, "wrong": int(wrong),
                      "differs": int((known["goes"] == kept[sample]).sum())}))


if sys.argv[1] == "truth":
    truth(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6]))
else:
    judge(*sys.argv[2:])
