"""Gradient canaries in a training by jax_privacy, or by any privatizer of sums of clipped gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from leakbound._errors import InputError, UsageError
from leakbound.canaries._gradients import GradientCanaries


class AuditedState(NamedTuple):
    """The state of a privatizer with canaries; `numpy.asarray(state.scores)` is for `plan.audit`."""

    inner: Any
    key: Any
    scores: Any


class AuditedPrivatizer(NamedTuple):
    """A gradient transformation in the form of optax."""

    init: Any
    update: Any


def audited(privatizer: Any, canaries: GradientCanaries, *, clip_norm: float, key: Any) -> AuditedPrivatizer:
    """The privatizer with the gradients of canaries added to the sum of clipped gradients before the noise.

    `update` may be compiled by `jax.jit`. Unlike in `opacus.attach` canaries come after clipping, with a norm of
    `clip_norm`: what clipping does wrong they do not show.

    ```python
    privatizer = jax_privacy.noise_addition.gaussian_privatizer(stddev=sigma * clip_norm, ...)
    watched = leakbound.canaries.GradientCanaries(plan, dimension, sample_rate=rate, noise_multiplier=sigma)
    privatizer = leakbound.canaries.jax.audited(privatizer, watched, clip_norm=clip_norm, key=jax.random.key(seed))
    state = privatizer.init(params)
    ...                                                       # noisy, state = privatizer.update(sums, state)
    print(plan.audit(numpy.asarray(state.scores)))
    ```

    Parameters
    ----------
    privatizer
        A pair of `init` and `update` that adds noise to a tree of summed gradients.
    canaries
        The canaries, for this run alone.
    clip_norm
        The clipping norm C.
    key
        The key of the canaries' batches, which nobody may know who scores.
    """
    if not 0 < clip_norm < np.inf:
        raise UsageError(f"found {clip_norm!r}, expected a number in (0, inf)", "clip_norm")
    places, weights = jnp.asarray(canaries.places), jnp.asarray(canaries.weights, jnp.float32)
    coins = np.zeros(len(canaries), np.float32)
    coins[canaries.members] = 1
    members = jnp.asarray(coins)
    rate, sigma = canaries.sample_rate, canaries.noise_multiplier
    first = key

    def init(params: Any) -> AuditedState:
        found = sum(leaf.size for leaf in jax.tree_util.tree_leaves(params))
        if found != canaries.dimension:
            raise InputError(f"found {found} parameters, expected {canaries.dimension} as of the canaries", "params")
        return AuditedState(privatizer.init(params), first, jnp.zeros(len(canaries)))

    def update(sums: Any, state: AuditedState, params: Any = None) -> tuple[Any, AuditedState]:
        others, tree = ravel_pytree(sums)
        key, draw = jax.random.split(state.key)
        drawn = members * jax.random.bernoulli(draw, rate, members.shape)
        joined = others.at[places].add((clip_norm * drawn)[:, None] * weights)
        noisy, inner = privatizer.update(tree(joined), state.inner, params)
        # The others' part is subtracted before the sum, where it is exact.
        along = ((ravel_pytree(noisy)[0] - others)[places] * weights).sum(axis=1) / clip_norm
        present = jnp.log(rate) + (along - 0.5) / sigma**2
        scores = state.scores + (present if rate == 1 else jnp.logaddexp(jnp.log1p(-rate), present))
        return noisy, AuditedState(inner, key, scores)

    return AuditedPrivatizer(init, update)
