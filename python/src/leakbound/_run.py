"""From the arguments of a function to a result."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Union

import numpy as np

from leakbound import _core
from leakbound._inputs import File, Files, place
from leakbound._result import Result
from leakbound._words import calling, option_words

# Called with what is done, the whole and the unit of both; True shows a bar of tqdm.
Progress = Union[Callable[[int, int, str], None], bool, None]

R = TypeVar("R", bound=Result)

# Keeps the arguments that it has read.
COMMANDS = _core.Commands()


class LeakboundWarning(UserWarning):
    """A warning of a result, issued once for each place of the caller as Python's warnings are.

    `warnings.filterwarnings("ignore", category=leakbound.LeakboundWarning)` silences it; the result keeps it.
    """


def call(
    function: Callable[..., R],
    kind: type[R],
    command: str,
    arguments: dict[str, Any],
    inputs: Callable[[dict[str, Any]], tuple[Files, Files]] | None = None,
) -> R:
    """Runs the command of a generated function for its arguments; `inputs` takes out of them what becomes files."""
    progress = arguments.pop("progress")
    data, named = inputs(arguments) if inputs is not None else (None, None)
    return run(kind, command, given(function, arguments), data, named, progress)


def run(
    kind: type[R],
    command: str,
    options: Mapping[str, Any],
    data: Files | None = None,
    named: Files | None = None,
    progress: Progress = None,
) -> R:
    """Runs a command on files by position (`data`) and files by option (`named`)."""
    words, files = request(command, options, data, named)
    return finished(kind, *calling(COMMANDS.call, words, files, watcher(progress)))


def given(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call without those that are the function's defaults.

    Defaults are the command's. What is one of them is not passed on: the command knows whether a value was given, and
    rejects some of them together.
    """
    defaults: Mapping[str, Any] = function.__kwdefaults__ or {}
    for name, value in arguments.items():
        # What is false would be left out, and what is true would be a name without a value.
        if isinstance(value, (bool, np.bool_)) and not isinstance(defaults.get(name, False), bool):
            raise _core.UsageError(f"{name}: found {value}, expected a value of the kind of {name}")
    return {
        name: value
        for name, value in arguments.items()
        if value is not (default := defaults.get(name))
        # An array has no truth value.
        and not (type(value) in _SCALARS and value == default)
    }


_SCALARS = (int, float, str)


def request(
    command: str,
    options: Mapping[str, Any],
    data: Files | None = None,
    named: Files | None = None,
) -> tuple[list[str], dict[str, File]]:
    """The words of a command and its files in memory."""
    words = command.split(" ")
    if not data and not named:
        return words + option_words(options), {}
    places, files = place({**(data or {}), **(named or {})})
    for name in named or ():
        if name in places:
            words += ["--" + name.replace("_", "-"), places[name]]
    words += option_words(options)
    words += [places[name] for name in data or () if name in places]
    return words, files


def finished(kind: type[R], document: str, refuted: bool, layout: _core.Layout) -> R:
    """The result, once its warnings are issued."""
    if '"warnings": []' not in document:
        issue_warnings(document_warnings(document))
    return kind(document, refuted, layout)


def watcher(progress: Progress) -> Callable[[int, int, str], None] | None:
    """The callback of the library for what a caller gave."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar()
    if callable(progress):
        return progress
    raise _core.UsageError(
        f"progress: found {type(progress).__name__}, expected True or a function of (done, total, unit)"
    )


def _bar() -> Callable[[int, int, str], None]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from None
    bar = tqdm()

    def show(done: int, total: int, unit: str) -> None:
        if (bar.total, bar.unit) != (total, unit):
            bar.reset(total=total)
            bar.unit = unit
        bar.update(done - bar.n)
        if done >= total:
            bar.refresh()

    return show


def document_warnings(text: str) -> list[dict[str, Any]]:
    """The warnings of a document, which is not parsed beyond them."""
    start = text.find('"warnings": [')
    if start < 0:
        return []
    found: list[dict[str, Any]] = json.JSONDecoder().raw_decode(text, start + len('"warnings": '))[0]
    return found


def issue_warnings(found: list[dict[str, Any]]) -> None:
    """Issues warnings where the caller of the package stands."""
    for warning in found:
        hint = f" (hint: {warning['hint']})" if warning.get("hint") else ""
        warnings.warn(warning["message"] + hint, LeakboundWarning, stacklevel=_outside())


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _outside() -> int:
    """The stack level of the first frame outside the package, counted as `warnings.warn` in the caller does."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
