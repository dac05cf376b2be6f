"""Functions that are audited as black boxes, and the datasets that they are called with."""

from __future__ import annotations

import inspect
import json
import marshal
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from leakbound import _inputs
from leakbound._errors import InputError
from leakbound._inputs import Files

# From a dataset as JSON and a seed to what gives a fresh dataset for each call, and to the source of randomness.
Begin = Callable[[str, int], tuple[Callable[[], Any], np.random.Generator]]

_FORMS = "(dataset, runs, rng), which gives the outputs of all runs, or of (dataset, rng), which gives one"
_RECORDS = "a list of numbers, strings, truth values, None, and lists and dicts of them"
# A longer dataset is a file in memory, and no part of the request.
_WORD = 2000


def name(function: Callable[..., Any]) -> str:
    """What the result calls a function."""
    while isinstance(function, partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def is_vectorized(function: Callable[..., Any]) -> bool:
    """Whether a function is one of (dataset, runs, rng), by its parameters; otherwise it is one of (dataset, rng)."""
    if not callable(function):
        raise TypeError(f"function: found {type(function).__name__}, expected a function of {_FORMS}")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        raise TypeError(
            f"function: {name(function)} does not tell its parameters, expected those of {_FORMS}"
        ) from None
    by_position = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [
        one for one in parameters if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    # Others may have defaults, as in `def laplace(dataset, rng, scale=1.0)`.
    number = len(needed) if len(needed) > 1 else len(by_position)
    if number not in (2, 3) or any(one.kind is one.KEYWORD_ONLY for one in needed):
        found = f"{name(function)}({', '.join(one.name for one in parameters)})"
        raise TypeError(f"function: found {found}, expected a function of {_FORMS}")
    return number == 3


def beginning(arguments: dict[str, Any]) -> Begin:
    """What begins a request: the function gets an array if the caller gave an array of numbers, and a list otherwise."""
    first: Any = arguments.get("dataset")
    pairs = arguments.get("pairs")
    if first is None and isinstance(pairs, (list, tuple)):
        first = pairs[0][0] if pairs and len(pairs[0]) else None
    numbers = isinstance(first, np.ndarray) and first.ndim == 1 and first.dtype.kind in "fiub"
    dtype = first.dtype if numbers else None

    def begin(text: str, seed: int) -> tuple[Callable[[], Any], np.random.Generator]:
        return _fresh(json.loads(text), dtype), np.random.default_rng(seed)

    return begin


def _fresh(records: list[Any], dtype: np.dtype[Any] | None) -> Callable[[], Any]:
    """What gives the records repeatedly: a function may change what it is called with."""
    if dtype is not None:
        return _array(records, dtype).copy
    if not any(isinstance(record, (list, dict)) for record in records):
        return records.copy
    return partial(marshal.loads, marshal.dumps(records))


def _array(records: list[Any], dtype: np.dtype[Any]) -> _inputs.Array:
    """The records as an array of the caller's kind, if that holds all of them: neighbors of integers may be none."""
    found = np.asarray(records)
    with np.errstate(all="ignore"):
        of_kind = found.astype(dtype)
    return of_kind if dtype.kind == "f" or np.array_equal(of_kind, found) else found


def inputs(arguments: dict[str, Any]) -> Files:
    """Takes the dataset and the pairs out of the arguments, as files; a short dataset stays there."""
    dataset, pairs = arguments.pop("dataset", None), arguments.pop("pairs", None)
    for written in ("checkpoint", "counterexample", "save_counterexample"):
        if arguments.get(written) is not None:
            arguments[written] = _inputs.path(written, arguments[written])
    if dataset is not None and not _inputs.is_path(dataset):
        text = _json("dataset", _records("dataset", dataset))
        dataset = text if len(text) <= _WORD else text.encode()
    elif dataset is not None:
        dataset = _inputs.path("dataset", dataset)
    return {"dataset": {"dataset": dataset}, "pairs": {"pairs": _pairs(pairs)}}


def _pairs(value: Any) -> str | bytes | None:
    if value is None or _inputs.is_path(value):
        return None if value is None else _inputs.path("pairs", value)
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value
    ):
        raise InputError("found no list of pairs, expected [(dataset, neighbor), ...]", "pairs")
    worlds = ("dataset", "neighbor")
    rows = [{world: _records("pairs", records) for world, records in zip(worlds, pair)} for pair in value]
    return _json("pairs", rows).encode()


def _records(where: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple, np.ndarray)) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise InputError(f"found {type(value).__name__}, expected {_RECORDS}", where)
    return list(value)


def _json(where: str, value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(f"found a record that JSON has no words for ({error}), expected {_RECORDS}", where) from None


def _plain(value: Any) -> Any:
    """What NumPy has for numbers and lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"an object of type {type(value).__name__}")
