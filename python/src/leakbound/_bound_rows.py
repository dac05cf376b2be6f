"""Rows that the audits share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from leakbound._inputs import Array
from leakbound._rows import Row, Rows

# What the options take: one number or several, names joined by commas or in a list, claims by order.
Numbers = Union[float, str, Sequence[float], Array]
Names = Union[str, Sequence[str]]
RdpClaims = Union[str, Mapping[float, float]]


class Failure(Row):
    """The stated failure probability, what it is for (`answer` or `query`), and the share of each method on a query."""

    probability: float
    per: str
    queries: int
    share: float
    nominal: bool


class RdpBound(Row):
    """A lower bound of the Rényi divergence of an order, in nats.

    `direction` is forward for D(P‖Q), `validity` says what the failure probability rests on.
    """

    query: str
    method: str
    direction: str
    order: float
    rdp_lower: float
    failure_probability: float
    validity: str


class EpsilonLower(Row):
    """A lower bound of ε at δ."""

    query: str
    method: str
    direction: str
    delta: float
    epsilon_lower: float
    failure_probability: float
    validity: str


class OutputSet(Row):
    """A set of outputs that was bounded, and where it comes from."""

    query: str
    source: str
    outcomes: tuple[str, ...]
    directed: bool


class Recommendation(Row):
    """The methods that `auto` took for a query, and why."""

    query: str
    method: str
    epsilon_method: str
    reason: str


class DeltaLower(Row):
    """A lower bound of δ at ε."""

    direction: str
    epsilon: float
    delta_lower: float


class TradeOffPoint(Row):
    """An output set with the intervals of its probability in both worlds."""

    outcomes: tuple[str, ...]
    p: tuple[float, float]
    q: tuple[float, float]


class TradeOff(Row):
    """What one event proves of a query's whole trade-off curve."""

    query: str
    method: str
    failure_probability: float
    validity: str
    mu_lower: float
    delta: Rows[DeltaLower]
    points: Rows[TradeOffPoint]


class Forecast(Row):
    """Samples that would certify half and nine tenths of the divergence that is expected."""

    query: str
    method: str
    direction: str
    order: float
    divergence: float
    samples_half: int | None
    samples_nine_tenths: int | None
    tightness: tuple[tuple[float, float], ...]


class ConvertedEpsilon(Row):
    """ε at δ of a composed curve, the order that attains it, and whether it is a bound."""

    delta: float
    epsilon: float
    order: float
    meaning: str


class ComposedCurve(Row):
    """RDP of all answers together, at the orders of the composition."""

    name: str
    kind: str
    direction: str
    values: tuple[float, ...]
    meaning: str
    epsilon: ConvertedEpsilon | None


class Composed(Row):
    """How the queries compose, and why that is a bound or an illustration."""

    composition: str
    sequence: str
    queries: int
    meaning: str
    reason: str
    orders: tuple[float, ...]
    curves: Rows[ComposedCurve]
    failure_probability: float


def best(values: Sequence[Any]) -> Any:
    """The largest of some lower bounds that hold together; 0 where there is none."""
    return max(values, default=0.0)
