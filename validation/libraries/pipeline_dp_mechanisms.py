"""Mechanisms of PipelineDP, whose noise comes from PyDP. It takes no seed."""

import numpy as np
from library import lazy, main, numbers, plain
from pipeline_dp import aggregate_params, dp_computations


def laplace():
    mechanism = dp_computations.LaplaceMechanism.create_from_epsilon(1.0, 1.0)
    return lambda dataset, runs, rng: [mechanism.add_noise(float(numbers(dataset, -1e6, 1e6)[0])) for _ in range(runs)]


def gaussian():
    mechanism = dp_computations.GaussianMechanism.create_from_epsilon_delta(1.0, 0.01, 1.0)
    return lambda dataset, runs, rng: [mechanism.add_noise(float(numbers(dataset, -1e6, 1e6)[0])) for _ in range(runs)]


class Scores(dp_computations.ExponentialMechanism.ScoringFunction):
    def __init__(self, scores):
        self._scores = scores

    def score(self, k):
        return self._scores[k]

    @property
    def global_sensitivity(self):
        return 1.0

    @property
    def is_monotonic(self):
        return False


def exponential():
    def run(dataset, runs, rng):
        scores = numbers(dataset, -100, 100).tolist()
        mechanism = dp_computations.ExponentialMechanism(Scores(scores))
        return [int(mechanism.apply(1.0, list(range(len(scores))))) for _ in range(runs)]

    return run


def vector(kind, norm):
    parameters = dp_computations.AdditiveVectorNoiseParams(1.0, 0.01, 1.0, 1, 1, norm, kind)

    def run(dataset, runs, rng):
        values = numbers(dataset, -1e6, 1e6)
        return [plain(dp_computations.add_noise_vector(values, parameters)) for _ in range(runs)]

    return run


NOISE, NORM = aggregate_params.NoiseKind, aggregate_params.NormKind
MECHANISMS = {
    "laplace": laplace,
    "gaussian": gaussian,
    "exponential": exponential,
    "laplace-vector-l1": lambda: vector(NOISE.LAPLACE, NORM.L1),
    "laplace-vector-linf": lambda: vector(NOISE.LAPLACE, NORM.Linf),
    "gaussian-vector-linf": lambda: vector(NOISE.GAUSSIAN, NORM.Linf),
}

if __name__ == "__main__":
    main({name: lazy(make) for name, make in MECHANISMS.items()})
