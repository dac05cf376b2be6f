"""Faults of DP-SGD that were put in on purpose: which of them gradient canaries refute.

A step sums the clipped gradients of a batch and adds noise of σC. Only what happens along the canaries matters, so the
parameters are their directions.
"""

from __future__ import annotations

import numpy as np
import pytest

import leakbound

pytestmark = pytest.mark.filterwarnings("ignore::leakbound.LeakboundWarning")

SIGMA, RATE, STEPS, CLIP, CANARIES = 2.5, 0.1, 100, 4.0, 1000


def private(joined, step):
    """A step as it should be: of gradients of norm 10 C, clipped, with noise of σC."""
    return step.clipped(joined) + step.noise(SIGMA * CLIP)


def unclipped(joined, step):
    """Gradients are summed as they are."""
    return 10 * CLIP * joined + step.noise(SIGMA * CLIP)


def clipped_per_batch(joined, step):
    """The mean of the batch is clipped instead of each gradient."""
    total, batch = 10 * CLIP * joined, 100
    return total * min(1, CLIP * batch / max(np.linalg.norm(total), 1e-9)) + step.noise(SIGMA * CLIP)


def noise_without_clipping_norm(joined, step):
    """The deviation of the noise is σ and not σC."""
    return step.clipped(joined) + step.noise(SIGMA)


def half_of_the_variance(joined, step):
    """Half of the noise, as where two workers add half of the variance each and one of them is lost."""
    return step.clipped(joined) + step.noise(SIGMA * CLIP / np.sqrt(2))


def noise_used_again(joined, step):
    """The generator is seeded anew at each step."""
    return step.clipped(joined) + np.random.default_rng(1).normal(0, SIGMA * CLIP, CANARIES)


def momentum_before_noise(joined, step):
    """Noise is added to the momentum, in which a gradient stays."""
    step.momentum = 0.9 * step.momentum + step.clipped(joined)
    return step.momentum + step.noise(SIGMA * CLIP)


class Step:
    def __init__(self, seed):
        self.random, self.momentum = np.random.default_rng(seed), np.zeros(CANARIES)

    def noise(self, deviation):
        return self.random.normal(0, deviation, CANARIES)

    @staticmethod
    def clipped(joined):
        return CLIP * joined


def plan_of(seed):
    mechanism = f"subsampled-gaussian:sigma={SIGMA},rate={RATE}"
    return leakbound.canaries.plan(CANARIES, mechanism=mechanism, times=STEPS, seed=seed, repetitions=20)


def observed(plan, fault, seed, shuffled=False, steps=STEPS):
    watched = leakbound.canaries.GradientCanaries(
        plan, CANARIES, sample_rate=RATE, noise_multiplier=SIGMA, sampling_seed=seed
    )
    step = Step(seed)
    order = np.random.default_rng(seed)
    for number in range(steps):
        joined = np.zeros(CANARIES)
        if shuffled:
            if number % round(1 / RATE) == 0:
                parts = np.array_split(order.permutation(watched.members), round(1 / RATE))
            joined[parts[number % len(parts)]] = 1
        else:
            joined[watched.batch()] = 1
        signs = watched.weights[:, 0]
        vector = np.zeros(CANARIES)
        vector[watched.places[:, 0]] = signs * fault(joined, step)
        watched.observe(watched.along(vector) / CLIP)
    return watched


@pytest.mark.parametrize(
    "fault",
    [
        unclipped,
        clipped_per_batch,
        noise_without_clipping_norm,
        momentum_before_noise,
    ],
)
def test_faults_are_refuted(fault):
    plan = plan_of(3)
    audit = plan.audit(observed(plan, fault, 5).scores, repetitions=20)
    print(fault.__name__, audit.epsilon_lower, plan.claimed_epsilon)
    assert audit.refuted


@pytest.mark.parametrize("fault", [noise_without_clipping_norm, half_of_the_variance])
def test_too_little_noise_is_seen_after_two_steps(fault):
    interval = observed(plan_of(4), fault, 6, steps=2).noise_interval(1e-6)
    print(fault.__name__, interval)
    assert interval.upper < SIGMA


def test_noise_used_again_is_seen_by_changes_alone():
    plans = plan_of(3), plan_of(3)
    watched = observed(plans[0], noise_used_again, 5)
    changes, likelihood = plans[0].audit(watched.change_scores, repetitions=20), plans[1].audit(watched.scores)
    print(changes.epsilon_lower, likelihood.epsilon_lower, plans[0].claimed_epsilon)
    assert changes.refuted and not likelihood.refuted


def test_what_is_right_is_not_refuted_and_shuffling_is_not_seen():
    """A shuffled order that is accounted as Poisson sampling says as little about single gradients."""
    for seed in range(5):
        for shuffled in (False, True):
            plan = plan_of(seed)
            watched = observed(plan, private, seed, shuffled)
            audit, interval = plan.audit(watched.scores, repetitions=20), watched.noise_interval(1e-6)
            print(seed, shuffled, audit.epsilon_lower, plan.claimed_epsilon, interval)
            assert not audit.refuted and interval.lower < SIGMA < interval.upper
