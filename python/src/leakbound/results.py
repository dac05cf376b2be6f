"""Results of the functions: a document with figures, tables and the numbers that one asks for first."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from leakbound import documents
from leakbound._call import Request
from leakbound._data import ScoreSets, planned_scores, score_sets
from leakbound.documents import Counterexample, EpsilonLower, Failure, Level, Query, RateAt, ScoreBound
from leakbound._errors import InputError, UsageError
from leakbound._inputs import Array, Path, is_path, path
from leakbound._rdp import RdpCurve
from leakbound._result import Result, refuted_claims
from leakbound._rows import Rows

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


class Exact(documents.ExactDocument, Result):
    """The output distributions of both worlds and their divergences."""

    _main = "divergences"
    _figure = "curves.exact_curves"


def one_epsilon(rows: Rows[EpsilonLower]) -> float:
    """The lower bound of ε at δ, of the larger direction, where one query was bounded by one method."""
    if len({(row.query, row.method) for row in rows}) > 1:
        raise UsageError("epsilon_lower: found bounds of several queries or methods, expected a choice in `epsilon`")
    return best([row.epsilon_lower for row in rows])


def epsilon_words(rows: Rows[EpsilonLower], failure: Failure) -> str:
    """The largest lower bound of ε that holds for every sample size, where all of them hold together."""
    sound = [row for row in rows if row.validity == "finite-sample"]
    if not sound or (failure.per == "query" and len({(row.query, row.method) for row in sound}) > 1):
        return ""
    row = max(sound, key=lambda row: row.epsilon_lower)
    query = f" in query {row.query}" if row.query else ""
    how = f"{row.method}, failure probability {failure.probability:g}"
    return f"ε ≥ {row.epsilon_lower:.4g} at δ = {row.delta:g}{query} ({how})"


class CountsAudit(documents.CountsDocument, Result):
    """Lower bounds from the counts of two worlds."""

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ, of the larger direction, where one query was bounded by one method.

        Methods have guarantees of their own, and of several queries the largest bound has none with
        `failure_per="query"`.
        """
        return one_epsilon(self.epsilon)

    @property
    def _figure(self) -> str:  # type: ignore[override]
        return "curves.bound_curves" if len(self.bounds) else "bars.epsilon_by_method"

    def _leading(self) -> str:
        return epsilon_words(self.epsilon, self.failure)


class MechanismAudit(documents.MechanismDocument, Result):
    """Where a program leaks and how much.

    The pairs that were tried, bounds for the one that showed most, and what refutes a claim.
    """

    _figure = "bars.outcomes"

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ, of the larger direction, where it was bounded by one method; 0 with `stop_early`."""
        return one_epsilon(self.epsilon)

    def _leading(self) -> str:
        return epsilon_words(self.epsilon, self.failure)

    def _detail(self) -> str:
        return f"{self.program}, {self.runs.search + self.runs.bounded} runs of each dataset"

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


class StreamAudit(documents.StreamDocument, Result):
    """Bounds that hold at any time, and where reading stopped."""

    _figure = "curves.bound_curves"


class TokensAudit(documents.TokensDocument, Result):
    """What each member of an ensemble of language models leaks by its next tokens."""

    _main = "renyi"
    _figure = "curves.token_curves"


class VotesAudit(documents.VotesDocument, Result):
    """Lower bounds, the fitted model and accountants side by side, for each query and composed."""

    _main = "queries"

    def plot(self, ax: Any = None, direction: str = "forward") -> Any:
        """Means over the queries against the order: lower bounds, the distribution of the model and accountants."""
        from leakbound._plots.curves import votes_curves

        return votes_curves(self.queries, ax, direction)

    def _detail(self) -> str:
        composed = self.composed
        how = f", composed {composed.composition} ({composed.meaning})" if composed is not None else ""
        return f"{len(self.queries)} queries{how}"

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


def bound_words(symbol: str, row: ScoreBound) -> str:
    """A bound with what it holds for."""
    at = "" if row.delta is None else f" at δ = {row.delta:g}"
    how = f"{row.method}, {row.validity}, failure probability {row.failure_probability:g}"
    return f"{symbol} ≥ {row.lower:.4g}{at} ({how})"


class ScoresAudit(documents.ScoresDocument, Result):
    """Lower bounds of ε, μ and δ from the scores of canaries. All lines share one failure probability."""

    _main = "epsilon"
    _figure = "rates.rate_band"

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ: the larger direction, which holds as all lines hold together."""
        return best([row.lower for row in self.epsilon])

    @property
    def mu_lower(self) -> float:
        """The lower bound of μ."""
        return best([row.lower for row in self.mu])

    def _leading(self) -> str:
        return bound_words("ε", max(self.epsilon, key=lambda row: row.lower)) if len(self.epsilon) else ""


