"""Simulated outputs of a scenario in both worlds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Union

from leakbound import _inputs
from leakbound._core import InputError
from leakbound._inputs import File, Path
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run
from leakbound._scenario import Scenario, scenario_file


class Plan(Row):
    """What the counts are a function of."""

    scenario_sha256: str
    sampling: str
    sampler: int
    block_samples: int
    seed: int
    samples: int


class QueryCounts(Row):
    """The outputs of a query with their counts in both worlds."""

    query: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    counts_neighbor: tuple[int, ...]


class QueryLaw(Row):
    """The computed laws of a query and how well the counts fit them."""

    query: str
    method: str
    error: float
    p: tuple[float, ...]
    q: tuple[float, ...]
    p_value: float | None
    p_value_neighbor: float | None


class SimulationResult(Result):
    """Counts of simulated outputs; `audit_counts` takes it as it is."""

    _main = "queries"

    plan: Plan
    composition: str
    shard: str
    blocks: tuple[tuple[int, int], ...]
    blocks_in_all: int
    queries: Rows[QueryCounts]
    laws: Rows[QueryLaw]

    def plot(self, ax: Any = None) -> Any:
        """Frequencies of the outputs of the first query in both worlds."""
        from leakbound._plots.bars import frequencies

        return frequencies(self, ax)

    def _headline(self) -> str:
        plan = self.plan
        return f"{plan.samples:g} outputs per query and world, {len(self.queries)} queries, seed {plan.seed}"

    def _table(self) -> list[dict[str, Any]]:
        return [
            {"query": query.query, "outcome": label, "count": count, "count_neighbor": neighbor}
            for query in self.queries
            for label, count, neighbor in zip(query.labels, query.counts, query.counts_neighbor)
        ]


class Simulation:
    """A scenario to simulate: the path of a TOML file, TOML as bytes, or a dict of what the file would hold.

    >>> pate = {"model": "prompt-pate", "noise": "gaussian:40",
    ...         "query": [{"name": "0", "histogram": [100, 80, 70], "histogram_neighbor": [99, 81, 70]}]}
    >>> counts = leakbound.Simulation(pate).run(samples=1e5, seed=7)
    >>> sum(counts.queries[0].counts)
    100000
    """

    __slots__ = ("_scenario",)

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario_file(scenario)

    def run(
        self,
        *,
        samples: float | None = None,
        seed: int | None = None,
        sampling: Literal["monte-carlo", "exact-law"] = "monte-carlo",
        shard: tuple[int, int] | str = "1/1",
        checkpoint: Path | None = None,
        resume: bool = False,
        checkpoint_seconds: float = 10,
        no_law: bool = False,
        threads: int | None = None,
        progress: Progress = None,
    ) -> SimulationResult:
        """Counts `samples` outputs of each query in both worlds.

        Counts are a function of the scenario, the seed and the number of samples alone, on any number of threads and
        in any shards: `shard=(I, N)` draws the I-th of N parts, counted from 1, and `merge` adds them up. With
        `checkpoint` what is done is saved now and then and on Ctrl-C, and `resume` goes on from there. `sampling`
        `"exact-law"` draws counts at once from the laws, which shows the power of an audit and no fault of a
        mechanism. `no_law` leaves out the computed laws.
        """
        options = given(Simulation.run, locals(), "self", "progress")
        if isinstance(shard, tuple):
            options["shard"] = f"{shard[0]}/{shard[1]}" if len(shard) == 2 else shard
        if checkpoint is not None:
            options["checkpoint"] = _inputs.path("checkpoint", checkpoint)
        return run(SimulationResult, "simulate", options, {"scenario": self._scenario}, progress=progress)


def merge(
    parts: Iterable[Union[Path, SimulationResult]],
    *,
    partial: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> SimulationResult:
    """Adds up the shards of one simulation: results, or paths of their JSON.

    Shards of other scenarios or seeds and overlapping blocks are refused, missing blocks too unless `partial`.
    """
    options = {"partial": partial, "threads": threads}
    data: dict[str, str | File | None] = {}
    for index, part in enumerate(parts):
        name = f"part{index + 1}"
        data[name] = part.to_json().encode() if isinstance(part, Result) else _inputs.path(name, part)
    if not data:
        raise InputError("merge: found no part, expected the results of `Simulation.run(shard=...)`")
    return run(SimulationResult, "merge", options, data, progress=progress)
