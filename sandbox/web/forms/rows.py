"""Rows: groups of inputs that repeat, such as tolerations. A row may have inner rows, such as expressions.

A browser sends a row's inputs as ``<one>_<part>``, once for each row. A row with inner rows also sends ``<one>_id``,
and its inner rows send that id as ``<one>_of``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from sandbox.words.say import say

Row = dict[str, Any]
"""Part → text; with inner rows also ``rows``."""

KEYS = "topology-keys"
"""The id of the datalist of topology keys."""

MOST_ROWS = 100
"""Rows of a form, inner ones included. A browser may send a thousand inputs, and a row has up to eight."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An input of a row. ``part`` is its label, and the name of the Kubernetes field if there is one."""

    part: str
    initial: str = ""
    example: str = ""
    """Shown inside the input while it is empty."""
    choices: tuple[tuple[str, str], ...] = ()
    numeric: bool = False
    offers: str = ""
    """The id of a datalist."""
    half: bool = False
    """True: it takes half of the row's width, not a third."""
    whole: bool = False
    """True: it takes the whole width."""
    lines: bool = False
    """True: its text may have several lines."""
    ours: bool = False
    """True: its choices are the form's own, so that the API server cannot judge them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The cells of a row."""

    one: str
    """The start of the inputs' names."""
    title: str
    cells: tuple[Cell, ...]
    bare: bool = False
    """True: an untouched row counts too."""
    inner: Shape | None = None
    """The shape of the inner rows."""
    inner_hint: str = ""

    def read(self, data: Any) -> list[Row]:
        """Return the rows in the data of a request, without untouched ones."""
        rows = self._columns(data)
        if self.inner:
            owned = defaultdict(list)
            for inner in self.inner._columns(data, "of"):
                owned[inner.pop("of")].append(inner)
            for row in rows:
                row["rows"] = [inner for inner in owned[row.pop("id")] if self.inner.counts(inner)]
        return [row for row in rows if self.counts(row)]

    def sent(self, rows: list[Row]) -> dict[str, list[str]]:
        """Return the data that a browser sends for these rows: the inverse of ``read``."""
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
        """Return True if a row is touched, or counts anyway."""
        touched = any(row[cell.part] not in ("", cell.initial) for cell in self.cells)
        return self.bare or touched or bool(row.get("rows"))

    def _columns(self, data: Any, *also: str) -> list[Row]:
        """Return the rows in the data, with the parts ``also``. Missing inputs have their initial value."""
        starts = {cell.part: cell.initial for cell in self.cells} | dict.fromkeys(also, "")
        if self.inner:
            starts["id"] = ""
        columns = {
            part: [text.strip().replace("\r\n", "\n") for text in data.getlist(f"{self.one}_{part}")] for part in starts
        }
        height = max(map(len, columns.values()))
        filled = [columns[part] + [start] * (height - len(columns[part])) for part, start in starts.items()]
        return [dict(zip(starts, cells, strict=True)) for cells in zip(*filled, strict=True)]


def too_many(rows: Iterable[Row]) -> bool:
    """Return True if these rows, with their inner ones, are too many for a form."""
    return sum(1 + len(row.get("rows", ())) for row in rows) > MOST_ROWS


class RowsWidget(forms.Widget):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Row]:
        return self.shape.read(data)


class Rows(forms.Field):
    """A field whose value is a list of rows."""

    def __init__(self, label: str, hint: str, shape: Shape) -> None:
        """``label`` and ``hint`` are keys of words."""
        super().__init__(required=False, label=say(label), help_text=say(hint), initial=list, widget=RowsWidget(shape))
        self.shape = shape

    def clean(self, value: list[Row]) -> list[Row]:
        if too_many(value):
            raise ValidationError(say("forms.too-many-rows", most=MOST_ROWS))
        wrong = [
            ValidationError(say("forms.unsupported", value=row[cell.part]), code=f"{place}.{cell.part}")
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
    """A cell with its value and errors, as templates draw it."""

    cell: Cell
    name: str
    value: str
    errors: list[str]


@dataclass(frozen=True, slots=True)
class DrawnRow:
    """A row with its cells, as templates draw it. ``place`` counts from 0; ``owner`` is the place of the outer row."""

    shape: Shape
    place: int
    owner: int | None
    cells: list[DrawnCell]
    rows: list[DrawnRow]


class BoundRows(forms.BoundField):
    """Rows with their values. The ``code`` of an error is its place: ``2.effect``, or ``0.1.key`` in an inner row."""

    field: Rows

    def drawn(self) -> list[DrawnRow]:
        """Return the rows with their values and errors."""
        errors: defaultdict[str, list[str]] = defaultdict(list)
        for error in self.errors.as_data():
            errors[str(error.code)] += [str(message) for message in error.messages]
        return [_draw(self.field.shape, row, place, errors) for place, row in enumerate(self.value() or ())]

    def loose(self) -> list[str]:
        """Return the errors that belong to no row."""
        known = {code for row in self.drawn() for code in _codes(row)}
        return [str(text) for error in self.errors.as_data() if error.code not in known for text in error.messages]

    def spot(self, path: re.Match[str]) -> str:
        """Return the place of a Kubernetes field path, "" for the whole field of the form.

        Groups of the match: ``row`` is a number, from 0, among the rows whose parts equal the other groups; ``inner``
        is the number of an inner row; ``cell`` is the name of a field.
        """
        groups = {name: text for name, text in path.groupdict().items() if text is not None}
        row, inner, cell = groups.pop("row", None), groups.pop("inner", None), groups.pop("cell", "")
        places = [place for place, each in enumerate(self.value()) if groups.items() <= each.items()]
        if row is None or int(row) >= len(places):
            return ""
        shape = self.field.shape
        if inner is None or shape.inner is None:
            return f"{places[int(row)]}.{_part(shape, cell)}"
        return f"{places[int(row)]}.{inner}.{_part(shape.inner, cell)}"

    def label_at(self, code: str) -> str:
        """Return the label of a place: ``Tolerations 3, effect``."""
        *places, part = code.split(".")
        shape = self.field.shape
        labels = [say("forms.row", label=self.label, number=int(places[0]) + 1)]
        if len(places) > 1 and shape.inner:
            shape = shape.inner
            labels.append(say("forms.row", label=shape.title, number=int(places[1]) + 1))
        return ", ".join([*labels, part])


def shapes_of(field: forms.Field) -> list[Shape]:
    """Return the shapes of a field's rows and of their inner rows."""
    if not isinstance(field, Rows):
        return []
    return [shape for shape in (field.shape, field.shape.inner) if shape]


def blanks(field: forms.Field) -> list[DrawnRow]:
    """Return a blank row of each shape of a field."""
    return [
        _draw(shape, {cell.part: cell.initial for cell in shape.cells}, 0, {}, owner)
        for shape, owner in zip(shapes_of(field), (None, 0), strict=False)
    ]


def _part(shape: Shape, name: str) -> str:
    """Return the first part whose name starts with ``name``, else the first part."""
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
    """Yield the places of all cells of a row and its inner rows."""
    here = f"{start}{row.place}."
    yield from (f"{here}{cell.cell.part}" for cell in row.cells)
    for inner in row.rows:
        yield from _codes(inner, here)
