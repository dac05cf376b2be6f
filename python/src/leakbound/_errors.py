"""Errors: one sentence each, with the parameter that is to blame."""

from __future__ import annotations


class Error(ValueError):
    """What the library rejected, in one sentence.

    Parameters
    ----------
    sentence : str
        What was found, and what was expected.
    parameter : str, optional
        The name of the parameter that is to blame, which becomes an attribute.
    """

    parameter: str | None

    def __init__(self, sentence: str, parameter: str | None = None) -> None:
        super().__init__(sentence if parameter is None else f"{parameter}: {sentence}")
        self.parameter = parameter


class InputError(Error):
    """Data were rejected, or could not be read."""


class UsageError(Error):
    """An argument was rejected."""
