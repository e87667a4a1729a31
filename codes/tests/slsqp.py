#!/usr/bin/env python3
"""What SciPy's SLSQP makes of the problems of the test `as_good_as_a_general_optimiser` in codes/src/relax.rs.

Maximises the same objective under the same constraints, without a barrier, from 12 starts near the even solution. Prints the best and
the median objective of each problem. Needs scipy.
"""
import numpy as np
from scipy.optimize import minimize

WORDS, BITS, PER_WORD, SENTENCES, TOPICS = 24, 6, 2, 60, 6
MASK = (1 << 64) - 1


def split_mix(seed, i):
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stands_in(problem, sentence, word):
    of_16 = 6 if word % TOPICS == sentence % TOPICS else 1
    return split_mix(problem, sentence * WORDS + word) % 16 < of_16


for problem in range(6):
    x = np.array([[stands_in(problem, s, w) for s in range(SENTENCES)] for w in range(WORDS)], dtype=float)
    counts = x.sum(axis=1)
    similarities = x @ x.T / np.sqrt(np.outer(counts, counts))
    weights = counts**0.25 / (counts**0.25).sum()
    rows = np.zeros((WORDS + BITS - 1, WORDS * BITS))
    sums = np.array([PER_WORD] * WORDS + [PER_WORD / BITS] * (BITS - 1), dtype=float)
    for word in range(WORDS):
        rows[word, word * BITS : (word + 1) * BITS] = 1
    for bit in range(BITS - 1):  # the load of the last bit follows from the others
        rows[WORDS + bit, bit::BITS] = weights

    def objective(y):
        return -0.5 * np.sum((similarities @ y.reshape(WORDS, BITS)) * y.reshape(WORDS, BITS))

    def gradient(y):
        return -(similarities @ y.reshape(WORDS, BITS)).ravel()

    found = []
    for seed in range(12):
        start = PER_WORD / BITS * (1 + 0.2 * (np.random.default_rng(seed).random(WORDS * BITS) - 0.5))
        constraint = {"type": "eq", "fun": lambda y: rows @ y - sums, "jac": lambda y: rows}
        result = minimize(objective, start, jac=gradient, method="SLSQP", bounds=[(0, 1)] * (WORDS * BITS),
                          constraints=[constraint], options={"maxiter": 400})
        if np.abs(rows @ result.x - sums).max() < 1e-6:
            found.append(-result.fun)
    print(f"problem {problem}: best {max(found):.3f}, median {np.median(found):.3f} of {len(found)} starts")
