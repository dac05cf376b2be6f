"""Sums and means of numeric records in [0, 10]. Epsilon is 1."""

import numpy as np

from protocol import grid, main, number, numbers

HIGH = 10


def clipped_sum(dataset, runs, rng):
    return grid(numbers(dataset, 0, HIGH).sum() + rng.laplace(0, HIGH, runs))


def unclipped_sum(dataset, runs, rng):
    # The bound of 10 sets the noise, but nothing enforces it.
    return grid(sum(number(r, -1e9, 1e9) for r in dataset) + rng.laplace(0, HIGH, runs))


def fixed_size_mean(dataset, runs, rng):
    # The number of records is public here (relation replace-one).
    if not dataset:
        return np.zeros(runs)
    n = len(dataset)
    return grid(numbers(dataset, 0, HIGH).sum() / n + rng.laplace(0, HIGH / n, runs))


def true_count_mean(dataset, runs, rng):
    # Dividing by the true count scales the noise by a number that depends on the data.
    return grid((numbers(dataset, 0, HIGH).sum() + rng.laplace(0, HIGH, runs)) / max(len(dataset), 1))


def empty_is_nan(dataset, runs, rng):
    # A right mean (half of the budget for the sum, half for the count), but for the special case:
    # NaN tells that nobody is there.
    if not dataset:
        return np.full(runs, np.nan)
    total, size = pair(dataset, runs, rng, 2)
    return grid(total / np.maximum(size, 1))


def pair(dataset, runs, rng, share):
    total = numbers(dataset, 0, HIGH).sum() + rng.laplace(0, share * HIGH, runs)
    return total, len(dataset) + rng.laplace(0, share, runs)


def as_objects(total, size):
    return [{"sum": s, "count": n} for s, n in zip(grid(total).tolist(), grid(size).tolist())]


def noisy_count_mean(dataset, runs, rng):
    return as_objects(*pair(dataset, runs, rng, 2))


def full_budget_twice(dataset, runs, rng):
    # Sum and count each spend the whole budget; together they spend two.
    return as_objects(*pair(dataset, runs, rng, 1))


def range_from_data(dataset, runs, rng):
    # The bounds are read off the data, so equal records give no noise at all.
    if not dataset:
        return np.zeros(runs)
    values = numbers(dataset, 0, HIGH)
    scale = (values.max() - values.min()) / len(values)
    return grid(values.mean() + rng.laplace(0, 1, runs) * scale)


def best_of_three(dataset, runs, rng):
    # Three runs, the largest is published, at the price of one.
    return grid(len(dataset) + rng.laplace(0, 1, (runs, 3)).max(axis=1))


def noisy_records(dataset, runs, rng):
    # Each value is well protected, but their number is the exact count.
    values = numbers(dataset, 0, HIGH)
    return grid(values + rng.laplace(0, HIGH, (runs, len(values))))


VARIANTS = {
    "clipped-sum": clipped_sum,
    "unclipped-sum": unclipped_sum,
    "fixed-size-mean": fixed_size_mean,
    "true-count-mean": true_count_mean,
    "empty-is-nan": empty_is_nan,
    "noisy-count-mean": noisy_count_mean,
    "full-budget-twice": full_budget_twice,
    "range-from-data": range_from_data,
    "best-of-three": best_of_three,
    "noisy-records": noisy_records,
}

if __name__ == "__main__":
    main(VARIANTS)
