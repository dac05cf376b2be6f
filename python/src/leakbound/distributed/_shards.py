"""A simulation in shards."""

from __future__ import annotations

import math
from typing import Any

from leakbound._core import InputError
from leakbound._run import Progress, request
from leakbound._scenario import Scenario, scenario_file
from leakbound._simulation import SimulationResult, merge
from leakbound._words import value_word
from leakbound.distributed._engines import engine
from leakbound.distributed._tasks import run_commands, task_count

# A shard of so many outputs per query takes a thread some seconds, which is what a lost worker may cost.
_SHARD_SAMPLES = 2**28
# Fewer are not worth a task.
_LEAST_SAMPLES = 2**20


def simulate(
    scenario: Scenario,
    *,
    samples: float | None = None,
    seed: int | None = None,
    sampling: str | None = None,
    client: Any = None,
    shards: int | None = None,
    threads: int | None = 1,
    progress: Progress = None,
) -> SimulationResult:
    """`Simulation(scenario).run(samples=..., seed=...)` on a cluster: the same counts, to the last one.

    `client` is a client of Dask or `"ray"`, or the one that this process is connected to. The scenario is read here
    and travels with the tasks. Each of the `shards` uses `threads` threads; computed laws are left out. The task of a
    worker that is lost runs again elsewhere. `progress` counts shards.

    With a Dask cluster: `leakbound.distributed.simulate("pate.toml", samples=1e10, client=client)`.
    """
    where = engine(client)
    toml = scenario_file(scenario)
    if isinstance(toml, str):
        try:
            with open(toml, "rb") as file:
                toml = file.read()
        except OSError as error:
            raise InputError(f"scenario: {error}") from None
    # Tells a wrong number of samples before a task is sent.
    size = None if samples is None else float(value_word("samples", samples))
    count = task_count(shards, *_bounds(size, where.threads(), shards))
    options = {"samples": samples, "seed": seed, "sampling": sampling, "threads": threads, "no_law": True}
    commands = []
    for index in range(1, count + 1):
        words, files = request("simulate", {**options, "shard": f"{index}/{count}"}, {"scenario": toml})
        commands.append(words)
    found = run_commands(where, commands, files, "shards", progress)
    return merge([SimulationResult(text, refuted) for text, refuted in found])


def _bounds(samples: float | None, threads: int, given: int | None) -> tuple[int, int]:
    """The most shards, and the threads that they are meant for: more where a shard would take long."""
    if given is not None:
        return given, threads
    if samples is None or not 0 < samples < math.inf:
        return 4 * threads, threads
    most = max(1, math.ceil(samples / _LEAST_SAMPLES))
    return most, max(threads, math.ceil(samples / _SHARD_SAMPLES / 4))
