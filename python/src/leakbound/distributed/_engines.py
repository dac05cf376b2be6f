"""Dask and Ray as one: tasks in, their results in order out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from leakbound._errors import UsageError

# Ray runs the task of a lost worker again so many times; Dask's scheduler has its own `allowed-failures`.
_RAY_RETRIES = 10

# Called with how many tasks are done.
Done = Callable[[int], None]


class Engine(Protocol):
    """Where tasks run."""

    def threads(self) -> int:
        """How many tasks run simultaneously."""

    def run(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], done: Done) -> list[Any]:
        """`function(shared, task)` for each task, in the order of the tasks."""


def engine(client: Any) -> Engine:
    """The engine of a Dask client or of `"ray"`; where none is given, of the one that this process is connected to."""
    if client is None:
        client = _connected()
    if client == "ray" or getattr(client, "__name__", None) == "ray":
        return _Ray()
    if hasattr(client, "submit") and hasattr(client, "scheduler_info"):
        return _Dask(client)
    raise UsageError(f"found {type(client).__name__}, expected a client of Dask or 'ray'", "client")


def _connected() -> Any:
    dask, ray = sys.modules.get("distributed"), sys.modules.get("ray")
    if dask is not None:
        try:
            return dask.get_client()
        except ValueError:
            pass
    if ray is not None and ray.is_initialized():
        return "ray"
    raise UsageError("found no cluster, expected a client of Dask, or 'ray' after ray.init()", "client")


class _Dask:
    """A client of Dask. Its scheduler gives the tasks of a lost worker to others."""

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise UsageError("found an asynchronous client of Dask, expected a synchronous one", "client")
        if client.status != "running":
            raise UsageError(f"found a client of Dask that is {client.status}, expected one that is running", "client")
        self._client = client

    def threads(self) -> int:
        return max(1, sum(int(threads) for threads in self._client.nthreads().values()))

    def run(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], done: Done) -> list[Any]:
        from distributed import as_completed

        # A task of its own, so that the data come back if the worker that holds them is lost.
        data = self._client.submit(_itself, shared, pure=False)
        futures = [self._client.submit(function, data, task, pure=False) for task in tasks]
        found: dict[str, Any] = {}
        try:
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                found[future.key] = future.result()
                done(len(found))
        finally:
            # Nothing goes on after an error or Ctrl-C.
            self._client.cancel([future for future in futures if not future.done()])
        return [found[future.key] for future in futures]


class _Ray:
    """The cluster that Ray is connected to, which runs the tasks of a lost worker again."""

    def __init__(self) -> None:
        ray = sys.modules.get("ray")
        if ray is None or not ray.is_initialized():
            raise UsageError("found Ray without a connection, expected one; hint: ray.init()", "client")
        self._ray = ray

    def threads(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], done: Done) -> list[Any]:
        ray = self._ray
        remote = ray.remote(max_retries=_RAY_RETRIES)(function)
        data = ray.put(shared)
        references = [remote.remote(data, task) for task in tasks]
        waiting = references
        try:
            while waiting:
                ready, waiting = ray.wait(waiting)
                # An error ends the work at once.
                ray.get(ready)
                done(len(references) - len(waiting))
            return list(ray.get(references))
        except ray.exceptions.RayTaskError as error:
            raise error.cause or error from None
        finally:
            for reference in waiting:
                ray.cancel(reference)


def _itself(value: Any) -> Any:
    return value
