"""Canaries in a training by JAX. Skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest

import leakbound

jax = pytest.importorskip("jax")

pytestmark = pytest.mark.filterwarnings("ignore")


class Noise:
    """A privatizer of sums in the form of optax."""

    def __init__(self, deviation):
        self.deviation = deviation

    def init(self, params):
        return jax.random.key(1)

    def update(self, sums, key, params=None):
        key, draw = jax.random.split(key)
        leaves, tree = jax.tree_util.tree_flatten(sums)
        keys = jax.random.split(draw, len(leaves))
        noisy = [leaf + self.deviation * jax.random.normal(k, leaf.shape) for leaf, k in zip(leaves, keys)]
        return jax.tree_util.tree_unflatten(tree, noisy), key


def observed(plan, sigma, steps=60, rate=0.2, kind="dirac"):
    params = {"weights": np.zeros((30, 20), np.float32), "bias": np.zeros(20, np.float32)}
    watched = leakbound.canaries.GradientCanaries(plan, 620, sample_rate=rate, noise_multiplier=sigma, kind=kind)
    privatizer = leakbound.canaries.jax.audited(Noise(0.5 * sigma), watched, clip_norm=0.5, key=jax.random.key(3))
    state, update = privatizer.init(params), jax.jit(privatizer.update)
    for step in range(steps):
        sums = jax.tree_util.tree_map(lambda leaf: leaf + step, params)
        noisy, state = update(sums, state)
    return noisy, np.asarray(state.scores)


@pytest.mark.parametrize("kind", ["dirac", "signs"])
def test_scores_show_what_the_noise_allows(kind):
    claim = {"mechanism": "subsampled-gaussian:sigma=1.0,rate=0.2", "times": 60}
    plan = leakbound.canaries.plan(300, seed=2, **claim)
    noisy, scores = observed(plan, 1.0, kind=kind)
    audit = plan.audit(scores)
    print(audit, plan.forecast.epsilon)
    assert plan.forecast.epsilon.low * 0.5 <= audit.epsilon_lower <= plan.claimed_epsilon
    # The other records' part, which is the same for all, is not in the scores.
    assert abs(float(noisy["bias"].mean()) - 59) < 1
    plan = leakbound.canaries.plan(300, seed=3, **claim)
    assert leakbound.canaries.CanaryScores(scores[plan.coins], scores[~plan.coins]).auc < 0.6


def test_other_parameters_are_one_line():
    plan = leakbound.canaries.plan(300, seed=2)
    watched = leakbound.canaries.GradientCanaries(plan, 620, sample_rate=0.2, noise_multiplier=1)
    audited = leakbound.canaries.jax.audited
    with pytest.raises(ValueError, match="params: found 20 parameters, expected 620"):
        audited(Noise(1), watched, clip_norm=1, key=jax.random.key(0)).init(np.zeros(20))
    with pytest.raises(ValueError, match="clip_norm: found 0"):
        audited(Noise(1), watched, clip_norm=0, key=jax.random.key(0))


def trained(plan, sigma, noise):
    """A linear model that learns by jax_privacy, with its own clipping and its own noise."""
    clipping = pytest.importorskip("jax_privacy.clipping")
    noise_addition = pytest.importorskip("jax_privacy.noise_addition")
    jnp = jax.numpy
    random = np.random.default_rng(0)
    inputs = random.normal(size=(500, 30)).astype(np.float32)
    labels = (inputs @ random.normal(size=(30, 20))).argmax(1)
    steps, rate, norm = 50, 0.2, 0.5

    def loss(params, example):
        values, label = example
        logits = values @ params["weights"] + params["bias"]
        return -jax.nn.log_softmax(logits)[..., label].mean()

    gradient = clipping.clipped_grad(loss, l2_clip_norm=norm, keep_batch_dim=False)
    params = {"weights": jnp.zeros((30, 20)), "bias": jnp.zeros(20)}
    watched = leakbound.canaries.GradientCanaries(plan, 620, sample_rate=rate, noise_multiplier=sigma)
    privatizer = noise_addition.gaussian_privatizer(stddev=noise * norm, prng_key=jax.random.key(1))
    privatizer = leakbound.canaries.jax.audited(privatizer, watched, clip_norm=norm, key=jax.random.key(2))
    state = privatizer.init(params)
    for _ in range(steps):
        batch = np.flatnonzero(random.random(500) < rate)
        sums = gradient(params, (inputs[batch], labels[batch]))
        noisy, state = privatizer.update(sums, state)
        params = jax.tree_util.tree_map(lambda value, step: value - 0.02 * step, params, noisy)
    accuracy = (np.asarray(inputs @ params["weights"] + params["bias"]).argmax(1) == labels).mean()
    return accuracy, np.asarray(state.scores)


def test_a_training_by_jax_privacy_is_audited():
    """One with the noise of its claim shows about its forecast, and one with a quarter of it is refuted."""
    claim = {"mechanism": "subsampled-gaussian:sigma=1.0,rate=0.2", "times": 50}
    plan = leakbound.canaries.plan(500, seed=6, **claim)
    accuracy, scores = trained(plan, 1.0, 1.0)
    audit = plan.audit(scores)
    print(accuracy, audit, plan.forecast.epsilon)
    assert accuracy > 0.15
    assert 0.5 * plan.forecast.epsilon.low <= audit.epsilon_lower <= plan.claimed_epsilon and not audit.refuted
    plan = leakbound.canaries.plan(500, seed=7, claim_epsilon=2.0)
    assert plan.audit(trained(plan, 1.0, 0.25)[1]).refuted
