"""Measurements of OpenDP 0.4, from before the security fixes of its release 0.5. It takes no seed."""

import math

from library import lazy, main, many, numbers, of_integer, of_real
from opendp.meas import (
    make_base_analytic_gaussian,
    make_base_geometric,
    make_base_laplace,
    make_randomized_response,
    make_randomized_response_bool,
)
from opendp.mod import binary_search_param, enable_features
from opendp.trans import make_bounded_sum, make_clamp, make_sized_bounded_mean, make_sized_bounded_sum

enable_features("contrib", "floating-point")


def response():
    measurement = make_randomized_response(["none", "cold", "flu"], prob=math.e / (math.e + 2))

    def run(dataset, runs, rng):
        value = dataset[0] if dataset[0] in ("none", "cold", "flu") else "none"
        return many(measurement, value, runs)

    return run


def response_bool():
    measurement = make_randomized_response_bool(prob=math.e / (1 + math.e))
    return lambda dataset, runs, rng: many(measurement, dataset[0] == "yes", runs)


def bounded_sum():
    measurement = make_clamp((0, 10)) >> make_bounded_sum((0, 10)) >> make_base_geometric(scale=10.0)
    return lambda dataset, runs, rng: many(measurement, [int(round(x)) for x in numbers(dataset, 0, 10)], runs)


def mean():
    measurement = make_sized_bounded_mean(5, (0.0, 10.0)) >> make_base_laplace(scale=2.0)
    return lambda dataset, runs, rng: many(measurement, numbers(dataset, 0, 10).tolist(), runs)


LARGE = (1e16, 1e16 + 2)


def large_sum():
    """The noise is the least for which the library's own relation says epsilon 1."""
    make = lambda scale: make_sized_bounded_sum(5, LARGE) >> make_base_laplace(scale=scale)  # noqa: E731
    measurement = make(binary_search_param(make, d_in=2, d_out=1.0, bounds=(1e-3, 1e6)))
    return lambda dataset, runs, rng: many(measurement, [LARGE[0] + x for x in numbers(dataset, 0, 2)], runs)


def analytic_gaussian():
    make = lambda scale: make_base_analytic_gaussian(scale=scale)  # noqa: E731
    return make(binary_search_param(make, d_in=1.0, d_out=(1.0, 0.01), bounds=(1e-3, 1e3)))


MECHANISMS = {
    "laplace": lambda: of_real(lambda: make_base_laplace(scale=1.0)),
    "analytic-gaussian": lambda: of_real(analytic_gaussian),
    "geometric": lambda: of_integer(lambda: make_base_geometric(scale=1.0)),
    "geometric-bounded": lambda: of_integer(lambda: make_base_geometric(scale=1.0, bounds=(0, 4))),
    "randomized-response": response,
    "randomized-response-bool": response_bool,
    "bounded-sum": bounded_sum,
    "mean": mean,
    "sum-of-large-numbers": large_sum,
}

if __name__ == "__main__":
    main({name: lazy(make) for name, make in MECHANISMS.items()})
