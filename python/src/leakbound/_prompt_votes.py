"""Votes of PromptPATE with a language model of the caller: teachers are prompts, and one of them is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from leakbound._answer_cache import Answer, AnswerCache
from leakbound._errors import InputError, UsageError
from leakbound.audit import votes as audit_votes
from leakbound._inputs import Array, Path, path
from leakbound._prompt_ensemble import Ensemble, Parse, PromptAdversary, Reader
from leakbound._prompt_template import PromptTemplate, first_label
from leakbound.results import VotesAudit
from leakbound._call import Progress

# A text and its label: the number of one of `labels`, or its name.
Labeled = tuple[str, "int | str"]

_ADVERSARIES = get_args(PromptAdversary)
_MOST_LABELS = 256


class PromptVotes(Mapping[str, Array]):
    """Votes of prompts in both worlds: the arrays of a recording by name, which `audit.votes` reads.

    `prompt_votes` makes them.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        `votes` and `votes_prime` [query, teacher] and `query_label` [query] hold classes; `changed_teacher` [query] is
        the teacher whose prompt is changed, and `neighbor` [query] numbers the neighboring datasets; nat-advq
        and pois-advq have one for each query.
    adversary : {"nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"}
        What is in the changed prompt.
    labels : sequence of str
        Names of the classes.
    unparsed : tuple of int
        Numbers of answers without a label, under the dataset and its neighbor.
    asked : int
        Number of prompts that the model was asked, those of the cache left out.
    """

    __slots__ = ("_arrays", "adversary", "asked", "labels", "unparsed")

    def __init__(
        self,
        arrays: Mapping[str, Array],
        *,
        adversary: PromptAdversary,
        labels: Sequence[str],
        unparsed: tuple[int, int],
        asked: int,
    ) -> None:
        self._arrays = dict(arrays)
        self.adversary, self.labels, self.unparsed = adversary, tuple(labels), unparsed
        self.asked = asked

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def votes(self) -> Array:
        """Classes [query, teacher] under the dataset."""
        return self["votes"]

    @property
    def votes_prime(self) -> Array:
        """Classes [query, teacher] under its neighbor; nat-advq and pois-advq have one for each query."""
        return self["votes_prime"]

    @property
    def query_label(self) -> Array:
        """The right class of each query."""
        return self["query_label"]

    @property
    def changed_teacher(self) -> Array:
        """The teacher whose prompt is changed for each query."""
        return self["changed_teacher"]

    @property
    def accuracy(self) -> float:
        """Share of votes under the dataset for the right class."""
        return float((self.votes == self.query_label[:, None]).mean())

    def save(self, file: Path) -> None:
        """Writes the recording, an npz file that `leakbound audit votes --model prompt-pate` reads."""
        name = path("file", file)
        if not name.endswith(".npz"):
            raise UsageError(f"found {name}, expected a name that ends in .npz", "file")
        try:
            np.savez_compressed(name, **self._arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise InputError(f"{error}", "file") from None

    def audit(self, noise: str, **options: Any) -> VotesAudit:
        """`audit.votes` of these votes; of nat-advq and pois-advq the worst query, asked as often as there are queries."""
        if self.adversary in ("nat-advq", "pois-advq"):
            options.setdefault("n_queries", len(self.votes))
        return audit_votes(self, model="prompt-pate", noise=noise, **options)

    def __repr__(self) -> str:
        queries, teachers = self.votes.shape
        return f"<PromptVotes: {self.adversary}, {teachers} teachers, {queries} queries, {len(self.labels)} classes>"


def prompt_votes(
    answer: Answer,
    examples: Sequence[Labeled],
    queries: Sequence[Labeled],
    *,
    labels: Sequence[str],
    teachers: int | None = None,
    adversary: PromptAdversary = "pois-advq",
    always: int | str = 1,
    template: PromptTemplate | None = None,
    parse: Parse = first_label,
    fallback: int | str | None = None,
    batch: int | None = None,
    cache: Path | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> PromptVotes:
    """Record votes of PromptPATE teachers, prompts of a language model with one private example each, in both worlds.

    The neighbor changes the prompt of one teacher, as the adversaries of Chadha et al. (2024), appendix D.2, do.
    `answer` must give the same text for the same prompt (temperature 0): the audit takes votes as fixed.

    Parameters
    ----------
    answer : callable
        The model: a function of a prompt that gives a text or, with `batch`, of a list of prompts that gives as many
        texts. An exception ends the call and reaches the caller; the cache keeps what was answered.
    examples, queries : sequence of (str, int or str)
        Private texts, and texts that are asked about, with their labels, numbers or names.
    labels : sequence of str
        The names of the classes, from 2 to 256; their numbers, from 0 on, are what a model answers.
    teachers : int, optional
        Number of teachers, each with one of the examples, drawn at random [default: one for each example].
    adversary : {"nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"}, default "pois-advq"
        What is in the changed prompt. "nat-advq": each query with its label, with a teacher that is wrong about it;
        "pois-advq": each query with the wrong label that has most votes, with a teacher that is right about it; each
        row of `votes_prime` is then of another neighbor. For all queries together: "confident", the mislabeled query on
        which most teachers agree; "unconfident", the mislabeled query whose two most voted classes are closest;
        "all-same", the instruction to answer `always`; "mapping", the classes and an example under wrong numbers.
    always : int or str, default 1
        The label that all-same instructs a teacher to answer.
    template : PromptTemplate, optional
        The words of prompts [default: PromptTemplate()].
    parse : callable, default first_label
        From an answer and `labels` to a class, or None for an answer without one.
    fallback : int or str, optional
        The label that an answer without one counts as; without it such an answer is an error.
    batch : int, optional
        Prompts that `answer` takes together, at most [default: it takes one, as a string].
    cache : path, optional
        JSON lines in which answers are kept, so that no prompt is asked twice; a file for each model.
    seed : int, default 0
        Seed of the drawn examples.
    progress : bool or callable, optional
        True for a bar of tqdm, or a function of what is done, the whole, and their unit.

    Returns
    -------
    PromptVotes
        The votes in both worlds.

    References
    ----------
    Chadha, Jagielski, Papernot, Choquette-Choo and Nasr (2024). Auditing private prediction. ICML.

    Examples
    --------
    >>> def answer(prompt):                        # a "model" that repeats the label of its example
    ...     return prompt.split("Answer: ")[1][0]
    >>> examples = [("a ball", "sports"), ("a vote", "world"), ("a match", 1)]
    >>> votes = leakbound.prompts.prompt_votes(answer, examples, [("a goal", "sports")], labels=["world", "sports"])
    >>> votes.votes.tolist(), votes.votes_prime.tolist(), votes.changed_teacher.tolist()
    ([[1, 0, 1]], [[0, 0, 1]], [0])
    """
    names = _names(labels)
    if adversary not in _ADVERSARIES:
        raise UsageError(f"found {adversary!r}, expected one of {', '.join(_ADVERSARIES)}", "adversary")
    asked = _labeled("queries", queries, names)
    ensemble = Ensemble(
        AnswerCache(answer, batch, cache),
        _drawn(_labeled("examples", examples, names), teachers, seed),
        asked,
        names,
        PromptTemplate() if template is None else template,
        Reader(parse, names, None if fallback is None else _label("fallback", fallback, names)),
        progress,
    )
    always = _label("always", always, names) if adversary == "all-same" else 0
    arrays, unparsed = ensemble.votes(adversary, always)
    return PromptVotes(arrays, adversary=adversary, labels=names, unparsed=unparsed, asked=ensemble.cache.asked)


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    if isinstance(labels, str) or not all(isinstance(name, str) and name for name in labels):
        raise InputError("expected the names of the classes, a list of texts", "labels")
    names = tuple(labels)
    if not 2 <= len(names) <= _MOST_LABELS:
        raise InputError(f"found {len(names)}, expected from 2 to {_MOST_LABELS} names", "labels")
    if len({name.casefold() for name in names}) < len(names):
        raise InputError("found a name twice, expected different ones", "labels")
    return names


def _label(name: str, value: object, labels: tuple[str, ...]) -> int:
    """The number of a label."""
    if isinstance(value, str) and value in labels:
        return labels.index(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < len(labels):
        return int(value)
    raise InputError(f"found {value!r}, expected a number from 0 to {len(labels) - 1} or a name of `labels`", name)


def _labeled(name: str, pairs: Sequence[Labeled], labels: tuple[str, ...]) -> list[tuple[str, int]]:
    found = []
    for place, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"{name}[{place}]: found {pair!r}, expected a text and its label")
        found.append((pair[0], _label(f"{name}[{place}]", pair[1], labels)))
    if not found:
        raise InputError("found none, expected at least 1 text with its label", name)
    return found


def _drawn(examples: list[tuple[str, int]], teachers: int | None, seed: int) -> list[tuple[str, int]]:
    """An example for each teacher, in the order of the examples."""
    if teachers is None:
        return examples
    if isinstance(teachers, bool) or not isinstance(teachers, (int, np.integer)) or teachers < 1:
        raise UsageError(f"found {teachers!r}, expected a number from 1 on", "teachers")
    if teachers > len(examples):
        raise InputError(f"found {teachers}, expected at most one for each of {len(examples)} examples", "teachers")
    chosen = np.sort(np.random.default_rng(seed).choice(len(examples), teachers, replace=False))
    return [examples[place] for place in chosen]
