"""Canaries that are gradients: directions in the space of the parameters."""

from __future__ import annotations

import time
from typing import Any, Literal, get_args

import numpy as np

from leakbound._errors import InputError, UsageError
from leakbound._inputs import Array
from leakbound._intervals import Interval
from leakbound.results import CanaryPlan
from leakbound.canaries._examples import checked_coins

Kind = Literal["dirac", "signs"]


class GradientCanaries:
    """Gradients that are in the training or not, each by its own coin, and what the noisy gradients say of them.

    Canary i is a unit vector v_i in the space of the parameters; these are orthogonal, so that no canary disturbs
    another. Where its coin is up it is a further record: at each step it is in the batch with probability
    `sample_rate`, with a gradient of `scale` times the clipping norm C along v_i, which clipping must cut to C. Let x be
    the noisy sum along v_i, less the part of the other records, in units of C. Without the canary x is noise of
    standard deviation σ, the noise multiplier; with it x is that, and 1 more with probability q, the sample rate. The
    score is the logarithm of the likelihood ratio of both,
    ```text
    Σ_steps ln(1 - q + q exp((x - 1/2) / σ²)).
    ```
    It is what an adversary sees who knows all models of the run, and everything about the other records. No attack on
    a subsampled Gaussian mechanism shows more, so the audit should find what the plan's forecast shows.

    Training loops call `batch()` once for each step, and `observe(sums)`, or are given `opacus.attach` or
    `jax.audited`, which do.

    Parameters
    ----------
    plan : CanaryPlan
        The plan, for one run.
    dimension : int
        Number of parameters, at least one for each canary.
    sample_rate, noise_multiplier : float
        Probability q in (0, 1] that a record is in a batch, and σ above 0, which the training is accounted with.
    kind : {"dirac", "signs"}, default "dirac"
        "dirac", one parameter for each canary; "signs", a block of parameters with random signs for each.
    scale : float, default 10.0
        Norm of a gradient before clipping, in clipping norms, at least 1.
    seed : int, default 0
        Seed of the directions, which may be known.
    sampling_seed : int, optional
        Seed of the batches [default: from the operating system].
    """

    def __init__(
        self,
        plan: CanaryPlan,
        dimension: int,
        *,
        sample_rate: float,
        noise_multiplier: float,
        kind: Kind = "dirac",
        scale: float = 10.0,
        seed: int = 0,
        sampling_seed: int | None = None,
    ) -> None:
        if kind not in get_args(Kind):
            raise UsageError(f"found {kind!r}, expected one of {', '.join(get_args(Kind))}", "kind")
        if not 0 < sample_rate <= 1:
            raise UsageError(f"found {sample_rate!r}, expected a probability in (0, 1]", "sample_rate")
        if not 0 < noise_multiplier < np.inf:
            raise UsageError(f"found {noise_multiplier!r}, expected a number in (0, inf)", "noise_multiplier")
        if not 1 <= scale < np.inf:
            raise UsageError(f"found {scale!r}, expected a number in [1, inf)", "scale")
        if not isinstance(plan, CanaryPlan):
            raise InputError(f"found {type(plan).__name__}, expected a plan of canaries.plan", "plan")
        canaries = len(plan.coins)
        if dimension < canaries:
            raise InputError(
                f"found {dimension} parameters, expected at least one for each of {canaries} canaries",
                "dimension",
            )
        self._members: Array = np.flatnonzero(checked_coins(plan, canaries))
        self._random = np.random.default_rng(sampling_seed)
        self.dimension, self.kind, self.scale = int(dimension), kind, float(scale)
        self.sample_rate, self.noise_multiplier = float(sample_rate), float(noise_multiplier)
        width = 1 if kind == "dirac" else dimension // canaries
        random = np.random.default_rng(seed)
        # [canary, place]: the parameters of each canary, which no other has, and their weights.
        places = random.permutation(dimension)[: canaries * width].reshape(canaries, width)
        self.places = np.sort(places, axis=1)
        self.weights = (random.integers(2, size=self.places.shape) * 2 - 1) / np.sqrt(width)
        self._scores, self._changes, self._last = np.zeros(canaries), np.zeros(canaries), np.zeros(canaries)
        self._left_out: Array = np.flatnonzero(~plan.coins)
        self._squares = 0.0
        self.steps = 0
        self.seconds = 0.0

    def __len__(self) -> int:
        return len(self._scores)

    def batch(self) -> Array:
        """Draws the canaries of the next step: numbers of those in the batch, by Poisson sampling of the members."""
        drawn: Array = self._members[self._random.random(len(self._members)) < self.sample_rate]
        return drawn

    @property
    def members(self) -> Array:
        """Numbers of the canaries whose coin is up, which the training is to have."""
        return self._members.copy()

    def gradient(self, canary: int) -> tuple[Array, Array]:
        """Where the unit vector of a canary is not 0, and its values there."""
        return self.places[canary], self.weights[canary]

    def along(self, vector: Array) -> Array:
        """The inner product of a vector [parameter] with each canary, [canary]."""
        products: Array = np.einsum("cp,cp->c", vector[self.places].astype(np.float64), self.weights)
        return products

    def observe(self, sums: Array) -> None:
        """Adds a step to the scores: `sums` [canary], the noisy sums along the canaries, less the other records, in
        clipping norms."""
        if np.shape(sums) != (len(self),):
            raise UsageError(f"found shape {np.shape(sums)}, expected one for each of {len(self)} canaries", "sums")
        if not np.isfinite(sums).all():
            raise InputError(f"found {sums[~np.isfinite(sums)][0]} at step {self.steps}, expected finite numbers", "sums")
        rate, sigma = self.sample_rate, self.noise_multiplier
        with np.errstate(divide="ignore"):
            self._scores += np.logaddexp(np.log1p(-rate), np.log(rate) + (sums - 0.5) / sigma**2)
        self._squares += float((sums[self._left_out] ** 2).sum())
        if self.steps:
            self._changes += (sums - self._last) ** 2
        self._last = np.array(sums, np.float64)
        self.steps += 1

    @property
    def scores(self) -> Array:
        """The score of each canary, [canary]; high scores mean members."""
        if not self.steps:
            raise UsageError("found no step, expected a training that was observed", "scores")
        return self._scores.copy()

    def noise_interval(self, failure_probability: float = 0.05) -> Interval:
        """Limits of the noise multiplier, from what was seen along the canaries that were left out.

        There x is noise alone. With n canaries and steps together, of sum of squares S, a χ² variable gives
        σ² ≤ S / (n - 2 √(n t)) and σ² ≥ S / (n + 2 √(n t) + 2 t), each but for a probability of e^-t (Laurent and
        Massart 2000, Lemma 1). It assumes normal noise, drawn again at each step, and a number of steps that was chosen
        before. A σ above the interval is refuted, after few steps; the ε of an audit is a guarantee of another kind,
        which assumes nothing about the noise.
        """
        if not 0 < failure_probability < 1:
            raise UsageError(f"found {failure_probability!r}, expected a number in (0, 1)", "failure_probability")
        n, t = len(self._left_out) * self.steps, float(np.log(2 / failure_probability))
        if n == 0:
            raise UsageError("found no step, expected a training that was observed", "noise_interval")
        least = n - 2 * np.sqrt(n * t)
        upper = np.sqrt(self._squares / least) if least > 0 else np.inf
        return Interval(float(np.sqrt(self._squares / (n + 2 * np.sqrt(n * t) + 2 * t))), float(upper))

    @property
    def change_scores(self) -> Array:
        """Another score, [canary]: how much x changed from step to step, the sum of the squares.

        Noise of its own at each step hides these changes; noise that is used again does not. It is chosen in the place
        of `scores` before the training: a plan is for one of them.
        """
        if self.steps < 2:
            raise UsageError("found no two steps, expected a training that was observed", "change_scores")
        return self._changes.copy()

    def timed(self) -> Any:
        """A context whose time is added to `seconds`, what the canaries cost."""
        return _Timed(self)

    def __repr__(self) -> str:
        return f"<GradientCanaries: {len(self)} {self.kind}, {self.steps} steps, {self.seconds:.3g} s>"


class _Timed:
    def __init__(self, canaries: GradientCanaries) -> None:
        self._canaries, self._start = canaries, 0.0

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._canaries.seconds += time.perf_counter() - self._start
