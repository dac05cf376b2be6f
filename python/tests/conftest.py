"""The command that every call is held against, and the recordings of the repository."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]

# Options that name files: in memory they are called otherwise.
FILES = {"file", "files", "members", "non_members", "logits", "labels", "keep", "scores", "scenario", "pilot", "distribution"}
FILES |= {"pairs", "train"}


@pytest.fixture(scope="session")
def data() -> Path:
    return ROOT / "validation" / "data"


@pytest.fixture(scope="session")
def scenarios() -> Path:
    return ROOT / "validation" / "scenarios"


@pytest.fixture(scope="session")
def command() -> Callable[..., str]:
    """Runs the command and gives its JSON or another form, whatever the exit status says about claims."""
    program = os.environ.get("LEAKBOUND_COMMAND")
    if not program or not os.access(program, os.X_OK):
        pytest.fail(f"LEAKBOUND_COMMAND={program!r} is no program: it must be the path of the command leakbound")

    def run(*words: Any, statuses: tuple[int, ...] = (0, 3), form: str = "json") -> str:
        done = subprocess.run(
            [program, *map(str, words), "--format", form], capture_output=True, text=True, cwd=ROOT, timeout=120
        )
        assert done.returncode in statuses, done.stderr
        return done.stdout

    return run


@functools.cache
def validators() -> dict[str, Any]:
    """What the command says of each document."""
    jsonschema = pytest.importorskip("jsonschema")
    done = subprocess.run([os.environ["LEAKBOUND_COMMAND"], "schema"], capture_output=True, text=True, check=True)
    schemas = {item["command"]: item["document"] for item in json.loads(done.stdout)["commands"] if item["document"]}
    for schema in schemas.values():
        # A reader lets keys pass that a later version adds; here each must be known.
        for known in (schema, *schema["$defs"].values()):
            if "properties" in known:
                known.setdefault("unevaluatedProperties", False)
    return {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}


def digits(text: str, inputs: bool = False) -> dict[str, Any]:
    """A document with its numbers as they are written, without the names of its files."""
    document: dict[str, Any] = json.loads(text, parse_float=str, parse_int=str)
    found = [{key: item[key] for key in ("size", "sha256")} for item in document.pop("inputs")]
    if inputs:
        document["inputs"] = found
    document["options"] = {key: item for key, item in document["options"].items() if key not in FILES}
    return document
