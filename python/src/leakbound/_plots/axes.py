"""Axes, colors and legends of all figures."""

from __future__ import annotations

import math
from typing import Any

# Okabe and Ito (2008): told apart by color-blind readers too.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
BLACK = "#000000"
LOWER, UPPER = "#0072B2", "#D55E00"


def axes(ax: Any) -> Any:
    """The axes given, or new ones of the width of a column."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot needs matplotlib: pip install 'leakbound[plot]'") from None
    return pyplot.subplots(figsize=(5.2, 3.6), layout="constrained")[1]


def finish(ax: Any, x: str, y: str, title: str = "", legend: bool = True, place: str = "best") -> Any:
    """Labels, a light grid and the legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if title:
        ax.set_title(title, fontsize="medium")
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if legend and ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="small", frameon=False, loc=place)
    return ax


def orders_axis(ax: Any, orders: Any) -> None:
    """Orders on a logarithmic axis, written as numbers."""
    low, high = float(min(orders)), float(max(orders))
    ax.set_xscale("log")
    ticks = [order for order in (1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500) if low <= order <= high]
    # A single order has no room for ticks of other orders.
    ax.set_xticks(ticks or [low], [f"{tick:g}" for tick in ticks or [low]])
    ax.set_xticks([], minor=True)


def positive_log(ax: Any, room: bool = True) -> None:
    """A logarithmic axis of divergences where something is above 0, with room for a legend above rising curves."""
    shown = [value for line in ax.get_lines() for value in line.get_ydata() if 0 < value < math.inf]
    if shown:
        low, high = min(shown), max(shown)
        share = 0.07 * len(ax.get_legend_handles_labels()[0]) if room else 0.0
        ax.set_yscale("log", nonpositive="mask")
        ax.set_ylim(low / 1.5, high * (high / low) ** share * 1.5)
    else:
        ax.set_ylim(0, 1)
