"""Answers to prompts, kept in a file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from typing import IO, Union

from leakbound._errors import InputError, UsageError
from leakbound._inputs import Path, path

# One prompt and its text, or, with `batch`, several prompts and as many texts.
Answer = Union[Callable[[str], str], Callable[[list[str]], Sequence[str]]]


class AnswerCache:
    """Answers to prompts: each prompt is asked once, also by a later run on the same file.

    A line of the file is a JSON object: `prompt` is the SHA-256 of a prompt in UTF-8, `answer` the text. A line is on
    the disk before the next prompt is asked. What follows the last whole line was being written when a process ended,
    and is cut off. A file is for one model: it does not know who answered.
    """

    def __init__(self, answer: Answer, batch: int | None, file: Path | None) -> None:
        if not callable(answer):
            raise InputError(f"found {type(answer).__name__}, expected a function of a prompt", "answer")
        if batch is not None and (isinstance(batch, bool) or not isinstance(batch, int) or batch < 1):
            raise UsageError(f"found {batch!r}, expected a number of prompts from 1 on", "batch")
        self._answer, self._batch = answer, batch
        self._path = None if file is None else path("cache", file)
        self._known: dict[str, str] = {} if self._path is None else _read(self._path)
        self.asked = 0

    def answers(self, prompts: Sequence[str], done: Callable[[int], None]) -> list[str]:
        """The answers to prompts; `done` is called with how many are there."""
        keys = [hashlib.sha256(prompt.encode()).hexdigest() for prompt in prompts]
        missing = {key: prompt for key, prompt in zip(keys, prompts) if key not in self._known}
        at = len(set(keys)) - len(missing)
        if self._path is None:
            self._ask(list(missing.items()), at, None, done)
        elif missing:
            try:
                file = open(self._path, "a", encoding="utf-8", newline="\n")
            except OSError as error:
                raise InputError(f"{error}", "cache") from None
            with file:
                self._ask(list(missing.items()), at, file, done)
        return [self._known[key] for key in keys]

    def _ask(self, missing: list[tuple[str, str]], at: int, file: IO[str] | None, done: Callable[[int], None]) -> None:
        done(at)
        size = self._batch or 1
        for start in range(0, len(missing), size):
            part = missing[start : start + size]
            for (key, _), text in zip(part, self._texts([prompt for _, prompt in part])):
                self._known[key] = text
                if file is not None:
                    file.write(json.dumps({"prompt": key, "answer": text}) + "\n")
            if file is not None:
                file.flush()
                os.fsync(file.fileno())
            self.asked += len(part)
            done(at + start + len(part))

    def _texts(self, prompts: list[str]) -> list[str]:
        if self._batch is None:
            texts = [self._answer(prompts[0])]  # type: ignore[arg-type]
        else:
            found = self._answer(prompts)  # type: ignore[arg-type]
            if isinstance(found, str) or not hasattr(found, "__len__"):
                raise InputError(f"found {type(found).__name__}, expected a list of {len(prompts)} texts", "answer")
            texts = list(found)
            if len(texts) != len(prompts):
                raise InputError(f"found {len(texts)} texts, expected one for each of {len(prompts)} prompts", "answer")
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"found {type(text).__name__}, expected a text", "answer")
        return texts  # type: ignore[return-value]


def _read(path: str) -> dict[str, str]:
    """The answers of a file, whose last line may be incomplete."""
    try:
        with open(path, "rb+") as file:
            content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            known = {}
            for number, line in enumerate(whole.splitlines(), 1):
                key, text = _line(path, number, line)
                known[key] = text
            # Nothing of another kind of file is cut off.
            if len(whole) < len(content):
                if not whole and not b'{"prompt": "'.startswith(content[:12]):
                    raise InputError("line 1: found another kind of file, expected answers in JSON lines", path)
                file.truncate(len(whole))
            return known
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{error}", "cache") from None


def _line(path: str, number: int, line: bytes) -> tuple[str, str]:
    try:
        entry = json.loads(line)
        key, text = entry["prompt"], entry["answer"]
    except (ValueError, KeyError, TypeError):
        key = text = None
    if not isinstance(key, str) or not isinstance(text, str):
        raise InputError(
            f'{path}: line {number}: found another line, expected {{"prompt": SHA-256, "answer": text}}; '
            "hint: the file is not a cache of answers, or was changed"
        )
    return key, text
