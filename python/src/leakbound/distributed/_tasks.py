"""What a worker does: one command on files that all tasks share."""

from __future__ import annotations

from typing import Any

from leakbound._call import COMMANDS, Progress, watcher
from leakbound._errors import UsageError
from leakbound._inputs import File
from leakbound.distributed._engines import Engine

# Tasks for each thread of the cluster, so that a slow or late worker holds up few.
TASKS_FOR_A_THREAD = 4


def run_commands(
    engine: Engine, command: str, requests: list[str], files: dict[str, File], unit: str, progress: Progress
) -> list[tuple[str, bool]]:
    """The documents of some requests of a command, in their order."""
    watch = watcher(progress)

    def done(count: int) -> None:
        if watch is not None:
            watch(count, len(requests), unit)

    return engine.run(_run, files, [(command, options) for options in requests], done)


def task_count(name: str, given: int | None, default: int) -> int:
    """The number of tasks that was requested, or the default."""
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(f"found {given!r}, expected a number from 1 on", name)
    return given


def _run(files: Any, request: tuple[str, str]) -> tuple[str, bool]:
    document, refuted, _ = COMMANDS.call(*request, files)
    return document, refuted
