"""Anyone's accountant against exact laws."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

from leakbound import _core
from leakbound._bound_rows import Names
from leakbound._core import UsageError
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import COMMANDS, Progress, finished, given, run, watcher
from leakbound._words import calling, option_words

# A name, or a function of a request that answers a number.
Accountant = Union[str, Callable[[dict[str, Any]], float]]


class Violation(Row):
    """What was claimed, and the limit that the claim breaks."""

    claim: float
    limit: float
    error: float
    words: str


class Counterexample(Row):
    """The smallest case found, the case it was shrunk from, and commands that show it again."""

    case: Row
    violation: Violation
    drawn: Row
    index: int
    shrink_steps: int
    margin: float
    reproduce: tuple[str, ...]


class Property(Row):
    """A property, the theorem behind it, and whether the accountant was refuted."""

    property: str
    kind: str
    theorem: str
    verdict: str
    cases: int
    declined: int
    declined_reason: str | None
    not_applicable: int
    largest_share: float | None
    closest: Row | None
    out_of_time: bool
    counterexample: Counterexample | None


class Verification(Result):
    """The verdict on each property. Refuted comes with a case; not refuted is no proof."""

    _main = "properties"

    accountant: str
    scope: str
    properties: Rows[Property]

    @property
    def counterexamples(self) -> list[Counterexample]:
        """The smallest case of each property that was refuted."""
        return [row.counterexample for row in self.properties if row.counterexample is not None]

    def plot(self, ax: Any = None) -> Any:
        """How near the claims came to the limits, by property."""
        from leakbound._plots.bars import verdicts

        return verdicts(self, ax)

    def _headline(self) -> str:
        refuted = [row.property for row in self.properties if row.verdict == "refuted"]
        return f"{self.accountant} is refuted: {', '.join(refuted)}" if refuted else f"{self.accountant} is not refuted"

    def _table(self) -> list[dict[str, Any]]:
        left_out = ("theorem", "closest", "counterexample", "declined_reason")
        return [{key: row[key] for key in row.to_dict() if key not in left_out} for row in self.properties]


def verify(
    accountant: Accountant,
    *,
    property: Names | None = None,
    cases: int = 2000,
    case: Mapping[str, Any] | str | None = None,
    simulate: float | None = None,
    failure_probability: float = 0.05,
    mechanism: Names | None = None,
    scope: Literal["data-dependent", "data-dependent-forward", "data-independent"] = "data-dependent",
    time_limit: float | None = None,
    answer_timeout: float = 10,
    start_timeout: float = 60,
    seed: int = 0,
    threads: int | None = None,
    max_memory: str | None = None,
    progress: Progress = None,
) -> Verification:
    """Tests the claims of an accountant against exact laws, and finds the smallest case that refutes them.

    `accountant` is the name of one of this library's (`"gnmax-worst-case"`, or a wrong one such as
    `"broken:gnmax-half"`), or a function. It is called with requests such as `{"mechanism": "gnmax", "sigma": 2,
    "histogram": [3, 1], "repetitions": 1, "order": 8}` and answers the Rényi divergence in nats; with `delta` in the
    place of `order` it answers ε, with `epsilon` δ. What it cannot answer it declines by `NotImplementedError`; any
    other exception is a finding, with its traceback. It may be called on another thread. `mechanism` and `scope` say
    what it claims, for functions only.

    >>> half = leakbound.verify("broken:gnmax-half", cases=20, property="rdp-covers-exact")
    >>> half.refuted, half.counterexamples[0].case.histogram
    (True, (1, 0))
    """
    options = given(verify, locals(), "accountant", "progress")
    if isinstance(case, Mapping):
        options["case"] = json.dumps(case)
    if isinstance(accountant, str):
        return run(Verification, "verify", {"accountant": accountant, **options}, progress=progress)
    if not callable(accountant):
        raise UsageError(f"accountant: found {type(accountant).__name__}, expected a name or a function of a request")
    name = getattr(accountant, "__name__", type(accountant).__name__)
    words = ["verify", "--command", name, *option_words(options)]
    return finished(Verification, *calling(COMMANDS.verify, words, _line_by_line(accountant), watcher(progress)))


def accountants() -> list[str]:
    """The names that `verify` knows; those that begin with `broken:` are wrong on purpose.

    >>> "gnmax-worst-case" in leakbound.accountants()
    True
    """
    return _core.accountants()


def _line_by_line(accountant: Callable[[dict[str, Any]], float]) -> Callable[[str], str]:
    """The function as the program of `--command`: a line of JSON in, a line of JSON out."""

    def answer(line: str) -> str:
        try:
            return json.dumps({"value": float(accountant(json.loads(line)))})
        except NotImplementedError as reason:
            return json.dumps({"error": str(reason) or "not implemented"})

    return answer
