"""Scores over the checkpoints of a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._errors import UsageError
from leakbound._inputs import Array


class ScoreMean:
    """The mean score of each canary over checkpoints, less that of all canaries at the same checkpoint.

    Losses fall during training for all canaries alike; without their common part each checkpoint counts the same. Which
    checkpoints are averaged is decided before looking at the scores.

    >>> mean = leakbound.canaries.ScoreMean()
    >>> mean.add([1.0, 2.0]); mean.add([5.0, 8.0])
    >>> mean.scores.tolist()
    [-1.0, 1.0]
    """

    __slots__ = ("_sum", "checkpoints")

    def __init__(self) -> None:
        self._sum: Array | None = None
        self.checkpoints = 0

    def add(self, scores: ArrayLike) -> None:
        """Adds the scores of a checkpoint, [canary]."""
        found = _inputs.scores("scores", scores).astype(np.float64)
        if self._sum is not None and len(found) != len(self._sum):
            raise UsageError(f"found {len(found)}, expected {len(self._sum)} as of the checkpoint before", "scores")
        found = found - found.mean()
        self._sum = found if self._sum is None else self._sum + found
        self.checkpoints += 1

    @property
    def scores(self) -> Array:
        """The means, [canary]."""
        if self._sum is None:
            raise UsageError("found no checkpoint, expected at least one", "scores")
        return self._sum / self.checkpoints
