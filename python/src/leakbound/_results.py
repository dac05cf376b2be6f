"""Results of the functions: a document with figures, tables and the numbers that one asks for first."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _documents
from leakbound._core import InputError, UsageError
from leakbound._documents import Counterexample, EpsilonLower, Level, Query, RateAt
from leakbound._inputs import Array, Path, is_path, path
from leakbound._rdp import RdpCurve
from leakbound._result import Result, refuted_claims
from leakbound._rows import Rows

if TYPE_CHECKING:
    from leakbound._data import ScoreSets

__all__ = [
    "Account",
    "Bench",
    "Calibration",
    "CanaryAudit",
    "CanaryPlan",
    "CountsAudit",
    "EpsilonBound",
    "Exact",
    "MechanismAudit",
    "MembershipResult",
    "Memorization",
    "MuBound",
    "PropertyDistance",
    "ScoresAudit",
    "SelfCheck",
    "SimulationResult",
    "StreamAudit",
    "TextMembership",
    "TokensAudit",
    "Verification",
    "VotesAudit",
]


class Exact(_documents.ExactDocument, Result):
    """The output distributions of both worlds and their divergences."""

    _main = "divergences"

    def plot(self, ax: Any = None) -> Any:
        """Divergences and accountants against the order."""
        from leakbound._plots.curves import exact_curves

        return exact_curves(self, ax)


def one_epsilon(rows: Rows[EpsilonLower]) -> float:
    """The lower bound of ε at δ, of the larger direction, where one query was bounded by one method."""
    if len({(row.query, row.method) for row in rows}) > 1:
        raise UsageError("epsilon_lower: found bounds of several queries or methods, expected a choice in `epsilon`")
    return best([row.epsilon_lower for row in rows])


class CountsAudit(_documents.CountsDocument, Result):
    """Lower bounds from the counts of two worlds."""

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ, of the larger direction, where one query was bounded by one method.

        Methods have guarantees of their own, and of several queries the largest bound has none with
        `failure_per="query"`.
        """
        return one_epsilon(self.epsilon)

    def plot(self, ax: Any = None) -> Any:
        """Bounds against the order; ε by method where no divergence was bounded."""
        from leakbound._plots.bars import epsilon_by_method
        from leakbound._plots.curves import bound_curves

        return bound_curves(self, ax) if len(self.bounds) else epsilon_by_method(self, ax)


class MechanismAudit(_documents.MechanismDocument, Result):
    """Where a program leaks and how much: the pairs that were tried, bounds for the one that showed most, and what
    refutes a claim."""

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ, of the larger direction, where it was bounded by one method; 0 with `stop_early`."""
        return one_epsilon(self.epsilon)

    def plot(self, ax: Any = None) -> Any:
        """Frequencies of the outcomes under the dataset and under its neighbor."""
        from leakbound._plots.bars import outcomes

        return outcomes(self, ax)

    def _headline(self) -> str:
        verdict = self._refutation() if self.refuted else "no claim is refuted" if len(self.claims) else "no claim"
        return f"{self.program}, {self.runs.search + self.runs.bounded} runs of each dataset, {verdict}"

    def _refutation(self) -> str:
        found = self._items["counterexample"]
        # Its query is the pair.
        claims = "; ".join(refuted_claims(self._items["claims"], of_queries=found is None))
        if found is None:
            return claims
        pair = " against ".join(short(json.dumps(found[world], ensure_ascii=False)) for world in ("dataset", "neighbor"))
        shares = (
            f"{found['inside']} of {found['outputs']} against {found['inside_neighbor']} of {found['outputs_neighbor']}"
        )
        bits = any(warning["code"] == "floating-point" for warning in self._items["warnings"])
        why = ": the last binary places of floating-point noise, which `round` leaves out" if bits else ""
        return f"{claims}, by {pair} in the event {found['event']} ({shares} outputs){why}"


def short(text: str, most: int = 200) -> str:
    """A text with its middle left out where it is long."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


