"""What the functions take instead of files: arrays, recordings and results, as files in memory.

A function of this module takes the arguments of a call, takes its data out of them, and gives the files by the options
that read them. `python/api.toml` lists which function is for which command.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Union

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._errors import InputError
from leakbound._inputs import Array, File, Files, Path
from leakbound._result import Result
from leakbound._scenario import Scenario, scenario_file

# One value of an option or several, names joined by commas or in a list, claims by order.
Numbers = Union[float, str, Sequence[float], Array]
Integers = Union[int, str, Sequence[int], Array]
Names = Union[str, Sequence[str]]
RdpClaims = Union[str, Mapping[float, float]]
# A file, or its arrays by name.
Recording = Union[Path, Mapping[str, ArrayLike]]
# A file, a result of a simulation, or counts [outcome] or [query, outcome] in a pair.
Counts = Union[Path, Result, tuple[ArrayLike, ArrayLike]]
# A file, or probabilities of the same shapes in a pair.
Distribution = Union[Path, tuple[ArrayLike, ArrayLike]]
# Answers of shadow models: an array, a whole recording, or paths of some.
Answers = Union[Path, Sequence[Path], Mapping[str, ArrayLike], ArrayLike]
# A name, or a function of a request that answers a number.
Accountant = Union[str, Callable[[dict[str, Any]], float]]
# A function of (dataset, runs, rng) that gives the outputs of all runs, or of (dataset, rng) that gives one.
Mechanism = Callable[..., Any]
# Records that JSON can write: a file, a list or an array.
Dataset = Union[Path, ArrayLike, Sequence[Any]]
Pairs = Union[Path, Sequence[tuple[Dataset, Dataset]]]

# The text form of a mechanism or of noise, or an object of `leakbound.mechanisms`.
class HasSpec(Protocol):
    @property
    def spec(self) -> str: ...


Spec = Union[str, HasSpec]


class HasReleases(Protocol):
    def to_releases(self) -> dict[str, Any]: ...


# A recording of votes; or what has its own noise: a scenario, or releases.
Releases = Union[Recording, Scenario, HasReleases]

# Scores of canaries, or several sets of them.
ScoreSets = Union[Path, ArrayLike, Sequence[Union[Path, ArrayLike]]]

Given = dict[str, Any]


def counts(given: Given) -> Files:
    """Counts, and what their output sets are chosen from."""
    first, neighbor = given.pop("counts"), given.pop("counts_neighbor", None)
    outcomes, queries = given.pop("outcomes", None), given.pop("queries", None)
    pilot, distribution = given.pop("pilot", None), given.pop("distribution", None)
    pair = first if neighbor is None else (first, neighbor)
    files: Files = {"file": {"counts": _counts("counts", pair, outcomes, queries)}}
    if pilot is not None:
        files["pilot"] = {"pilot": _counts("pilot", pilot, outcomes, queries)}
    if distribution is not None:
        files["distribution"] = {"distribution": _distribution(distribution, outcomes, queries)}
    return files


def canaries(given: Given) -> Files:
    """The scores of canaries."""
    scores = given.pop("self")
    given["flip"] = scores.flip
    return {name: {name: file} for name, file in scores.files().items()}


def canaries_of_one_run(given: Given) -> Files:
    """The scores of canaries of one training run."""
    given["one_run"] = True
    return canaries(given)


def planned_scores(given: Given) -> Files:
    """The plan of a one-run audit, and the scores of its canaries."""
    plan, scores = given.pop("plan"), given.pop("scores")
    if isinstance(plan, Result):
        plan = plan.to_json().encode()
    elif _inputs.is_path(plan):
        plan = _inputs.path("plan", plan)
    else:
        raise InputError(f"found {type(plan).__name__}, expected a plan of canaries.plan or a path", "plan")
    sets = score_sets(scores)
    names = ["scores"] if len(sets) == 1 else [f"scores{index}" for index in range(len(sets))]
    files = {
        name: _inputs.path(name, found) if _inputs.is_path(found) else _inputs.scores(name, found)
        for name, found in zip(names, sets)
    }
    return {"plan": {"plan": plan}, "scores": files}


def score_sets(scores: ScoreSets) -> list[Any]:
    """One set of scores, or several: a list of files or arrays, or the rows of an array."""
    found: Any = scores
    if _inputs.is_path(found):
        return [found]
    if isinstance(found, (list, tuple)) and found and (_inputs.is_path(found[0]) or np.ndim(found[0]) > 0):
        return list(found)
    return list(np.asarray(found)) if np.ndim(found) == 2 else [found]


def recording(given: Given) -> Files:
    """The recording alone."""
    return {"file": {"recording": _inputs.recording("recording", given.pop("recording"))}}


def recording_and_train(given: Given) -> Files:
    """A recording of votes, and the training points of the nearest neighbors."""
    train = given.pop("train", None)
    files = recording(given)
    return files if train is None else {**files, "train": {"train": _inputs.recording("train", train)}}


def released(given: Given) -> Files:
    """A recording of votes, a scenario, which is TOML or has a model, or releases."""
    value = given.pop("releases")
    if hasattr(value, "to_releases"):
        value = value.to_releases()
    if isinstance(value, bytes) or (isinstance(value, Mapping) and ("model" in value or "release" in value)):
        return {"file": {"releases": scenario_file(value)}}
    return {"file": {"releases": _inputs.recording("releases", value)}}


def scenario(given: Given) -> Files:
    """The scenario of a simulation; its shard as `(I, N)`."""
    shard = given.get("shard")
    if isinstance(shard, tuple):
        given["shard"] = f"{shard[0]}/{shard[1]}" if len(shard) == 2 else shard
    _as_path(given, "checkpoint")
    return {"scenario": {"scenario": given.pop("self").file()}}


def parts(given: Given) -> Files:
    """Results of a simulation, in memory or in files."""
    data: dict[str, str | File | None] = {}
    for index, part in enumerate(given.pop("parts")):
        name = f"part{index + 1}"
        data[name] = part.to_json().encode() if isinstance(part, Result) else _inputs.path(name, part)
    if not data:
        raise InputError("found none, expected the results of `Simulation.run(shard=...)`", "parts")
    return {"files": data}


def stream(given: Given) -> Files:
    """Outputs in the order in which they came, with their worlds."""
    outputs, in_neighbor = given.pop("outputs"), given.pop("in_neighbor", None)
    _as_path(given, "state")
    if _inputs.is_path(outputs) and in_neighbor is None:
        return {"file": {"outputs": _inputs.path("outputs", outputs)}}
    if in_neighbor is None:
        raise InputError("found None, expected the world of each output", "in_neighbor")
    answers = _inputs.array("outputs", outputs, _inputs.OUTPUTS, axes=1)
    worlds = _inputs.array("in_neighbor", in_neighbor, _inputs.MASK, axes=1)
    if answers.shape != worlds.shape:
        raise InputError(f"found {len(worlds)} worlds, expected one for each of {len(answers)} outputs", "in_neighbor")
    names = ("s", "s_prime")
    rows = ((names[bool(world)], answer) for world, answer in zip(worlds.tolist(), answers.tolist()))
    return {"file": {"outputs": _csv(("world", "output"), rows)}}


def shadow_models(given: Given) -> Files:
    """Recorded answers of shadow models: whole recordings by position, arrays by option."""
    logits, scores = given.pop("logits", None), given.pop("scores", None)
    labels, keep = given.pop("labels", None), given.pop("keep", None)
    beside = [labels, keep, scores]
    several = isinstance(logits, (list, tuple)) and logits and _inputs.is_path(logits[0])
    if isinstance(logits, Mapping) or several:
        if any(other is not None for other in beside):
            raise InputError("found with a whole recording, expected in it", "labels")
        if several:
            return {"files": {f"recording{index}": _inputs.path("recording", item) for index, item in enumerate(logits)}}
        return {"files": {"recording": _inputs.arrays("recording", _with_views(logits))}}
    if _inputs.is_path(logits) and all(other is None for other in beside):
        return {"files": {"recording": _inputs.path("recording", logits)}}
    if logits is None and scores is None:
        raise InputError("found None, expected a recording, or logits or scores with keep", "logits")
    return {
        "logits": {"logits": _part("logits", logits, _inputs.FLOATS)},
        "scores": {"scores": _part("scores", scores, _inputs.FLOATS)},
        "labels": {"labels": _part("labels", labels, _inputs.INTEGERS)},
        "keep": {"keep": _part("keep", keep, _inputs.MASK)},
    }


def _as_path(given: Given, name: str) -> None:
    """An option that is a path, as text."""
    if given.get(name) is not None:
        given[name] = _inputs.path(name, given[name])


def _part(name: str, value: Any, kind: tuple[str, str]) -> str | File | None:
    if value is None or _inputs.is_path(value):
        return None if value is None else _inputs.path(name, value)
    return _with_view(name, _inputs.array(name, value, kind))


def _with_views(recording: Mapping[str, ArrayLike]) -> dict[str, Any]:
    return {
        name: _with_view(name, _inputs.array(name, value, _inputs.FLOATS)) if name in ("logits", "scores") else value
        for name, value in recording.items()
    }


def _with_view(name: str, found: Array) -> Array:
    """The axis of views where a recording with one view has left it out."""
    if name == "logits" and found.ndim == 3:
        return found[:, :, None, :]
    if name == "scores" and found.ndim == 2:
        return found[:, :, None]
    return found


def _counts(name: str, value: Any, outcomes: Sequence[object] | None, queries: Sequence[object] | None) -> str | bytes:
    """Counts as the command's file: a path, the document of a simulation, or a table of a pair of arrays."""
    if _inputs.is_path(value):
        return _inputs.path(name, value)
    if isinstance(value, Result):
        return value.to_json().encode()
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(f"found {type(value).__name__}, expected a path, or the counts of both worlds", name)
    names = (name, name + "_neighbor")
    worlds = [_whole(part, item) for part, item in zip(names, value)]
    for part, world in zip(names, worlds):
        if world.dtype.kind == "i" and world.min() < 0:
            raise InputError(f"found {world.min()}, expected counts from 0 on", part)
    return _table(name, ("count", "count_neighbor"), worlds, outcomes, queries)


