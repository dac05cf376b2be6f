"""Objects and lists of a document with attributes for their keys."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import typing
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar, Union, overload

import numpy as np

from leakbound._inputs import Array

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform as dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda kind: kind


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Row:
    """One object of a document: a frozen dataclass that is read when it is asked for.

    Its keys are fields, and items for keys that Python reserves, as `row["from"]`. Rows with equal fields are equal.
    """

    __slots__ = ("_items",)

    # Rows are read from documents, and not made by their fields.
    __signature__ = inspect.Signature()

    if TYPE_CHECKING:
        _items: ClassVar[dict[str, Any]]
    else:

        def __init__(self, **fields):
            object.__setattr__(self, "_items", fields)

        def __getattr__(self, name):
            if name[:1] == "_":
                raise AttributeError(name)
            items = self._items
            if name not in items:
                if name in hints(type(self)):
                    # A key that this document may have.
                    return None
                raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(items)}")
            return view(items[name], hints(type(self)).get(name, _PLAIN))

    def __init_subclass__(cls) -> None:
        # Its fields, for `dataclasses.fields` and others who look for them; nothing is generated.
        dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
        documented(cls)

    @classmethod
    def _of(cls: type[R], items: dict[str, Any]) -> R:
        """The row of an object of a document."""
        row = cls.__new__(cls)
        object.__setattr__(row, "_items", items)
        return row

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __getitem__(self, name: str) -> Any:
        return view(self._items[name], hints(type(self)).get(name, _PLAIN))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._items]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._items,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={_short(item)}' for key, item in self._items.items())})"

    def to_dict(self) -> dict[str, Any]:
        """A copy of the object as the document has it."""
        return copy.deepcopy(self._items)

    @property
    def _keys(self) -> Iterator[str]:
        return iter(self._items)


R = TypeVar("R", bound=Row)
R_co = TypeVar("R_co", bound=Row, covariant=True)


class Rows(Sequence[R_co], Generic[R_co]):
    """A list of a document: a sequence of rows."""

    __slots__ = ("_items", "_kind")

    def __init__(self, items: list[dict[str, Any]], kind: type[R_co]) -> None:
        self._items = items
        self._kind = kind

    @overload
    def __getitem__(self, index: int) -> R_co: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[R_co]: ...
    def __getitem__(self, index: int | slice) -> R_co | Rows[R_co]:
        if isinstance(index, slice):
            return Rows(self._items[index], self._kind)
        return self._kind._of(self._items[index])

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[R_co]:
        return map(self._kind._of, self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items, self._kind)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {self._kind.__name__}>"

    def where(self, **equal: Any) -> Rows[R_co]:
        """The rows with these values, as `bounds.where(method="k-cut-region", direction="forward")`."""
        return Rows(
            [item for item in self._items if all(item[key] == value for key, value in equal.items())], self._kind
        )

    def column(self, name: str) -> Array:
        """One value of every row; NaN where a number is absent."""
        values = [getattr(row, name) for row in self]
        if None in values and all(value is None or isinstance(value, float) for value in values):
            values = [float("nan") if value is None else value for value in values]
        return np.asarray(values)

    def to_dict(self) -> list[dict[str, Any]]:
        """A copy of the list as the document has it."""
        return copy.deepcopy(self._items)

    def to_pandas(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        return frame(self.table())

    def table(self, *without: str) -> list[dict[str, Any]]:
        """The rows as dicts in which infinity is a number, without some columns."""
        return [{key: row[key] for key in row._keys if key not in without} for row in self]


def frame(rows: list[dict[str, Any]]) -> Any:
    """A data frame, or the sentence that pandas is missing."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install 'leakbound[pandas]'") from None
    return pandas.DataFrame(rows)


# The class of the rows in a value, if any, and whether it holds numbers, of which infinity is written as a string.
Hint = tuple[Union[type[Row], None], bool]
_PLAIN: Hint = (None, False)


_known: dict[type[Any], dict[str, Hint]] = {}


def hints(kind: type[Any]) -> dict[str, Hint]:
    """What the annotations of a class say about its keys."""
    found = _known.get(kind)
    if found is None:
        found = _known[kind] = {name: _hint(hint) for name, hint in typing.get_type_hints(kind).items()}
    return found


def documented(kind: type[Any], title: str = "Attributes") -> None:
    """Writes the meanings of the fields, which stand in their annotations, into the documentation of a class."""
    lines = []
    for name, annotation in inspect.get_annotations(kind).items():
        if annotation.startswith("Annotated["):
            body = annotation[len("Annotated[") : -1]
            at = min(place for quote in "'\"" if (place := body.find(f", {quote}")) > 0)
            meaning = body[at + 2 :]
            lines.append(f"{name} : {body[:at]}\n    {meaning[1:-1] if chr(92) not in meaning else ast.literal_eval(meaning)}")
    if lines:
        kind.__doc__ = f"{inspect.cleandoc(kind.__doc__ or '')}\n\n{title}\n{'-' * len(title)}\n" + "\n".join(lines) + "\n"


def _hint(hint: Any) -> Hint:
    if isinstance(hint, type) and issubclass(hint, Row):
        return hint, False
    inner = [_hint(part) for part in typing.get_args(hint)]
    kinds = [kind for kind, _ in inner if kind is not None]
    return (kinds[0] if kinds else None), hint is float or any(number for _, number in inner)


def view(value: Any, hint: Hint) -> Any:
    """A value of a document as its hint says: rows, tuples, numbers."""
    if isinstance(value, dict):
        return (hint[0] or Row)._of(value)
    if isinstance(value, list):
        if value and isinstance(value[0], dict) or hint[0] is not None:
            return Rows(value, hint[0] or Row)
        return tuple([view(item, hint) for item in value])
    if hint[1] and isinstance(value, str):
        return float(value) if value in ("inf", "-inf") else value
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