class StreamAudit(_documents.StreamDocument, Result):
    """Bounds that hold at any time, and where reading stopped."""

    def plot(self, ax: Any = None) -> Any:
        """Bounds against the order."""
        from leakbound._plots.curves import bound_curves

        return bound_curves(self, ax)


class TokensAudit(_documents.TokensDocument, Result):
    """What each member of an ensemble of language models leaks by its next tokens."""

    _main = "renyi"

    def plot(self, ax: Any = None) -> Any:
        """The larger sum of both directions against the order, member by member, and the bounds of accountants."""
        from leakbound._plots.curves import token_curves

        return token_curves(self, ax)


class VotesAudit(_documents.VotesDocument, Result):
    """Lower bounds, the fitted model and accountants side by side, for each query and composed."""

    _main = "queries"

    def plot(self, ax: Any = None, direction: str = "forward") -> Any:
        """Means over the queries against the order: lower bounds, the distribution of the model and accountants."""
        from leakbound._plots.curves import votes_curves

        return votes_curves(self.queries, ax, direction)

    def _headline(self) -> str:
        refuted = ", a claim is refuted" if self.refuted else ""
        composed = self.composed
        how = f", composed {composed.composition} ({composed.meaning})" if composed is not None else ""
        return f"{len(self.queries)} queries{how}{refuted}"

    def _table(self) -> list[dict[str, Any]]:
        return queries_table(self.queries)


def queries_table(queries: Rows[Query]) -> list[dict[str, Any]]:
    """A row for each query, direction and order with a column for each bound, the exact value and each accountant."""
    table: dict[tuple[int, str, float], dict[str, Any]] = {}
    for position, query in enumerate(queries):
        for direction in ("forward", "reverse"):
            for exact in query.exact:
                row = {"query": query.query, "label": query.label, "direction": direction, "order": exact.order}
                table[position, direction, exact.order] = row
            for bound in query.lower.where(direction=direction):
                key = (position, direction, bound.order)
                start = {"query": query.query, "label": query.label, "direction": direction, "order": bound.order}
                table.setdefault(key, start)[bound.method] = bound.rdp_lower
            for exact in query.exact:
                table[position, direction, exact.order]["exact"] = getattr(exact, direction)
            for upper in query.upper.where(direction=direction):
                if (position, direction, upper.order) in table:
                    table[position, direction, upper.order][upper.name] = upper.rdp
    return list(table.values())


