"""Membership inference on recorded answers of shadow models.

Every attack takes a recording in one of these forms: `logits` [model, sample, view, class] (or [model, sample, class]
for one view) with `labels` [sample] and `keep` [model, sample], true where the model was trained on the sample;
`scores` [model, sample, view] (or [model, sample]) and `keep`; a dict of these arrays; or in the place of `logits` the
path of a recording, a folder or a pattern, or several of them for more models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Union

from numpy.typing import ArrayLike

from leakbound._bound_rows import Names, Numbers
from leakbound._inputs import Path
from leakbound._membership_rows import MembershipResult
from leakbound._run import Progress, given, run
from leakbound._shadow_models import Answers, shadow_models

Victims = Union[str, int, Sequence[int]]


def lira(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    variant: Literal["leakbound", "carlini-2022", "tf-amia", "tf-offset", "aerni-2024", "leakpro"] = "leakbound",
    mode: Literal["online", "offline", "in-only"] = "online",
    variance: Literal["per-sample", "pooled"] = "per-sample",
    views: Literal["independent", "multivariate"] = "independent",
    score: Literal[
        "logit", "hinge", "loss", "confidence", "top-confidence", "entropy", "modified-entropy", "correct"
    ]
    | None = None,
    victims: Victims = "loo",
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
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
    return _attack("lira", lira, locals())


def label_only(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    strength: float = 1,
    victims: Victims = "loo",
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """Logistic regression on which views are answered correctly, nothing else; `strength` C weighs the loss against
    the penalty.
    """
    return _attack("label-only", label_only, locals())


def threshold_attack(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    score: Literal[
        "logit", "hinge", "loss", "confidence", "top-confidence", "entropy", "modified-entropy", "correct"
    ]
    | None = None,
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """One threshold for the answers on all samples; `score` is logit, hinge, loss, confidence, top-confidence,
    entropy, modified-entropy or correct.
    """
    return _attack("threshold", threshold_attack, locals())


def rmia(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    mode: Literal["online", "offline", "in-only"] = "online",
    gamma: float = 2,
    slope: float = 0.3,
    victims: Victims = "loo",
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """The relative attack: confidences against those of other models, held against other samples. `gamma` is how many
    times larger the ratio must be than that of another sample, `slope` the offline line.
    """
    return _attack("rmia", rmia, locals())


def risk(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    score: Literal[
        "logit", "hinge", "loss", "confidence", "top-confidence", "entropy", "modified-entropy", "correct"
    ]
    | None = None,
    bins: int = 15,
    victims: Victims = "loo",
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """The privacy-risk score: the probability of membership given the answer, from the other models, with `bins` of
    equally many scores.
    """
    return _attack("risk", risk, locals())


def attacker(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """A small network trained on the sorted confidences of other models."""
    return _attack("attacker", attacker, locals())


def compare_attacks(
    logits: Answers | None = None,
    labels: Path | ArrayLike | None = None,
    keep: Path | ArrayLike | None = None,
    *,
    scores: Path | ArrayLike | None = None,
    attacks: Names | None = None,
    victims: Victims = "loo",
    fpr: Numbers = (0, 0.001, 0.01),
    level: Literal["population", "sample", "both"] = "both",
    per_class: bool = False,
    top: Numbers = 10,
    failure_probability: float = 0.05,
    failure_per: Literal["answer", "query"] = "answer",
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> MembershipResult:
    """Several attacks on one recording side by side, with the defaults of their own functions; all that the recording
    feeds if `attacks` are not given. The best of several is chosen after the fact: its figures are optimistic.
    """
    return _attack("compare", compare_attacks, locals())


def _attack(name: str, function: Callable[..., MembershipResult], arguments: dict[str, Any]) -> MembershipResult:
    parts = ("logits", "labels", "keep", "scores")
    positional, named = shadow_models(**{part: arguments[part] for part in parts})
    options = given(function, arguments, "progress", *parts)
    return run(MembershipResult, "membership " + name, options, positional, named, arguments["progress"])
