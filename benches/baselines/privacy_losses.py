"""Composition of privacy losses by dp_accounting and prv_accountant.

`privacy_losses.py dp-sgd [STEPS = 1000]`: epsilon at 1e-5 of so many steps of DP-SGD, noise 0.8, a rate of 1 %, within 1 %
or so: dp_accounting by its estimates from above and from below, of records that are added or removed; prv_accountant by its
error bounds, of records that are removed.

`privacy_losses.py different [RELEASES = 40]`: releases of four kinds, no two the same, as dp_accounting estimates them from
above.
"""

import sys

from measure import measure

from dp_accounting.pld import privacy_loss_distribution as pld
from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

DELTA = 1e-5
SIGMA, RATE = 0.8, 0.01
# Epsilon is 3.14 for 1,000 steps and 10.05 for 10,000; the ends of dp_accounting are the interval
# times the steps apart.
EPSILON_ERROR = {1000: 0.015, 10000: 0.05}
INTERVAL = {1000: 6e-5, 10000: 2e-5}


def ends(steps):
    """Epsilon from below and from above, of records that are added or removed, by dp_accounting."""

    def epsilon(pessimistic):
        one = pld.from_gaussian_mechanism(
            SIGMA,
            sampling_prob=RATE,
            pessimistic_estimate=pessimistic,
            # Estimates from below have no other form.
            use_connect_dots=pessimistic,
            value_discretization_interval=INTERVAL[steps],
        )
        return one.self_compose(steps).get_epsilon_for_delta(DELTA)

    return epsilon(False), epsilon(True)


def prv(steps):
    """Epsilon from below and from above, of records that are removed, by prv_accountant."""
    accountant = PRVAccountant(
        prvs=PoissonSubsampledGaussianMechanism(noise_multiplier=SIGMA, sampling_probability=RATE),
        max_self_compositions=steps,
        eps_error=EPSILON_ERROR[steps],
        delta_error=1e-3 * DELTA,
    )
    lower, _, upper = accountant.compute_epsilon(delta=DELTA, num_self_compositions=steps)
    return lower, upper


def different(count):
    """Epsilon of releases of four kinds together; the kinds and scales are those that leakbound is measured on."""
    total = None
    for index in range(count):
        sigma = 20 + 180 * (index * 0.618033988749895 % 1)
        if index % 4 == 0:
            one = pld.from_gaussian_mechanism(sigma)
        elif index % 4 == 1:
            one = pld.from_laplace_mechanism(sigma)
        elif index % 4 == 2:
            one = pld.from_gaussian_mechanism(sigma, sampling_prob=0.01 + 0.002 * (index % 200))
        else:
            one = pld.from_discrete_laplace_mechanism(1 / sigma)
        total = one if total is None else total.compose(one)
    return total.get_epsilon_for_delta(DELTA)


def dp_sgd(steps):
    ours = measure("dp_accounting PLD, both ends", f"steps={steps}", 1, lambda: ends(steps))
    theirs = measure("prv_accountant, both ends", f"steps={steps}", 1, lambda: prv(steps))
    if not (ours[0] <= theirs[1] and theirs[0] <= ours[1]):
        raise SystemExit(f"privacy_losses.py: epsilon in {ours} and in {theirs}")


if __name__ == "__main__":
    work, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
    if work == "dp-sgd":
        dp_sgd(number or 1000)
    else:
        count = number or 40
        measure("dp_accounting PLD, from above", f"releases={count}", count, lambda: different(count))
