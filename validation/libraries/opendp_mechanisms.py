"""Measurements of OpenDP as its documentation chains them. OpenDP takes no seed."""

import math

import opendp.prelude as dp
from library import lazy, main, many, numbers, of_integer, of_real

dp.enable_features("contrib", "honest-but-curious")

REAL = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
INTEGER = dp.atom_domain(T=int), dp.absolute_distance(T=int)
SYMMETRIC = dp.symmetric_distance()


def of_reals(make):
    measurement = make()
    return lambda dataset, runs, rng: many(measurement, numbers(dataset, -1e6, 1e6).tolist(), runs)


def of_integers(make, low=0, high=10):
    measurement = make()
    return lambda dataset, runs, rng: many(measurement, [int(round(x)) for x in numbers(dataset, low, high)], runs)


def response():
    measurement = dp.m.make_randomized_response(["none", "cold", "flu"], prob=math.e / (math.e + 2))

    def run(dataset, runs, rng):
        value = dataset[0] if dataset[0] in ("none", "cold", "flu") else "none"
        return many(measurement, value, runs)

    return run


def response_bool():
    measurement = dp.m.make_randomized_response_bool(prob=math.e / (1 + math.e))
    return lambda dataset, runs, rng: many(measurement, dataset[0] == "yes", runs)


def bounded_sum():
    space = dp.vector_domain(dp.atom_domain(T=int)), SYMMETRIC
    return space >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=10.0)


def sized(bounds, size):
    """Records are replaced: a distance of 2 in records added and removed."""
    return dp.vector_domain(dp.atom_domain(T=float, bounds=bounds, nan=False), size=size), SYMMETRIC


# Large numbers whose sum is rounded: what CSVW22 (Casacuberta, Shoemate, Vadhan and Wagaman 2022) is about.
LARGE = (1e16, 1e16 + 2)


def large_sum(dataset, runs, rng):
    """The sum of five numbers in LARGE, with noise for the sensitivity that the library states."""
    total = sized(LARGE, 5) >> dp.t.then_sum()
    measurement = total >> dp.m.then_laplace(scale=total.map(2))
    return many(measurement, [LARGE[0] + x for x in numbers(dataset, 0, 2)], runs)


def mean():
    total = sized((0.0, 10.0), 5) >> dp.t.then_mean()
    measurement = total >> dp.m.then_laplace(scale=2.0)
    return lambda dataset, runs, rng: many(measurement, numbers(dataset, 0, 10).tolist(), runs)


def count():
    space = dp.vector_domain(dp.atom_domain(T=int)), SYMMETRIC
    return space >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)


def histogram():
    space = dp.vector_domain(dp.atom_domain(T=int)), SYMMETRIC
    return space >> dp.t.then_count_by_categories(categories=[0, 1, 2]) >> dp.m.then_laplace(scale=1.0)


def quantile():
    space = dp.vector_domain(dp.atom_domain(T=int)), SYMMETRIC
    # The scale of the noise that the library's own map says is epsilon 1.
    make = lambda scale: space >> dp.m.then_private_quantile(  # noqa: E731
        dp.max_divergence(), candidates=[0, 2, 4, 6, 8, 10], alpha=0.5, scale=scale
    )
    return make(dp.binary_search(lambda scale: make(scale).map(1) <= 1.0, bounds=(1e-3, 1e3)))


def noisy_max():
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    return space >> dp.m.then_noisy_max(dp.max_divergence(), scale=2.0)


MECHANISMS = {
    "laplace": lambda: of_real(lambda: dp.m.make_laplace(*REAL, scale=1.0)),
    "laplace-integer": lambda: of_integer(lambda: dp.m.make_laplace(*INTEGER, scale=1.0)),
    "gaussian": lambda: of_real(lambda: dp.m.make_gaussian(*REAL, scale=1.0)),
    "gaussian-integer": lambda: of_integer(lambda: dp.m.make_gaussian(*INTEGER, scale=1.0)),
    "geometric-bounded": lambda: of_integer(lambda: dp.m.make_geometric(*INTEGER, scale=1.0, bounds=(0, 4))),
    "laplace-vector": lambda: of_reals(
        lambda: dp.m.make_laplace(
            dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float), scale=1.0
        )
    ),
    "randomized-response": response,
    "randomized-response-bool": response_bool,
    "noisy-max": lambda: of_integers(noisy_max, -1000, 1000),
    "count": lambda: of_integers(count),
    "bounded-sum": lambda: of_integers(bounded_sum),
    "mean": mean,
    "sum-of-large-numbers": lambda: large_sum,
    "histogram": lambda: of_integers(histogram, 0, 2),
    "quantile": lambda: of_integers(quantile),
}

if __name__ == "__main__":
    main({name: lazy(make) for name, make in MECHANISMS.items()})
