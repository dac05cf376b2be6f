"""What the scores of canaries prove."""

from __future__ import annotations

from typing import Any, NamedTuple

from leakbound._bound_rows import best
from leakbound._inputs import Array
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows


class ScoreBound(Row):
    """A lower bound of ε at `delta`, of μ, or of δ at `epsilon`, and the threshold that gave it."""

    method: str
    selection: str
    direction: str | None
    delta: float | None
    epsilon: float | None
    threshold: float | None
    lower: float
    failure_probability: float
    validity: str


class Rate(Row):
    """A threshold, the canaries from it on, and limits of its rates that hold for all thresholds at once."""

    threshold: float
    true_positives: int
    false_positives: int
    tpr_lower: float
    fpr_upper: float


class OneRun(Row):
    """The guesses on the canaries of one training run."""

    selection: str
    canaries: int
    guessed_members: int
    guessed_non_members: int
    right: int


class ScoresAudit(Result):
    """Lower bounds of ε, μ and δ from the scores of canaries. All lines share one failure probability."""

    _main = "epsilon"

    members: int
    non_members: int
    epsilon: Rows[ScoreBound]
    mu: Rows[ScoreBound]
    epsilon_of_mu: Rows[ScoreBound]
    delta: Rows[ScoreBound]
    one_run: OneRun | None
    rates: Rows[Rate]
    false_claims: Row | None
    claims: Rows[Claim]

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ: the larger direction, which holds as all lines hold together."""
        return float(best([row.lower for row in self.epsilon]))

    @property
    def mu_lower(self) -> float:
        """The lower bound of μ."""
        return float(best([row.lower for row in self.mu]))

    def plot(self, ax: Any = None) -> Any:
        """The band of the rates of all thresholds."""
        from leakbound._plots.rates import rate_band

        return rate_band(self, ax)


class EpsilonBound(ScoresAudit):
    """A `ScoresAudit` that was asked for ε: `float()` gives the lower bound."""

    @property
    def value(self) -> float:
        """The lower bound of ε at δ."""
        return self.epsilon_lower

    def __float__(self) -> float:
        return self.value

    def _headline(self) -> str:
        if not len(self.epsilon):
            return super()._headline()
        row = max(self.epsilon, key=lambda row: row.lower)
        return (
            f"ε ≥ {row.lower:.4g} at δ = {row.delta:g} "
            f"({row.method}, {row.validity}, failure probability {row.failure_probability:g})"
        )


class MuBound(ScoresAudit):
    """A `ScoresAudit` that was asked for μ: `float()` gives the lower bound."""

    _main = "mu"

    @property
    def value(self) -> float:
        """The lower bound of μ."""
        return self.mu_lower

    def __float__(self) -> float:
        return self.value

    def _headline(self) -> str:
        if not len(self.mu):
            return super()._headline()
        row = max(self.mu, key=lambda row: row.lower)
        return f"μ ≥ {row.lower:.4g} ({row.method}, {row.validity}, failure probability {row.failure_probability:g})"


class Roc(NamedTuple):
    """A ROC curve: rates from (0, 0) to (1, 1), and the thresholds from which on a canary is called a member."""

    fpr: Array
    tpr: Array
    thresholds: Array


class TprAtFpr(NamedTuple):
    """The largest TPR of a threshold whose FPR is at most the target.

    `tpr` and `fpr` are those of the canaries; `tpr_lower` and `fpr_upper` limit the rates of the attack at all
    thresholds at once, unless an event of the failure probability happened. `float()` gives `tpr`.
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
