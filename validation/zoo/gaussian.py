"""Gaussian noise: calibrations for epsilon and delta, mu (Gaussian DP) and Renyi DP."""

import math

import numpy as np

from protocol import grid, main, numbers


def normal(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def true_delta(sigma, epsilon):
    """The exact delta of Gaussian noise at sensitivity 1 (Balle and Wang 2018, Theorem 8)."""
    half, shift = 0.5 / sigma, epsilon * sigma
    return normal(half - shift) - math.exp(epsilon) * normal(-half - shift)


def analytic_sigma(epsilon, delta):
    low, high = 1e-3, 1e3
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if true_delta(middle, epsilon) > delta else (low, middle)
    return high


def classic_sigma(epsilon, delta):
    """The textbook formula; its proof needs epsilon below 1."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def unit_sum(sigma, low=0):
    """The sum of records in [low, 1] plus noise."""
    return lambda dataset, runs, rng: grid(numbers(dataset, low, 1).sum() + rng.normal(0, sigma, runs))


def vector(dataset, runs, rng):
    answers = numbers(dataset, -100, 100)
    return grid(answers + rng.normal(0, 1, (runs, len(answers))))


def cut_tails(dataset, runs, rng):
    # Noise beyond 6 sigma is drawn again: outputs near the cut exist in one world only, with
    # probability about 3e-7, which no claim in mu or epsilon alone allows.
    noise = rng.normal(0, 1, runs)
    while (outside := np.abs(noise) > 6).any():
        noise[outside] = rng.normal(0, 1, outside.sum())
    return grid(numbers(dataset, 0, 1).sum() + noise)


VARIANTS = {
    "analytic": unit_sum(analytic_sigma(1.0, 0.01)),
    "unit": unit_sum(1.0),
    # Really wrong at (4.5, 0.8), where the exact delta is 0.885, and at (10, 1e-5), where it is 2.3e-5.
    "classic-large-epsilon": unit_sum(classic_sigma(4.5, 0.8)),
    "classic-small-delta": unit_sum(classic_sigma(10, 1e-5)),
    # The formula with log10: really wrong at (4, 0.1), where the exact delta is 0.32.
    "log10": unit_sum(math.sqrt(2 * math.log10(1.25 / 0.1)) / 4),
    # Records in [-1, 1]: replacing one moves the sum by 2, adding one only by 1.
    "half-sensitivity": unit_sum(1.0, low=-1),
    # Standard deviation 0.5 is due; the call was given the variance.
    "variance-as-scale": unit_sum(0.5**2),
    "vector": vector,
    "cut-tails": cut_tails,
}

if __name__ == "__main__":
    main(VARIANTS)
