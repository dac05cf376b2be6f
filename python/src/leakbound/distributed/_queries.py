"""An audit of many queries in subsets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from leakbound import _inputs
from leakbound._core import UsageError
from leakbound._data import Recording
from leakbound._documents import Query, ResultWarning
from leakbound._results import VotesAudit, queries_table
from leakbound._rows import Rows, frame
from leakbound._run import Progress, issue_warnings, request
from leakbound.distributed._engines import engine
from leakbound.distributed._tasks import TASKS_FOR_A_THREAD, run_commands, task_count

# A claim is about all queries together and a composition too: parts do not know of each other.
_TOGETHER = ("claim_epsilon", "claim_rdp", "claim_mu", "composition", "n_queries", "answer_queries")


class QueriesAudit:
    """The queries of an audit in their order, and the parts that they were audited in."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[VotesAudit]) -> None:
        self.parts = tuple(parts)

    @property
    def queries(self) -> Rows[Query]:
        """One row for each query, as of `audit_votes`."""
        return Rows([query.to_dict() for part in self.parts for query in part.queries], Query)

    @property
    def warnings(self) -> Rows[ResultWarning]:
        """The warnings of all parts, each once."""
        found = {str(warning.to_dict()): warning.to_dict() for part in self.parts for warning in part.warnings}
        return Rows(list(found.values()), ResultWarning)

    def to_pandas(self) -> Any:
        """A row for each query, direction and order as a `pandas.DataFrame`."""
        return frame(queries_table(self.queries))

    def plot(self, ax: Any = None, direction: str = "forward") -> Any:
        """Means over the queries against the order."""
        from leakbound._plots.curves import votes_curves

        return votes_curves(self.queries, ax, direction)

    def __repr__(self) -> str:
        return f"<QueriesAudit: {len(self.queries)} queries in {len(self.parts)} parts>"


def audit_queries(
    recording: Recording,
    queries: Sequence[int],
    *,
    client: Any = None,
    tasks: int | None = None,
    threads: int | None = 1,
    progress: Progress = None,
    train: Recording | None = None,
    **options: Any,
) -> QueriesAudit:
    """`audit_votes` of many queries on a cluster: the same bounds for each query, in the order of `queries`.

    The failure probability is for all queries of all parts together. Where `methods="auto"` takes other methods in
    another part its bounds have another share of it.

    `client` is a client of Dask or `"ray"`, or the one that this process is connected to; `options` are those of
    `audit_votes`. A path is read by the workers and must mean the same file there; arrays travel with the tasks. What
    is about all queries together, claims and compositions, is for `audit_votes` on one machine. The task of a worker
    that is lost runs again elsewhere. `progress` counts tasks.
    """
    together = [name for name in _TOGETHER if options.get(name) is not None]
    if together:
        raise UsageError(f"{together[0]}: found in an audit in parts, expected in audit_votes: it is about all queries")
    where = engine(client)
    positions = _inputs.array("queries", queries, _inputs.INTEGERS, axes=1).tolist()
    data = {"recording": _everywhere("recording", recording)}
    named = {"train": None if train is None else _everywhere("train", train)}
    commands = []
    count = task_count("tasks", tasks, TASKS_FOR_A_THREAD * where.threads())
    for part in np.array_split(positions, min(count, len(positions))):
        # The parts share the failure probability of the whole.
        words, files = request(
            "audit votes",
            {**options, "queries": part, "answer_queries": len(positions), "threads": threads},
            data,
            named,
        )
        commands.append(words)
    found = [VotesAudit(*part) for part in run_commands(where, commands, files, "tasks", progress)]
    audit = QueriesAudit(found)
    issue_warnings(audit.warnings.to_dict())
    return audit


def _everywhere(name: str, value: Recording) -> str | dict[str, Any]:
    """The recording, with a path that does not depend on where a worker was started."""
    found = _inputs.recording(name, value)
    return os.path.abspath(found) if isinstance(found, str) else found