class ScoresAudit(_documents.ScoresDocument, Result):
    """Lower bounds of ε, μ and δ from the scores of canaries. All lines share one failure probability."""

    _main = "epsilon"

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ: the larger direction, which holds as all lines hold together."""
        return best([row.lower for row in self.epsilon])

    @property
    def mu_lower(self) -> float:
        """The lower bound of μ."""
        return best([row.lower for row in self.mu])

    def plot(self, ax: Any = None) -> Any:
        """The band of the rates of all thresholds."""
        from leakbound._plots.rates import rate_band

        return rate_band(self, ax)


class EpsilonBound(ScoresAudit):
    """A `ScoresAudit` reduced to ε: `float()` gives the lower bound."""

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
    """A `ScoresAudit` reduced to μ: `float()` gives the lower bound."""

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


class CanaryPlan(_documents.CanaryPlanDocument, Result):
    """The audit of one training run as it is declared before training."""

    # The scores that it was used for.
    _used: list[str | bytes] | None = None

    @property
    def coins(self) -> Array:
        """True for the canaries that the run is to be trained on, [canary]."""
        coins: Array = np.frombuffer(self.plan.coins.encode(), np.uint8) == ord("1")
        return coins

    @property
    def sha256(self) -> str:
        """Identifies the plan: deposit it before training, and compare it with `plan_sha256` of the audit."""
        return self.plan.sha256

    def save(self, file: Path) -> None:
        """Writes the plan as JSON, which `leakbound canaries audit` reads; a file that is there is an error."""
        name = path("file", file)
        try:
            written = open(name, "x", encoding="utf-8")
        except FileExistsError:
            raise InputError(f"file: found {name}, expected a new file; a plan is not replaced by another") from None
        except OSError as error:
            raise InputError(f"file: {error}") from None
        try:
            with written:
                written.write(self.to_json())
        except OSError as error:
            # Half a plan is none.
            os.unlink(name)
            raise InputError(f"file: {name}: {error}") from None

    @classmethod
    def load(cls, file: Path) -> CanaryPlan:
        """Reads a plan that was saved or written by `leakbound canaries plan --format json`; its audit checks it."""
        name = path("file", file)
        try:
            with open(name, encoding="utf-8") as saved:
                text = saved.read()
            document = json.loads(text)
        except (OSError, ValueError) as error:
            raise InputError(f"file: {name}: {error}") from None
        if not isinstance(document, dict) or document.get("schema") != "leakbound.canary-plan/1":
            raise InputError(f"file: {name}: found no plan of canaries, expected the schema leakbound.canary-plan/1")
        return cls(text, False)

    def audit(self, scores: ScoreSets, *, repetitions: int = 200) -> CanaryAudit:
        """`audit_canaries` of the scores: a score for each canary, trained on or not; of several attacks a list of them.

        A plan is for these scores alone. Others are an error: the better of two audits is not covered by the failure
        probability, and a second run needs coins of its own.
        """
        from leakbound._data import score_sets
        from leakbound._functions import audit_canaries

        sets = score_sets(scores)
        used: list[str | bytes] = [repr(found) if is_path(found) else np.asarray(found).tobytes() for found in sets]
        if self._used not in (None, used):
            raise UsageError("plan: found other scores than before, expected the same; take a new plan for every run")
        audit = audit_canaries(self, scores, repetitions=repetitions)
        self._used = used
        return audit

    def _table(self) -> list[dict[str, Any]]:
        return [{"canary": canary, "member": bool(coin)} for canary, coin in enumerate(self.coins)]

    def _headline(self) -> str:
        claim = "" if self.claimed_epsilon is None else f" for a claim of ε ≤ {self.claimed_epsilon:.4g}"
        return f"{len(self.coins)} canaries, {self.members} of them to be trained on{claim}, {self.sha256[:8]}…"


class CanaryAudit(_documents.CanaryAuditDocument, Result):
    """Lower bounds of ε, and of μ where the plan has one, of one training run. All lines share one failure probability."""

    _main = "epsilon"

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at the plan's δ."""
        return best([row.lower for row in self.epsilon])

    @property
    def mu_lower(self) -> float:
        """The lower bound of μ; 0 where the plan has none."""
        return best([row.lower for row in self.mu])

    def _headline(self) -> str:
        claim = "" if self.claimed_epsilon is None else f", claimed ε ≤ {self.claimed_epsilon:.4g}"
        return f"ε ≥ {self.epsilon_lower:.4g}{claim}"


