"""Functions that are more than one call of one command."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from leakbound import _black_box, _core, _data
from leakbound._call import COMMANDS, Arguments, R, Request, finished, watcher
from leakbound._canaries import CanaryScores
from leakbound._errors import UsageError
from leakbound._inputs import Files


def accountants() -> list[str]:
    """List the names that `verify` knows; those that begin with `broken:` are wrong on purpose.

    Returns
    -------
    list of str
        The names of the accountants.

    Examples
    --------
    >>> "gnmax-worst-case" in leakbound.accounting.accountants()
    True
    """
    return _core.accountants()


def self_checked(kind: type[R], command: str, arguments: Arguments) -> R:
    """A self-check of an audit of counts, or of one of scores."""
    data, progress = arguments.pop("data"), arguments.pop("progress", None)
    if not isinstance(data, CanaryScores):
        arguments["counts"] = data
        return Request(command, arguments, _data.counts(arguments), progress).run(kind)
    for name in ("counts_neighbor", "pilot", "distribution"):
        if arguments.pop(name, None) is not None:
            raise UsageError("found with canaries, expected with counts", name)
    files: Files = {name: {name: file} for name, file in data.files().items()}
    return Request("self-check audit scores", arguments, files, progress).run(kind)


def verified(kind: type[R], command: str, arguments: Arguments) -> R:
    """The tests of an accountant by its name, or of a function."""
    accountant, progress = arguments.pop("accountant"), arguments.pop("progress", None)
    if isinstance(arguments.get("case"), Mapping):
        arguments["case"] = json.dumps(arguments["case"])
    if isinstance(accountant, str):
        return Request(command, {"accountant": accountant, **arguments}, {}, progress).run(kind)
    if not callable(accountant):
        raise UsageError(f"found {type(accountant).__name__}, expected a name or a function of a request", "accountant")
    name = getattr(accountant, "__name__", type(accountant).__name__)
    options, _ = Request(command, {"program": name, **arguments}, {}, None).parts()
    return finished(kind, COMMANDS.verify(options, _line_by_line(accountant), watcher(progress)))


def mechanism_audited(kind: type[R], command: str, arguments: Arguments) -> R:
    """The audit of a function, or of a program that is started."""
    mechanism, progress = arguments.pop("function", None), arguments.pop("progress", None)
    beside = [name for name in ("program", "exec") if arguments.get(name) is not None]
    known = arguments.get("counterexample") is not None
    if bool(beside) if mechanism is not None else not (beside or known):
        found = f"found with `{beside[0]}`" if beside else "found None"
        raise UsageError(f"{found}, expected a function, or a command line as `program` or `exec`", "function")
    # Before the data are taken out of the arguments.
    begin = _black_box.beginning(arguments)
    files = _black_box.inputs(arguments)
    if mechanism is None:
        return Request(command, arguments, files, progress).run(kind)
    black_box = (mechanism, begin, _black_box.is_vectorized(mechanism))
    options, memory = Request(command, {"program": _black_box.name(mechanism), **arguments}, files, None).parts()
    return finished(kind, COMMANDS.audit_mechanism(options, memory, black_box, watcher(progress)))


def _line_by_line(accountant: Callable[[dict[str, Any]], float]) -> Callable[[str], str]:
    """The function as the program of `--program`: a line of JSON in, a line of JSON out."""

    def answer(line: str) -> str:
        try:
            return json.dumps({"value": float(accountant(json.loads(line)))})
        except NotImplementedError as reason:
            return json.dumps({"error": str(reason) or "not implemented"})

    return answer
