"""What the programs of this folder share: they serve a library's mechanisms in the zoo's protocol."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))

import numpy as np  # noqa: E402
from protocol import grid, number, numbers, serve  # noqa: E402, F401


def legacy(rng):
    """A generator of numpy's older kind, which is what most libraries take as a seed."""
    return np.random.RandomState(rng.integers(2**32, dtype=np.uint64))


def plain(value):
    """Numbers of numpy as JSON can write them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (np.ndarray, list, tuple)):
        return [plain(part) for part in value]
    return value


def many(measurement, argument, runs):
    """Outputs of a measurement of OpenDP, which has been a function in all its releases."""
    return [plain(measurement(argument)) for _ in range(runs)]


def of_real(make):
    """A measurement of the first number of a dataset."""
    measurement = make()
    return lambda dataset, runs, rng: many(measurement, float(numbers(dataset, -1e6, 1e6)[0]), runs)


def of_integer(make):
    """A measurement of the first number of a dataset, as a whole number."""
    measurement = make()
    return lambda dataset, runs, rng: many(measurement, int(round(numbers(dataset, -1e6, 1e6)[0])), runs)


def rounded(mechanism):
    """The same mechanism with its outputs rounded: post-processing, so that the claim must still hold.

    What is refuted as released but not when rounded lies in the last binary places of the outputs.
    """
    return lambda dataset, runs, rng: grid(np.array(mechanism(dataset, runs, rng), dtype=float))


def lazy(make):
    """A mechanism that is built at the first request: the others need not exist in this release."""
    made = []

    def run(dataset, runs, rng):
        if not made:
            made.append(make())
        return made[0](dataset, runs, rng)

    return run


def main(mechanisms):
    """Serves the mechanism that the first argument names; `rounded` may follow."""
    name, *more = sys.argv[1:] or [""]
    if name not in mechanisms or more not in ([], ["rounded"]):
        sys.exit(f"usage: python3 {sys.argv[0]} " + "|".join(mechanisms) + " [rounded]")
    mechanism = mechanisms[name]
    serve(rounded(mechanism) if more else mechanism)
