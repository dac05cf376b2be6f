"""Audits of recorded counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._bound_rows import (
    Composed,
    EpsilonLower,
    Failure,
    Forecast,
    Names,
    Numbers,
    OutputSet,
    RdpBound,
    RdpClaims,
    Recommendation,
    TradeOff,
    best,
)
from leakbound._core import InputError, UsageError
from leakbound._inputs import Path
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run

# A file, a result of a simulation, or counts [outcome] or [query, outcome] in a pair.
Counts = Union[Path, Result, tuple[ArrayLike, ArrayLike]]
# A file, or probabilities of the same shapes in a pair.
Law = Union[Path, tuple[ArrayLike, ArrayLike]]


class CountsAudit(Result):
    """Lower bounds from the counts of two worlds."""

    failure: Failure
    bounds: Rows[RdpBound]
    epsilon: Rows[EpsilonLower]
    output_sets: Rows[OutputSet]
    recommendations: Rows[Recommendation]
    law: Rows[Row]
    trade_off: Rows[TradeOff]
    composed: Composed | None
    forecasts: Rows[Forecast]
    claims: Rows[Claim]

    @property
    def epsilon_lower(self) -> float:
        """The lower bound of ε at δ, of the larger direction, where one query was bounded by one method.

        Methods have guarantees of their own, and of several queries the largest bound has none with
        `failure_per="query"`.
        """
        if len({(row.query, row.method) for row in self.epsilon}) > 1:
            raise UsageError(
                "epsilon_lower: found bounds of several queries or methods, expected a choice in `epsilon`"
            )
        return float(best([row.epsilon_lower for row in self.epsilon]))

    def plot(self, ax: Any = None) -> Any:
        """Bounds against the order; ε by method where no divergence was bounded."""
        from leakbound._plots.bars import epsilon_by_method
        from leakbound._plots.curves import bound_curves

        return bound_curves(self, ax) if len(self.bounds) else epsilon_by_method(self, ax)


def audit_counts(
    counts: Counts | ArrayLike,
    counts_neighbor: ArrayLike | None = None,
    *,
    outcomes: Sequence[object] | None = None,
    queries: Sequence[object] | None = None,
    pilot: Counts | None = None,
    pilot_fraction: float | None = None,
    law: Law | None = None,
    bins: str | None = None,
    methods: Names = "auto",
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    direction: Literal["forward", "reverse", "both"] = "both",
    delta: float = 1e-5,
    failure_probability: float = 0.05,
    failure_per: Literal["answer", "query"] = "answer",
    epsilons: Numbers | None = None,
    trade_off: bool = False,
    composition: Literal["per-query", "independent", "shared-teachers"] = "per-query",
    resamples: int = 10_000,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    claim_mu: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> CountsAudit:
    """Lower bounds of Rényi divergences and of ε from the recorded outputs of two worlds.

    `counts` and `counts_neighbor` are integers of shape [outcome], or [query, outcome] for several queries; or
    `counts` is a file as the command reads it (counts or raw outputs), or the result of a simulation. `outcomes` and
    `queries` name them, by position if not given. `pilot` (as `counts`) or `law` (a file, or probabilities in a pair
    of shapes as the counts) choose the output sets before the counts are seen; without them a part of large counts is
    set aside. Raw outputs 0, 1, ... in an array are counted by `numpy.bincount`. Outputs in a file that are numbers are
    counted in bins by `bins`: "quantile:20" with a `pilot_fraction` or a `pilot` whose quantiles are the edges, or
    "edges:-1,0,1". `failure_probability` is for all numbers of the answer together, or with `failure_per="query"` for
    each method on each query by itself.

    >>> audit = leakbound.audit_counts([6000, 4000], [5000, 5000], methods="k-cut-box", orders=2)
    >>> audit.bounds.where(direction="forward")[0].rdp_lower > 0.01
    True
    """
    options = given(
        audit_counts, locals(), "counts", "counts_neighbor", "outcomes", "queries", "pilot", "law", "progress"
    )
    pair: Any = counts if counts_neighbor is None else (counts, counts_neighbor)
    data = {"counts": counts_file("counts", pair, outcomes, queries)}
    named = {
        "pilot": None if pilot is None else counts_file("pilot", pilot, outcomes, queries),
        "law": None if law is None else law_file(law, outcomes, queries),
    }
    return run(CountsAudit, "audit counts", options, data, named, progress)


def audit_confusion(
    *,
    tp: int,
    fn: int,
    fp: int,
    tn: int,
    methods: Names = "auto",
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    direction: Literal["forward", "reverse", "both"] = "both",
    delta: float = 1e-5,
    failure_probability: float = 0.05,
    failure_per: Literal["answer", "query"] = "answer",
    epsilons: Numbers | None = None,
    trade_off: bool = False,
    resamples: int = 10_000,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    claim_mu: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> CountsAudit:
    """The bounds of `audit_counts` from the confusion matrix of an attack whose positive answer means member.

    The attack, its threshold included, must have been fixed before these guesses were seen.

    >>> audit = leakbound.audit_confusion(tp=90, fn=10, fp=5, tn=95, delta=1e-5)
    >>> round(audit.epsilon_lower, 6)
    1.987962
    """
    options = given(audit_confusion, locals(), "progress")
    return run(CountsAudit, "audit confusion", options, progress=progress)


def counts_file(
    name: str, value: Any, outcomes: Sequence[object] | None, queries: Sequence[object] | None
) -> str | bytes:
    """Counts as the command's file: a path, the document of a simulation, or a table of a pair of arrays."""
    if _inputs.is_path(value):
        return _inputs.path(name, value)
    if isinstance(value, Result):
        return value.to_json().encode()
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(f"{name}: found {type(value).__name__}, expected a path, or the counts of both worlds")
    worlds = [_inputs.array(part, item, _inputs.INTEGERS) for part, item in zip((name, name + "_neighbor"), value)]
    for part, world in zip((name, name + "_neighbor"), worlds):
        if world.dtype.kind == "i" and world.min() < 0:
            raise InputError(f"{part}: found {world.min()}, expected counts from 0 on")
    return _table(name, ("count", "count_neighbor"), worlds, outcomes, queries)


