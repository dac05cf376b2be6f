"""Simulated outputs of a scenario in both worlds."""

from __future__ import annotations

from leakbound._methods import ScenarioRuns
from leakbound._scenario import Scenario, scenario_file


class Simulation(ScenarioRuns):
    """A scenario to simulate.

    Parameters
    ----------
    scenario : path, bytes or mapping
        The path of a TOML file, TOML as bytes, or a dict of what the file would hold.

    Examples
    --------
    >>> pate = {"model": "prompt-pate", "noise": "gaussian:40",
    ...         "query": [{"name": "0", "histogram": [100, 80, 70], "histogram_neighbor": [99, 81, 70]}]}
    >>> counts = leakbound.simulate.Simulation(pate).run(samples=1e5, seed=7)
    >>> sum(counts.queries[0].counts)
    100000
    """

    __slots__ = ("_scenario",)

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario_file(scenario)

    def file(self) -> str | bytes:
        """The scenario as a command reads it: a path, or TOML."""
        return self._scenario
