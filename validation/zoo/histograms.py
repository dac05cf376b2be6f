"""Counts of string records, as objects from label to noisy count. Epsilon is 1, delta 0.01."""

import math

import numpy as np

from protocol import counts, grid, main

COLORS = ["blue", "green", "red", "other"]


def known(dataset, runs, rng):
    noisy = grid(counts(dataset, COLORS) + rng.laplace(0, 1, (runs, len(COLORS))))
    return [dict(zip(COLORS, row)) for row in noisy.tolist()]


def zeros_kept(dataset, runs, rng):
    # Empty bins get no noise "since there is nobody to protect": an exact 0 says that nobody is there.
    true = counts(dataset, COLORS)
    return grid(true + (true > 0) * rng.laplace(0, 1, (runs, len(COLORS))))


def open_labels(threshold, only_from=1):
    """Labels come from the data; those with a noisy count above the threshold are shown."""

    def mechanism(dataset, runs, rng):
        true = {}
        for record in dataset:
            label = record if isinstance(record, str) else repr(record)
            true[label] = true.get(label, 0) + 1
        # Sorted, so that the order of the keys says nothing about the order of the records.
        names = sorted(name for name, number in true.items() if number >= only_from)
        noisy = grid(np.array([true[n] for n in names], float) + rng.laplace(0, 1, (runs, len(names))))
        rows = noisy.tolist()
        return [{name: x for name, x in zip(names, row) if x > threshold} for row in rows]

    return mechanism


def stable_threshold(delta):
    """A label of one record shows with probability P(1 + noise > t) = exp(1 - t) / 2 = delta.

    The last term makes up for the rounding of the noisy counts.
    """
    return 1 + math.log(1 / (2 * delta)) + 1e-6


VARIANTS = {
    "known": known,
    "zeros-kept": zeros_kept,
    "stability": open_labels(stable_threshold(0.01)),
    "no-threshold": open_labels(-math.inf),
    # The threshold is compared with the true count, so it hides nobody who makes it reach 3.
    "true-count-threshold": open_labels(-math.inf, only_from=3),
    # Right for delta 1e-6, but claimed with 1e-9.
    "threshold-too-low": open_labels(stable_threshold(1e-6)),
}

if __name__ == "__main__":
    main(VARIANTS)