def law_file(value: Any, outcomes: Sequence[object] | None, queries: Sequence[object] | None) -> str | bytes:
    if _inputs.is_path(value):
        return _inputs.path("law", value)
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(f"law: found {type(value).__name__}, expected a path, or the probabilities of both worlds")
    worlds = [_inputs.array("law", item, _inputs.NUMBERS).astype(np.float64) for item in value]
    return _table("law", ("p", "q"), worlds, outcomes, queries)


def _table(
    name: str,
    columns: tuple[str, str],
    worlds: list[Any],
    outcomes: Sequence[object] | None,
    queries: Sequence[object] | None,
) -> bytes:
    """Two worlds of shape [outcome] or [query, outcome] as CSV."""
    first, second = worlds
    if first.shape != second.shape or first.ndim > 2 or first.ndim == 0:
        raise InputError(
            f"{name}: found shapes {first.shape} and {second.shape}, expected [outcome] or [query, outcome] twice"
        )
    names = _names(name, "outcomes", outcomes, first.shape[-1])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if first.ndim == 1:
        writer.writerow(("outcome", *columns))
        writer.writerows(zip(names, first.tolist(), second.tolist()))
    else:
        writer.writerow(("query", "outcome", *columns))
        for query, one, other in zip(_names(name, "queries", queries, len(first)), first.tolist(), second.tolist()):
            writer.writerows((query, *row) for row in zip(names, one, other))
    return text.getvalue().encode()


def _names(name: str, axis: str, names: Sequence[object] | None, length: int) -> Sequence[object]:
    if names is None:
        return range(length)
    if len(names) != length:
        raise InputError(f"{axis}: found {len(names)} names, expected one for each of the {length} {axis} of {name}")
    return names
