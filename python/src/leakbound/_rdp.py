"""Rényi curves that add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _core, _inputs
from leakbound._errors import InputError, UsageError
from leakbound._inputs import Array


class RdpCurve:
    """An upper bound of the Rényi divergence, in nats, at some orders above 1.

    Curves at the same orders compose by `+`, a mechanism that is repeated by `* times`. ε and δ are converted as
    `account` does, with the best of the orders.

    Parameters
    ----------
    orders : array_like
        Rényi orders [order], finite numbers above 1.
    values : array_like
        Divergences in nats at these orders [order], from 0 on; inf where nothing is known.

    Raises
    ------
    InputError
        If the shapes differ, or an order or a divergence is out of its range.

    References
    ----------
    Balle, Barthe, Gaboardi, Hsu and Sato (2020). Hypothesis testing interpretations and Rényi differential privacy.
    AISTATS. Theorem 21.

    Examples
    --------
    >>> curve = leakbound.accounting.RdpCurve.of(lambda order: order / 40**2, orders=range(2, 65))
    >>> thousand = 1000 * curve
    >>> 5.3 < thousand.epsilon(1e-5) < 5.5
    True
    >>> round(thousand.delta(thousand.epsilon(1e-5)), 9)
    1e-05
    """

    __slots__ = ("_orders", "_values")

    def __init__(self, orders: ArrayLike, values: ArrayLike) -> None:
        self._orders = _doubles("orders", orders)
        self._values = _doubles("values", values)
        if self._orders.shape != self._values.shape:
            raise InputError(f"found shape {self._values.shape}, expected {self._orders.shape} as the orders", "values")
        if not np.all((self._orders > 1) & np.isfinite(self._orders)):
            raise InputError("found an order that is not above 1 and finite", "orders")
        if not np.all(self._values >= 0):
            raise InputError("found a divergence that is below 0 or NaN", "values")

    @classmethod
    def of(cls, divergence: Callable[[float], float], orders: ArrayLike) -> RdpCurve:
        """The curve of a function of the order."""
        found = _doubles("orders", orders)
        return cls(found, [divergence(float(order)) for order in found])

    @property
    def orders(self) -> Array:
        """The orders."""
        return self._orders.copy()

    @property
    def values(self) -> Array:
        """The divergences in nats."""
        return self._values.copy()

    def epsilon(self, delta: float) -> float:
        """The least ε at δ that an order gives."""
        return _core.rdp_epsilon(self._orders, self._values, delta)[0]

    def epsilon_and_order(self, delta: float) -> tuple[float, float]:
        """The same, and the order that gives it."""
        return _core.rdp_epsilon(self._orders, self._values, delta)

    def delta(self, epsilon: float) -> float:
        """The least δ at ε that an order gives."""
        return _core.rdp_delta(self._orders, self._values, epsilon)[0]

    def delta_and_order(self, epsilon: float) -> tuple[float, float]:
        """The same, and the order that gives it."""
        return _core.rdp_delta(self._orders, self._values, epsilon)

    def __add__(self, other: object) -> RdpCurve:
        if not isinstance(other, RdpCurve):
            return NotImplemented
        if not np.array_equal(self._orders, other._orders):
            raise UsageError("curves at different orders do not add up: make both at the same orders")
        return RdpCurve(self._orders, self._values + other._values)

    def __mul__(self, times: object) -> RdpCurve:
        if isinstance(times, bool) or not isinstance(times, (int, np.integer)):
            return NotImplemented
        if times < 0:
            raise UsageError(f"found {times}, expected a number of answers from 0 on", "times")
        # Nothing is released by no answer, whatever one answer may release.
        return RdpCurve(self._orders, self._values * float(times) if times else np.zeros_like(self._values))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RdpCurve):
            return NotImplemented
        return np.array_equal(self._orders, other._orders) and np.array_equal(self._values, other._values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<RdpCurve: {len(self._orders)} orders from {self._orders.min():g} to {self._orders.max():g}>"

    def plot(self, ax: Any = None) -> Any:
        """The curve against the order."""
        from leakbound._plots.curves import rdp_curve

        return rdp_curve(self, ax)


def _doubles(name: str, values: ArrayLike) -> Array:
    found = _inputs.array(name, values, _inputs.NUMBERS, axes=1).astype(np.float64)
    if np.isnan(found).any():
        raise InputError("found NaN, expected numbers", name)
    return found