class EpsilonBound(ScoresAudit):
    """A `ScoresAudit` reduced to ε: `float()` gives the lower bound."""

    @property
    def value(self) -> float:
        """The lower bound of ε at δ."""
        return self.epsilon_lower

    def __float__(self) -> float:
        return self.value



class MuBound(ScoresAudit):
    """A `ScoresAudit` reduced to μ: `float()` gives the lower bound."""

    _main = "mu"

    @property
    def value(self) -> float:
        """The lower bound of μ."""
        return self.mu_lower

    def __float__(self) -> float:
        return self.value

    def _leading(self) -> str:
        return bound_words("μ", max(self.mu, key=lambda row: row.lower)) if len(self.mu) else ""


class CanaryPlan(documents.CanaryPlanDocument, Result):
    """The audit of one training run as it is declared before training."""

    _figure = "bars.forecast"

    # The scores that it was used for.
    _used: ClassVar[list[str | bytes] | None] = None

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
            raise InputError(f"found {name}, expected a new file; a plan is not replaced by another", "file") from None
        except OSError as error:
            raise InputError(f"{error}", "file") from None
        try:
            with written:
                written.write(self.to_json())
        except OSError as error:
            # Half a plan is none.
            os.unlink(name)
            raise InputError(f"{name}: {error}", "file") from None

    @classmethod
    def load(cls, file: Path) -> CanaryPlan:
        """Reads a plan that was saved or written by `leakbound canaries plan --format json`; its audit checks it."""
        name = path("file", file)
        try:
            with open(name, encoding="utf-8") as saved:
                text = saved.read()
            document = json.loads(text)
        except (OSError, ValueError) as error:
            raise InputError(f"{name}: {error}", "file") from None
        if not isinstance(document, dict) or document.get("schema") != "leakbound.canary-plan/1":
            raise InputError(f"{name}: found no plan of canaries, expected the schema leakbound.canary-plan/1", "file")
        return cls.of(text, False)

    def audit(self, scores: ScoreSets, *, repetitions: int = 200) -> CanaryAudit:
        """`canaries.audit` of the scores: a score for each canary, trained on or not; of several attacks a list of them.

        A plan is for these scores alone. Others are an error: the better of two audits is not covered by the failure
        probability, and a second run needs coins of its own.
        """
        sets = score_sets(scores)
        used: list[str | bytes] = [repr(found) if is_path(found) else np.asarray(found).tobytes() for found in sets]
        if self._used not in (None, used):
            raise UsageError("found other scores than before, expected the same; take a new plan for every run", "plan")
        arguments: dict[str, Any] = {"plan": self, "scores": scores, "repetitions": repetitions}
        audit = Request("canaries audit", arguments, planned_scores(arguments), None).run(CanaryAudit)
        object.__setattr__(self, "_used", used)
        return audit

    def _table(self) -> list[dict[str, Any]]:
        return [{"canary": canary, "member": bool(coin)} for canary, coin in enumerate(self.coins)]

    def _headline(self) -> str:
        claim = "" if self.claimed_epsilon is None else f" for a claim of ε ≤ {self.claimed_epsilon:.4g}"
        return f"{len(self.coins)} canaries, {self.members} of them to be trained on{claim}, {self.sha256[:8]}…"


class CanaryAudit(documents.CanaryAuditDocument, Result):
    """Lower bounds of ε, and of μ where the plan has one, of one training run. All lines share one failure probability."""

    _main = "epsilon"
    _figure = "bars.epsilon_of_canaries"

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at the plan's δ."""
        return best([row.lower for row in self.epsilon])

    @property
    def mu_lower(self) -> float:
        """The lower bound of μ; 0 where the plan has none."""
        return best([row.lower for row in self.mu])

    def _leading(self) -> str:
        return bound_words("ε", max(self.epsilon, key=lambda row: row.lower)) if len(self.epsilon) else ""

    def _detail(self) -> str:
        return f"{self.members} canaries trained on, {self.non_members} left out"


class MembershipResult(documents.MembershipDocument, Result):
    """Membership inference: the population, its most vulnerable samples, and each sample on its own."""

    _main = "levels"
    _figure = "rates.membership_roc"

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
        table = self.levels.table("at", "auc_bootstrap")
        for row, level in zip(table, self.levels):
            for rate in level.at:
                row[f"tpr_at_{rate.target_fpr:g}"] = rate.tpr
                row[f"tpr_at_{rate.target_fpr:g}_lower"] = rate.tpr_lower
                row[f"tpr_at_{rate.target_fpr:g}_upper"] = rate.tpr_upper
        return table


