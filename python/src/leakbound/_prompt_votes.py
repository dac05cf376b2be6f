"""Votes of PromptPATE with a language model of the caller: teachers are prompts, and one of them is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from leakbound._answer_cache import Answer, AnswerCache
from leakbound._core import InputError, UsageError
from leakbound._functions import audit_votes
from leakbound._inputs import Array, Path, path
from leakbound._prompt_template import PromptTemplate, first_label
from leakbound._results import VotesAudit
from leakbound._run import Progress, watcher

PromptAdversary = Literal["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"]
# A text and its label: the number of one of `labels`, or its name.
Labeled = tuple[str, "int | str"]
# The class in an answer, or None.
Parse = Callable[[str, Sequence[str]], "int | None"]

_ADVERSARIES = ("nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping")
_MOST_LABELS = 256


class PromptVotes(Mapping[str, Array]):
    """Votes of prompts in both worlds: the arrays of a recording by name, which `audit_votes` reads.

    `votes` and `votes_prime` [query, teacher] and `query_label` [query] hold classes; `changed_teacher` [query] is the
    teacher whose prompt is changed. `unparsed` counts answers without a label, under the dataset and its neighbor;
    `asked` counts prompts that the model was asked, those of the cache left out.
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
        """Classes [query, teacher] under its neighbor, of which nat-advq and pois-advq have one for each query."""
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
            raise UsageError(f"file: found {name}, expected a name that ends in .npz")
        try:
            np.savez_compressed(name, **self._arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise InputError(f"file: {error}") from None

    def audit(self, noise: str, **options: Any) -> VotesAudit:
        """`audit_votes` of these votes; of nat-advq and pois-advq the worst query, asked as often as there are queries."""
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
    """Votes of PromptPATE teachers, prompts of a language model with one private example each, in both worlds.

    The neighbor changes the prompt of one teacher, as the adversaries of Chadha et al. (2024), appendix D.2, do.
    `answer` must give the same text for the same prompt (temperature 0): the audit takes votes as fixed.

    >>> def answer(prompt):                        # a "model" that repeats the label of its example
    ...     return prompt.split("Answer: ")[1][0]
    >>> examples = [("a ball", "sports"), ("a vote", "world"), ("a match", 1)]
    >>> votes = leakbound.prompt_votes(answer, examples, [("a goal", "sports")], labels=["world", "sports"])
    >>> votes.votes.tolist(), votes.votes_prime.tolist(), votes.changed_teacher.tolist()
    ([[1, 0, 1]], [[0, 0, 1]], [0])

    Args:
        answer: The model: a function of a prompt that gives a text or, with `batch`, of a list of prompts that gives as
            many texts. An exception ends the call and reaches the caller; the cache keeps what was answered.
        examples: Private texts with their labels, numbers or names.
        queries: Texts with their labels that are asked about.
        labels: The names of the classes; their numbers, from 0 on, are what a model answers.
        teachers: Number of teachers, each with one of the examples, drawn at random [default: one for each example].
        adversary: What is in the changed prompt. "nat-advq": each query with its label, with a teacher that is wrong
            about it; "pois-advq": each query with the wrong label that has most votes, with a teacher that is right
            about it; each row of `votes_prime` is then of another neighbor. For all queries together: "confident", the
            mislabeled query on which most teachers agree; "unconfident", the mislabeled query whose two most voted
            classes are closest; "all-same", the instruction to answer `always`; "mapping", the classes and an example
            under wrong numbers.
        always: The label that all-same instructs a teacher to answer.
        template: The words of prompts [default: PromptTemplate()].
        parse: From an answer and `labels` to a class, or None for an answer without one.
        fallback: The label that an answer without one counts as; without it such an answer is an error.
        batch: Prompts that `answer` takes at once, at most [default: it takes one, as a string].
        cache: JSON lines in which answers are kept, so that no prompt is asked twice; a file for each model.
        seed: Seed of the drawn examples.
        progress: True for a bar of tqdm, or a function of what is done, the whole, and their unit.
    """
    names = _names(labels)
    if adversary not in _ADVERSARIES:
        raise UsageError(f"adversary: found {adversary!r}, expected one of {', '.join(_ADVERSARIES)}")
    asked = _labeled("queries", queries, names)
    ensemble = _Ensemble(
        AnswerCache(answer, batch, cache),
        _drawn(_labeled("examples", examples, names), teachers, seed),
        asked,
        names,
        PromptTemplate() if template is None else template,
        _Reader(parse, names, None if fallback is None else _label("fallback", fallback, names)),
        progress,
    )
    return ensemble.votes(adversary, _label("always", always, names) if adversary == "all-same" else 0)


class _Reader:
    """From answers to classes."""

    def __init__(self, parse: Parse, labels: tuple[str, ...], fallback: int | None) -> None:
        self.parse, self.labels, self.fallback = parse, labels, fallback
        self.unparsed = 0

    def read(self, text: str) -> int:
        found = self.parse(text, self.labels)
        if found is None:
            self.unparsed += 1
            if self.fallback is None:
                shown = text if len(text) <= 60 else text[:57] + "..."
                raise InputError(
                    f"answer: found {shown!r}, expected a number from 0 to {len(self.labels) - 1} or the name of a "
                    "label; hint: fallback is the label that such an answer counts as"
                )
            return self.fallback
        if isinstance(found, bool) or not isinstance(found, (int, np.integer)) or not 0 <= found < len(self.labels):
            raise InputError(f"parse: found {found!r}, expected a class from 0 to {len(self.labels) - 1} or None")
        return int(found)


class _Ensemble:
    """Teachers and what they are asked."""

    def __init__(
        self,
        cache: AnswerCache,
        examples: list[tuple[str, int]],
        queries: list[tuple[str, int]],
        labels: tuple[str, ...],
        template: PromptTemplate,
        reader: _Reader,
        progress: Progress,
    ) -> None:
        self.cache, self.examples, self.queries, self.labels = cache, examples, queries, labels
        self.template, self.reader, self.watch = template, reader, watcher(progress)

    def votes(self, adversary: PromptAdversary, always: int) -> PromptVotes:
        shape = (len(self.queries), len(self.examples))
        heads = [self._head([example]) for example in self.examples]
        everything = range(shape[0])
        votes = self._ask([(head, query) for query in everything for head in heads]).reshape(shape)
        first = self.reader.unparsed
        changed = np.zeros(shape[0], np.int32)
        asked: list[tuple[str, int]] = []
        if adversary in ("nat-advq", "pois-advq"):
            for query in everything:
                poisoned = adversary == "pois-advq"
                changed[query], head = self._poisoned(votes, query) if poisoned else self._met(votes, query)
                asked.append((head, query))
        else:
            changed[:], head = self._natural(votes, adversary, always)
            asked = [(head, query) for query in everything]
        votes_prime = votes.copy()
        votes_prime[np.arange(shape[0]), changed] = self._ask(asked)
        arrays = {
            "votes": votes,
            "votes_prime": votes_prime,
            "query_label": np.array([label for _, label in self.queries], np.uint8),
            "changed_teacher": changed,
        }
        unparsed = (first, self.reader.unparsed - first)
        return PromptVotes(arrays, adversary=adversary, labels=self.labels, unparsed=unparsed, asked=self.cache.asked)

    def _head(self, examples: Sequence[tuple[str, int]], names: Sequence[int] | None = None) -> str:
        return self.template.classify(self.labels, range(len(self.labels)) if names is None else names, examples)

    def _ask(self, asked: list[tuple[str, int]]) -> Array:
        """The class that each prompt gives to its query."""
        prompts = [head + self.template.ask(self.queries[query][0]) for head, query in asked]
        whole = len(set(prompts))
        watch = self.watch or (lambda _done, _whole, _unit: None)
        texts = self.cache.answers(prompts, lambda done: watch(done, whole, "prompts"))
        return np.array([self.reader.read(text) for text in texts], np.uint8)

    def _teacher(self, votes: Array, query: int, right: bool) -> int:
        """The first teacher whose vote is right, or is wrong; the first of all where there is none."""
        return int(np.argmax((votes[query] == self.queries[query][1]) == right))

    def _met(self, votes: Array, query: int) -> tuple[int, str]:
        """A query with its label."""
        return self._teacher(votes, query, False), self._head([self.queries[query]])

    def _poisoned(self, votes: Array, query: int) -> tuple[int, str]:
        """A query with the wrong label that has most votes: the second class where the ensemble is right."""
        text, label = self.queries[query]
        wrong = next(name for name in self._ranked(votes[query]) if name != label)
        return self._teacher(votes, query, True), self._head([(text, wrong)])

    def _natural(self, votes: Array, adversary: PromptAdversary, always: int) -> tuple[int, str]:
        """One teacher, changed for all queries."""
        counts = np.array([self._counts(row) for row in votes])
        most = np.sort(counts, axis=1)
        # Of equals the first.
        if adversary == "confident":
            return self._poisoned(votes, int(np.argmax(most[:, -1])))
        if adversary == "unconfident":
            return self._poisoned(votes, int(np.argmin(most[:, -1] - most[:, -2])))
        if adversary == "all-same":
            return 0, self.template.answer_always(always)
        names = self._mapping(votes)
        text, label = self.queries[int(np.argmax(most[:, -1]))]
        return 0, self._head([(text, names[label])], names)

    def _mapping(self, votes: Array) -> list[int]:
        """What each class is called: the class that most often comes second where it is the right one and comes first.
        The next class where none has a vote."""
        seconds = np.zeros((len(self.labels), len(self.labels)), np.int64)
        for (_, label), row in zip(self.queries, votes):
            first, second, *_ = self._ranked(row)
            if first == label and self._counts(row)[second] > 0:
                seconds[first, second] += 1
        return [
            int(np.argmax(row)) if row.any() else (label + 1) % len(self.labels) for label, row in enumerate(seconds)
        ]

    def _counts(self, row: Array) -> Array:
        return np.bincount(row, minlength=len(self.labels))

    def _ranked(self, row: Array) -> list[int]:
        """Classes by their votes, the most first; of two with as many the smaller class."""
        return [int(name) for name in np.argsort(-self._counts(row), kind="stable")]


def _names(labels: Sequence[str]) -> tuple[str, ...]:
    if isinstance(labels, str) or not all(isinstance(name, str) and name for name in labels):
        raise InputError("labels: expected the names of the classes, a list of texts")
    names = tuple(labels)
    if not 2 <= len(names) <= _MOST_LABELS:
        raise InputError(f"labels: found {len(names)}, expected from 2 to {_MOST_LABELS} names")
    if len({name.casefold() for name in names}) < len(names):
        raise InputError("labels: found a name twice, expected different ones")
    return names


def _label(name: str, value: object, labels: tuple[str, ...]) -> int:
    """The number of a label."""
    if isinstance(value, str) and value in labels:
        return labels.index(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < len(labels):
        return int(value)
    raise InputError(f"{name}: found {value!r}, expected a number from 0 to {len(labels) - 1} or a name of `labels`")


def _labeled(name: str, pairs: Sequence[Labeled], labels: tuple[str, ...]) -> list[tuple[str, int]]:
    found = []
    for place, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"{name}[{place}]: found {pair!r}, expected a text and its label")
        found.append((pair[0], _label(f"{name}[{place}]", pair[1], labels)))
    if not found:
        raise InputError(f"{name}: found none, expected at least 1 text with its label")
    return found


def _drawn(examples: list[tuple[str, int]], teachers: int | None, seed: int) -> list[tuple[str, int]]:
    """An example for each teacher, in the order of the examples."""
    if teachers is None:
        return examples
    if isinstance(teachers, bool) or not isinstance(teachers, (int, np.integer)) or teachers < 1:
        raise UsageError(f"teachers: found {teachers!r}, expected a number from 1 on")
    if teachers > len(examples):
        raise InputError(f"teachers: found {teachers}, expected at most one for each of {len(examples)} examples")
    chosen = np.sort(np.random.default_rng(seed).choice(len(examples), teachers, replace=False))
    return [examples[place] for place in chosen]
