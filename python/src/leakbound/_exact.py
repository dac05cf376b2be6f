"""Exact leakage of a noisy argmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Union

from leakbound._bound_rows import Numbers, RdpClaims
from leakbound._inputs import Array
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run

Votes = Union[str, Sequence[int], Array]


class Outcome(Row):
    """An output with its probabilities in both worlds and their natural logarithms."""

    label: str
    p: float
    log_p: float
    q: float
    log_q: float


class Divergence(Row):
    """Rényi divergences of an order in nats: forward D(P‖Q), reverse D(Q‖P)."""

    order: float
    forward: float
    reverse: float


class HockeyStick(Row):
    """δ(ε) in both directions."""

    epsilon: float
    delta_forward: float
    delta_reverse: float


class AccountantRdp(Row):
    """What an accountant promises at an order."""

    name: str
    order: float
    rdp: float


class Exact(Result):
    """The output laws of both worlds and their divergences."""

    _main = "divergences"

    histogram: str
    neighbor: str
    neighbors_searched: int | None
    noise: str
    outcomes: Rows[Outcome]
    law_error: float
    divergences: Rows[Divergence]
    hockey_stick: Rows[HockeyStick]
    accountants: Rows[AccountantRdp]
    claims: Rows[Claim]

    def plot(self, ax: Any = None) -> Any:
        """Divergences and accountants against the order."""
        from leakbound._plots.curves import exact_curves

        return exact_curves(self, ax)


def exact(
    histogram: Votes,
    neighbor: Votes | None = None,
    *,
    noise: str,
    worst_neighbor: Literal["moved", "added", "removed"] | None = None,
    threshold: float | None = None,
    threshold_noise: str | None = None,
    threshold_form: Literal["max", "per-class"] = "max",
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    epsilons: Numbers | None = None,
    delta: float = 1e-5,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    claim_mu: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Exact:
    """Exact output law, Rényi divergences and δ(ε) of a noisy argmax between two vote histograms.

    `noise` is `"gaussian:SIGMA"` or `"laplace:B"` on every count. In the place of `neighbor`, `worst_neighbor`
    (`"moved"`, `"added"` or `"removed"`) takes the suprema over all changes of one vote. With `threshold` and
    `threshold_noise` an answer is given only where the largest count passes a noisy comparison (Confident-GNMax).
    `claim_rdp` maps orders to claimed divergences.

    >>> law = leakbound.exact([14, 12, 10, 8, 6], [13, 13, 10, 8, 6], noise="gaussian:2", orders=[2, 10])
    >>> round(law.divergences[0].forward, 12)
    0.239564145746
    >>> law.accountants.where(name="gnmax-worst-case", order=2.0)[0].rdp >= law.divergences[0].reverse
    True
    """
    options = given(exact, locals(), "progress")
    return run(Exact, "exact", options, progress=progress)
