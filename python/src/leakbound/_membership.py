"""Membership inference on recorded answers of shadow models.

Every attack takes a recording in one of these forms: `logits` [model, sample, view, class] (or [model, sample, class]
for one view) with `labels` [sample] and `keep` [model, sample], true where the model was trained on the sample;
`scores` [model, sample, view] (or [model, sample]) and `keep`; a dict of these arrays; or in the place of `logits` the
path of a recording, a folder or a pattern, or several of them for more models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from numpy.typing import ArrayLike

from leakbound._bound_rows import Names, Numbers
from leakbound._inputs import Path
from leakbound._membership_rows import MembershipResult
from leakbound._run import Progress, run
from leakbound._shadow_models import Answers, shadow_models

Victims = Union[str, int, Sequence[int]]


def lira(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    variant: str | None = None,
    mode: str | None = None,
    variance: str | None = None,
    views: str | None = None,
    score: str | None = None,
    victims: Victims | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """The likelihood ratio attack: how the answers of models with a sample differ from those of models without.

    Each model is a victim in turn and the others are its shadow models; `victims` holds some out. `variant` follows
    a published implementation: `"carlini-2022"`, `"tf-amia"`, `"tf-offset"`, `"aerni-2024"` or `"leakpro"`. `mode` is
    online, offline or in-only, `variance` per-sample or pooled, `views` independent or multivariate. `fpr` are the
    false positive rates of the tables, `top` numbers of most vulnerable samples, `resamples=0` leaves out the
    bootstrap.

    >>> import numpy
    >>> random = numpy.random.default_rng(0)
    >>> keep = random.permuted(numpy.tile(numpy.arange(16) % 2 == 0, (20, 1)), axis=1).T
    >>> scores = random.normal(size=(16, 20)) + 2 * keep
    >>> attack = leakbound.lira(scores=scores, keep=keep, resamples=0)
    >>> attack.auc > 0.8
    True
    """
    return _attack("lira", dict(locals()))


def label_only(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    strength: float | None = None,
    victims: Victims | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """Logistic regression on which views are answered correctly, nothing else; `strength` C weighs the loss against
    the penalty.
    """
    return _attack("label-only", dict(locals()))


def threshold_attack(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    score: str | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """One threshold for the answers on all samples; `score` is logit, hinge, loss, confidence, top-confidence,
    entropy, modified-entropy or correct.
    """
    return _attack("threshold", dict(locals()))


def rmia(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    mode: str | None = None,
    gamma: float | None = None,
    slope: float | None = None,
    victims: Victims | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """The relative attack: confidences against those of other models, held against other samples. `gamma` is how many
    times larger the ratio must be than that of another sample, `slope` the offline line.
    """
    return _attack("rmia", dict(locals()))


def risk(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    score: str | None = None,
    bins: int | None = None,
    victims: Victims | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """The privacy-risk score: the probability of membership given the answer, from the other models, with `bins` of
    equally many scores.
    """
    return _attack("risk", dict(locals()))


def attacker(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """A small network trained on the sorted confidences of other models."""
    return _attack("attacker", dict(locals()))


def compare_attacks(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    attacks: Names | None = None,
    victims: Victims | None = None,
    fpr: Numbers | None = None,
    level: str | None = None,
    per_class: bool = False,
    top: Numbers | None = None,
    failure_probability: float | None = None,
    failure_per: str | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """Several attacks on one recording side by side, with the defaults of their own functions; all that the recording
    feeds if `attacks` are not given. The best of several is chosen after the fact: its figures are optimistic.
    """
    return _attack("compare", dict(locals()))


def _attack(name: str, options: dict[str, Any]) -> MembershipResult:
    progress = options.pop("progress")
    given = {part: options.pop(part) for part in ("logits", "labels", "keep", "scores")}
    positional, named = shadow_models(**given)
    return run(MembershipResult, "membership " + name, options, positional, named, progress)
