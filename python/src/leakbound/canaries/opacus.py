"""Gradient canaries in a training by Opacus."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from leakbound._errors import UsageError
from leakbound._inputs import Array
from leakbound.results import CanaryPlan
from leakbound.canaries._gradients import GradientCanaries, Kind


def attach(
    optimizer: Any,
    plan: CanaryPlan,
    *,
    sample_rate: float,
    noise_multiplier: float | None = None,
    kind: Kind = "dirac",
    scale: float = 10.0,
    seed: int = 0,
    sampling_seed: int | None = None,
) -> GradientCanaries:
    """Adds canaries to the per-sample gradients of an optimizer of `PrivacyEngine.make_private`, and observes its steps.

    The canaries of a step are a further part of its batch, as if a memory manager had split it: the optimizer clips
    them, adds noise to the sum, and steps. What the other records contribute is known from the sum before the canaries
    come, so the scores do not depend on coins otherwise than through the noisy gradients.

    ```python
    model, optimizer, loader = PrivacyEngine().make_private(module=model, optimizer=optimizer, data_loader=loader,
                                                            noise_multiplier=1.0, max_grad_norm=1.0)
    watched = leakbound.canaries.opacus.attach(optimizer, plan, sample_rate=1 / len(loader))
    ...                                                       # train
    print(plan.audit(watched.scores))
    ```

    Parameters
    ----------
    optimizer
        The optimizer with per-sample gradients; ghost clipping has none.
    plan
        The plan, for this run alone.
    sample_rate
        The probability that a record is in a batch.
    noise_multiplier
        The σ that is claimed [default: that of the optimizer].
    kind
        "dirac", one parameter for each canary; "signs", a block of parameters with random signs for each.
    scale
        Norm of a gradient before clipping, in clipping norms.
    seed
        Seed of the directions, which may be known.
    sampling_seed
        Seed of the canaries' batches [default: from the operating system].
    """
    for needed in ("clip_and_accumulate", "add_noise", "max_grad_norm", "noise_multiplier", "params"):
        if not hasattr(optimizer, needed):
            raise UsageError(f"found {type(optimizer).__name__}, expected one of PrivacyEngine.make_private", "optimizer")
    if "FastGradientClipping" in type(optimizer).__name__:
        raise UsageError("found ghost clipping, which has no per-sample gradients for canaries to join", "optimizer")
    if hasattr(optimizer, "_leakbound_canaries"):
        raise UsageError("found canaries attached to it already, expected one plan for one run", "optimizer")
    if not isinstance(optimizer.max_grad_norm, (int, float)):
        raise UsageError("found a clipping norm for each layer, expected one for the whole gradient", "optimizer")
    parameters = list(optimizer.params)
    canaries = GradientCanaries(
        plan,
        sum(parameter.numel() for parameter in parameters),
        sample_rate=sample_rate,
        noise_multiplier=optimizer.noise_multiplier if noise_multiplier is None else noise_multiplier,
        kind=kind,
        scale=scale,
        seed=seed,
        sampling_seed=sampling_seed,
    )
    optimizer._leakbound_canaries = _Steps(optimizer, parameters, canaries)
    return canaries


class _Steps:
    """What replaces two methods of the optimizer."""

    def __init__(self, optimizer: Any, parameters: list[Any], canaries: GradientCanaries) -> None:
        self.optimizer, self.parameters, self.canaries = optimizer, parameters, canaries
        self.clip, self.noise = optimizer.clip_and_accumulate, optimizer.add_noise
        optimizer.clip_and_accumulate, optimizer.add_noise = self.clip_and_accumulate, self.add_noise
        # Canaries of all parameters: which tensor, and where in it.
        self.ends = np.cumsum([parameter.numel() for parameter in parameters])
        self.waiting = True
        self.others = np.zeros(len(canaries))

    def clip_and_accumulate(self) -> None:
        with self.canaries.timed():
            before = self._along("summed_grad")
        self.clip()
        with self.canaries.timed():
            self.others += self._along("summed_grad") - before
            if self.waiting:
                self.waiting = False
                chosen = self.canaries.batch()
                if len(chosen):
                    self._add(chosen)

    def add_noise(self) -> None:
        self.noise()
        with self.canaries.timed():
            sums = (self._along("grad") - self.others) / self.optimizer.max_grad_norm
            self.canaries.observe(sums)
            self.waiting, self.others = True, np.zeros(len(self.canaries))

    def _add(self, chosen: Array) -> None:
        """The gradients of these canaries as a further part of the batch."""
        kept = [parameter.grad_sample for parameter in self.parameters]
        norm = self.canaries.scale * self.optimizer.max_grad_norm
        for parameter, start in zip(self.parameters, self._starts()):
            rows = torch.zeros(len(chosen), parameter.numel(), dtype=parameter.dtype, device=parameter.device)
            for row, canary in enumerate(chosen):
                places, weights = self.canaries.gradient(canary)
                inside = (start <= places) & (places < start + parameter.numel())
                if inside.any():
                    at = torch.as_tensor(places[inside] - start, device=parameter.device)
                    rows[row, at] = torch.as_tensor(norm * weights[inside]).to(rows)
            parameter.grad_sample = rows.reshape(len(chosen), *parameter.shape)
        self.clip()
        for parameter, samples in zip(self.parameters, kept):
            parameter.grad_sample = samples

    def _starts(self) -> list[int]:
        return [0, *(int(end) for end in self.ends[:-1])]

    def _along(self, name: str) -> Array:
        """Inner products of a gradient with all canaries; 0 where there is none yet."""
        found = [getattr(parameter, name) for parameter in self.parameters]
        if any(part is None for part in found):
            return np.zeros(len(self.canaries))
        return self.canaries.along(torch.cat([part.detach().reshape(-1) for part in found]).cpu().numpy())
