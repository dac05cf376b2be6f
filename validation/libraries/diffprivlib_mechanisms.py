"""Mechanisms, tools and a model of diffprivlib. Each claims epsilon 1 unless libraries.toml says otherwise."""

import sys
import types
import warnings

import numpy as np
from library import legacy, main, numbers, plain

try:
    import diffprivlib.models
except ImportError:
    # The models of old releases need a scikit-learn that was never built for this Python; the rest does not.
    for module in [name for name in sys.modules if name.split(".")[0] == "diffprivlib"]:
        del sys.modules[module]
    sys.modules["diffprivlib.models"] = types.ModuleType("diffprivlib.models")

from diffprivlib import BudgetAccountant, mechanisms, tools

warnings.simplefilter("ignore")  # some releases warn about their own defaults, once for each run


def of_number(kind, low=-1e6, high=1e6, integer=False, **parameters):
    """A mechanism that adds noise to one number, here the only record."""

    def run(dataset, runs, rng):
        value = numbers(dataset, low, high)[0]
        value = int(round(value)) if integer else float(value)
        mechanism = kind(**parameters)
        # Releases before 0.5 take no seed: theirs is replaced where they keep one.
        mechanism._rng = legacy(rng)
        return [plain(mechanism.randomise(value)) for _ in range(runs)]

    return run


def binary(dataset, runs, rng):
    mechanism = mechanisms.Binary(epsilon=1, value0="no", value1="yes")
    mechanism._rng = legacy(rng)
    value = dataset[0] if dataset[0] in ("no", "yes") else "no"
    return [mechanism.randomise(value) for _ in range(runs)]


def selection(kind):
    """The utilities of the candidates are the records; all of them may move by 1."""

    def run(dataset, runs, rng):
        utility = numbers(dataset, -1e3, 1e3).tolist()
        mechanism = kind(epsilon=1, sensitivity=1, utility=utility)
        mechanism._rng = legacy(rng)
        return [int(mechanism.randomise()) for _ in range(runs)]

    return run


def tool(function, low, high, **parameters):
    """A statistic of records in [low, high]."""

    def run(dataset, runs, rng):
        seed = legacy(rng)
        records = numbers(dataset, low, high)
        return [plain(function(records, seed, **parameters)) for _ in range(runs)]

    return run


try:
    mechanisms.Laplace(epsilon=1, sensitivity=1, random_state=1)
    SEEDED = True
except TypeError:
    SEEDED = False  # releases before 0.5


def seeded(random_state):
    return {"random_state": random_state} if SEEDED else {}


# The accountant that a tool takes if it gets none keeps a list of all that was spent, hence a new one for each run.


def mean(records, seed):
    return tools.mean(records, epsilon=1, bounds=(0, 10), accountant=BudgetAccountant(), **seeded(seed))


def variance(records, seed):
    return tools.var(records, epsilon=1, bounds=(0, 10), accountant=BudgetAccountant(), **seeded(seed))


def total(records, seed):
    return tools.sum(records, epsilon=1, bounds=(0, 10), accountant=BudgetAccountant(), **seeded(seed))


def count(records, seed):
    return tools.count_nonzero(records, epsilon=1, accountant=BudgetAccountant(), **seeded(seed))


def histogram(records, seed):
    return tools.histogram(records, epsilon=1, bins=3, range=(0, 3), accountant=BudgetAccountant(), **seeded(seed))[0]


def median(records, seed):
    return tools.median(records, epsilon=1, bounds=(0, 10), accountant=BudgetAccountant(), **seeded(seed))


def linear_regression(dataset, runs, rng):
    """One feature and a target, both in [0, 1], without an intercept: the released coefficient."""
    from diffprivlib.models import LinearRegression

    seed = legacy(rng)
    # A record is a number from 0 to 3 for a feature of 1/2 or 1 and a target of 0 or 1. A feature of 0 in all records
    # would leave the coefficient without a bound, and the solver without an end.
    records = [int(round(record)) for record in numbers(dataset, 0, 3)]
    features = np.array([[(1 + record // 2) / 2] for record in records])
    targets = np.array([float(record % 2) for record in records])

    def one():
        bounds = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
        model = LinearRegression(epsilon=1, fit_intercept=False, random_state=seed, accountant=BudgetAccountant(), **bounds)
        return float(model.fit(features, targets).coef_[0])

    return [one() for _ in range(runs)]


MECHANISMS = {
    "laplace": of_number(mechanisms.Laplace, epsilon=1, sensitivity=1),
    "laplace-truncated": of_number(mechanisms.LaplaceTruncated, 0, 4, epsilon=1, sensitivity=1, lower=0, upper=4),
    "laplace-folded": of_number(mechanisms.LaplaceFolded, 0, 4, epsilon=1, sensitivity=1, lower=0, upper=4),
    "laplace-bounded-domain": of_number(
        mechanisms.LaplaceBoundedDomain, 0, 4, epsilon=1, sensitivity=1, lower=0, upper=4
    ),
    "laplace-bounded-noise": of_number(mechanisms.LaplaceBoundedNoise, epsilon=1, delta=0.05, sensitivity=1),
    "gaussian": of_number(mechanisms.Gaussian, epsilon=1, delta=0.01, sensitivity=1),
    "gaussian-analytic": of_number(mechanisms.GaussianAnalytic, epsilon=1, delta=0.01, sensitivity=1),
    "gaussian-discrete": of_number(mechanisms.GaussianDiscrete, integer=True, epsilon=1, delta=0.01, sensitivity=1),
    "geometric": of_number(mechanisms.Geometric, integer=True, epsilon=1, sensitivity=1),
    "geometric-truncated": of_number(
        mechanisms.GeometricTruncated, 0, 4, integer=True, epsilon=1, sensitivity=1, lower=0, upper=4
    ),
    "geometric-folded": of_number(
        mechanisms.GeometricFolded, 0, 4, integer=True, epsilon=1, sensitivity=1, lower=0, upper=4
    ),
    "staircase": of_number(mechanisms.Staircase, epsilon=1, sensitivity=1),
    "uniform": of_number(mechanisms.Uniform, delta=0.1, sensitivity=1),
    "binary": binary,
    "exponential": selection(mechanisms.Exponential),
    "mean": tool(mean, 0, 10),
    "variance": tool(variance, 0, 10),
    "sum": tool(total, 0, 10),
    "count": tool(count, 0, 1),
    "histogram": tool(histogram, 0, 3),
    "median": tool(median, 0, 10),
    "linear-regression": linear_regression,
}
for name, kind in (("snapping", "Snapping"), ("permute-and-flip", "PermuteAndFlip")):
    # Not in every release.
    if hasattr(mechanisms, kind):
        made = getattr(mechanisms, kind)
        MECHANISMS[name] = (
            of_number(made, 0, 10, epsilon=1, sensitivity=1, lower=0, upper=10) if name == "snapping" else selection(made)
        )

if __name__ == "__main__":
    main(MECHANISMS)
