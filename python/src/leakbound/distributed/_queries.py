"""An audit of many queries in subsets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from leakbound import _inputs
from leakbound._errors import UsageError
from leakbound._call import Progress, Request, issue_warnings
from leakbound._data import Recording
from leakbound.documents import Query, ResultWarning
from leakbound._inputs import Files
from leakbound.results import VotesAudit, queries_table
from leakbound._rows import Rows, frame
from leakbound.distributed._engines import engine
from leakbound.distributed._tasks import TASKS_FOR_A_THREAD, run_commands, task_count

# A claim is about all queries together and a composition too: parts do not know of each other.
_TOGETHER = ("claim_epsilon", "claim_rdp", "claim_mu", "composition", "n_queries", "answer_queries")


class QueriesAudit:
    """The queries of an audit in their order, and the parts that they were audited in.

    Parameters
    ----------
    parts : sequence of VotesAudit
        The parts, in the order of their queries.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[VotesAudit]) -> None:
        self.parts = tuple(parts)

    @property
    def queries(self) -> Rows[Query]:
        """One row for each query, as of `audit.votes`."""
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
    """Run `audit.votes` of many queries on a cluster: the same bounds for each query, in the order of `queries`.

    The failure probability is for all queries of all parts together. Where `methods="auto"` takes other methods in
    another part its bounds have another share of it.

    What is about all queries together, claims and compositions, is for `audit.votes` on one machine. The task of a
    worker that is lost runs again elsewhere.

    Parameters
    ----------
    recording : path or mapping of str to array_like
        The recording, as of `audit.votes`. A path is read by the workers and must mean the same file there; arrays
        travel with the tasks.
    queries : sequence of int
        Positions of the queries in the recording.
    client : dask.distributed.Client or "ray", optional
        The cluster [default: the one that this process is connected to].
    tasks : int, optional
        Number of parts, at most one for each query [default: four for each thread of the cluster].
    threads : int, default 1
        Threads of each task; None for one per core.
    progress : bool or callable, optional
        True for a bar of tqdm, or a function of what is done, the whole, and their unit, which are tasks.
    train : path or mapping of str to array_like, optional
        As of `audit.votes`.
    **options
        Other options of `audit.votes`.

    Returns
    -------
    QueriesAudit
        The queries in the order of `queries`.
    """
    together = [name for name in _TOGETHER if options.get(name) is not None]
    if together:
        raise UsageError("found in an audit in parts, expected in audit.votes: it is about all queries", together[0])
    where = engine(client)
    positions = _inputs.array("queries", queries, _inputs.INTEGERS, axes=1).tolist()
    data: Files = {"file": {"recording": _everywhere("recording", recording)}}
    if train is not None:
        data["train"] = {"train": _everywhere("train", train)}
    requests = []
    count = task_count("tasks", tasks, TASKS_FOR_A_THREAD * where.threads())
    for part in np.array_split(positions, min(count, len(positions))):
        # The parts share the failure probability of the whole.
        own = {**options, "queries": part, "answer_queries": len(positions), "threads": threads}
        request, files = Request("audit votes", own, data, None).parts()
        requests.append(request)
    found = [VotesAudit.of(*part) for part in run_commands(where, "audit votes", requests, files, "tasks", progress)]
    audit = QueriesAudit(found)
    issue_warnings(audit.warnings.to_dict())
    return audit


def _everywhere(name: str, value: Recording) -> str | dict[str, Any]:
    """The recording, with a path that does not depend on where a worker was started."""
    found = _inputs.recording(name, value)
    return os.path.abspath(found) if isinstance(found, str) else found
