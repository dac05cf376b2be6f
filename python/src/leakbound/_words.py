"""Python values as the words of an option, and what the command says of its options in the words of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from leakbound import _core
from leakbound._core import UsageError

R = TypeVar("R")

# What becomes one value of an option; sequences of them are joined by commas.
Value = Any


def option_words(options: Mapping[str, Value]) -> list[str]:
    """The words of all options that are given: `None` and `False` are left to the library's defaults.

    Names are the library's with underscores. A mapping becomes one `KEY:VALUE` for each of its items.
    """
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = _options.get(name) or _option(name)
        kind = type(value)
        if kind is str or kind is int:
            words.append(f"{option}={value}")
        elif kind is float:
            # repr is the shortest decimal that reads back as the same number.
            words.append(f"{option}={value!r}")
        elif value is True or isinstance(value, np.bool_):
            # What is false here is a truth value of NumPy.
            words += [option] if value else []
        elif isinstance(value, Mapping):
            if not value:
                raise UsageError(f"{name}: found an empty mapping, expected at least one value")
            words.extend(f"{option}={_one(name, key)}:{_one(name, item)}" for key, item in value.items())
        else:
            words.append(f"{option}={value_word(name, value)}")
    return words


def value_word(name: str, value: Value) -> str:
    """One value, or a sequence of values joined by commas."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            raise UsageError(f"{name}: found an array of {value.ndim} axes, expected numbers in one row")
        value = value.tolist()
    if isinstance(value, (list, tuple)) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes))):
        if not value:
            raise UsageError(f"{name}: found no value, expected at least one")
        return ",".join([str(item) if type(item) is int else _one(name, item) for item in value])
    return _one(name, value)


_options: dict[str, str] = {}


def _option(name: str) -> str:
    return _options.setdefault(name, "--" + name.replace("_", "-"))


def _one(name: str, value: Value) -> str:
    # bool is an int, and the word `True` is no number.
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    raise UsageError(f"{name}: found {_described(value)}, expected a number or a name")


def _described(value: Value) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r}"[:80]


def calling(function: Callable[..., R], *arguments: Any) -> R:
    """Calls the compiled module; its errors speak of parameters."""
    try:
        return function(*arguments)
    except _core.Error as error:
        raise type(error)(of_value(str(error))) from None


# A value that the parser rejected, and the forms of its reasons: what was found, and what was expected.
_VALUE = re.compile(r"invalid value '(.*)' for '--([a-z-]+)(?: <[^']*>)?(?:\.\.\.)?': (.*)", re.DOTALL)
_MISSING = "the following required arguments were not provided: "
_REASONS = [
    re.compile(r"(?P<quantity>[^`]+) = (?P<found>\S+) is not in (?P<expected>.+)"),
    re.compile(r"`(?P<found>.*)` is not (?P<expected>.+)"),
    re.compile(r".*`(?P<found>.*)` cannot be read; expected (?P<expected>.+)"),
    re.compile(r"`(?P<found>.*)` is no \w+; there are (?P<expected>.+)"),
    re.compile(r"expected (?P<expected>.+)"),
]


def of_value(sentence: str) -> str:
    """What the command says of a value, in the form of this package's own errors.

    >>> of_value("invalid value 'gaussian:-1' for '--noise <NOISE>': noise scale = -1 is not in (0, inf)")
    'noise: found -1, expected a noise scale in (0, inf)'
    >>> of_value("invalid value '2,3,2' for '--queries <I,J|all>': position 2 comes twice")
    "queries: found '2,3,2': position 2 comes twice"
    >>> of_value("the following required arguments were not provided: --threshold-noise <NOISE>")
    'threshold_noise: found no value, expected one'
    """
    if sentence.startswith(_MISSING):
        names = [found[1].replace("-", "_") for found in re.finditer("--([a-z-]+)", sentence)]
        return f"{', '.join(names)}: found no value, expected one" if names else sentence
    rejected = _VALUE.fullmatch(sentence)
    if rejected is None:
        # A sentence about an option begins with its name.
        return re.sub(r"^`(\w+)`: ", r"\1: ", of_parameters(sentence))
    value, name, reason = rejected[1], rejected[2].replace("-", "_"), of_parameters(rejected[3])
    for form in _REASONS:
        if read := form.fullmatch(reason):
            parts = read.groupdict()
            expected, quantity = parts["expected"], parts.get("quantity")
            if quantity:
                expected = f"{'an' if quantity[0] in 'aeiou' else 'a'} {quantity} in {expected}"
            return f"{name}: found {_quoted(parts.get('found') or value)}, expected {expected}"
    return f"{name}: found {_quoted(value)}: {reason}"


def _quoted(text: str) -> str:
    """A number as it is, and other text in quotes."""
    try:
        float(text)
    except ValueError:
        return f"'{text}'"
    return text


# An option in quotes with its placeholder, or anywhere with its value.
_OPTION = re.compile(
    r"'--([a-z][a-z-]*)(?: <[^>]*>)?(?:\.\.\.)?'|(?<![\w`'-])--([a-z][a-z-]*)(?:[ =](<[^>]*>|[A-Z]+\b|\d+(?:\.\d+)?\b))?"
)


def of_parameters(sentence: str) -> str:
    """An error of the command itself with the names of parameters in the place of those of its options.

    >>> of_parameters("the argument '--threshold <X>' cannot be used with '--selection <SELECTION>'")
    'the argument `threshold` cannot be used with `selection`'
    >>> of_parameters("add --pilot-fraction 0.1, or declare the edges: --bins edges:A,B,...")
    'add `pilot_fraction=0.1`, or declare the edges: `bins` edges:A,B,...'
    """

    def parameter(found: re.Match[str]) -> str:
        name = (found[1] or found[2]).replace("-", "_")
        value = found[3] or "<"
        return f"`{name}`" if value.startswith("<") else f"`{name}={value}`"

    return _OPTION.sub(parameter, sentence)
