"""Property inference from the answers of a student."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from leakbound import _inputs
from leakbound._inputs import Path
from leakbound._result import Result
from leakbound._rows import Row, Rows
from leakbound._run import Progress, given, run


class Distance(Row):
    """How far the student's answers are from those of the ensembles with a value of the property."""

    value: int
    distance: float
    inferred: bool


class PropertyDistance(Result):
    """The value of the property whose ensembles the student resembles most, with a margin and a p-value."""

    _main = "distances"

    inferred: int
    margin: float
    p_value: float
    permutations: int
    distances: Rows[Distance]

    def plot(self, ax: Any = None) -> Any:
        """Distances by value of the property."""
        from leakbound._plots.bars import distances

        return distances(self, ax)

    def _headline(self) -> str:
        return f"value {self.inferred}, margin {self.margin:.4g}, p-value {self.p_value:.3g}"


def property_distance(
    recording: Path | Mapping[str, ArrayLike],
    *,
    permutations: int = 9999,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = None,
) -> PropertyDistance:
    """Infers a property of the training data from the ensemble that a student resembles most.

    `recording` is a file, or `student` [point, class] and `ensembles` [value, member, point, class] by name:
    probabilities at the public points that the student was trained on. `permutations` random assignments of members
    to values stand behind the p-value.

    >>> import numpy
    >>> student = numpy.array([[0.9, 0.1], [0.2, 0.8]])
    >>> ensembles = numpy.array([[[[0.9, 0.1], [0.2, 0.8]]] * 5, [[[0.5, 0.5], [0.5, 0.5]]] * 5])
    >>> leakbound.property_distance({"student": student, "ensembles": ensembles}, permutations=99).inferred
    0
    """
    options = given(property_distance, locals(), "recording", "progress")
    data = {"recording": _inputs.recording("recording", recording)}
    return run(PropertyDistance, "property distance", options, data, progress=progress)
