"""Audits of recorded votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._bound_rows import (
    Composed,
    EpsilonLower,
    Failure,
    Names,
    Numbers,
    RdpBound,
    RdpClaims,
    Recommendation,
)
from leakbound._exact import Divergence
from leakbound._inputs import Array, Path
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run

Recording = Union[Path, Mapping[str, ArrayLike]]
Positions = Union[str, int, Sequence[int], Array]


class UpperRdp(Row):
    """What an accountant promises about one answer at an order."""

    name: str
    order: float
    direction: str
    rdp: float
    validity: str


class Query(Row):
    """One query: simulated counts, lower bounds, the divergences of the fitted model and accountants."""

    query: str
    label: int | None
    counts: tuple[int, ...]
    counts_neighbor: tuple[int, ...]
    lower: Rows[RdpBound]
    epsilon: Rows[EpsilonLower]
    recommendation: Recommendation | None
    exact: Rows[Divergence]
    upper: Rows[UpperRdp]


class VotesAudit(Result):
    """Lower bounds, the fitted model and accountants side by side, for each query and composed."""

    _main = "queries"

    law: str
    failure: Failure
    queries: Rows[Query]
    composed: Composed
    claims: Rows[Claim]

    def plot(self, ax: Any = None, direction: str = "forward") -> Any:
        """Means over the queries against the order: lower bounds, the law of the model and accountants."""
        from leakbound._plots.curves import votes_curves

        return votes_curves(self.queries, ax, direction)

    def _headline(self) -> str:
        refuted = ", a claim is refuted" if self.refuted else ""
        return f"{len(self.queries)} queries, composed {self.composed.composition} ({self.composed.meaning}){refuted}"

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


def audit_votes(
    recording: Recording,
    *,
    model: Literal["pate", "capc", "prompt-pate", "private-knn"],
    noise: str,
    adversary: Literal["pois-advq", "nat-advq", "pois-natq"] = "pois-advq",
    samples: float = 1e6,
    sampling: Literal["monte-carlo", "exact-law"] = "monte-carlo",
    queries: Positions = "all",
    composition: Literal["independent", "shared-teachers", "per-query"] | None = None,
    n_queries: int | None = None,
    answer_queries: int | None = None,
    changed: int = 1,
    k: int = 200,
    rate: float = 0.2,
    candidates: Literal["test", "train", "embedding"] = "test",
    train: Recording | None = None,
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    failure_probability: float = 0.05,
    failure_per: Literal["answer", "query"] = "answer",
    methods: Names = "auto",
    direction: Literal["forward", "reverse", "both"] = "both",
    resamples: int = 10_000,
    delta: float = 1e-5,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    claim_mu: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> VotesAudit:
    """Audits recorded votes of `model` pate, capc, prompt-pate or private-knn.

    `recording` is an npz file, or its arrays by name: `{"votes": ..., "votes_prime": ...}` u8 [query, teacher] or
    `{"histogram": ..., "histogram_prime": ...}` [query, class] for prompt-pate; the README lists those of the other
    models. The model is fitted to the votes, `samples` outputs are simulated for each query and world, and for each
    query the document holds what the outputs prove, what is true of the model, and what accountants promise.
    `queries` are positions in the recording; all of them if not given. `failure_probability` is for all numbers of
    the answer together, or with `failure_per="query"` for each method on each query by itself.

    >>> import numpy
    >>> votes = {"histogram": numpy.array([[30, 20]]), "histogram_prime": numpy.array([[29, 21]])}
    >>> audit = leakbound.audit_votes(votes, model="prompt-pate", noise="gaussian:10", samples=1e5, orders=2)
    >>> query = audit.queries[0]
    >>> query.lower[0].rdp_lower <= query.exact[0].forward <= query.upper[0].rdp
    True
    """
    options = given(audit_votes, locals(), "recording", "train", "progress")
    data = {"recording": _inputs.recording("recording", recording)}
    named = {"train": None if train is None else _inputs.recording("train", train)}
    return run(VotesAudit, "audit votes", options, data, named, progress)
