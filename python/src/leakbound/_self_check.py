"""How often bounds are wrong, on simulated data of known leakage."""

from __future__ import annotations

from typing import Any, Literal, Union

from numpy.typing import ArrayLike

from leakbound._bound_rows import Failure, Names, Numbers, RdpClaims
from leakbound._canaries import CanaryScores
from leakbound._core import UsageError
from leakbound._counts import Counts, Law, counts_file, law_file
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run


class Tightness(Row):
    """How much of the truth the bounds of a quantity show on average."""

    quantity: str
    direction: str | None
    order: float | None
    delta: float | None
    truth: float
    mean_bound: float
    mean_share: float | None
    wrong: int


class Check(Row):
    """How often the bounds of a method were wrong on null data or on data of known leakage."""

    query: str
    case: str
    method: str
    validity: str
    failure_probability: float
    repetitions: int
    wrong: int
    wrong_share: float
    accepted_share: float
    verdict: str
    tightness: Rows[Tightness]


class SelfCheck(Result):
    """The checks of each method on null data and on data of known leakage."""

    _main = "checks"

    failure: Failure
    queries: Rows[Row]
    members: int
    non_members: int
    checks: Rows[Check]
    together: Rows[Check]

    def plot(self, ax: Any = None) -> Any:
        """The share of wrong audits by method, beside the nominal failure probability."""
        from leakbound._plots.bars import wrong_shares

        return wrong_shares(self, ax)

    def _table(self) -> list[dict[str, Any]]:
        return [{key: row[key] for key in row.to_dict() if key != "tightness"} for row in self.checks]


def self_check(
    data: Union[CanaryScores, Counts, ArrayLike],
    counts_neighbor: ArrayLike | None = None,
    *,
    repetitions: int = 1000,
    failure_probability: float = 0.05,
    failure_per: Literal["answer", "query"] = "answer",
    delta: float = 1e-5,
    methods: Names = "auto",
    orders: Numbers = (2, 4, 8, 16, 32, 64),
    direction: Literal["forward", "reverse", "both"] = "both",
    resamples: int = 10_000,
    pilot: Counts | None = None,
    pilot_fraction: float | None = None,
    law: Law | None = None,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    claim_mu: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> SelfCheck:
    """Simulates audits of the sizes of the data, without leakage and with a known one, and counts wrong bounds.

    `data` are `CanaryScores`, or counts as `audit_counts` takes them. Raises an error with the figures if a
    finite-sample method is wrong more often than it says. Options of `audit_counts` are for counts only.

    >>> check = leakbound.self_check([600, 400], [500, 500], methods="k-cut-box", orders=2, repetitions=50)
    >>> {row.verdict for row in check.checks}
    {'kept'}
    """
    options = given(self_check, locals(), "data", "counts_neighbor", "pilot", "law", "progress")
    if isinstance(data, CanaryScores):
        if counts_neighbor is not None or pilot is not None or law is not None:
            raise UsageError("self_check: canaries have no counts_neighbor, pilot or law")
        return run(SelfCheck, "self-check audit scores", options, named=data.files(), progress=progress)
    pair: Any = data if counts_neighbor is None else (data, counts_neighbor)
    positional = {"counts": counts_file("counts", pair, None, None)}
    named = {
        "pilot": None if pilot is None else counts_file("pilot", pilot, None, None),
        "law": None if law is None else law_file(law, None, None),
    }
    return run(SelfCheck, "self-check audit counts", options, positional, named, progress)