class TextMembership(documents.TextMembershipDocument, Result):
    """Membership of texts in the training data of a language model: a row for each score."""

    _main = "attacks"
    _figure = "rates.membership_roc"
    _without = ("at",)

    @property
    def auc(self) -> float:
        """The area under the ROC of the first score."""
        return self.attacks[0].auc

    def _areas(self) -> dict[str, float]:
        return {attack.score: attack.auc for attack in self.attacks}

    def _headline(self) -> str:
        return "; ".join(f"{attack.score} AUC {attack.auc:.4f}" for attack in self.attacks)


class Memorization(documents.MemorizationDocument, Result):
    """Bounds of label privacy, and the published interval, which is a heuristic."""

    _main = "epsilon"
    _figure = "bars.epsilon_by_method"

    @property
    def epsilon_lower(self) -> float:
        """The finite-sample lower bound of ε."""
        return best([row.epsilon_lower for row in self.epsilon if row.validity == "finite-sample"])


class PropertyDistance(documents.PropertyDistanceDocument, Result):
    """The value of the property whose ensembles the student resembles most, with a margin and a p-value."""

    _main = "distances"
    _figure = "bars.distances"

    def _headline(self) -> str:
        return f"value {self.inferred}, margin {self.margin:.4g}, p-value {self.p_value:.3g}"


class SimulationResult(documents.SimulationDocument, Result):
    """Counts of simulated outputs; `audit.counts` takes it as it is."""

    _main = "queries"
    _figure = "bars.frequencies"

    def _headline(self) -> str:
        plan = self.plan
        return f"{plan.samples:g} outputs per query and world, {len(self.queries)} queries, seed {plan.seed}"

    def _table(self) -> list[dict[str, Any]]:
        return [
            {"query": query.query, "outcome": label, "count": count, "count_neighbor": neighbor}
            for query in self.queries
            for label, count, neighbor in zip(query.labels, query.counts, query.counts_neighbor)
        ]


class Calibration(documents.CalibrateDocument, Result):
    """The least noise that meets a goal, and what it guarantees."""

    _main = "profile"
    _figure = "curves.attack_bounds"

    def _headline(self) -> str:
        times = "" if self.times == 1 else f", run {self.times} times"
        return f"{self.parameter} = {self.scale:.6g} for {self.goal}{times}"


class Account(documents.AccountDocument, Result):
    """Accountants of all answers together, side by side."""

    _main = "curves"
    _figure = "curves.account_profiles"

    def curve(self, name: str) -> RdpCurve:
        """The curve of an accountant at the orders of the table. ε of the document is taken over many more orders."""
        for curve in self.curves:
            if curve.name == name:
                return RdpCurve(self.orders, curve.rdp)
        raise KeyError(f"no accountant {name!r}: there are {', '.join(curve.name for curve in self.curves)}")

    def _headline(self) -> str:
        found = ", ".join(f"{curve.name} {curve.epsilon:.4g}" for curve in self.curves)
        if self.losses is not None:
            found = f"between {self.losses.epsilon.lower:.6g} and {self.losses.epsilon.upper:.6g}, {found}"
        return f"ε at δ = {self.delta:g} of {self.queries} answers: {found}"

    def _table(self) -> list[dict[str, Any]]:
        table = self.curves.table("rdp", "profile")
        losses = self.losses
        if losses is not None:
            shared = {"meaning": losses.meaning, "directions": "both", "validity": None}
            for end in ("upper", "lower"):
                table.append({"name": f"privacy-loss-{end}", **shared, "epsilon": losses.epsilon[end], "order": None})
        return table


class SelfCheck(documents.SelfCheckDocument, Result):
    """The checks of each method on null data and on data of known leakage."""

    _main = "checks"
    _figure = "bars.wrong_shares"
    _without = ("tightness",)


class Bench(documents.BenchDocument, Result):
    """Simulated outputs per second against the number of threads."""

    _main = "rows"
    _figure = "bars.rates_of_work"


class Verification(documents.VerificationDocument, Result):
    """The verdict on each property. Refuted comes with a case; not refuted is not a proof."""

    _main = "properties"
    _figure = "bars.verdicts"
    _without = ("theorem", "closest", "counterexample", "declined_reason")

    @property
    def counterexamples(self) -> list[Counterexample]:
        """The smallest case of each property that was refuted."""
        return [row.counterexample for row in self.properties if row.counterexample is not None]

    def _headline(self) -> str:
        refuted = [row.property for row in self.properties if row.verdict == "refuted"]
        return f"{self.accountant} is refuted: {', '.join(refuted)}" if refuted else f"{self.accountant} is not refuted"

    def _refutation(self) -> str:
        cases = [json.dumps(found.case.to_dict(), ensure_ascii=False) for found in self.counterexamples]
        return f"{self._headline()}, by {'; '.join(cases)}"


def best(values: Sequence[float]) -> float:
    """The largest of some lower bounds that hold together; 0 where there is none."""
    return float(max(values, default=0.0))

