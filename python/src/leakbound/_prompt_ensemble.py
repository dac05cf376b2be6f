"""Teachers of PromptPATE, and what adversaries put into the prompt of one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from leakbound._answer_cache import AnswerCache
from leakbound._errors import InputError
from leakbound._inputs import Array
from leakbound._prompt_template import PromptTemplate
from leakbound._call import Progress, watcher

PromptAdversary = Literal["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"]
# The class in an answer, or None.
Parse = Callable[[str, Sequence[str]], "int | None"]


class Reader:
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
                    f"found {shown!r}, expected a number from 0 to {len(self.labels) - 1} or the name of a "
                    "label; hint: fallback is the label that such an answer counts as",
                    "answer",
                )
            return self.fallback
        if isinstance(found, bool) or not isinstance(found, (int, np.integer)) or not 0 <= found < len(self.labels):
            raise InputError(f"found {found!r}, expected a class from 0 to {len(self.labels) - 1} or None", "parse")
        return int(found)


class Ensemble:
    """Teachers and what they are asked."""

    def __init__(
        self,
        cache: AnswerCache,
        examples: list[tuple[str, int]],
        queries: list[tuple[str, int]],
        labels: tuple[str, ...],
        template: PromptTemplate,
        reader: Reader,
        progress: Progress,
    ) -> None:
        self.cache, self.examples, self.queries, self.labels = cache, examples, queries, labels
        self.template, self.reader, self.watch = template, reader, watcher(progress)

    def votes(self, adversary: PromptAdversary, always: int) -> tuple[dict[str, Array], tuple[int, int]]:
        """The arrays of a recording, and how many answers had no label in each world."""
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
            "neighbor": np.arange(shape[0], dtype=np.int32) * (adversary in ("nat-advq", "pois-advq")),
        }
        return arrays, (first, self.reader.unparsed - first)

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
