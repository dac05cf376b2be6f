"""A test of a claim while outputs come in."""

from __future__ import annotations

import csv
import io
from typing import Any, Literal

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._bound_rows import Numbers, RdpBound, RdpClaims
from leakbound._core import InputError
from leakbound._inputs import Path
from leakbound._result import Claim, Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run


class StreamAudit(Result):
    """Bounds that hold at any time, and where reading stopped."""

    outputs: int
    outputs_neighbor: int
    pairs: int
    outcomes: int
    bins: Row | None
    stopped_at_line: int | None
    bounds: Rows[RdpBound]
    claims: Rows[Claim]

    def plot(self, ax: Any = None) -> Any:
        """Bounds against the order."""
        from leakbound._plots.curves import bound_curves

        return bound_curves(self, ax)


def audit_stream(
    outputs: Path | ArrayLike,
    in_neighbor: ArrayLike | None = None,
    *,
    state: Path | None = None,
    repeated: Literal["refuse", "skip", "count"] = "refuse",
    state_seconds: float = 10,
    orders: Numbers | None = None,
    direction: Literal["forward", "reverse", "both"] = "both",
    failure_probability: float = 0.05,
    delta: float = 1e-5,
    claim_epsilon: float | None = None,
    claim_rdp: RdpClaims | None = None,
    bins: str | None = None,
    pilot_outputs: int | None = None,
    horizon: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> StreamAudit:
    """Audits outputs in the order in which they came; reading stops as soon as a claim is refuted.

    `outputs` are numbers or names, and `in_neighbor` is true where the output came from the neighboring world; or
    `outputs` is a CSV file with the columns world,output. With `state` the audit goes on from that file if it is
    there, saves what it read in it (every `state_seconds`, by default 10, and at the end), and `outputs` are new ones
    only: outputs that begin with a batch counted before are refused, left out with `repeated="skip"`, or counted again
    with `repeated="count"`. Outputs of one world must be independent, and which world is asked next must not depend on
    them. Outputs that are real numbers are counted in bins by `bins`: "quantile:20" takes the quantiles of the first
    `pilot_outputs` outputs, which are not bounded; "edges:-1,0,1" is declared.

    >>> outputs, worlds = [0, 0, 1, 0] * 200, [False, True] * 400
    >>> audit = leakbound.audit_stream(outputs, worlds, claim_rdp={2: 0.05})
    >>> audit.refuted, audit.stopped_at_line < 800
    (True, True)
    """
    options = given(audit_stream, locals(), "outputs", "in_neighbor", "progress")
    if state is not None:
        options["state"] = _inputs.path("state", state)
    if _inputs.is_path(outputs) and in_neighbor is None:
        data: dict[str, Any] = {"outputs": _inputs.path("outputs", outputs)}
    elif in_neighbor is None:
        raise InputError("in_neighbor: found None, expected the world of each output")
    else:
        data = {"outputs": _table(outputs, in_neighbor)}
    return run(StreamAudit, "audit stream", options, data, progress=progress)


def _table(outputs: Any, in_neighbor: Any) -> bytes:
    answers = _inputs.array("outputs", outputs, _inputs.OUTPUTS, axes=1)
    worlds = _inputs.array("in_neighbor", in_neighbor, _inputs.MASK, axes=1)
    if answers.shape != worlds.shape:
        raise InputError(f"in_neighbor: found {len(worlds)} worlds, expected one for each of {len(answers)} outputs")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("world", "output"))
    names = ("s", "s_prime")
    writer.writerows((names[bool(world)], answer) for world, answer in zip(worlds.tolist(), answers.tolist()))
    return text.getvalue().encode()
