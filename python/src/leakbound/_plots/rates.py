"""ROC curves on logarithmic axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from leakbound._plots.axes import BLACK, COLORS, axes, finish


def roc_curve(roc: Any, auc: float, ax: Any) -> Any:
    """The ROC of canaries."""
    ax = axes(ax)
    _steps(ax, roc.fpr, roc.tpr, COLORS[0], f"canaries, AUC {auc:.3f}")
    return _logarithmic(ax, _smallest(roc.fpr, roc.tpr))


def rate_band(result: Any, ax: Any) -> Any:
    """Observed rates of canaries, and what they prove of the attack at all thresholds simultaneously."""
    ax = axes(ax)
    if not len(result.rates):
        raise ValueError("plot: no rates of all thresholds; selection='uniform' bounds them")
    tpr = result.rates.column("true_positives") / result.members
    fpr = result.rates.column("false_positives") / result.non_members
    _steps(ax, fpr, tpr, COLORS[0], "canaries")
    probability = result.options.failure_probability
    label = f"certified, failure probability {probability:g}"
    _steps(ax, result.rates.column("fpr_upper"), result.rates.column("tpr_lower"), COLORS[1], label)
    return _logarithmic(ax, _smallest(fpr, tpr))


def membership_roc(result: Any, ax: Any) -> Any:
    """The ROC by attack, with its band if there is one."""
    ax = axes(ax)
    smallest = 1.0
    aucs = result._areas()
    for color, roc in zip(COLORS, result.roc):
        fpr, tpr = roc.points.column("fpr"), roc.points.column("tpr")
        label = roc.attack + (f", AUC {aucs[roc.attack]:.3f}" if roc.attack in aucs else "")
        _steps(ax, fpr, tpr, color, label)
        if len(roc.limits):
            _band(ax, roc.limits, color)
        smallest = min(smallest, _smallest(fpr, tpr))
    return _logarithmic(ax, smallest)


def _steps(ax: Any, fpr: Any, tpr: Any, color: str, label: str) -> None:
    order = np.lexsort((tpr, fpr))
    ax.plot(np.asarray(fpr)[order], np.asarray(tpr)[order], color=color, label=label, drawstyle="steps-post")


def _band(ax: Any, limits: Any, color: str) -> None:
    """Limits at some rates, as steps: between two rates the lower limit of the left and the upper of the right hold."""
    at = np.argsort(limits.column("fpr"))
    fpr, lower, upper = (np.repeat(limits.column(name)[at], 2) for name in ("fpr", "tpr_lower", "tpr_upper"))
    ax.fill_between(fpr[1:], lower[:-1], np.append(upper[2:], upper[-1]), color=color, alpha=0.15, linewidth=0)


def _smallest(*rates: Any) -> float:
    """The smallest rate above 0, where the logarithmic axes begin."""
    return min((float(rate[rate > 0].min()) for rate in map(np.asarray, rates) if (rate > 0).any()), default=1e-3)


def _logarithmic(ax: Any, smallest: float) -> Any:
    ends = np.array([smallest, 1.0])
    ax.plot(ends, ends, ":", color=BLACK, linewidth=0.8, label="guessing")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(smallest, 1)
    ax.set_ylim(smallest, 1.05)
    return finish(ax, "false positive rate", "true positive rate")