class MembershipResult(_documents.MembershipDocument, Result):
    """Membership inference: the population, its most vulnerable samples, and each sample on its own."""

    _main = "levels"

    @property
    def auc(self) -> float:
        """The area under the ROC of the population, of the first attack."""
        return self._population().auc

    def tpr_at_fpr(self, fpr: float, attack: str | None = None) -> RateAt:
        """The population's TPR at one of the rates given as `fpr=`, with its limits."""
        found = [rate for rate in self._population(attack).at if rate.target_fpr == fpr]
        if not found:
            targets = ", ".join(f"{rate.target_fpr:g}" for rate in self._population(attack).at)
            raise KeyError(f"no rate at fpr {fpr!r}: the attack was run with fpr={targets}")
        return found[0]

    def plot(self, ax: Any = None) -> Any:
        """The ROC of the population with its band on logarithmic axes."""
        from leakbound._plots.rates import membership_roc

        return membership_roc(self, ax)

    def _areas(self) -> dict[str, float]:
        return {level.attack: level.auc for level in self.levels if level.level == "population"}

    def _population(self, attack: str | None = None) -> Level:
        for level in self.levels:
            if level.level == "population" and attack in (None, level.attack):
                return level
        raise KeyError(f"no guesses of the population, attack {attack!r}: the result has the levels that were requested")

    def _headline(self) -> str:
        parts = []
        for level in self.levels.where(level="population"):
            rates = ", ".join(f"TPR {rate.tpr:.3g} at FPR {rate.target_fpr:g}" for rate in level.at)
            parts.append(f"{level.attack} AUC {level.auc:.4f}, {rates}")
        return "; ".join(parts) or super()._headline()

    def _table(self) -> list[dict[str, Any]]:
        table = _without(self.levels, "at", "auc_bootstrap")
        for row, level in zip(table, self.levels):
            for rate in level.at:
                row[f"tpr_at_{rate.target_fpr:g}"] = rate.tpr
                row[f"tpr_at_{rate.target_fpr:g}_lower"] = rate.tpr_lower
                row[f"tpr_at_{rate.target_fpr:g}_upper"] = rate.tpr_upper
        return table


class TextMembership(_documents.TextMembershipDocument, Result):
    """Membership of texts in the training data of a language model: a row for each score."""

    _main = "attacks"

    @property
    def auc(self) -> float:
        """The area under the ROC of the first score."""
        return self.attacks[0].auc

    def plot(self, ax: Any = None) -> Any:
        """The ROC of each score on logarithmic axes."""
        from leakbound._plots.rates import membership_roc

        return membership_roc(self, ax)

    def _areas(self) -> dict[str, float]:
        return {attack.score: attack.auc for attack in self.attacks}

    def _headline(self) -> str:
        return "; ".join(f"{attack.score} AUC {attack.auc:.4f}" for attack in self.attacks)

    def _table(self) -> list[dict[str, Any]]:
        return _without(self.attacks, "at")


class Memorization(_documents.MemorizationDocument, Result):
    """Bounds of label privacy, and the published interval, which is a heuristic."""

    _main = "epsilon"

    @property
    def epsilon_lower(self) -> float:
        """The finite-sample lower bound of ε."""
        return best([row.epsilon_lower for row in self.epsilon if row.validity == "finite-sample"])

    def plot(self, ax: Any = None) -> Any:
        """ε by method."""
        from leakbound._plots.bars import epsilon_by_method

        return epsilon_by_method(self, ax)


class PropertyDistance(_documents.PropertyDistanceDocument, Result):
    """The value of the property whose ensembles the student resembles most, with a margin and a p-value."""

    _main = "distances"

    def plot(self, ax: Any = None) -> Any:
        """Distances by value of the property."""
        from leakbound._plots.bars import distances

        return distances(self, ax)

    def _headline(self) -> str:
        return f"value {self.inferred}, margin {self.margin:.4g}, p-value {self.p_value:.3g}"


class SimulationResult(_documents.SimulationDocument, Result):
    """Counts of simulated outputs; `audit_counts` takes it as it is."""

    _main = "queries"

    def plot(self, ax: Any = None) -> Any:
        """Frequencies of the outputs of the first query in both worlds."""
        from leakbound._plots.bars import frequencies

        return frequencies(self, ax)

    def _headline(self) -> str:
        plan = self.plan
        return f"{plan.samples:g} outputs per query and world, {len(self.queries)} queries, seed {plan.seed}"

    def _table(self) -> list[dict[str, Any]]:
        return [
            {"query": query.query, "outcome": label, "count": count, "count_neighbor": neighbor}
            for query in self.queries
            for label, count, neighbor in zip(query.labels, query.counts, query.counts_neighbor)
        ]


