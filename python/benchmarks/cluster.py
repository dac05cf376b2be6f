"""A large simulation in one process, on a Dask cluster of two, and there again with a worker killed half-way.

    cargo xtask wheel && pip install target/wheels/leakbound-*.whl dask distributed
    python python/benchmarks/cluster.py --outputs 1e10 --write

The counts must be equal. `--write` leaves a dated file in `python/benchmarks/results`.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import leakbound
from distributed import Client, LocalCluster
from leakbound.distributed import simulate

SCENARIO = Path("validation/scenarios/pate.toml")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=float, default=1e10, help="of all queries and worlds together")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    root = Path(__file__).parents[2]
    scenario = root / SCENARIO
    # Two of each query.
    worlds = 2 * len(leakbound.simulate.Simulation(scenario).run(samples=1).queries)
    samples = math.ceil(options.outputs / worlds)
    runs: list[tuple[str, float, leakbound.results.SimulationResult]] = []

    def timed(name: str, work: Callable[[], leakbound.results.SimulationResult]) -> None:
        start = time.perf_counter()
        found = work()
        runs.append((name, time.perf_counter() - start, found))
        print(f"{name}: {runs[-1][1]:.0f} s", flush=True)

    timed("one process, two threads", lambda: leakbound.simulate.Simulation(scenario).run(samples=samples, threads=2))
    killed = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):

        def kill(done: int, total: int, unit: str) -> None:
            if not killed and 2 * done >= total:
                killed.append(f"{done} of {total} {unit}")
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        timed("Dask, two processes", lambda: simulate(scenario, samples=samples, client=client))
        timed(
            "Dask, two processes, one killed half-way",
            lambda: simulate(scenario, samples=samples, client=client, progress=kill),
        )
    counts = runs[0][2].queries
    total = sum(sum(query.counts) + sum(query.counts_neighbor) for query in counts)
    same = all(found.queries == counts for _, _, found in runs) and total == worlds * samples
    lines = [f"{total:,} outputs of `{SCENARIO}`, seed 1; the worker was killed after {', '.join(killed)}.", ""]
    lines += ["| run | s |", "|---|---|", *(f"| {name} | {seconds:.0f} |" for name, seconds, _ in runs), ""]
    lines += ["All counts are equal:" if same else "**Counts differ.** Those of one process:", "", "| query | P | Q |"]
    lines += ["|---|---|---|", *(f"| {row.query} | {row.counts} | {row.counts_neighbor} |" for row in counts), ""]
    print("\n".join(lines))
    if options.write:
        today = datetime.datetime.now(datetime.timezone.utc).date()
        file = Path(__file__).parent / "results" / f"{today}-cluster.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join([f"# python/benchmarks/cluster.py, {today}", "", *lines]))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
