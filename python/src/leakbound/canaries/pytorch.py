"""Scores of examples by a model of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from leakbound._errors import InputError, UsageError
from leakbound._inputs import Array
from leakbound.canaries._examples import ExampleCanaries


def loss_scores(
    model: torch.nn.Module,
    canaries: ExampleCanaries,
    *,
    loss: Callable[[Any, Any], Any] | None = None,
    batch: int = 512,
) -> Array:
    """Minus the loss of each canary, [canary]: high scores mean members.

    The model is put into evaluation mode and back. Of canaries without labels, token sequences, the loss is that of
    each next token, for models that give logits [sequence, token, vocabulary] or an object with `logits`.

    Parameters
    ----------
    model
        The model.
    canaries
        The canaries, trained on or not.
    loss
        From logits and labels to a loss for each example [default: cross-entropy].
    batch
        Canaries that are computed simultaneously.
    """
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise UsageError(f"found {batch!r}, expected a whole number from 1 on", "batch")
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    training, found = model.training, []
    model.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(canaries), batch):
                inputs = torch.as_tensor(canaries.inputs[start : start + batch]).to(device)
                labels = None if canaries.labels is None else canaries.labels[start : start + batch]
                found.append(_losses(model, inputs, labels, loss, device))
    finally:
        model.train(training)
    scores = -np.concatenate(found)
    if np.isnan(scores).any():
        raise InputError(f"the loss of canary {np.flatnonzero(np.isnan(scores))[0]} is NaN, expected a number", "model")
    return scores


def _losses(model: Any, inputs: Any, labels: Array | None, loss: Any, device: Any) -> Array:
    outputs = model(inputs)
    logits = getattr(outputs, "logits", outputs)
    if labels is not None:
        target = torch.as_tensor(labels).to(device)
        target = target if loss is not None else target.long()
    else:
        logits, target = logits[:, :-1].transpose(1, 2), inputs[:, 1:].long()
    losses = (
        torch.nn.functional.cross_entropy(logits, target, reduction="none") if loss is None else loss(logits, target)
    )
    if losses.shape[:1] != inputs.shape[:1]:
        raise UsageError(f"found shape {tuple(losses.shape)}, expected one for each of {len(inputs)} examples", "loss")
    # One number for each example, in double precision: losses near 0 differ in their last digits.
    array: Array = losses.double().reshape(len(inputs), -1).sum(dim=1).cpu().numpy()
    return array
