"""What all forms of the drawer share: the way from a manifest and to one, and that of errors back to their fields."""

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
from sandbox.web.forms.reading import held_by, posted
from sandbox.web.forms.rows import BoundRows
from sandbox.web.presets import FilledIn
from scheduler_engine.errors import FieldError

Places = tuple[tuple[str, str], ...]
"""(pattern at the start of Kubernetes' field path, or of the text if it names no field; field of the form)."""


class Object(NamedTuple):
    """One that is there, by kind and key (``namespace/name``, or the name of what has no namespace)."""

    kind: str
    key: str


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
    object: Object | None = None
    """What is edited, None for something new."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.copies_field:
            copies = self.fields[self.copies_field]
            copies.validators += [MinValueValidator(1), MaxValueValidator(quotas().copies)]

    @classmethod
    def of(cls, manifest: Manifest, copies: str = "1") -> Self:
        """The form as it shows a manifest of one of its kinds, as far as the types in it are right."""
        data = posted(cls, held_by(manifest))
        if cls.copies_field:
            data[cls.copies_field] = copies
        return cls(data)

    def of_object(self, edited: Object) -> Self:
        """The same form for an object that is there: what it is called stays."""
        self.object = edited
        for name in ("name", "namespace"):
            if name in self.fields:
                self.fields[name].widget.attrs["readonly"] = True
        return self

    @property
    def html_name(self) -> str:
        """What the ids of its parts end with."""
        return "edit" if self.object else self.slug

    @property
    def ids(self) -> str:
        """What the ids of its inputs begin with."""
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
        """How many objects the valid form stands for."""
        return 1 if self.object else int(self.cleaned_data.get(self.copies_field) or 1)

    def made(self) -> Manifest:
        """The manifest the valid form stands for, without the numbers of copies."""
        return self.make(self.cleaned_data["name"], self.cleaned_data)

    def made_for(self, now: Manifest) -> Manifest:
        """As far as it is laid over another manifest, ``now``, whose types are right."""
        return self.made()

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

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        raise NotImplementedError
