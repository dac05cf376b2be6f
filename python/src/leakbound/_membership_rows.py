"""What the membership commands find."""

from __future__ import annotations

from typing import Any

from leakbound._result import Result
from leakbound._rows import Row, Rows


class RateAt(Row):
    """The TPR at a target FPR, with limits of the rule that was found and of the ROC at this FPR."""

    target_fpr: float
    threshold: float
    fpr: float
    tpr: float
    tpr_lower: float
    tpr_upper: float
    fpr_upper: float
    curve_lower: float
    curve_upper: float
    bootstrap_lower: float | None
    bootstrap_upper: float | None
    failure_probability: float
    validity: str


class Level(Row):
    """Guesses that are pooled: of the population, of the most vulnerable samples, or of a class."""

    attack: str
    level: str
    label: int | None
    samples: int
    chosen_on_data: bool
    members: int
    non_members: int
    auc: float
    auc_bootstrap: tuple[float, float] | None
    balanced_accuracy: float
    best_threshold: float
    advantage: float
    at: Rows[RateAt]


class RocPoint(Row):
    """A threshold and its rates; the first point has no threshold."""

    threshold: float | None
    fpr: float
    tpr: float


class RocLimit(Row):
    """Limits of the TPR at an FPR."""

    fpr: float
    tpr_lower: float
    tpr_upper: float


class AttackRoc(Row):
    """The ROC of the population and its band."""

    attack: str
    points: Rows[RocPoint]
    limits: Rows[RocLimit]


class SampleRate(Row):
    """How well one sample is told apart."""

    sample: int
    tpr: float
    auc: float
    tpr_lower: float
    fpr_upper: float


class SampleLevel(Row):
    """All samples on their own at a target FPR, the most vulnerable first."""

    attack: str
    target_fpr: float
    population_tpr: float
    failure_probability: float
    samples: Rows[SampleRate]


class ScoreHistogram(Row):
    """Scores of a sample over the victims with it and without it."""

    attack: str
    sample: int
    edges: tuple[float, ...]
    members: tuple[int, ...]
    non_members: tuple[int, ...]
    infinite_members: tuple[int, int]
    infinite_non_members: tuple[int, int]


class SamplesAsCanaries(Row):
    """Whether the samples serve as canaries: how accurate models are on them, and whether they influence each other."""

    attack: str
    victims: int
    samples: int
    without_both: int
    accuracy: float | None
    accuracy_outside: float | None
    mean_correlation: float | None
    rms_correlation: float | None
    rms_expected: float | None
    p_value: float | None
    diluted_sample: int | None


class MembershipResult(Result):
    """Membership inference: the population, its most vulnerable samples, and each sample on its own."""

    _main = "levels"

    levels: Rows[Level]
    roc: Rows[AttackRoc]
    sample_level: Rows[SampleLevel]
    score_histograms: Rows[ScoreHistogram]
    canaries: Rows[SamplesAsCanaries]

    @property
    def auc(self) -> float:
        """The area under the ROC of the population, of the first attack."""
        return self._population().auc

    def tpr_at_fpr(self, fpr: float, attack: str | None = None) -> RateAt:
        """The population's TPR at one of the rates that were asked for by `fpr=`, with its limits."""
        found = [rate for rate in self._population(attack).at if rate.target_fpr == fpr]
        if not found:
            targets = ", ".join(f"{rate.target_fpr:g}" for rate in self._population(attack).at)
            raise KeyError(f"no rate at fpr {fpr!r}: the attack was run with fpr={targets}")
        return found[0]

    def plot(self, ax: Any = None) -> Any:
        """The ROC of the population with its band on logarithmic axes."""
        from leakbound._plots.rates import membership_roc

        return membership_roc(self, ax)

    def _population(self, attack: str | None = None) -> Level:
        for level in self.levels:
            if level.level == "population" and attack in (None, level.attack):
                return level
        raise KeyError(f"no guesses of the population, attack {attack!r}: the levels are those that were asked for")

    def _headline(self) -> str:
        parts = []
        for level in self.levels.where(level="population"):
            rates = ", ".join(f"TPR {rate.tpr:.3g} at FPR {rate.target_fpr:g}" for rate in level.at)
            parts.append(f"{level.attack} AUC {level.auc:.4f}, {rates}")
        return "; ".join(parts) or super()._headline()

    def _table(self) -> list[dict[str, Any]]:
        table = []
        for level in self.levels:
            row = {key: level[key] for key in level.to_dict() if key not in ("at", "auc_bootstrap")}
            for rate in level.at:
                row[f"tpr_at_{rate.target_fpr:g}"] = rate.tpr
                row[f"tpr_at_{rate.target_fpr:g}_lower"] = rate.tpr_lower
                row[f"tpr_at_{rate.target_fpr:g}_upper"] = rate.tpr_upper
            table.append(row)
        return table
