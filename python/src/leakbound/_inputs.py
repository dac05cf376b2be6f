"""Arrays and paths as the files that the library reads.

An array is read where it lies. It is copied only if it is not contiguous in C order, not in this machine's byte
order, or, for the short arrays of scores and counts, of another type of number than the library's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from leakbound._errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]
Path = Union[str, os.PathLike[str]]
File = Union[Array, dict[str, Array], bytes]
# The files of a call by the options that read them, each with the name that it has in messages.
Files = dict[str, dict[str, Union[str, File, None]]]

# Kinds of numpy dtypes by what they hold, and how an error says so.
FLOATS = ("f", "floating-point numbers of 16, 32 or 64 bits")
INTEGERS = ("iu", "integers")
MASK = ("biu", "booleans")
NUMBERS = ("fiu", "numbers")
OUTPUTS = ("fiubUS", "numbers or names")
ANY = ("fiub", "numbers")


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def path(name: str, value: object) -> str:
    """The path as text."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str) and text:
            return text
    raise InputError(f"found {type(value).__name__}, expected a path", name)


def array(name: str, value: ArrayLike, kind: tuple[str, str], axes: int | None = None) -> Array:
    """The array as the library reads it: of this kind, with something in it, contiguous, of native byte order."""
    found = value if type(value) is np.ndarray else _converted(name, value)
    dtype = found.dtype
    # First, because an empty list has the dtype of floating-point numbers.
    if found.size == 0:
        raise InputError(f"found an empty array of shape {found.shape}, expected at least one value", name)
    if dtype.kind not in kind[0] or (dtype.kind == "f" and dtype.itemsize > 8):
        what = "an object array" if dtype.kind == "O" else f"dtype {dtype}"
        raise InputError(f"found {what}, expected {kind[1]}", name)
    if axes is not None and found.ndim != axes:
        raise InputError(f"found shape {found.shape}, expected {axes} {'axis' if axes == 1 else 'axes'}", name)
    if not dtype.isnative:
        found = found.astype(dtype.newbyteorder("="))
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def scores(name: str, value: ArrayLike) -> Array:
    """One score for each canary, in single or double precision; other numbers become doubles where that is exact."""
    found = array(name, value, NUMBERS, axes=1)
    if found.dtype.kind == "f":
        return found if found.dtype.itemsize > 2 else found.astype(np.float64)
    exact = found.astype(np.float64)
    # From 2^53 on neighbors of an integer round to the same double, and scores would tie that do not.
    if np.any(np.abs(exact) >= 2.0**53):
        raise InputError("found integers from 2^53 on, expected numbers that a double holds exactly", name)
    return exact


def arrays(name: str, value: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """The arrays of an archive."""
    if not value:
        raise InputError("found no array, expected those of an npz file by name", name)
    return {key: array(f"{name}[{key!r}]", item, ANY) for key, item in value.items()}


def recording(name: str, value: Path | Mapping[str, ArrayLike]) -> str | dict[str, Array]:
    """A path to an npz file, or its arrays by name: a dict, or what `numpy.load` returns."""
    if isinstance(value, Mapping):
        return arrays(name, value)
    if is_path(value):
        return path(name, value)
    raise InputError(f"found {type(value).__name__}, expected a path or a dict of arrays", name)


def placed(inputs: Files) -> tuple[dict[str, Any], dict[str, File]]:
    """The path or paths of each option, and the files in memory by the names that stand for their paths.

    A name in memory is the argument's, unless a path of the same call is spelled alike.
    """
    taken = {value for group in inputs.values() for value in group.values() if isinstance(value, str)}
    places: dict[str, Any] = {}
    files: dict[str, File] = {}
    for option, group in inputs.items():
        words = []
        for name, value in group.items():
            if value is None or isinstance(value, str):
                words += [] if value is None else [value]
                continue
            word = name + _suffix(name, value)
            while word in taken:
                word = "_" + word
            taken.add(word)
            words.append(word)
            files[word] = value
        if words:
            places[option] = words if len(words) > 1 else words[0]
    return places, files


def _suffix(name: str, value: File) -> str:
    if isinstance(value, bytes):
        return ".toml" if name in ("scenario", "releases") else ".json" if value[:1] in (b"{", b"[") else ".csv"
    return ".npz" if isinstance(value, dict) else ".npy"


def _converted(name: str, value: Any) -> Array:
    if isinstance(value, np.ma.MaskedArray):
        # numpy would drop the mask and with it the meaning.
        raise InputError("found a masked array, expected a plain one; hint: .compressed() or .filled()", name)
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise InputError(f"found no regular array: {error}", name) from None
