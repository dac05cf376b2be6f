"""The compiled module: the library's commands, run in this process."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

_Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

__version__: str

class Layout:
    """Text and page of a result, laid out when they are needed."""

    def text(self) -> str: ...
    def page(self) -> str: ...

class Commands:
    """The commands of the library, with the options that they have read."""

    def call(
        self,
        command: str,
        options: str,
        files: Mapping[str, _Array | Mapping[str, _Array] | bytes],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> tuple[str, bool, Layout]: ...
    def audit_mechanism(
        self,
        options: str,
        files: Mapping[str, _Array | Mapping[str, _Array] | bytes],
        function: tuple[
            Callable[..., Any], Callable[[str, int], tuple[Callable[[], Any], np.random.Generator]], bool
        ],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> tuple[str, bool, Layout]: ...
    def verify(
        self,
        options: str,
        accountant: Callable[[str], str],
        progress: Callable[[int, int, str], None] | None = None,
    ) -> tuple[str, bool, Layout]: ...

def run_program(arguments: Sequence[str]) -> int: ...
def accountants() -> list[str]: ...
def rdp_epsilon(orders: _Array, values: _Array, delta: float) -> tuple[float, float]: ...
def rdp_delta(orders: _Array, values: _Array, epsilon: float) -> tuple[float, float]: ...
def clopper_pearson(successes: int, trials: int, failure_probability: float) -> tuple[float, float]: ...
def roc(members: _Array, non_members: _Array) -> tuple[_Array, _Array, _Array, float]: ...
