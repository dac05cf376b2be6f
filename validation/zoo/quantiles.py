"""Medians of records in [0, 10]: exponential mechanism, smooth sensitivity, propose-test-release."""

import math

import numpy as np

from protocol import draw, grid, main, numbers

LOW, HIGH = 0.0, 10.0


def exponential_with(rate):
    """P(y) is proportional to exp(-rate |rank(y) - n/2|), rank(y) being the number of records below y."""

    def mechanism(dataset, runs, rng):
        points = np.concatenate(([LOW], np.sort(numbers(dataset, LOW, HIGH)), [HIGH]))
        ranks = np.arange(len(points) - 1)
        weights = np.diff(points) * np.exp(-rate * np.abs(ranks - len(dataset) / 2))
        piece = draw(weights, runs, rng)
        return grid(points[piece] + np.diff(points)[piece] * rng.random(runs))

    return mechanism


def median_and_reach(dataset):
    """The lower median, and for k = 0..n the largest local sensitivity within k replaced records."""
    values = np.sort(numbers(dataset, LOW, HIGH))
    n = len(values)
    # Records beyond either end count as the bounds (Nissim, Raskhodnikova and Smith 2007, Section 3.1).
    padded = np.concatenate((np.full(n + 2, LOW), values, np.full(n + 2, HIGH)))
    m = n + 2 + (n - 1) // 2
    reach = [
        max(padded[m + t] - padded[m + t - k - 1] for t in range(k + 2)) if k < n else HIGH - LOW
        for k in range(n + 1)
    ]
    return padded[m], np.array(reach)


def smooth(dataset, runs, rng):
    # Epsilon 1, Cauchy noise: a smooth bound with beta = 1/6, scaled by 6.
    if not dataset:
        return np.zeros(runs)
    median, reach = median_and_reach(dataset)
    bound = np.max(reach * np.exp(-np.arange(len(reach)) / 6))
    return grid(median + 6 * bound * rng.standard_cauchy(runs))


def local(dataset, runs, rng):
    # The noise follows the local sensitivity, which itself tells how close the neighbors are.
    if not dataset:
        return np.zeros(runs)
    median, reach = median_and_reach(dataset)
    return grid(median + reach[0] * rng.laplace(0, 1, runs))


def propose_test_release_with(margin, bound=1.0):
    """Half of epsilon 1 for the distance to a dataset whose sensitivity exceeds `bound`, half for the noise."""

    def mechanism(dataset, runs, rng):
        if not dataset:
            return [None] * runs
        median, reach = median_and_reach(dataset)
        far = np.flatnonzero(reach > bound)[0]
        passed = far + rng.laplace(0, 2, runs) > margin
        answers = grid(median + rng.laplace(0, 2 * bound, runs))
        return [x if ok else None for x, ok in zip(answers.tolist(), passed.tolist())]

    return mechanism


VARIANTS = {
    "exponential": exponential_with(0.5),
    # Replacing a record moves a utility by 1, so the rate for epsilon 1 is 1/2.
    "exponential-wrong": exponential_with(1.0),
    # Adding one moves rank - n/2 by 1/2 only, so there the rate 1 is right.
    "exponential-add-remove": exponential_with(1.0),
    "smooth": smooth,
    "local": local,
    # The test passes at distance 0 with probability exp(-margin / 2) / 2, which is to be delta = 0.05.
    "propose-test-release": propose_test_release_with(2 * math.log(1 / 0.1)),
    # Passing the test whenever the noisy distance is positive makes that probability 1/2.
    "propose-test-release-wrong": propose_test_release_with(0.0),
}

if __name__ == "__main__":
    main(VARIANTS)
