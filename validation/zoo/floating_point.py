"""Mechanisms that are right on paper and leak by machine numbers, and one that is built to withstand."""

import numpy as np

from protocol import main, number, numbers


def total(dataset):
    """Unlike elsewhere in the zoo, nothing rounds the output afterwards."""
    return float(numbers(dataset, 0, 1).sum())


def laplace(dataset, runs, rng):
    # Which doubles `x + noise` can reach depends on x: near 0, the sum of 1 and noise near -1 keeps
    # fewer digits than the sum of 0 and small noise.
    return total(dataset) + rng.laplace(0, 1, runs)


def gaussian(dataset, runs, rng):
    return total(dataset) + rng.normal(0, 1, runs)


def single_precision(dataset, runs, rng):
    # The noise has 24 significant bits, the sum has 53: the low bits of the sum come through.
    return total(dataset) + rng.laplace(0, 1, runs).astype(np.float32).astype(float)


def snapping(dataset, runs, rng):
    # Clamp to [-64, 64], add noise of scale 1, round to multiples of 1, clamp again.
    noise = rng.choice([-1.0, 1.0], runs) * np.log(1 - rng.random(runs))
    return np.clip(np.rint(np.clip(total(dataset), -64, 64) + noise), -64, 64) + 0.0


def overflow(dataset, runs, rng):
    # The sum of records in 0..20 lives in 8 bits; where it wraps, one record moves it by more than 200.
    wrapped = sum(int(number(record, 0, 20)) for record in dataset) % 256
    return wrapped + rng.geometric(-np.expm1(-1 / 20), runs) - rng.geometric(-np.expm1(-1 / 20), runs)


VARIANTS = {
    "laplace": laplace,
    "gaussian": gaussian,
    "single-precision": single_precision,
    "snapping": snapping,
    "overflow": overflow,
}

if __name__ == "__main__":
    main(VARIANTS)
