"""Privacy amplification by sampling, with right and wrong accounts."""

import numpy as np

from protocol import grid, main, numbers


def poisson_laplace(rate, epsilon):
    """Count the records of a Poisson sample."""

    def mechanism(dataset, runs, rng):
        return grid(rng.binomial(len(dataset), rate, runs) + rng.laplace(0, 1 / epsilon, runs))

    return mechanism


def poisson_gaussian(rate, sigma):
    def mechanism(dataset, runs, rng):
        return grid(rng.binomial(len(dataset), rate, runs) + rng.normal(0, sigma, runs))

    return mechanism


def sample_sum(dataset, runs, rng, size, again=False):
    """The sum of `size` records in [0, 1], drawn without or with replacement, plus noise of scale 1."""
    values = numbers(dataset, 0, 1)
    total = np.zeros(runs)
    if size and again:
        total = values[rng.integers(0, len(values), (runs, size))].sum(axis=1)
    elif size:
        order = rng.random((runs, len(values))).argsort(axis=1)
        total = values[order[:, :size]].sum(axis=1)
    return grid(total + rng.laplace(0, 1, runs))


def without_replacement(dataset, runs, rng):
    return sample_sum(dataset, runs, rng, len(dataset) // 4)


def with_replacement(dataset, runs, rng):
    # A record may be drawn several times, so the sum moves by more than 1.
    return sample_sum(dataset, runs, rng, len(dataset), again=True)


def first_quarter(dataset, runs, rng):
    # Nothing is sampled: the records at the front are always in.
    values = numbers(dataset, 0, 1)[: -(-len(dataset) // 4)]
    return grid(values.sum() + rng.laplace(0, 1, runs))


VARIANTS = {
    "poisson-laplace": poisson_laplace(0.2, 1.0),
    # Claimed with rate * epsilon = 1; the loss is ln(1 + (e^2 - 1) / 2) = 1.43.
    "poisson-laplace-wrong": poisson_laplace(0.5, 2.0),
    "poisson-gaussian": poisson_gaussian(0.5, 1.0),
    "without-replacement": without_replacement,
    "with-replacement": with_replacement,
    "first-quarter": first_quarter,
}

if __name__ == "__main__":
    main(VARIANTS)
