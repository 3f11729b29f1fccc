"""Groups of inputs that repeat, such as tolerations, and rows inside of rows, such as the expressions of a term.

A browser sends a row's inputs as ``<one>_<part>``, once for each row. A row that holds others also sends ``<one>_id``,
and those inside of it name it in ``<one>_of``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

Row = dict[str, Any]
"""Part → text; in a row that holds others also ``rows``."""

KEYS = "topology-keys"
"""The list of topology keys that is offered."""

MOST_ROWS = 100
"""That a form shows, with those inside of them: a browser may send a thousand inputs, and a row has up to eight."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One input of a row. ``part`` is the name of the API's field where there is one."""

    part: str
    label: str
    initial: str = ""
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    numeric: bool = False
    offers: str = ""
    """The id of a datalist."""
    half: bool = False
    """Whether it takes half of the row's width, not a third."""
    ours: bool = False
    """Whether its choices are the form's own, so that the API server cannot judge them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a row consists of."""

    one: str
    """The start of its inputs' names."""
    title: str
    cells: tuple[Cell, ...]
    bare: bool = False
    """Whether a row in which nobody typed counts."""
    inner: Shape | None = None
    """Of the rows inside of it."""
    inner_says: str = ""

    def read(self, data: Any) -> list[Row]:
        """The rows in what was sent. Those in which nobody typed are left out."""
        rows = self._columns(data)
        if self.inner:
            owned = defaultdict(list)
            for inner in self.inner._columns(data, "of"):
                owned[inner.pop("of")].append(inner)
            for row in rows:
                row["rows"] = [inner for inner in owned[row.pop("id")] if self.inner.counts(inner)]
        return [row for row in rows if self.counts(row)]

    def sent(self, rows: list[Row]) -> dict[str, list[str]]:
        """What a browser sends for these rows: the opposite of ``read``."""
        columns: dict[str, list[str]] = {
            f"{self.one}_{cell.part}": [row[cell.part] for row in rows] for cell in self.cells
        }
        if self.inner:
            columns[f"{self.one}_id"] = [str(number) for number in range(len(rows))]
            owned = [(str(number), inner) for number, row in enumerate(rows) for inner in row["rows"]]
            columns |= self.inner.sent([inner for _, inner in owned])
            columns[f"{self.inner.one}_of"] = [number for number, _ in owned]
        return columns

    def counts(self, row: Row) -> bool:
        touched = any(row[cell.part] not in ("", cell.initial) for cell in self.cells)
        return self.bare or touched or bool(row.get("rows"))

    def _columns(self, data: Any, *also: str) -> list[Row]:
        starts = {cell.part: cell.initial for cell in self.cells} | dict.fromkeys(also, "")
        if self.inner:
            starts["id"] = ""
        columns = {part: [text.strip() for text in data.getlist(f"{self.one}_{part}")] for part in starts}
        height = max(map(len, columns.values()))
        filled = [columns[part] + [start] * (height - len(columns[part])) for part, start in starts.items()]
        return [dict(zip(starts, cells, strict=True)) for cells in zip(*filled, strict=True)]


def too_many(rows: Iterable[Row]) -> bool:
    return sum(1 + len(row.get("rows", ())) for row in rows) > MOST_ROWS


class RowsWidget(forms.Widget):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Row]:
        return self.shape.read(data)


class Rows(forms.Field):
    """→ list of rows."""

    def __init__(self, label: str, says: str, shape: Shape) -> None:
        super().__init__(required=False, label=label, help_text=says, initial=list, widget=RowsWidget(shape))
        self.shape = shape

    def clean(self, value: list[Row]) -> list[Row]:
        if too_many(value):
            raise ValidationError(f"A form takes at most {MOST_ROWS} rows. Use YAML for more.")
        wrong = [
            ValidationError(f'Unsupported value: "{row[cell.part]}"', code=f"{place}.{cell.part}")
            for place, row in enumerate(value)
            for cell in self.shape.cells
            if cell.ours and row[cell.part] not in dict(cell.choices)
        ]
        if wrong:
            raise ValidationError(wrong)
        return value

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> BoundRows:
        return BoundRows(form, self, field_name)