class Calibration(_documents.CalibrateDocument, Result):
    """The least noise that meets a goal, and what it guarantees."""

    _main = "profile"

    def plot(self, ax: Any = None) -> Any:
        """What any attacker achieves at most, against its false-positive rate."""
        from leakbound._plots.curves import attack_bounds

        return attack_bounds(self, ax)

    def _headline(self) -> str:
        times = "" if self.times == 1 else f", run {self.times} times"
        return f"{self.parameter} = {self.scale:.6g} for {self.goal}{times}"


class Account(_documents.AccountDocument, Result):
    """Accountants of all answers together, side by side."""

    _main = "curves"

    def curve(self, name: str) -> RdpCurve:
        """The curve of an accountant at the orders of the table. ε of the document is taken over many more orders."""
        for curve in self.curves:
            if curve.name == name:
                return RdpCurve(self.orders, curve.rdp)
        raise KeyError(f"no accountant {name!r}: there are {', '.join(curve.name for curve in self.curves)}")

    def plot(self, ax: Any = None) -> Any:
        """ε against δ by accountant."""
        from leakbound._plots.curves import account_profiles

        return account_profiles(self, ax)

    def _headline(self) -> str:
        found = ", ".join(f"{curve.name} {curve.epsilon:.4g}" for curve in self.curves)
        return f"ε at δ = {self.delta:g} of {self.queries} answers: {found}"

    def _table(self) -> list[dict[str, Any]]:
        table = _without(self.curves, "rdp", "profile")
        losses = self.losses
        if losses is not None:
            shared = {"meaning": losses.meaning, "directions": "both", "validity": None}
            for end in ("upper", "lower"):
                table.append({"name": f"privacy-loss-{end}", **shared, "epsilon": losses.epsilon[end], "order": None})
        return table


class SelfCheck(_documents.SelfCheckDocument, Result):
    """The checks of each method on null data and on data of known leakage."""

    _main = "checks"

    def plot(self, ax: Any = None) -> Any:
        """The share of wrong audits by method, beside the nominal failure probability."""
        from leakbound._plots.bars import wrong_shares

        return wrong_shares(self, ax)

    def _table(self) -> list[dict[str, Any]]:
        return _without(self.checks, "tightness")


class Bench(_documents.BenchDocument, Result):
    """Simulated outputs per second against the number of threads."""

    _main = "rows"

    def plot(self, ax: Any = None) -> Any:
        """Outputs per second against the number of threads."""
        from leakbound._plots.bars import rates_of_work

        return rates_of_work(self, ax)


class Verification(_documents.VerificationDocument, Result):
    """The verdict on each property. Refuted comes with a case; not refuted is no proof."""

    _main = "properties"

    @property
    def counterexamples(self) -> list[Counterexample]:
        """The smallest case of each property that was refuted."""
        return [row.counterexample for row in self.properties if row.counterexample is not None]

    def plot(self, ax: Any = None) -> Any:
        """How near the claims came to the limits, by property."""
        from leakbound._plots.bars import verdicts

        return verdicts(self, ax)

    def _headline(self) -> str:
        refuted = [row.property for row in self.properties if row.verdict == "refuted"]
        return f"{self.accountant} is refuted: {', '.join(refuted)}" if refuted else f"{self.accountant} is not refuted"

    def _refutation(self) -> str:
        cases = [json.dumps(found.case.to_dict(), ensure_ascii=False) for found in self.counterexamples]
        return f"{self._headline()}, by {'; '.join(cases)}"

    def _table(self) -> list[dict[str, Any]]:
        return _without(self.properties, "theorem", "closest", "counterexample", "declined_reason")


def best(values: Sequence[float]) -> float:
    """The largest of some lower bounds that hold together; 0 where there is none."""
    return float(max(values, default=0.0))


def _without(rows: Rows[Any], *names: str) -> list[dict[str, Any]]:
    """The rows without some columns."""
    return [{key: row[key] for key in row.to_dict() if key not in names} for row in rows]
