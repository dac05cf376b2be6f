"""Rényi curves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import leakbound

ORDERS = np.arange(2, 65)


def gaussian(sigma):
    return leakbound.accounting.RdpCurve.of(lambda order: order / (2 * sigma**2), ORDERS)


def test_composition():
    assert gaussian(1) + gaussian(1) == 2 * gaussian(1)
    np.testing.assert_allclose((3 * gaussian(2) + gaussian(1)).values, (3 / 8 + 1 / 2) * ORDERS, rtol=1e-15)
    infinite = leakbound.accounting.RdpCurve([2, 3], [1, np.inf])
    np.testing.assert_array_equal((0 * infinite).values, [0, 0])
    assert sum([gaussian(1)] * 3, 0 * gaussian(1)) == 3 * gaussian(1)


def test_conversion_is_that_of_theorem_21():
    delta = 1e-5
    found, order = (10 * gaussian(4)).epsilon_and_order(delta)
    values = 10 * ORDERS / 32
    formula = values + np.log1p(-1 / ORDERS) - (math.log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    assert found == pytest.approx(formula.min(), rel=1e-12)
    assert order == ORDERS[formula.argmin()]
    assert (10 * gaussian(4)).delta(found) == pytest.approx(delta, rel=1e-9)


def test_the_curve_of_an_account(scenarios):
    with pytest.warns(leakbound.LeakboundWarning):
        costs = leakbound.accounting.account(scenarios / "prompt-pate.toml", orders=ORDERS)
    (independent,) = costs.curves.where(name="gnmax-data-independent")
    curve = costs.curve("gnmax-data-independent")
    # The document's ε is the least over more orders than the table's.
    assert independent.epsilon <= curve.epsilon(costs.delta) < 1.01 * independent.epsilon
    with pytest.raises(KeyError, match="gnmax-worst-case"):
        costs.curve("gnmax")


def test_what_is_no_curve_is_rejected():
    for orders, values, sentence in (
        ([1, 2], [0, 0], "not above 1"),
        ([2, 3], [0, -1], "below 0"),
        ([2, 3], [0, np.nan], "NaN"),
        ([2, 3], [0], r"values: found shape \(1,\), expected \(2,\)"),
        ([], [], "orders: found an empty array"),
    ):
        with pytest.raises(leakbound.InputError, match=sentence):
            leakbound.accounting.RdpCurve(orders, values)
    with pytest.raises(leakbound.UsageError, match="different orders"):
        gaussian(1) + leakbound.accounting.RdpCurve([2], [1])
    with pytest.raises(leakbound.UsageError, match="times: found -1"):
        gaussian(1) * -1
    with pytest.raises(TypeError):
        gaussian(1) * 1.5
    with pytest.raises(ValueError):
        gaussian(1).epsilon(2.0)
