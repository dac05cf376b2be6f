"""Steps of differentially private gradient descent. The claim is mu 1 (Gaussian DP)."""

import math

import numpy as np

from protocol import grid, main, number, numbers

WEIGHTS = np.array([0.5, -0.25])


def clip(vector, bound=1.0):
    """Scale down to norm `bound`; what is not a finite vector counts as zero."""
    norm = math.hypot(*vector)
    if not math.isfinite(norm):
        return np.zeros(len(vector))
    return np.asarray(vector) * min(1.0, bound / norm) if norm else np.zeros(len(vector))


def two_numbers(value):
    if not isinstance(value, list) or len(value) != 2:
        return np.zeros(2)
    return np.array([number(part, -1e6, 1e6) for part in value])


def gradient(record):
    """Squared loss of {"features": [a, b], "label": y} at public weights."""
    if not isinstance(record, dict):
        return np.zeros(2)
    x = two_numbers(record.get("features"))
    return (WEIGHTS @ x - number(record.get("label"), -1e6, 1e6)) * x


def step_with(noise, bound=1.0):
    def mechanism(dataset, runs, rng):
        total = sum((clip(gradient(record), bound) for record in dataset), np.zeros(2))
        return grid(WEIGHTS - 0.1 * (total + rng.normal(0, noise, (runs, 2))))

    return mechanism


def per_batch(dataset, runs, rng):
    # The mean gradient is clipped instead of each one, and the noise is still divided by the batch
    # size: one large gradient moves the result by 1 and not by 1/n.
    mean = sum(map(two_numbers, dataset), np.zeros(2)) / max(len(dataset), 1)
    return grid(clip(mean) + rng.normal(0, 2, (runs, 2)) / max(len(dataset), 1))


def per_example(dataset, runs, rng):
    total = sum((clip(two_numbers(record)) for record in dataset), np.zeros(2))
    return grid((total + rng.normal(0, 2, (runs, 2))) / max(len(dataset), 1))


def epoch_sums(dataset):
    """Three batches by position: a record is in one of them, and replacing it moves one sum by 2."""
    values = numbers(dataset, -1, 1)
    return np.array([values[start::3].sum() for start in range(3)])


def epoch(dataset, runs, rng):
    return grid(epoch_sums(dataset) + rng.normal(0, 2, (runs, 3)))


def noise_reused(dataset, runs, rng):
    # The same noise in every step: the differences between steps carry none.
    return grid(epoch_sums(dataset) + rng.normal(0, 2, (runs, 1)))


def fixed_seed(dataset, runs, rng):
    # The generator is seeded inside the step, so every run adds the same "noise".
    noise = np.random.default_rng(2024).normal(0, 2, 3)
    return grid(np.tile(epoch_sums(dataset) + noise, (runs, 1)))


VARIANTS = {
    "step": step_with(1.0),
    # Gradients are clipped to 4, but the noise is that of a clipping norm of 1.
    "noise-without-clip-norm": step_with(1.0, bound=4.0),
    "per-example": per_example,
    "per-batch": per_batch,
    "epoch": epoch,
    "noise-reused": noise_reused,
    "fixed-seed": fixed_seed,
}

if __name__ == "__main__":
    main(VARIANTS)
