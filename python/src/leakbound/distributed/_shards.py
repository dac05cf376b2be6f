"""A simulation in shards."""

from __future__ import annotations

import math
from typing import Any

from leakbound._core import InputError, UsageError
from leakbound._functions import merge
from leakbound._results import SimulationResult
from leakbound._run import Progress, request
from leakbound._scenario import Scenario, scenario_file
from leakbound.distributed._engines import engine
from leakbound.distributed._tasks import TASKS_FOR_A_THREAD, run_commands, task_count

# A shard of so many outputs per query takes a thread some seconds, which is what a lost worker may cost.
_SHARD_SAMPLES = 2**27
# Fewer are not worth a task.
_LEAST_SAMPLES = 2**20


def simulate(
    scenario: Scenario,
    *,
    samples: float,
    seed: int | None = None,
    sampling: str | None = None,
    client: Any = None,
    shards: int | None = None,
    threads: int | None = 1,
    progress: Progress = None,
) -> SimulationResult:
    """`Simulation(scenario).run(samples=..., seed=...)` on a cluster: the same counts, to the last one.

    `client` is a client of Dask or `"ray"`, or the one that this process is connected to. The scenario is read here
    and travels with the tasks. Each of the `shards` uses `threads` threads; computed distributions are left out. The task of a
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
    count = task_count("shards", shards, _shards(_number(samples), where.threads()))
    options = {"samples": samples, "seed": seed, "sampling": sampling, "threads": threads, "no_distribution": True}
    commands = []
    for index in range(1, count + 1):
        words, files = request("simulate", {**options, "shard": f"{index}/{count}"}, {"scenario": toml})
        commands.append(words)
    found = run_commands(where, commands, files, "shards", progress)
    return merge([SimulationResult(text, refuted) for text, refuted in found])


def _number(samples: float) -> float:
    try:
        return float(samples)
    except (TypeError, ValueError):
        raise UsageError(f"samples: found {samples!r}, expected a number of outputs") from None


def _shards(samples: float, threads: int) -> int:
    """Some for each thread, but none that takes long and none that is not worth its task."""
    # What is no number of samples is rejected by the first shard.
    most = math.ceil(samples / _LEAST_SAMPLES) if 0 < samples < math.inf else 1
    return min(max(TASKS_FOR_A_THREAD * threads, math.ceil(most * _LEAST_SAMPLES / _SHARD_SAMPLES)), most)
