"""How fast this machine simulates."""

from __future__ import annotations

from typing import Any

from leakbound._bound_rows import Names
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run


class BenchRow(Row):
    """Simulated outputs per second of a work on some threads."""

    work: str
    unit: str
    threads: int
    samples: int
    seconds: float
    rate: float


class Bench(Result):
    """Simulated outputs per second against the number of threads."""

    _main = "rows"

    cores: int
    machine: str
    rows: Rows[BenchRow]

    def plot(self, ax: Any = None) -> Any:
        """Outputs per second against the number of threads."""
        from leakbound._plots.bars import rates_of_work

        return rates_of_work(self, ax)


def bench(
    *,
    work: Names | None = None,
    seconds: float = 0.4,
    threads: int | None = None,
    progress: Progress = None,
) -> Bench:
    """Measures simulated outputs per second on this machine, `seconds` for each work and number of threads.

    >>> all(row.rate > 1e4 for row in leakbound.bench(work="fixed", seconds=0.01).rows)
    True
    """
    options = given(bench, locals(), "progress")
    return run(Bench, "bench", options, progress=progress)