def _whole(name: str, value: ArrayLike) -> Array:
    """Counts; floating-point numbers may be the outputs that are still to be counted."""
    found = _inputs.array(name, value, _inputs.NUMBERS)
    if found.dtype.kind != "f":
        return found
    hint = "raw outputs are counted into bins by numpy.histogram, with the same bins for both worlds, or by `bins` in a file"
    raise InputError(f"found dtype {found.dtype}, expected integers; hint: {hint}", name)


def _distribution(value: Any, outcomes: Sequence[object] | None, queries: Sequence[object] | None) -> str | bytes:
    if _inputs.is_path(value):
        return _inputs.path("distribution", value)
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError(f"found {type(value).__name__}, expected a path, or the probabilities of both worlds", "distribution")
    worlds = [_inputs.array("distribution", item, _inputs.NUMBERS).astype(np.float64) for item in value]
    return _table("distribution", ("p", "q"), worlds, outcomes, queries)


def _table(
    name: str,
    columns: tuple[str, str],
    worlds: list[Any],
    outcomes: Sequence[object] | None,
    queries: Sequence[object] | None,
) -> bytes:
    """Two worlds of shape [outcome] or [query, outcome] as CSV."""
    first, second = worlds
    if first.shape != second.shape or first.ndim > 2 or first.ndim == 0:
        raise InputError(
            f"found shapes {first.shape} and {second.shape}, expected [outcome] or [query, outcome] twice",
            name,
        )
    names = _names(name, "outcomes", outcomes, first.shape[-1])
    if first.ndim == 1:
        return _csv(("outcome", *columns), zip(names, first.tolist(), second.tolist()))
    every = zip(_names(name, "queries", queries, len(first)), first.tolist(), second.tolist())
    rows = ((query, *row) for query, one, other in every for row in zip(names, one, other))
    return _csv(("query", "outcome", *columns), rows)


def _csv(columns: Sequence[str], rows: Any) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _names(name: str, axis: str, names: Sequence[object] | None, length: int) -> Sequence[object]:
    if names is None:
        return range(length)
    if len(names) != length:
        raise InputError(f"found {len(names)} names, expected one for each of the {length} {axis} of {name}", axis)
    return names
