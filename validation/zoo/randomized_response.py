"""Local mechanisms: every record is randomized on its own, and replacing one record changes one report."""

import hashlib
import math

import numpy as np

from protocol import labels, main, numbers

ILLNESSES = ["asthma", "cold", "flu", "none"]
E1 = math.exp(1)


def bits(dataset):
    return numbers(dataset, 0, 1) >= 0.5


def binary(dataset, runs, rng):
    truth = bits(dataset)
    lie = rng.random((runs, len(truth))) >= E1 / (1 + E1)
    return truth ^ lie


def binary_wrong(dataset, runs, rng):
    # With probability e/(1+e) the truth, else a fair coin, which is the truth half of the time:
    # in all the truth has 0.866 and not 0.731.
    truth = bits(dataset)
    honest = rng.random((runs, len(truth))) < E1 / (1 + E1)
    return np.where(honest, truth, rng.random((runs, len(truth))) < 0.5)


def k_ary_with(truth_probability):
    def mechanism(dataset, runs, rng):
        truth = labels(dataset, ILLNESSES)
        shape = (runs, len(truth))
        other = (truth + rng.integers(1, len(ILLNESSES), shape)) % len(ILLNESSES)
        shown = np.where(rng.random(shape) < truth_probability, truth, other)
        return np.array(ILLNESSES, dtype=object)[shown]

    return mechanism


def unary_with(keep, invent):
    """Each record is a row of bits, one for each illness; each bit is answered on its own."""

    def mechanism(dataset, runs, rng):
        rows = np.eye(len(ILLNESSES), dtype=bool)[labels(dataset, ILLNESSES)]
        return rng.random((runs, *rows.shape)) < np.where(rows, keep, invent)

    return mechanism


def bloom(text):
    """A Bloom filter of 16 bits with 2 hash functions."""
    digest = hashlib.sha256(repr(text).encode(errors="replace")).digest()
    row = np.zeros(16, dtype=bool)
    row[[digest[0] % 16, digest[1] % 16]] = True
    return row


def permanent(dataset, runs, rng):
    """RAPPOR's permanent response with f = 1/2: a quarter of the bits change sides."""
    rows = np.array([bloom(text) for text in dataset], dtype=bool).reshape(len(dataset), 16)
    return rows ^ (rng.random((runs, *rows.shape)) < 0.25)


def instantaneous(memory, rng):
    """A report: a set bit is sent with 3/4, a clear one with 1/2."""
    return rng.random(memory.shape) < np.where(memory, 0.75, 0.5)


def as_text(rows):
    """Reports as strings of 0 and 1."""
    codes = np.where(rows, ord("1"), ord("0")).astype(np.uint32)
    return np.ascontiguousarray(codes).view("<U16")[..., 0]


def rappor(dataset, runs, rng):
    return as_text(instantaneous(permanent(dataset, runs, rng), rng))


def rappor_many(dataset, runs, rng):
    # Eight reports from one memory, claimed at the price of one.
    memory = permanent(dataset, runs, rng)
    return np.stack([as_text(instantaneous(memory, rng)) for _ in range(8)], axis=-1)


VARIANTS = {
    "binary": binary,
    "binary-wrong": binary_wrong,
    "k-ary": k_ary_with(E1 / (E1 + 3)),
    # The binary probability for four answers: each lie has only a third of the rest.
    "k-ary-wrong": k_ary_with(E1 / (E1 + 1)),
    "unary": unary_with(0.5, 1 / (E1 + 1)),
    # Two bits differ between records; each of them spends the whole budget.
    "unary-wrong": unary_with(E1 / (E1 + 1), 1 / (E1 + 1)),
    "rappor": rappor,
    "rappor-many": rappor_many,
}

if __name__ == "__main__":
    main(VARIANTS)