@dataclass(frozen=True, slots=True)
class DrawnCell:
    cell: Cell
    name: str
    value: str
    errors: list[str]


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """``place`` counts from 0; ``owner`` is that of the row around it."""

    shape: Shape
    place: int
    owner: int | None
    cells: list[DrawnCell]
    rows: list[DrawnRow]


class BoundRows(forms.BoundField):
    """Rows with their values. The ``code`` of an error is its place: ``2.effect``, or ``0.1.key`` inside of a row."""

    field: Rows

    def drawn(self) -> list[DrawnRow]:
        errors: defaultdict[str, list[str]] = defaultdict(list)
        for error in self.errors.as_data():
            errors[str(error.code)] += [str(message) for message in error.messages]
        return [_draw(self.field.shape, row, place, errors) for place, row in enumerate(self.value() or ())]

    def loose(self) -> list[str]:
        """The errors that belong to no row."""
        known = {code for row in self.drawn() for code in _codes(row)}
        return [str(text) for error in self.errors.as_data() if error.code not in known for text in error.messages]

    def spot(self, path: re.Match[str]) -> str:
        """The place that Kubernetes' path means, "" for the whole group.

        Groups of the match: ``row`` counts, from 0, those rows whose parts are as the further groups say; ``inner``
        counts the rows inside of it; ``cell`` is the name of a field.
        """
        groups = {name: found for name, found in path.groupdict().items() if found is not None}
        row, inner, cell = groups.pop("row", None), groups.pop("inner", None), groups.pop("cell", "")
        places = [place for place, each in enumerate(self.value()) if groups.items() <= each.items()]
        if row is None or int(row) >= len(places):
            return ""
        shape = self.field.shape
        if inner is None or shape.inner is None:
            return f"{places[int(row)]}.{_part(shape, cell)}"
        return f"{places[int(row)]}.{inner}.{_part(shape.inner, cell)}"

    def label_at(self, code: str) -> str:
        """What people see at the place: ``Tolerations 3, effect``."""
        *places, part = code.split(".")
        shape = self.field.shape
        labels = [f"{self.label} {int(places[0]) + 1}"]
        if len(places) > 1 and shape.inner:
            shape = shape.inner
            labels.append(f"{shape.title} {int(places[1]) + 1}")
        return ", ".join([*labels, next(cell.label for cell in shape.cells if cell.part == part)])


def shapes_of(field: forms.Field) -> list[Shape]:
    """The shapes of a field's rows, and of those inside of them."""
    if not isinstance(field, Rows):
        return []
    return [shape for shape in (field.shape, field.shape.inner) if shape]


def blanks(field: forms.Field) -> list[DrawnRow]:
    """Each of these rows as it begins."""
    return [
        _draw(shape, {cell.part: cell.initial for cell in shape.cells}, 0, {}, owner)
        for shape, owner in zip(shapes_of(field), (None, 0), strict=False)
    ]


def _part(shape: Shape, name: str) -> str:
    """The part of this name, or of one that begins so; else the first."""
    parts = [cell.part for cell in shape.cells]
    return next((part for part in parts if name and part.startswith(name)), parts[0])


def _draw(
    shape: Shape, row: Row, place: int, errors: dict[str, list[str]], owner: int | None = None, start: str = ""
) -> DrawnRow:
    here = f"{start}{place}."
    cells = [
        DrawnCell(cell, f"{shape.one}_{cell.part}", row[cell.part], errors.get(f"{here}{cell.part}", []))
        for cell in shape.cells
    ]
    inner = shape.inner
    rows = row.get("rows", ()) if inner else ()
    within = [_draw(inner, each, at, errors, place, here) for at, each in enumerate(rows) if inner]
    return DrawnRow(shape, place, owner, cells, within)


def _codes(row: DrawnRow, start: str = "") -> Iterator[str]:
    here = f"{start}{row.place}."
    yield from (f"{here}{cell.cell.part}" for cell in row.cells)
    for inner in row.rows:
        yield from _codes(inner, here)
