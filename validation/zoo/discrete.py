"""Noise on the integers: exact sampling, no floating point in the output."""

import math

import numpy as np

from protocol import grid, main, numbers

DECAY = math.exp(-1)


def two_sided(runs, rng):
    """Discrete Laplace noise: P(k) is proportional to exp(-|k|)."""
    return rng.geometric(1 - DECAY, runs) - rng.geometric(1 - DECAY, runs)


def laplace(dataset, runs, rng):
    return len(dataset) + two_sided(runs, rng)


def truncated(dataset, runs, rng):
    # Clamping to [0, 10] is post-processing.
    return np.clip(min(len(dataset), 10) + two_sided(runs, rng), 0, 10)


def rejection(dataset, runs, rng):
    # Redrawing until the answer is in [0, 10] divides by a probability that depends on the count.
    center = min(len(dataset), 10)
    outputs = center + two_sided(runs, rng)
    while (outside := (outputs < 0) | (outputs > 10)).any():
        outputs[outside] = center + two_sided(outside.sum(), rng)
    return outputs


def gaussian(dataset, runs, rng):
    # P(k) proportional to exp(-k^2 / 2); beyond 12 the weight is below 1e-31.
    support = np.arange(-12, 13)
    edges = np.cumsum(np.exp(-(support**2) / 2))
    return len(dataset) + support[np.searchsorted(edges[:-1] / edges[-1], rng.random(runs), side="right")]


def on_reals(dataset, runs, rng):
    # Integer noise on a real sum: the digits after the point come through untouched.
    return grid(numbers(dataset, 0, 1).sum() + two_sided(runs, rng))


def rounded_first(dataset, runs, rng):
    # Rounding every record first makes the sum an integer that moves by at most 1.
    return np.rint(numbers(dataset, 0, 1)).astype(int).sum() + two_sided(runs, rng)


VARIANTS = {
    "laplace": laplace,
    "truncated": truncated,
    "rejection": rejection,
    "gaussian": gaussian,
    "on-reals": on_reals,
    "rounded-first": rounded_first,
}

if __name__ == "__main__":
    main(VARIANTS)
