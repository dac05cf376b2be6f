"""Outcomes, verdicts and shares as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from leakbound._plots.axes import BLACK, COLORS, LOWER, UPPER, axes, finish


def frequencies(result: Any, ax: Any) -> Any:
    """Frequencies of the outputs of the first query in both worlds."""
    query = result.queries[0]
    ax = _two_worlds(axes(ax), query.counts, query.counts_neighbor)
    ax.set_xticks(np.arange(len(query.labels)), query.labels)
    return finish(ax, "output", "frequency", f"query {query.query}")


def outcomes(result: Any, ax: Any) -> Any:
    """Frequencies of the outcomes of a black box in both worlds."""
    rows = result.witness.outcomes
    ax = _two_worlds(axes(ax), *([row[name] for row in rows] for name in ("count", "count_neighbor")))
    # Outcomes are intervals or sets in words, which are too long to stand side by side.
    ax.set_xticks(np.arange(len(rows)), [row.outcome for row in rows], rotation=90)
    return finish(ax, result.witness.looks_at, "frequency", result.program)


def _two_worlds(ax: Any, counts: Any, counts_neighbor: Any) -> Any:
    for shift, color, label, world in (
        (-0.2, COLORS[0], "P (dataset)", counts),
        (0.2, COLORS[1], "Q (neighbor)", counts_neighbor),
    ):
        ax.bar(np.arange(len(world)) + shift, np.array(world) / max(sum(world), 1), 0.4, color=color, label=label)
    ax.set_yscale("log")
    return ax


def verdicts(result: Any, ax: Any) -> Any:
    """The largest share of the limit that a case attains, by property; a share above 1 refutes."""
    ax = axes(ax)
    rows = [row for row in result.properties if row.largest_share is not None or row.verdict == "refuted"]
    at = np.arange(len(rows))[::-1]
    shares = [_share(row) for row in rows]
    colors = [UPPER if row.verdict == "refuted" else LOWER for row in rows]
    ax.barh(at, shares, 0.6, color=colors)
    ax.axvline(1, color=BLACK, linewidth=0.8)
    ax.set_yticks(at, [row.property + (" (refuted)" if row.verdict == "refuted" else "") for row in rows])
    return finish(ax, "exact value ÷ claim, largest of all cases", "", result.accountant, legend=False)


def wrong_shares(result: Any, ax: Any) -> Any:
    """The share of wrong audits, by method and data."""
    ax = axes(ax)
    methods = list(dict.fromkeys(result.checks.column("method").tolist()))
    cases = list(dict.fromkeys(result.checks.column("case").tolist()))
    for index, case in enumerate(cases):
        rows = [result.checks.where(method=method, case=case) for method in methods]
        at = np.arange(len(methods))[::-1] + 0.4 * (0.5 - index) if len(cases) == 2 else np.arange(len(methods))[::-1]
        shares = [max((row.wrong_share for row in found), default=0.0) for found in rows]
        ax.barh(at, shares, 0.35, color=COLORS[index], label=f"{case} data")
    ax.axvline(result.checks[0].failure_probability, color=BLACK, linewidth=0.8, label="failure probability")
    ax.set_yticks(np.arange(len(methods))[::-1], methods)
    return finish(ax, "share of audits with a wrong bound", "")


def epsilon_by_method(result: Any, ax: Any) -> Any:
    """The lower bound of ε of each method in its larger direction, and what it rests on; of several queries the first."""
    ax = axes(ax)
    # Not every audit has queries.
    queries = list(dict.fromkeys(getattr(row, "query", "") for row in result.epsilon))
    epsilon = result.epsilon.where(query=queries[0]) if len(queries) > 1 else result.epsilon
    methods = list(dict.fromkeys(epsilon.column("method").tolist()))
    at = np.arange(len(methods))[::-1]
    for place, method in zip(at, methods):
        rows = epsilon.where(method=method)
        certain = rows[0].validity == "finite-sample"
        ax.barh(place, max(row.epsilon_lower for row in rows), 0.6, color=LOWER if certain else COLORS[6])
    ax.set_xlim(0, None if max(epsilon.column("epsilon_lower"), default=0.0) > 0 else 1)
    ax.set_yticks(at, [f"{method} ({epsilon.where(method=method)[0].validity})" for method in methods])
    title = f"query {queries[0]}, the first" if len(queries) > 1 else ""
    return finish(ax, f"ε at δ = {epsilon[0].delta:g} at least", "", title, legend=False)


def epsilon_of_canaries(result: Any, ax: Any) -> Any:
    """The lower bounds of ε of one training run, next to the claim of the plan."""
    ax = axes(ax)
    names = [f"{row.method}\n{row.validity}" for row in result.epsilon]
    ax.barh(names[::-1], result.epsilon.column("lower")[::-1], 0.4, color=LOWER)
    # Room for the legend above the bars.
    ax.set_ylim(-0.6, len(names))
    if result.claimed_epsilon is not None:
        ax.axvline(result.claimed_epsilon, color=UPPER, linewidth=1, label="claimed ε")
    ax.set_xlim(left=0)
    return finish(ax, "ε at least", "", legend=result.claimed_epsilon is not None)


def forecast(result: Any, ax: Any) -> Any:
    """What the planned audit finds if the canaries show all that the claim allows, and the most that it can show."""
    ax = axes(ax)
    ranges = [] if result.forecast is None else [("ε", result.forecast.epsilon), ("μ", result.forecast.mu)]
    for name, found in ranges:
        if found is not None:
            ax.plot([found.low, found.high], [name, name], color=LOWER, linewidth=6, solid_capstyle="butt")
            ax.plot([found.median], [name], "o", color=BLACK)
    ax.axvline(result.most_shown, color=COLORS[6], linewidth=1, label="most ε that the audit can show")
    if result.claimed_epsilon is not None:
        ax.axvline(result.claimed_epsilon, color=UPPER, linewidth=1, label="claimed ε")
    ax.set_xlim(left=0)
    return finish(ax, "lower bound: 90% of audits and the median", "")


def distances(result: Any, ax: Any) -> Any:
    """Distances of the student to the ensembles of each value of the property."""
    ax = axes(ax)
    colors = [LOWER if row.inferred else COLORS[6] for row in result.distances]
    values = [str(row.value) for row in result.distances]
    ax.bar(values, result.distances.column("distance"), 0.6, color=colors)
    title = f"margin {result.margin:.3g}, p-value {result.p_value:.3g}"
    return finish(ax, "value of the property", "distance to the student", title, legend=False)


def rates_of_work(result: Any, ax: Any) -> Any:
    """Simulated outputs per second against the number of threads."""
    ax = axes(ax)
    for color, work in zip(COLORS, dict.fromkeys(result.rows.column("work").tolist())):
        rows = result.rows.where(work=work)
        ax.plot(rows.column("threads"), rows.column("rate"), "o-", color=color, label=work)
    ax.set_ylim(bottom=0)
    ax.set_xticks(sorted(set(result.rows.column("threads").tolist())))
    return finish(ax, "threads", "outputs per second", result.machine)


def _share(row: Any) -> float:
    found = row.largest_share or 0.0
    if row.counterexample is not None and row.counterexample.violation.claim > 0:
        found = max(found, row.counterexample.violation.limit / row.counterexample.violation.claim)
    return float(found)
