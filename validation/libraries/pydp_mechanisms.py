"""Mechanisms of PyDP, Google's C++ library for Python. It takes no seed."""

import pydp.algorithms.laplacian as algorithms
from library import lazy, main, numbers, plain
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
from pydp.algorithms.partition_selection import create_partition_strategy


def of_number(make):
    def build():
        mechanism = make()
        return lambda dataset, runs, rng: [mechanism(float(numbers(dataset, -1e6, 1e6)[0])) for _ in range(runs)]

    return build


def of_records(make, low, high, dtype):
    """An algorithm over records in [low, high], made anew for each run as its budget is for one answer."""

    def run(dataset, runs, rng):
        records = numbers(dataset, low, high).tolist()
        records = [int(round(record)) for record in records] if dtype == "int" else records
        return [plain(make().quick_result(records)) for _ in range(runs)]

    return lambda: run


def bounded(kind, dtype="float"):
    bounds = {"lower_bound": 0, "upper_bound": 10} if dtype == "int" else {"lower_bound": 0.0, "upper_bound": 10.0}
    return of_records(lambda: kind(epsilon=1.0, dtype=dtype, **bounds), 0, 10, dtype)


def percentile():
    return algorithms.Percentile(epsilon=1.0, percentile=0.25, lower_bound=0.0, upper_bound=10.0, dtype="float")


def partition(strategy):
    """Whether a group of so many records is shown at all."""

    def build():
        made = create_partition_strategy(strategy, 1.0, 0.05, 1)
        return lambda dataset, runs, rng: [bool(made.should_keep(len(dataset))) for _ in range(runs)]

    return build


MECHANISMS = {
    "laplace": of_number(lambda: LaplaceMechanism(epsilon=1.0, sensitivity=1.0).add_noise),
    "gaussian": of_number(lambda: GaussianMechanism(1.0, 0.01, 1.0).add_noise),
    "count": of_records(lambda: algorithms.Count(epsilon=1.0, dtype="int"), 0, 10, "int"),
    "sum-integer": bounded(algorithms.BoundedSum, "int"),
    "sum": bounded(algorithms.BoundedSum),
    "mean": bounded(algorithms.BoundedMean),
    "variance": bounded(algorithms.BoundedVariance),
    "standard-deviation": bounded(algorithms.BoundedStandardDeviation),
    "maximum": bounded(algorithms.Max),
    "median": bounded(algorithms.Median),
    "percentile": of_records(percentile, 0, 10, "float"),
    "partition-geometric": partition("truncated_geometric"),
    "partition-laplace": partition("laplace"),
    "partition-gaussian": partition("gaussian"),
}

if __name__ == "__main__":
    main({name: lazy(make) for name, make in MECHANISMS.items()})
