"""Write short texts, made up: texts.py ROWS FILE.

A text has 20 to 60 words, drawn from 50,000 of which the k-th is as frequent as 1 ÷ (k + 2). Every fifth copies an earlier one,
or a copy of one: a fifth of the copies are exact, in the others one place or two were edited, at which one to three words are
replaced, left out or put in. The Jaccard similarity of a copy to its model lies between 0.5 and 1, mostly between 0.6 and 0.95.
"""
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORDS, PART = 50_000, 10_000


def word(number):
    """Returns a word of two letters or more, another for each number."""
    number += 26
    letters = ""
    while number:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return letters


def edit(text, draw, dice):
    """Returns a copy of the text with one place or two edited."""
    text = text.tolist()
    for _ in range(dice.choice([1, 2], p=[0.75, 0.25])):
        out, into = dice.choice([(1, 1), (2, 2), (1, 0), (2, 0), (0, 1), (0, 3)])
        at = dice.integers(0, len(text) - out + 1)
        text[at:at + out] = draw(into)
    return text


def main(rows, path):
    dice = np.random.Generator(np.random.PCG64(5))
    weights = np.cumsum(1 / (np.arange(WORDS) + 2))
    vocabulary = [word(number) for number in range(WORDS)]
    texts = []  # the numbers of their words

    def draw(count):
        return np.searchsorted(weights, dice.random(count) * weights[-1]).tolist()

    schema = pa.schema([pa.field("id", pa.int64(), False), pa.field("text", pa.string(), False)])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for begin in range(0, rows, PART):
            for _ in range(min(PART, rows - begin)):
                if texts and dice.random() < 0.2:
                    text = texts[dice.integers(len(texts))]
                    text = text if dice.random() < 0.2 else edit(text, draw, dice)
                else:
                    text = draw(dice.integers(20, 61))
                texts.append(np.array(text, np.uint16))
            part = [" ".join(vocabulary[number] for number in text) for text in texts[begin:]]
            writer.write_table(pa.table([range(begin + 1, begin + 1 + len(part)), part], schema))


main(int(sys.argv[1]), sys.argv[2])
