"""A simulation in shards."""

from __future__ import annotations

import math
from typing import Any

from leakbound._call import Progress, Request
from leakbound._errors import InputError, UsageError
from leakbound.results import SimulationResult
from leakbound._scenario import Scenario, scenario_file
from leakbound.distributed._engines import engine
from leakbound.distributed._tasks import TASKS_FOR_A_THREAD, run_commands, task_count
from leakbound.simulate import merge

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
    """Run `Simulation(scenario).run(samples=..., seed=...)` on a cluster: the same counts, to the last one.

    Computed distributions are left out. The task of a worker that is lost runs again elsewhere.

    With a Dask cluster: `leakbound.distributed.simulate("pate.toml", samples=1e10, client=client)`.

    Parameters
    ----------
    scenario : path, bytes or mapping
        The scenario, as of `Simulation`. It is read here and travels with the tasks.
    samples : float
        Outputs per query and world.
    seed : int, optional
        Seed of the outputs [default: the scenario's, else 0].
    sampling : {"monte-carlo", "exact-distribution"}, optional
        As of `Simulation.run` [default: monte-carlo].
    client : dask.distributed.Client or "ray", optional
        The cluster [default: the one that this process is connected to].
    shards : int, optional
        Number of tasks [default: by the samples and the threads of the cluster].
    threads : int, default 1
        Threads of each shard; None for one per core.
    progress : bool or callable, optional
        True for a bar of tqdm, or a function of what is done, the whole, and their unit, which are shards.

    Returns
    -------
    SimulationResult
        The counts of all shards together.
    """
    where = engine(client)
    toml = scenario_file(scenario)
    if isinstance(toml, str):
        try:
            with open(toml, "rb") as file:
                toml = file.read()
        except OSError as error:
            raise InputError(f"{error}", "scenario") from None
    count = task_count("shards", shards, _shards(_number(samples), where.threads()))
    options = {"samples": samples, "seed": seed, "sampling": sampling, "threads": threads, "no_distribution": True}
    requests = []
    for index in range(1, count + 1):
        own = {**options, "shard": f"{index}/{count}"}
        request, files = Request("simulate", own, {"scenario": {"scenario": toml}}, None).parts()
        requests.append(request)
    found = run_commands(where, "simulate", requests, files, "shards", progress)
    return merge([SimulationResult.of(text, refuted) for text, refuted in found])


def _number(samples: float) -> float:
    try:
        return float(samples)
    except (TypeError, ValueError):
        raise UsageError(f"found {samples!r}, expected a number of outputs", "samples") from None


def _shards(samples: float, threads: int) -> int:
    """Some for each thread, but none that takes long and none that is not worth its task."""
    # What is no number of samples is rejected by the first shard.
    most = math.ceil(samples / _LEAST_SAMPLES) if 0 < samples < math.inf else 1
    return min(max(TASKS_FOR_A_THREAD * threads, math.ceil(most * _LEAST_SAMPLES / _SHARD_SAMPLES)), most)
