"""Canaries of one training run: what they are, how they enter the training, and their scores.

`plan` plans the audit before training and gives each canary its coin, `plan.audit(scores)` concludes
it. Between them:

>>> import numpy
>>> from leakbound import canaries
>>> random = numpy.random.default_rng(0)
>>> images, labels = random.random((600, 8, 8)), random.integers(10, size=600)
>>> plan = leakbound.canaries.plan(100, claim_epsilon=4, seed=1)
>>> chosen = canaries.mislabeled(images[:100], labels[:100], classes=10)
>>> train_images, train_labels = chosen.inserted(plan, images[100:], labels[100:])
>>> len(train_images) == 500 + plan.members
True

Canaries that are examples are scored by their losses (`pytorch.loss_scores`), which is what someone sees who gets the
model. Canaries that are gradients (`GradientCanaries`, and `opacus.attach` and `jax.audited` for training loops) are
scored by what all noisy gradients say of them, which is what differential privacy is about and shows the most.
"""

from __future__ import annotations

import importlib
from typing import Any

from leakbound._canaries import CanaryScores, Roc, TprAtFpr
from leakbound.canaries._audits import audit, plan
from leakbound.canaries._examples import ExampleCanaries, mislabeled, random_images, random_tokens
from leakbound.canaries._gradients import GradientCanaries
from leakbound.canaries._scores import ScoreMean

__all__ = [
    "CanaryScores",
    "ExampleCanaries",
    "GradientCanaries",
    "Roc",
    "ScoreMean",
    "TprAtFpr",
    "audit",
    "mislabeled",
    "plan",
    "random_images",
    "random_tokens",
]

# Of packages that need not be installed; imported when they are first asked for.
_HOOKS = ("jax", "opacus", "pytorch")


def __getattr__(name: str) -> Any:
    if name in _HOOKS:
        return importlib.import_module(f"leakbound.canaries.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_HOOKS])
