"""Results: the text of a document, read when it is first asked."""

from __future__ import annotations

import html
import importlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from leakbound import _core
from leakbound.documents import Document, ResultWarning
from leakbound._errors import UsageError
from leakbound._rows import Row, Rows, frame

R = TypeVar("R", bound="Result")


class ClaimRefuted(AssertionError):
    """A claim was refuted. `result` has the figures."""

    result: Result | None = None


class Result(Document):
    """What a command found. Keys of its document are attributes; `to_json()` is the document itself.

    The document is the command's, to the last digit. It is parsed when an attribute is first asked for.
    """

    __slots__ = ("_text", "_document", "_refuted", "_layout")

    # The key of the main table, and columns of it that are left out.
    _main: ClassVar[str] = "bounds"
    _without: ClassVar[tuple[str, ...]] = ()
    # Module and function of the figure.
    _figure: ClassVar[str]

    if TYPE_CHECKING:
        _text: ClassVar[str]
        _document: ClassVar[dict[str, Any] | None]
        _refuted: ClassVar[bool]
        _layout: ClassVar[_core.Layout | str | None]
    else:

        @property
        def _items(self):
            if self._document is None:
                object.__setattr__(self, "_document", json.loads(self._text))
            return self._document

    @classmethod
    def of(cls: type[R], document: str, refuted: bool, layout: _core.Layout | str | None = None) -> R:
        """The result of a command from its document."""
        result = cls.__new__(cls)
        for name, value in (("_text", document), ("_document", None), ("_refuted", refuted), ("_layout", layout)):
            object.__setattr__(result, name, value)
        return result

    @property
    def refuted(self) -> bool:
        """Whether a claim was refuted: the command would exit with status 3."""
        return self._refuted

    def raise_if_refuted(self: R) -> R:
        """The result; raises `ClaimRefuted` with one line that states what refutes which claim, if one was refuted.

        For tests: `leakbound.audit.mechanism(...).raise_if_refuted()`.
        """
        if not self.refuted:
            return self
        refuted = ClaimRefuted(" ".join(self._refutation().split()))
        refuted.result = self
        raise refuted

    def _refutation(self) -> str:
        """What refutes which claim."""
        return "; ".join(refuted_claims(self._items.get("claims", ()))) or self._detail()

    def to_json(self) -> str:
        """The document as the command prints it with `--format json`."""
        return self._text

    def to_dict(self) -> dict[str, Any]:
        """The document as a dict of its own, where infinity is the string `"inf"`."""
        document: dict[str, Any] = json.loads(self._text)
        return document

    def to_pandas(self) -> Any:
        """The main table as a `pandas.DataFrame`."""
        return frame(self._table())

    def to_html(self) -> str:
        """The page of the command's `--report`: one self-contained text."""
        if not isinstance(self._layout, _core.Layout):
            raise UsageError("to_html: the result comes from another process; it has to be called there")
        return self._layout.page()

    def plot(self, ax: Any = None) -> Any:
        """Draws the main figure with matplotlib, into `ax` if given; returns the axes."""
        module, function = self._figure.split(".")
        return getattr(importlib.import_module(f"leakbound._plots.{module}"), function)(self, ax)

    def __reduce__(self) -> tuple[Any, ...]:
        # Travels without the page.
        return type(self).of, (self._text, self._refuted, str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and (self._text == other._text or self._items == other._items)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>"

    def __str__(self) -> str:
        """The tables that the command prints."""
        if self._layout is None:
            return f"{self!r}\n\n{plain(self._table())}"
        return self._layout if isinstance(self._layout, str) else self._layout.text()

    def _repr_html_(self) -> str:
        return page_part(type(self).__name__, self._headline(), self._table(), self.warnings)

    def _headline(self) -> str:
        """What one asks for first: ε, the verdict on claims, and what the result is about."""
        claims = self._items.get("claims")
        verdict = "" if not claims else self._refutation() if self.refuted else "no claim is refuted"
        return "; ".join(part for part in (self._leading(), verdict, self._detail()) if part)

    def _leading(self) -> str:
        """The figure that leads, with what it holds for; empty where there is none."""
        return ""

    def _detail(self) -> str:
        """What the result is about."""
        return f"{len(getattr(self, self._main))} {self._main.replace('_', ' ')}"

    def _table(self) -> list[dict[str, Any]]:
        """The rows of the main table, with infinity as a number."""
        found: list[dict[str, Any]] = getattr(self, self._main).table(*self._without)
        return found


def refuted_claims(claims: Iterable[dict[str, Any]], of_queries: bool = True) -> list[str]:
    """The refuted claims with their bounds, which have no failure probability where the value is exact."""

    def sentence(claim: dict[str, Any]) -> str:
        where = f" in query {claim['query']}" if of_queries and claim["query"] else ""
        failure = claim["failure_probability"]
        how = f"failure probability {failure:g}" if failure else "exact"
        return f"{claim['claim']} is refuted: at least {float(claim['lower']):.6g}{where} ({how})"

    return [sentence(claim) for claim in claims if claim["refuted"]]


def plain(table: list[dict[str, Any]]) -> str:
    """A table as text, for results that were put together elsewhere."""
    columns = _columns(table)
    rows = [columns, *([_cell(row.get(column)) for column in columns] for row in table)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(columns))]
    return "".join("   ".join(map(str.rjust, row, widths)).rstrip() + "\n" for row in rows)


def _columns(table: list[dict[str, Any]]) -> list[str]:
    """The columns whose cells are not tables themselves."""
    return [key for key in table[0] if not isinstance(table[0][key], (tuple, Row, Rows))] if table else []


def page_part(
    title: str, headline: str, table: list[dict[str, Any]], warnings: Rows[ResultWarning], most: int = 10
) -> str:
    """The first rows of a table and the warnings, for a notebook."""
    columns = _columns(table)
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(column)))}</td>" for column in columns) + "</tr>"
        for row in table[:most]
    )
    more = f"<p>{len(table) - most} more rows in to_pandas()</p>" if len(table) > most else ""
    notes = "".join(
        f"<p><b>warning:</b> {html.escape(warning.message)}"
        + (f" (hint: {html.escape(warning.hint)})" if warning.hint else "")
        + "</p>"
        for warning in warnings
    )
    table_html = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if columns else ""
    return f"<div><p><b>{html.escape(title)}</b>: {html.escape(headline)}</p>{table_html}{more}{notes}</div>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
