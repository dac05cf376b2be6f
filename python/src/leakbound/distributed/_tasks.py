"""What a worker does: one command on files that all tasks share."""

from __future__ import annotations

from typing import Any

from leakbound._core import UsageError
from leakbound._inputs import File
from leakbound._run import COMMANDS, Progress, watcher
from leakbound._words import calling
from leakbound.distributed._engines import Engine

# Tasks for each thread of the cluster, so that a slow or late worker holds up few.
TASKS_FOR_A_THREAD = 4


def run_commands(
    engine: Engine, commands: list[list[str]], files: dict[str, File], unit: str, progress: Progress
) -> list[tuple[str, bool]]:
    """The documents of some commands, in their order."""
    watch = watcher(progress)

    def done(count: int) -> None:
        if watch is not None:
            watch(count, len(commands), unit)

    return engine.run(_command, files, commands, done)


def task_count(name: str, given: int | None, default: int) -> int:
    """The number of tasks that was requested, or the default."""
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(f"{name}: found {given!r}, expected a number from 1 on")
    return given


def _command(files: Any, words: list[str]) -> tuple[str, bool]:
    document, refuted, _ = calling(COMMANDS.call, words, files)
    return document, refuted
