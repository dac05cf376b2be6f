"""Canaries that are examples: inputs with labels, or token sequences."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._errors import InputError, UsageError
from leakbound._inputs import Array
from leakbound.results import CanaryPlan


class ExampleCanaries:
    """Examples that are in the training set or not, each by its own coin.

    Canaries are known to everyone; only the coins of the plan are secret.

    Parameters
    ----------
    inputs : ndarray
        Images, or other inputs or token sequences, [canary, ...].
    labels : ndarray, optional
        Their classes [canary], which token sequences have none of.
    """

    __slots__ = ("inputs", "labels")

    def __init__(self, inputs: Array, labels: Array | None = None) -> None:
        self.inputs, self.labels = inputs, labels

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the canaries, to be deposited with that of the plan."""
        digest = hashlib.sha256()
        for array in (self.inputs,) if self.labels is None else (self.inputs, self.labels):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def inserted(self, plan: CanaryPlan, *arrays: Any) -> tuple[Any, ...]:
        """The training data with the canaries whose coin is up after the rest, in the order of the canaries.

        `arrays` are the inputs and the labels of the rest, or token sequences alone, as NumPy arrays or as tensors of
        PyTorch, and so are the answers. The examples that canaries were made from must not be among them.
        """
        coins = checked_coins(plan, len(self))
        own = (self.inputs,) if self.labels is None else (self.inputs, self.labels)
        if len(arrays) != len(own):
            raise UsageError(
                f"found {len(arrays)} arrays, expected {'inputs and labels' if len(own) == 2 else 'inputs'}",
                "inserted",
            )
        joined = tuple(_joined(array, members[coins]) for array, members in zip(arrays, own))
        return joined

    def __repr__(self) -> str:
        return f"<ExampleCanaries: {len(self)} of shape {self.inputs.shape[1:]}>"


def mislabeled(inputs: ArrayLike, labels: ArrayLike, *, classes: int, seed: int = 0) -> ExampleCanaries:
    """Give each example a wrong label, uniformly drawn: a model knows it only if it was trained on it.

    Parameters
    ----------
    inputs, labels : array_like
        Inputs [canary, ...], which the rest of the training set does not contain, and their true classes [canary],
        integers from 0 on.
    classes : int
        Number of classes, at least 2.
    seed : int, default 0
        Seed of the wrong labels; it reveals nothing about the coins.

    Returns
    -------
    ExampleCanaries
        The inputs with their wrong labels.
    """
    found, true = np.asarray(inputs), _inputs.array("labels", labels, _inputs.INTEGERS, axes=1)
    if found.ndim < 1 or len(found) != len(true):
        raise InputError(f"found shape {found.shape}, expected one input for each of {len(true)} labels", "inputs")
    _at_least("classes", classes, 2)
    if true.min() < 0 or true.max() >= classes:
        raise InputError(f"found {true.min()} to {true.max()}, expected classes from 0 to {classes - 1}", "labels")
    shift = np.random.default_rng(seed).integers(1, classes, size=len(true))
    return ExampleCanaries(found, ((true.astype(np.int64) + shift) % classes).astype(true.dtype))


def random_images(
    canaries: int, shape: tuple[int, ...], *, classes: int, low: float = 0.0, high: float = 1.0, seed: int = 0
) -> ExampleCanaries:
    """Craft images: every pixel is `low` or `high` by a fair coin, and the label is uniformly drawn.

    Such images are far from all others and from each other, so a model that was trained on one shows it more clearly
    than a mislabeled example.

    Parameters
    ----------
    canaries : int
        Number of images, at least 1.
    shape : tuple of int
        Shape of one image.
    classes : int
        Number of classes, at least 2.
    low, high : float, default 0.0 and 1.0
        The two values of pixels.
    seed : int, default 0
        Seed of the pixels and the labels; it reveals nothing about the coins.

    Returns
    -------
    ExampleCanaries
        Images of 32-bit numbers [canary, ...] and labels [canary].
    """
    _at_least("canaries", canaries, 1)
    _at_least("classes", classes, 2)
    random = np.random.default_rng(seed)
    pixels = np.where(random.integers(2, size=(canaries, *shape), dtype=np.int8) == 1, high, low).astype(np.float32)
    return ExampleCanaries(pixels, random.integers(classes, size=canaries))


def random_tokens(canaries: int, length: int, *, vocabulary: int, seed: int = 0) -> ExampleCanaries:
    """Draw the tokens of sequences uniformly.

    Parameters
    ----------
    canaries, length : int
        Number of sequences, and of tokens in each, at least 1.
    vocabulary : int
        Number of tokens to draw from, at least 2.
    seed : int, default 0
        Seed of the tokens; it reveals nothing about the coins.

    Returns
    -------
    ExampleCanaries
        Integers [canary, length] from 0 to `vocabulary` - 1, without labels.
    """
    _at_least("canaries", canaries, 1)
    _at_least("length", length, 1)
    _at_least("vocabulary", vocabulary, 2)
    return ExampleCanaries(np.random.default_rng(seed).integers(vocabulary, size=(canaries, length)))


def checked_coins(plan: CanaryPlan, canaries: int) -> Array:
    """The coins of a plan for this many canaries."""
    if not isinstance(plan, CanaryPlan):
        raise InputError(f"found {type(plan).__name__}, expected a plan of canaries.plan", "plan")
    coins = plan.coins
    if len(coins) != canaries:
        raise InputError(f"found coins of {len(coins)} canaries, expected those of {canaries}", "plan")
    return coins


def _at_least(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise UsageError(f"found {value!r}, expected a whole number from {least} on", name)


def _joined(rest: Any, members: Array) -> Any:
    """What was given with the members behind it, of the kind and type that was given."""
    shape = tuple(rest.shape[1:])
    if shape != members.shape[1:]:
        raise InputError(
            f"found an array of shape {tuple(rest.shape)}, expected rows of shape {members.shape[1:]}",
            "inserted",
        )
    if isinstance(rest, np.ndarray):
        return np.concatenate([rest, members.astype(rest.dtype)])
    import torch

    return torch.cat([rest, torch.as_tensor(members).to(rest)])
