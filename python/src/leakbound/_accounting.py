"""Upper bounds of all answers together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Union

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._bound_rows import Numbers
from leakbound._inputs import Path
from leakbound._rdp import RdpCurve
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run
from leakbound._scenario import scenario_file
from leakbound._votes import Positions


class ProfilePoint(Row):
    """ε at a δ."""

    delta: float
    epsilon: float


class AccountCurve(Row):
    """What an accountant promises of all answers: RDP at the orders of the table, ε at δ, and what it depends on."""

    name: str
    meaning: str
    validity: str
    rdp: tuple[float, ...]
    epsilon: float
    order: float
    profile: Rows[ProfilePoint]


class LossEpsilon(Row):
    """ε at δ, enclosed by privacy-loss distributions."""

    delta: float
    lower: float
    upper: float


class Losses(Row):
    """The composition of the privacy losses themselves."""

    meaning: str
    epsilon: LossEpsilon
    profile: Rows[LossEpsilon]


class Budget(Row):
    """How many queries a budget answers."""

    budget: float
    delta: float
    epsilon: float
    order: float
    queries: int
    labels: int
    success_rate: float
    label_accuracy: float | None
    exhausted: bool


class Account(Result):
    """Accountants of all answers together, side by side."""

    _main = "curves"

    queries: int
    delta: float
    conversion: str
    orders: tuple[float, ...]
    curves: Rows[AccountCurve]
    losses: Losses | None
    budgets: Rows[Budget]

    def curve(self, name: str) -> RdpCurve:
        """The curve of an accountant at the orders of the table. ε of the document is taken over many more orders."""
        for curve in self.curves:
            if curve.name == name:
                return RdpCurve(self.orders, curve.rdp)
        raise KeyError(f"no accountant {name!r}: there are {', '.join(curve.name for curve in self.curves)}")

    def plot(self, ax: Any = None) -> Any:
        """ε against δ by accountant."""
        from leakbound._plots.curves import account_profiles

        return account_profiles(self, ax)

    def _headline(self) -> str:
        found = ", ".join(f"{curve.name} {curve.epsilon:.4g}" for curve in self.curves)
        return f"ε at δ = {self.delta:g} of {self.queries} answers: {found}"

    def _table(self) -> list[dict[str, Any]]:
        table = [
            {key: curve[key] for key in ("name", "meaning", "validity", "epsilon", "order")} for curve in self.curves
        ]
        if self.losses is not None:
            for end in ("upper", "lower"):
                table.append(
                    {
                        "name": f"privacy-loss-{end}",
                        "meaning": self.losses.meaning,
                        "validity": None,
                        "epsilon": self.losses.epsilon[end],
                        "order": None,
                    }
                )
        return table


def account(
    recording: Union[Path, bytes, Mapping[str, ArrayLike], Mapping[str, Any]],
    *,
    noise: str | None = None,
    threshold: float | None = None,
    threshold_noise: str | None = None,
    threshold_form: Literal["max", "per-class"] = "max",
    delta: float = 1e-5,
    conversion: Literal["improved", "classic"] = "improved",
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    queries: Positions = "all",
    instantiation: int = 0,
    budget: Numbers | None = None,
    composition: Literal["rdp", "pld"] = "rdp",
    no_exact: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> Account:
    """Upper bounds on the leakage of all answers together: accountants, exact costs, and budgets spent.

    `recording` is an npz file of votes or its arrays by name, as `audit_votes` takes them, with `noise`; or a
    scenario, which has its own noise: a TOML file, TOML as bytes, or a dict with the key `model`. `composition="pld"`
    also encloses ε by privacy-loss distributions. `budget` answers the recorded queries with fresh noise until ε is
    spent, once for each value.

    >>> pate = {"model": "prompt-pate", "noise": "gaussian:40",
    ...         "query": [{"name": "0", "histogram": [100, 80, 70], "histogram_neighbor": [99, 81, 70]}]}
    >>> costs = leakbound.account(pate, delta=1e-6)
    >>> exact, = costs.curves.where(name="gnmax-data-independent")
    >>> 0.1 < exact.epsilon < 0.2
    True
    """
    options = given(account, locals(), "recording", "progress")
    if isinstance(recording, bytes) or (isinstance(recording, Mapping) and "model" in recording):
        return run(Account, "account", options, {"scenario": scenario_file(recording)}, progress=progress)
    return run(Account, "account", options, {"recording": _inputs.recording("recording", recording)}, progress=progress)
