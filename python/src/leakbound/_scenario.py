"""Scenarios: what is simulated, as a file, as TOML, or as a dict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from leakbound import _inputs
from leakbound._errors import InputError
from leakbound._inputs import Path

Scenario = Union[Path, bytes, Mapping[str, Any]]


def scenario_file(value: Scenario) -> str | bytes:
    """The path of a scenario, or its TOML."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, Mapping):
        return "".join(f"{_key(key)} = {_toml(key, item)}\n" for key, item in value.items()).encode()
    return _inputs.path("scenario", value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InputError(f"found the key {key!r}, expected names", "scenario")
    return json.dumps(key)


def _toml(key: str, value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        # A JSON string is a TOML string, but for characters that json leaves alone and TOML does not.
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_toml(name, item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(key, item) for item in value) + "]"
    raise InputError(f"found {type(value).__name__} under {key!r}, expected numbers, text, lists and tables", "scenario")
