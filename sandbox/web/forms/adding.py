"""The base of all forms of the drawer: from a manifest to a form and back, and from an error to its field."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from sandbox.limits.quotas import quotas
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.reading import as_data, values_of
from sandbox.web.forms.rows import BoundRows
from sandbox.web.presets.preset import FilledIn
from scheduler_engine.errors import FieldError

Places = tuple[tuple[str, str], ...]
"""Pairs of a pattern and a field of the form.

The pattern matches the start of Kubernetes' field path, or of the message if the error has no path.
"""


class Object(NamedTuple):
    """An existing object. ``key`` is ``namespace/name``, or just the name if it has no namespace."""

    kind: str
    key: str


class AddForm(forms.Form):
    """A form for objects. ``slug``: its name in addresses. ``short``: the start of its inputs' ids."""

    slug: ClassVar[str]
    short: ClassVar[str]
    title: ClassVar[str]
    template: ClassVar[str]
    kind: ClassVar[str]
    make: ClassVar[staticmethod[[str, dict[str, Any]], Manifest]]
    """Returns the manifest of an object with a name, from the values of the fields."""
    copies_field: ClassVar[str] = ""
    places: ClassVar[Places]
    """For groups in the patterns see ``BoundRows.spot``."""
    filled_in: ClassVar[tuple[FilledIn, ...]] = ()
    """Presets that fill in the form."""
    object: Object | None = None
    """The object that is edited, None for a new one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.copies_field:
            copies = self.fields[self.copies_field]
            copies.validators += [MinValueValidator(1), MaxValueValidator(quotas().copies)]

    @classmethod
    def of(cls, manifest: Manifest, copies: str = "1") -> Self:
        """Return the form filled in from a manifest of one of its kinds. Values of a wrong type are left out."""
        data = as_data(cls, values_of(manifest))
        if cls.copies_field:
            data[cls.copies_field] = copies
        return cls(data)

    def of_object(self, edited: Object) -> Self:
        """Turn the form into one for an existing object, whose name cannot change. Return it."""
        self.object = edited
        for name in ("name", "namespace"):
            if name in self.fields:
                self.fields[name].widget.attrs["readonly"] = True
        return self

    @property
    def html_name(self) -> str:
        """The end of the ids of the form's parts."""
        return "edit" if self.object else self.slug

    @property
    def ids(self) -> str:
        """The start of the ids of the form's inputs."""
        return f"e{self.short}" if self.object else self.short

    @property
    def action(self) -> str:
        if self.object is None:
            return f"add/{self.slug}/"
        return f"edit/{self.object.kind}/?{urlencode({'key': self.object.key})}"

    @property
    def preview(self) -> str:
        if self.object is None:
            return f"preview/{self.slug}/"
        return f"edit/{self.object.kind}/preview/?{urlencode({'key': self.object.key})}"

    def copies(self) -> int:
        """Return the number of objects of a valid form."""
        return 1 if self.object else int(self.cleaned_data.get(self.copies_field) or 1)

    def manifest(self) -> Manifest:
        """Return the manifest of a valid form. The names of copies get their numbers later."""
        return self.make(self.cleaned_data["name"], self.cleaned_data)

    def manifest_for(self, now: Manifest) -> Manifest:
        """Return the manifest of a valid form that will change ``now``, in which all types are right."""
        return self.manifest()

    def add_engine_errors(self, errors: Iterable[FieldError]) -> None:
        """Add each error to its field. Copies of an object have the same errors, which are added once."""
        added: set[tuple[str | None, str, str]] = set()
        for error in errors:
            field, spot = self.field_of(error)
            text = error.message if field else str(error)
            if (field, spot, text) not in added:
                added.add((field, spot, text))
                self.add_error(field, ValidationError(text, code=spot))

    def field_of(self, error: FieldError) -> tuple[str | None, str]:
        """Return the name of the field that an error belongs to, or None, and the place in the field."""
        path = error.path or error.message
        for pattern, name in self.places:
            if match := re.match(pattern, path):
                bound = self[name]
                return name, bound.spot(match) if isinstance(bound, BoundRows) else ""
        return None, ""

    def labelled_errors(self) -> list[str]:
        """Return all errors in one list, each with the label of its field."""
        lines = []
        for name, errors in self.errors.as_data().items():
            for error in errors:
                label = self._label(name, str(error.code or ""))
                lines += [f"{label}: {message}" if label else str(message) for message in error.messages]
        return lines

    def _label(self, name: str, code: str) -> str:
        if name not in self.fields:
            return ""
        bound = self[name]
        return bound.label_at(code) if isinstance(bound, BoundRows) and "." in code else str(bound.label)
