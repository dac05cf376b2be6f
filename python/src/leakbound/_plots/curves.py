"""Divergences against the order, and ε against δ."""

from __future__ import annotations

from typing import Any

import numpy as np

from leakbound._plots.axes import BLACK, COLORS, LOWER, UPPER, axes, finish, orders_axis, positive_log

_DIVERGENCE = "Rényi divergence (nats)"
_ORDER = "order α"


def exact_curves(result: Any, ax: Any) -> Any:
    """Both directions of the exact divergence, and the accountants."""
    ax = axes(ax)
    orders = result.divergences.column("order")
    ax.plot(orders, result.divergences.column("forward"), "o-", color=BLACK, markersize=4, label="exact D(P‖Q)")
    ax.plot(orders, result.divergences.column("reverse"), "s--", color=BLACK, markersize=4, label="exact D(Q‖P)")
    for color, name in zip(COLORS[1:], _names(result.accountants)):
        forward = result.accountants.where(name=name, direction="forward")
        reverse = result.accountants.where(name=name, direction="reverse")
        same = forward.column("rdp").tolist() == reverse.column("rdp").tolist()
        label = name if same else f"{name}, D(P‖Q)"
        ax.plot(forward.column("order"), forward.column("rdp"), ":", color=color, label=label)
        if not same:
            ax.plot(reverse.column("order"), reverse.column("rdp"), "-.", color=color, label=f"{name}, D(Q‖P)")
    orders_axis(ax, orders)
    positive_log(ax)
    return finish(ax, _ORDER, _DIVERGENCE, place="upper left")


def token_curves(result: Any, ax: Any) -> Any:
    """The larger sum of both directions against each neighbor, and the accountants for all answers."""
    ax = axes(ax)
    orders = sorted(set(result.renyi.column("order").tolist()))
    neighbors = dict.fromkeys((row.member, row.replaced_by) for row in result.renyi)
    for place, (member, replaced_by) in enumerate(neighbors):
        rows = result.renyi.where(member=member, replaced_by=replaced_by)
        largest = np.maximum(rows.column("forward"), rows.column("reverse"))
        label = "exact, a line for each neighbor" if place == 0 else None
        ax.plot(rows.column("order"), largest, "o-", color=BLACK, markersize=3, alpha=0.5, label=label)
    for color, name in zip(COLORS[1:], _names(result.accountants)):
        rows = result.accountants.where(name=name)
        ax.plot(rows.column("order"), rows.column("all"), ":", marker=".", color=color, label=name)
    orders_axis(ax, orders)
    positive_log(ax)
    return finish(ax, _ORDER, _DIVERGENCE + " of all answers", place="upper left")


def attack_bounds(result: Any, ax: Any) -> Any:
    """The largest true-positive rate of any attacker, next to guessing."""
    ax = axes(ax)
    rates = result.attacks.column("fpr")
    ax.loglog(rates, result.attacks.column("tpr"), "o-", color=UPPER, markersize=4, label="any attacker, at most")
    ax.loglog(rates, rates, ":", color=BLACK, label="guessing")
    return finish(ax, "false-positive rate", "true-positive rate", result.goal, place="upper left")


def bound_curves(result: Any, ax: Any) -> Any:
    """Lower bounds by method and direction, of several queries of the one that leaks most by a distribution, or else the first."""
    ax = axes(ax)
    names = list(dict.fromkeys(result.bounds.column("query").tolist()))
    shown, why = _shown(result, names)
    bounds = result.bounds.where(query=shown)
    orders = sorted(set(bounds.column("order").tolist()))
    for color, method in zip(COLORS, sorted(set(bounds.column("method").tolist()))):
        for style, marker, direction, sign in (("-", "^", "forward", "D(P‖Q)"), ("--", "v", "reverse", "D(Q‖P)")):
            rows = bounds.where(method=method, direction=direction)
            if len(rows):
                values = [rows.where(order=order)[0].rdp_lower for order in orders]
                label = f"{method}, {sign}"
                ax.plot(orders, values, style, marker=marker, markersize=4, color=color, label=label)
    if orders:
        orders_axis(ax, orders)
    positive_log(ax, room=False)
    title = f"query {shown}, {why}" if len(names) > 1 else ""
    return finish(ax, _ORDER, _DIVERGENCE + " at least", title)


def _shown(result: Any, names: list[str]) -> tuple[str, str]:
    """A query is never chosen by its bound, which chance favors: by the given distribution, or as the first."""
    if len(result.distribution):
        first = result.distribution[0].order
        row = max(result.distribution.where(order=first), key=lambda row: row.divergence)
        return row.query, "which leaks most by the given distribution"
    return (names[0] if names else ""), "the first"


def votes_curves(queries: Any, ax: Any, direction: str) -> Any:
    """Means over the queries of the lower bounds, the distribution of the model and the accountants."""
    ax = axes(ax)
    exact = [query.exact.column(direction) for query in queries]
    orders = queries[0].exact.column("order")
    for marker, method in zip("^v<>dp*", _methods(queries, direction)):
        means = [_mean(queries, method, direction, order) for order in orders]
        ax.plot(orders, means, marker, markersize=5, color=LOWER, label=f"{method} (lower bound)")
    ax.plot(orders, np.mean(exact, axis=0), "-", color=BLACK, label="distribution of the model")
    for style, name in zip((":", "--", "-.", (0, (1, 3))), _names(queries[0].upper)):
        at = queries[0].upper.where(name=name, direction=direction).column("order")
        rows = [query.upper.where(name=name, direction=direction).column("rdp") for query in queries]
        means = np.mean(rows, axis=0)
        ax.plot(at, means, linestyle=style, color=UPPER, label=name)
    orders_axis(ax, orders)
    positive_log(ax)
    return finish(ax, _ORDER, _DIVERGENCE, f"mean of {len(queries)} queries, {direction}", place="upper left")


def rdp_curve(curve: Any, ax: Any) -> Any:
    """The curve at its orders."""
    ax = axes(ax)
    order = np.argsort(curve.orders)
    ax.plot(curve.orders[order], curve.values[order], "-", color=UPPER)
    orders_axis(ax, curve.orders)
    positive_log(ax)
    return finish(ax, _ORDER, _DIVERGENCE + " at most", legend=False)


def account_profiles(result: Any, ax: Any) -> Any:
    """ε against δ, by accountant and by privacy losses."""
    ax = axes(ax)
    for color, curve in zip(COLORS, result.curves):
        style = "-" if curve.meaning == "data-independent" else "--"
        ax.plot(curve.profile.column("delta"), curve.profile.column("epsilon"), style, color=color, label=curve.name)
    if result.losses is not None:
        profile = result.losses.profile
        band = (profile.column("delta"), profile.column("lower"), profile.column("upper"))
        ax.fill_between(*band, color="#bbbbbb", linewidth=0, label="privacy losses, between")
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    answers = f"{result.queries} answer" + ("s together" if result.queries > 1 else "")
    return finish(ax, "δ", "ε", answers)


def _names(rows: Any) -> list[str]:
    return list(dict.fromkeys(rows.column("name").tolist()))


def _methods(queries: Any, direction: str) -> list[str]:
    return sorted({bound.method for query in queries for bound in query.lower if bound.direction == direction})


def _mean(queries: Any, method: str, direction: str, order: float) -> float:
    """The mean over all queries; a query to which the method was not applied has the bound 0."""
    found = [query.lower.where(method=method, direction=direction, order=order) for query in queries]
    return float(np.mean([rows[0].rdp_lower if len(rows) else 0.0 for rows in found]))
