"""What all forms of the Add drawer share: copies, names in use, and the way of errors back to their fields."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from sandbox.forms.rows import BoundRows
from sandbox.manifests import Manifest
from sandbox.presets import FilledIn
from sandbox.quotas import quotas
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.errors import FieldError

Places = tuple[tuple[str, str], ...]
"""(pattern at the start of Kubernetes' field path, or of the text if it names no field; field of the form)."""


class AddForm(forms.Form):
    """``slug`` is its name in addresses, ``short`` the start of its inputs' ids, ``template`` what draws it."""

    slug: ClassVar[str]
    short: ClassVar[str]
    title: ClassVar[str]
    template: ClassVar[str]
    kind: ClassVar[str]
    copies_field: ClassVar[str] = ""
    places: ClassVar[Places]
    """Patterns may have groups, see ``BoundRows.spot``."""
    filled_in: ClassVar[tuple[FilledIn, ...]] = ()
    """To start from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.copies_field:
            copies = self.fields[self.copies_field]
            copies.validators += [MinValueValidator(1), MaxValueValidator(quotas().copies)]

    def scope(self) -> str:
        """Where the valid form's objects will be, "" for a kind without namespaces."""
        return str(self.cleaned_data.get("namespace", ""))

    def makes(self) -> str:
        """The kind of the valid form's objects."""
        return self.kind

    def manifests(self, names: Iterable[str] = ()) -> list[Manifest]:
        """The manifests the valid form stands for. Several copies are numbered, going on after those in ``names``."""
        data = self.cleaned_data
        copies = self._copies()
        if copies == 1:
            return [self.make(data["name"], data)]
        first = self._highest(names, data["name"]) + 1
        return [self.make(f"{data['name']}-{first + i}" if data["name"] else "", data) for i in range(copies)]

    def taken(self, names: Iterable[str]) -> str:
        """Kubernetes' words if the name is in use, else ""."""
        name = self.cleaned_data["name"]
        kind = KINDS[self.makes()]
        group = kind.api_versions[0].rpartition("/")[0]
        resource = f"{kind.plural}.{group}" if group else kind.plural
        return f'{resource} "{name}" already exists' if self._copies() == 1 and name in names else ""

    def add_engine_errors(self, errors: Iterable[FieldError]) -> None:
        """Show each error at the field it came from; copies of an object repeat theirs, which is said once."""
        said: set[tuple[str | None, str, str]] = set()
        for error in errors:
            field, spot = self.place_of(error)
            text = error.message if field else str(error)
            if (field, spot, text) not in said:
                said.add((field, spot, text))
                self.add_error(field, ValidationError(text, code=spot))

    def place_of(self, error: FieldError) -> tuple[str | None, str]:
        """The field that ``error`` comes from, None when it is none in particular, and the place in it."""
        told = error.path or error.message
        for pattern, name in self.places:
            if match := re.match(pattern, told):
                bound = self[name]
                return name, bound.spot(match) if isinstance(bound, BoundRows) else ""
        return None, ""

    def told(self) -> list[str]:
        """All errors in one list, each with the label that people see."""
        found = []
        for name, errors in self.errors.as_data().items():
            for error in errors:
                label = self._label(name, str(error.code or ""))
                found += [f"{label}: {message}" if label else str(message) for message in error.messages]
        return found

    def _label(self, name: str, code: str) -> str:
        if name not in self.fields:
            return ""
        bound = self[name]
        return bound.label_at(code) if isinstance(bound, BoundRows) and "." in code else str(bound.label)

    def _copies(self) -> int:
        return int(self.cleaned_data.get(self.copies_field) or 1)

    def _highest(self, names: Iterable[str], base: str) -> int:
        numbered = re.compile(re.escape(base) + r"-([0-9]{1,9})")
        found = map(numbered.fullmatch, names)
        return max((int(match[1]) for match in found if match), default=0)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        raise NotImplementedError
