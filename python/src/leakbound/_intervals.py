"""Intervals of a proportion."""

from __future__ import annotations

import operator
from typing import NamedTuple

from leakbound import _core
from leakbound._core import UsageError


class Interval(NamedTuple):
    """A lower and an upper limit."""

    lower: float
    upper: float


def clopper_pearson(successes: int, trials: int, failure_probability: float) -> Interval:
    """The two-sided interval of Clopper and Pearson (1934), each end wrong with half of the failure probability.

    >>> lower, upper = leakbound.clopper_pearson(6, 10, 0.05)
    >>> round(lower, 6), round(upper, 6)
    (0.262378, 0.878448)
    """
    return Interval(
        *_core.clopper_pearson(_count("successes", successes), _count("trials", trials), failure_probability)
    )


def _count(name: str, value: int) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise UsageError(f"{name}: found {value!r}, expected a count") from None
    if not 0 <= found < 2**64:
        raise UsageError(f"{name}: found {found}, expected a count from 0 on")
    return found
