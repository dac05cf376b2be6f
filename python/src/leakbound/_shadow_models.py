"""Recorded answers of shadow models as the files of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._core import InputError
from leakbound._inputs import Array, File, Path

Answers = Union[Path, Sequence[Path], Mapping[str, ArrayLike], ArrayLike]


def shadow_models(
    logits: Any, labels: Any, keep: Any, scores: Any
) -> tuple[dict[str, str | File | None], dict[str, str | File | None]]:
    """The recording as files by position and by option."""
    if isinstance(logits, Mapping):
        _alone("labels", labels, keep, scores)
        return {"recording": _inputs.arrays("recording", _with_views(logits))}, {}
    if _inputs.is_path(logits) and labels is None and keep is None and scores is None:
        return {"recording": _inputs.path("recording", logits)}, {}
    if isinstance(logits, (list, tuple)) and logits and _inputs.is_path(logits[0]):
        _alone("labels", labels, keep, scores)
        return {f"recording{index}": _inputs.path("recording", item) for index, item in enumerate(logits)}, {}
    if logits is None and scores is None:
        raise InputError("logits: found None, expected a recording, or logits or scores with keep")
    named: dict[str, str | File | None] = {
        "logits": _part("logits", logits, _inputs.FLOATS),
        "scores": _part("scores", scores, _inputs.FLOATS),
        "labels": _part("labels", labels, _inputs.INTEGERS),
        "keep": _part("keep", keep, _inputs.MASK),
    }
    return {}, named


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


def _alone(name: str, *others: Any) -> None:
    if any(other is not None for other in others):
        raise InputError(f"{name}: found beside a whole recording, expected in it")
