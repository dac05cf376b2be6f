"""Clusters: the digits of one machine, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest

import leakbound
from leakbound import distributed

PATE = {"model": "prompt-pate", "noise": "gaussian:40", "seed": 11}
PATE["query"] = [
    {"name": "a", "histogram": [100, 80, 70], "histogram_neighbor": [99, 81, 70]},
    {"name": "b", "histogram": [4, 0, 7, 91], "histogram_neighbor": [4, 0, 8, 90]},
]
VOTES = {"model": "pate", "noise": "gaussian:40", "samples": 20_000, "orders": [2, 8]}


@pytest.fixture(scope="module")
def dask():
    cluster = pytest.importorskip("distributed")
    with (
        cluster.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local,
        cluster.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield ray
    ray.shutdown()


def test_dask_counts_as_one_machine_does(dask):
    told = []
    found = distributed.simulate(PATE, samples=3e6, client=dask, shards=5, progress=lambda *update: told.append(update))
    alone = leakbound.simulate.Simulation(PATE).run(samples=3e6)
    assert found.queries == alone.queries and found.plan == alone.plan and found.blocks == alone.blocks
    assert told == [(done, 5, "shards") for done in range(1, 6)]
    # The number of shards is for the cluster to choose.
    assert distributed.simulate(PATE, samples=3e6, seed=11, client=dask).queries == alone.queries


def test_a_killed_worker_changes_no_count(dask):
    victims = list(dask.run(os.getpid).values())

    def kill(done, total, unit):
        if done == 2 and victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    found = distributed.simulate(PATE, samples=6e7, client=dask, shards=12, progress=kill)
    assert not victims
    assert found.queries == leakbound.simulate.Simulation(PATE).run(samples=6e7).queries


def test_queries_in_parts_have_the_bounds_of_one_call(dask, data):
    recording = dict(np.load(data / "fashion_votes.npz"))
    queries = [94, 18, 42, 57, 32]
    with pytest.warns(leakbound.LeakboundWarning, match="fitted to the recorded votes"):
        alone = leakbound.audit.votes(recording, queries=queries, **VOTES)
        found = distributed.audit_queries(recording, queries, client=dask, tasks=3, **VOTES)
        of_a_path = distributed.audit_queries(data / "fashion_votes.npz", queries, client=dask, tasks=2, **VOTES)
    assert len(found.parts) == 3 and found.queries == alone.queries == of_a_path.queries
    assert [query.query for query in found.queries] == [str(query) for query in queries]
    assert len(found.to_pandas()) == 5 * 2 * 2 and len(found.warnings) < 6


def test_bad_work_is_rejected_in_one_sentence(dask, data, scenarios):
    path = data / "fashion_votes.npz"
    bad = [
        (lambda: distributed.simulate(PATE, samples=1e5, shards=3, client=dask), leakbound.UsageError, "block"),
        (
            lambda: distributed.simulate(PATE, samples="many", client=dask),
            leakbound.UsageError,
            "samples: found 'many'",
        ),
        (lambda: distributed.simulate(PATE, samples=-1, client=dask), leakbound.UsageError, "-1"),
        (
            lambda: distributed.simulate(b"noise = 3", samples=1e6, client=dask),
            leakbound.InputError,
            "expected a string",
        ),
        (lambda: distributed.simulate("no/such.toml", samples=1e6, client=dask), leakbound.InputError, "no/such.toml"),
        (
            lambda: distributed.simulate(PATE, samples=1e6, client=dask, shards=0),
            leakbound.UsageError,
            "shards: found 0",
        ),
        (
            lambda: distributed.simulate(PATE, samples=1e6, client=3),
            leakbound.UsageError,
            "client: found int, expected a client",
        ),
        (lambda: distributed.audit_queries(path, [], client=dask), leakbound.InputError, "queries: found"),
        (
            lambda: distributed.audit_queries(path, [1], client=dask, claim_epsilon=1, **VOTES),
            leakbound.UsageError,
            "claim_epsilon: found in an audit in parts",
        ),
        (
            lambda: distributed.audit_queries(path, [1], client=dask, model="pate", noise="gaussian:-1"),
            leakbound.UsageError,
            "noise scale",
        ),
    ]
    for call, kind, sentence in bad:
        with pytest.raises(kind, match=sentence):
            call()


def test_closed_clients_are_rejected():
    cluster = pytest.importorskip("distributed")
    with cluster.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as local:
        client = cluster.Client(local, set_as_default=False)
        client.close()
        with pytest.raises(leakbound.UsageError, match="a client of Dask that is closed"):
            distributed.simulate(PATE, samples=1e6, client=client)


def test_no_cluster_is_no_guess():
    with pytest.raises(leakbound.UsageError, match="client: found Ray without a connection"):
        distributed.simulate(PATE, samples=1e6, client="ray")


def test_ray_counts_as_one_machine_does(ray, data):
    psutil = pytest.importorskip("psutil")

    def kill(done, total, unit):
        if done == 2:
            busy = [child for child in psutil.Process().children(recursive=True) if "_command" in child.name()]
            for child in busy[:1]:
                child.kill()
                killed.append(child.pid)

    killed = []
    alone = leakbound.simulate.Simulation(PATE).run(samples=6e7)
    assert distributed.simulate(PATE, samples=6e7, client="ray", shards=12, progress=kill).queries == alone.queries
    print(f"killed {killed}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", leakbound.LeakboundWarning)
        audit = distributed.audit_queries(data / "fashion_votes.npz", [94, 18], client="ray", **VOTES)
        assert audit.queries == leakbound.audit.votes(data / "fashion_votes.npz", queries=[94, 18], **VOTES).queries
    with pytest.raises(leakbound.InputError, match="expected a string"):
        distributed.simulate(b"noise = 3", samples=1e6, client="ray")
