"""Audits of the scores of canaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _core, _inputs
from leakbound._errors import InputError, UsageError
from leakbound.documents import Rate
from leakbound._inputs import Array, File, Path
from leakbound._methods import CanaryAudits


class Roc(NamedTuple):
    """A ROC curve: rates from (0, 0) to (1, 1), and the thresholds from which on a canary is called a member.

    Parameters
    ----------
    fpr, tpr, thresholds : ndarray
        False-positive and true-positive rates [point], which rise, and the thresholds [point], which fall from inf.
    """

    fpr: Array
    tpr: Array
    thresholds: Array


class TprAtFpr(NamedTuple):
    """The largest TPR of a threshold whose FPR is at most the target.

    `tpr` and `fpr` are those of the canaries; `tpr_lower` and `fpr_upper` limit the rates of the attack at all
    thresholds simultaneously, unless an event of the failure probability happened. `float()` gives `tpr`.

    Parameters
    ----------
    target_fpr, threshold : float
        The target, and the threshold, at or above which a canary is called a member.
    tpr, fpr, tpr_lower, fpr_upper : float
        The rates at the threshold and their limits.
    failure_probability : float
        Probability that a limit is wrong, at most.
    """

    target_fpr: float
    threshold: float
    tpr: float
    fpr: float
    tpr_lower: float
    fpr_upper: float
    failure_probability: float

    def __float__(self) -> float:
        return self.tpr


class CanaryScores(CanaryAudits):
    """Scores of canaries that were trained on and of canaries that were not; high scores mean members.

    Parameters
    ----------
    members, non_members : array_like or path
        Scores [canary] of the canaries in the training data and of those left out; paths are of `.npy` files.
    flip : bool, default False
        True where low scores mean members: scores are negated, and thresholds, given or found, are those of the negated
        scores.

    Examples
    --------
    >>> import numpy
    >>> random = numpy.random.default_rng(0)
    >>> scores = leakbound.canaries.CanaryScores(random.normal(2, 1, 500), random.normal(0, 1, 500))
    >>> 1 < float(scores.epsilon(delta=1e-5)) < 5
    True
    >>> scores.auc > 0.9
    True
    """

    __slots__ = ("_members", "_non_members", "_flip")

    def __init__(self, members: Path | ArrayLike, non_members: Path | ArrayLike, *, flip: bool = False) -> None:
        self._members = _scores("members", members)
        self._non_members = _scores("non_members", non_members)
        self._flip = flip

    def tpr_at_fpr(self, fpr: float, *, failure_probability: float = 0.05, threads: int | None = None) -> TprAtFpr:
        """The TPR at an FPR of at most `fpr`, with limits that hold at all thresholds simultaneously."""
        if not 0 <= fpr <= 1:
            raise UsageError(f"found {fpr!r}, expected a rate from 0 to 1", "fpr")
        curve = self.roc()
        # The largest TPR: the last point of the curve that the target allows.
        at = int(np.searchsorted(curve.fpr, fpr, side="right")) - 1
        band = self.audit(selection="uniform", failure_probability=failure_probability, threads=threads)
        threshold = float(curve.thresholds[at])
        tpr_lower, fpr_upper = _limits(band.rates, threshold)
        return TprAtFpr(
            float(fpr),
            threshold,
            float(curve.tpr[at]),
            float(curve.fpr[at]),
            tpr_lower,
            fpr_upper,
            float(band.epsilon[0].failure_probability),
        )

    def roc(self) -> Roc:
        """The ROC curve of the canaries, as scikit-learn's `roc_curve` has it."""
        fpr, tpr, thresholds, _ = self._curve()
        return Roc(fpr, tpr, thresholds)

    @property
    def auc(self) -> float:
        """The area under the ROC curve, where ties count half."""
        return self._curve()[3]

    def plot(self, ax: Any = None) -> Any:
        """The ROC curve on logarithmic axes."""
        from leakbound._plots.rates import roc_curve

        return roc_curve(self.roc(), self.auc, ax)

    @property
    def flip(self) -> bool:
        """Whether low scores mean members."""
        return self._flip

    def files(self) -> dict[str, str | File | None]:
        """The scores as the options of a command take them."""
        return {"members": self._members, "non_members": self._non_members}

    def __repr__(self) -> str:
        return f"<CanaryScores: {_length(self._members)} members, {_length(self._non_members)} non-members>"

    def _curve(self) -> tuple[Array, Array, Array, float]:
        members, non_members = _loaded("members", self._members), _loaded("non_members", self._non_members)
        return _core.roc(-members, -non_members) if self._flip else _core.roc(members, non_members)


def _scores(name: str, value: Path | ArrayLike) -> str | Array:
    return _inputs.path(name, value) if _inputs.is_path(value) else _inputs.scores(name, value)  # type: ignore[arg-type]


def _loaded(name: str, value: str | Array) -> Array:
    """The scores as doubles."""
    if isinstance(value, str):
        try:
            value = _inputs.scores(name, np.load(value))
        except OSError as error:
            raise InputError(f"{error}", name) from None
    if np.isnan(value).any():
        raise InputError("found NaN, expected a number or inf", name)
    return np.asarray(value, dtype=np.float64)


def _limits(rates: Sequence[Rate], threshold: float) -> tuple[float, float]:
    """Limits at a threshold from those around it, as rates only fall where thresholds rise."""
    lower = max((rate.tpr_lower for rate in rates if rate.threshold >= threshold), default=0.0)
    upper = min((rate.fpr_upper for rate in rates if rate.threshold <= threshold), default=1.0)
    return lower, upper


def _length(value: str | Array) -> Union[int, str]:
    return value if isinstance(value, str) else len(value)
