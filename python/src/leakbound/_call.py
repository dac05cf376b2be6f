"""From a call of a function to a result: one request in JSON, and its files in memory."""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, Union

import numpy as np

from leakbound import _core
from leakbound._errors import UsageError
from leakbound._inputs import File, Files, placed
from leakbound._result import Result

# Called with what is done, the total and their unit; True shows a bar of tqdm.
Progress = Union[Callable[[int, int, str], None], bool, None]
Arguments = dict[str, Any]
# Takes the data out of the arguments of a call, and gives them as files by the options that read them.
Inputs = Callable[[Arguments], Files]

P = ParamSpec("P")
R = TypeVar("R", bound=Result)

# Keeps the options that it has read.
COMMANDS = _core.Commands()


class LeakboundWarning(UserWarning):
    """A warning of a result, issued once for each place of the caller as Python's warnings are.

    `warnings.filterwarnings("ignore", category=leakbound.LeakboundWarning)` silences it; the result keeps it.
    """


class Option(NamedTuple):
    """Meaning and default of an option that several functions share."""

    meaning: str
    default: Any = None


class Request(NamedTuple):
    """What a function asks of the compiled module."""

    command: str
    arguments: Arguments
    files: Files
    progress: Progress

    def run(self, kind: type[R]) -> R:
        """The result of the command."""
        options, files = self.parts()
        return finished(kind, COMMANDS.call(self.command, options, files, watcher(self.progress)))

    def parts(self) -> tuple[str, dict[str, File]]:
        """The options as JSON, and the files in memory by the names that stand for them."""
        places, files = placed(self.files)
        return json.dumps({**plain(self.arguments), **places}), files


def command(
    name: str,
    kind: type[R],
    inputs: Inputs | None = None,
    *,
    options: type[Any] | None = None,
    through: Callable[[type[R], str, Arguments], R] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes the function that runs a command from its signature and its documentation.

    What is given becomes the request; what is not given has the command's own default. `inputs` takes the data out of
    the arguments, `options` are keyword arguments that several functions share, and `through` runs what is more than one
    command.
    """

    def run(arguments: Arguments) -> R:
        if through is not None:
            return through(kind, name, arguments)
        progress = arguments.pop("progress", None)
        files = inputs(arguments) if inputs is not None else {}
        return Request(name, arguments, files, progress).run(kind)

    def made(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        signature = _signature(function, options)
        known = frozenset(signature.parameters)
        required = frozenset(name for name, one in signature.parameters.items() if one.default is one.empty)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            arguments = dict(zip(positional, args))
            together = arguments.keys() | kwargs.keys()
            if len(together) != len(args) + len(kwargs) or not required <= together <= known:
                # Says what is wrong, as Python does for any function.
                signature.bind(*args, **kwargs)
            arguments.update(kwargs)
            return run(arguments)

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()} | {"return": kind}
        call.__doc__ = _documented(function, kind, options)
        return call

    return made


def _signature(function: Callable[..., Any], options: type[Any] | None) -> inspect.Signature:
    """The signature with shared options written out."""
    own = inspect.signature(function)
    parameters = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hint)
        for name, hint, option in _shared(options)
    ]
    return own.replace(parameters=[*parameters, *shared])


def _documented(function: Callable[..., Any], kind: type[Result], options: type[Any] | None) -> str:
    """The documentation with what all functions have in common: shared options, the result, errors."""
    own = inspect.cleandoc(function.__doc__ or "")
    later = [own.find(f"\n\n{name}\n-") for name in ("See Also", "References", "Examples")]
    at = min((place for place in later if place > 0), default=len(own))
    first = "" if "\nParameters\n---" in own else "\n\nParameters\n----------"
    shared = "".join(
        f"\n{name} : {_shown(options, name)}, default {option.default!r}\n    {option.meaning}"
        for name, _, option in _shared(options)
    )
    summary = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return (
        own[:at] + (first + shared if shared else "") + f"\n\nReturns\n-------\n{kind.__name__}\n    {summary}"
        "\n\nRaises\n------\nUsageError\n    An argument cannot be used; its attribute `parameter` names it."
        f"\nInputError\n    Data cannot be used or read; the sentence names the place.{own[at:]}\n"
    )


def _shared(options: type[Any] | None) -> list[tuple[str, Any, Option]]:
    """Name, type and meaning of each shared option."""
    if options is None:
        return []
    hints = typing.get_type_hints(options, include_extras=True)
    return [(name, hint.__origin__, hint.__metadata__[0]) for name, hint in hints.items()]


def _shown(options: type[Any] | None, name: str) -> str:
    """The type of a shared option, as it is written."""
    written = getattr(options, "__annotations__")[name]
    kind = getattr(written, "__forward_arg__", str(written)).removeprefix("Annotated[").split(", Option(")[0]
    return kind.replace("Literal[", "{").replace("]", "}") if kind.startswith("Literal[") else kind


def plain(arguments: Arguments) -> Arguments:
    """The options that are given, as JSON has them."""
    return {name: _plain(name, value) for name, value in arguments.items() if value is not None}


def _plain(name: str, value: Any) -> Any:
    """A value as JSON has it: numbers, texts, truth values, lists of them and tables."""
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return value
    if kind is float:
        # JSON has no word for these.
        return value if -np.inf < value < np.inf else str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        if value.ndim > 1:
            raise UsageError(f"found an array of {value.ndim} axes, expected numbers in one row", name)
        return _plain(name, value.tolist())
    if isinstance(value, Mapping):
        return {str(_one(name, key)): _one(name, item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_one(name, item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "spec"):
        return value.spec
    raise UsageError(f"found {_described(value)}, expected a number or a name", name)


def _one(name: str, value: Any) -> Any:
    """An item of a list or table."""
    if isinstance(value, (bool, Mapping)) or (isinstance(value, Sequence) and not isinstance(value, str)) or value is None:
        raise UsageError(f"found {_described(value)}, expected a number or a name", name)
    return _plain(name, value)


def _described(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r}"[:80]


def finished(kind: type[R], found: tuple[str, bool, _core.Layout]) -> R:
    """The result, once its warnings are issued."""
    document, refuted, layout = found
    if '"warnings": []' not in document:
        issue_warnings(document_warnings(document))
    return kind.of(document, refuted, layout)


def watcher(progress: Progress) -> Callable[[int, int, str], None] | None:
    """The callback of the library for what a caller gave."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bar()
    if callable(progress):
        return progress
    raise UsageError(
        f"found {type(progress).__name__}, expected True or a function of (done, total, unit)", "progress"
    )


def _bar() -> Callable[[int, int, str], None]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from None
    # One bar for a call, from the first progress on: work of several parts shows them one after the other.
    bars: list[Any] = []

    def show(done: int, total: int, unit: str) -> None:
        if not bars:
            bars.append(tqdm(total=total, unit=unit))
        (bar,) = bars
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
    """Issues warnings where the caller of the package stands, each once."""
    sentences = [
        warning["message"] + (f" (hint: {warning['hint']})" if warning.get("hint") else "") for warning in found
    ]
    for sentence in dict.fromkeys(sentences):
        warnings.warn(sentence, LeakboundWarning, stacklevel=_outside())


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _outside() -> int:
    """The stack level of the first frame outside the package, counted as `warnings.warn` in the caller does."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
