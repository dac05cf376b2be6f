"""Label privacy: what wrong labels that a model memorized prove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._inputs import Path
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run


class MemorizationBound(Row):
    """ε of label privacy at δ, by guesses from a confidence on."""

    method: str
    selection: str
    threshold: float
    delta: float
    canaries: int
    guesses: int
    right: int
    epsilon_lower: float
    epsilon_upper: float | None
    failure_probability: float
    validity: str


class Memorization(Result):
    """Bounds of label privacy, and the published interval, which is a heuristic."""

    _main = "epsilon"

    canaries: int
    classes: int
    epsilon: Rows[MemorizationBound]
    claims: Rows[Claim]

    @property
    def epsilon_lower(self) -> float:
        """The finite-sample lower bound of ε."""
        return max((row.epsilon_lower for row in self.epsilon if row.validity == "finite-sample"), default=0.0)

    def plot(self, ax: Any = None) -> Any:
        """ε by method."""
        from leakbound._plots.bars import epsilon_by_method

        return epsilon_by_method(self, ax)


def memorization(
    recording: Path | Mapping[str, ArrayLike],
    *,
    threshold: float | None = None,
    delta: float = 0.0,
    failure_probability: float = 0.05,
    claim_epsilon: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> Memorization:
    """Bounds ε of label privacy by the wrong labels that a model memorized (`leakbound label-dp memorization`).

    `recording` is a file, or `probabilities` or `logits` [canary, class], `labels_true` and `labels_trained` [canary]
    by name. Every canary was trained on with a wrong label, drawn uniformly and by itself. `threshold` is the
    confidence from which on a guess is made, declared before looking; chosen on a random half if not given.

    >>> import numpy
    >>> true, trained = numpy.zeros(200, int), numpy.ones(200, int)
    >>> canaries = {"probabilities": numpy.tile([0.1, 0.8, 0.1], (200, 1)), "labels_true": true,
    ...             "labels_trained": trained}
    >>> leakbound.memorization(canaries, threshold=0.5).epsilon_lower > 1
    True
    """
    options = given(memorization, locals(), "recording", "progress")
    data = {"recording": _inputs.recording("recording", recording)}
    return run(Memorization, "label-dp memorization", options, data, progress=progress)
