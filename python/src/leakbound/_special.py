"""Functions that are more than one call of one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from leakbound import _black_box, _core, _data
from leakbound._canaries import CanaryScores
from leakbound._core import UsageError
from leakbound._run import COMMANDS, R, call, finished, given, request, run, watcher
from leakbound._words import calling, option_words


def accountants() -> list[str]:
    """The names that `verify` knows; those that begin with `broken:` are wrong on purpose.

    >>> "gnmax-worst-case" in leakbound.accountants()
    True
    """
    return _core.accountants()


def self_checked(function: Callable[..., R], kind: type[R], command: str, arguments: dict[str, Any]) -> R:
    """A self-check of an audit of counts, or of one of scores."""
    data = arguments.pop("data")
    if not isinstance(data, CanaryScores):
        return call(function, kind, command, {**arguments, "counts": data}, _data.counts)
    if any(arguments.pop(name) is not None for name in ("counts_neighbor", "pilot", "distribution")):
        raise UsageError("self_check: canaries have no counts_neighbor, pilot or distribution")
    progress = arguments.pop("progress")
    return run(kind, "self-check audit scores", given(function, arguments), named=data.files(), progress=progress)


def verified(function: Callable[..., R], kind: type[R], command: str, arguments: dict[str, Any]) -> R:
    """The tests of an accountant by its name, or of a function."""
    accountant, progress = arguments.pop("accountant"), arguments.pop("progress")
    _data.case(arguments)
    options = given(function, arguments)
    if isinstance(accountant, str):
        return run(kind, command, {"accountant": accountant, **options}, progress=progress)
    if not callable(accountant):
        raise UsageError(f"accountant: found {type(accountant).__name__}, expected a name or a function of a request")
    name = getattr(accountant, "__name__", type(accountant).__name__)
    words = [command, "--program", name, *option_words(options)]
    return finished(kind, *calling(COMMANDS.verify, words, _line_by_line(accountant), watcher(progress)))


def mechanism_audited(function: Callable[..., R], kind: type[R], command: str, arguments: dict[str, Any]) -> R:
    """The audit of a function, or of a program that is started."""
    mechanism, progress = arguments.pop("function"), arguments.pop("progress")
    beside = [name for name in ("program", "exec") if arguments[name] is not None]
    known = arguments["counterexample"] is not None
    if bool(beside) if mechanism is not None else not (beside or known):
        found = f"found beside `{beside[0]}`" if beside else "found None"
        raise UsageError(f"function: {found}, expected a function, or a command line as `program` or `exec`")
    # Before the data are taken out of the arguments.
    begin = _black_box.beginning(arguments)
    named = _black_box.inputs(arguments)
    options = given(function, arguments)
    if mechanism is None:
        return run(kind, command, options, named=named, progress=progress)
    vectorized = _black_box.is_vectorized(mechanism)
    words, files = request(command, {"program": _black_box.name(mechanism), **options}, named=named)
    black_box = (mechanism, begin, vectorized)
    return finished(kind, *calling(COMMANDS.audit_mechanism, words, files, black_box, watcher(progress)))


def _line_by_line(accountant: Callable[[dict[str, Any]], float]) -> Callable[[str], str]:
    """The function as the program of `--program`: a line of JSON in, a line of JSON out."""

    def answer(line: str) -> str:
        try:
            return json.dumps({"value": float(accountant(json.loads(line)))})
        except NotImplementedError as reason:
            return json.dumps({"error": str(reason) or "not implemented"})

    return answer
