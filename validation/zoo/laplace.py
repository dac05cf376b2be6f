"""Laplace noise and its relatives. The claim is epsilon 1 unless zoo.toml says otherwise."""

import math

import numpy as np

from protocol import grid, main, numbers


def count(dataset, runs, rng):
    return grid(len(dataset) + rng.laplace(0, 1, runs))


def wrong_sensitivity(dataset, runs, rng):
    # One record moves the sum by up to 5, but the scale is that of a count.
    return grid(numbers(dataset, 0, 5).sum() + rng.laplace(0, 1, runs))


def vector(dataset, runs, rng):
    answers = numbers(dataset, 0, 100)
    return grid(answers + rng.laplace(0, 1, (runs, len(answers))))


# The same program, but declared for answers that may all move by 1: then the losses add up.
linf_as_l1 = vector


def shared_noise(dataset, runs, rng):
    # One draw for all coordinates: their differences carry no noise at all.
    answers = numbers(dataset, 0, 100)
    return grid(answers + rng.laplace(0, 1, (runs, 1)))


def clamped(dataset, runs, rng):
    # Clamping the answer is post-processing; it makes atoms at both ends.
    return grid(np.clip(min(len(dataset), 10) + rng.laplace(0, 1, runs), 0, 10))


def rejection(dataset, runs, rng):
    # Drawing again until the answer is in range divides by a probability that depends on the data.
    center = min(len(dataset), 10)
    outputs = center + rng.laplace(0, 1, runs)
    while (outside := (outputs < 0) | (outputs > 10)).any():
        outputs[outside] = center + rng.laplace(0, 1, outside.sum())
    return grid(outputs)


def staircase(dataset, runs, rng):
    # Steps of width 1 whose height falls by exp(-1); each step is split at the best gamma.
    gamma = 1 / (1 + math.exp(0.5))
    decay = math.exp(-1)
    step = rng.geometric(1 - decay, runs) - 1.0
    inner = rng.random(runs) < gamma / (gamma + (1 - gamma) * decay)
    place = rng.random(runs)
    noise = step + np.where(inner, gamma * place, gamma + (1 - gamma) * place)
    return grid(len(dataset) + rng.choice([-1.0, 1.0], runs) * noise)


def cut_noise(dataset, runs, rng):
    # Laplace noise drawn again beyond A = ln(1 + (e - 1) / (2 delta)), here for delta 0.02.
    reach = math.log(1 + (math.e - 1) / 0.04)
    size = -np.log1p(-rng.random(runs) * -math.expm1(-reach))
    return grid(len(dataset) + rng.choice([-1.0, 1.0], runs) * size)


VARIANTS = {
    "count": count,
    "wrong-sensitivity": wrong_sensitivity,
    "vector": vector,
    "linf-as-l1": linf_as_l1,
    "shared-noise": shared_noise,
    "clamped": clamped,
    "rejection": rejection,
    "staircase": staircase,
    "cut-noise": cut_noise,
}

if __name__ == "__main__":
    main(VARIANTS)
