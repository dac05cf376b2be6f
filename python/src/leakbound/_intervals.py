"""Intervals of a proportion."""

from __future__ import annotations

import operator
from typing import NamedTuple

from leakbound import _core
from leakbound._errors import UsageError


class Interval(NamedTuple):
    """A lower and an upper limit.

    Parameters
    ----------
    lower, upper : float
        The ends of the interval.
    """

    lower: float
    upper: float


def clopper_pearson(successes: int, trials: int, failure_probability: float) -> Interval:
    """Enclose a proportion by the two-sided interval of Clopper and Pearson (1934).

    Parameters
    ----------
    successes, trials : int
        Number of successes, from 0 on, and of independent trials, at least 1.
    failure_probability : float
        Probability in (0, 1) that the interval misses the proportion, at most; each end has half of it.

    Returns
    -------
    Interval
        The limits of the probability of a success.

    References
    ----------
    Clopper and Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the binomial.
    Biometrika.

    Examples
    --------
    >>> lower, upper = leakbound.audit.clopper_pearson(6, 10, 0.05)
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
        raise UsageError(f"found {value!r}, expected a count", name) from None
    if not 0 <= found < 2**64:
        raise UsageError(f"found {found}, expected a count from 0 on", name)
    return found
