"""Fields of one line. They only read text; the API server judges the values.

``label`` and ``hint`` are keys of words. The hint is shown below the field, ``example`` inside it while it is empty.
"""

from __future__ import annotations

from typing import Any

from django import forms

from sandbox.web.forms.manifests import listed, pairs
from sandbox.words.say import say


def text(label: str, hint: str, initial: str = "", example: str = "", empty: str = "") -> forms.CharField:
    """Return a field for one line of text. ``empty`` is the value of an empty field."""
    widget = forms.TextInput({"placeholder": example})
    return forms.CharField(
        required=False, label=say(label), help_text=say(hint), initial=initial, widget=widget, empty_value=empty
    )


def number(label: str, hint: str, initial: int | None = None, example: str = "") -> forms.IntegerField:
    """Return a field for a whole number; None if it is empty."""
    widget = forms.TextInput({"placeholder": example, "inputmode": "numeric"})
    return forms.IntegerField(required=False, label=say(label), help_text=say(hint), initial=initial, widget=widget)


def choice(label: str, hint: str, *choices: tuple[str, str]) -> forms.CharField:
    """Return a field with a list. It accepts any text: the API server judges values that are not in the list."""
    widget = forms.Select(choices=choices)
    return forms.CharField(required=False, label=say(label), help_text=say(hint), initial=choices[0][0], widget=widget)


def tick(label: str, hint: str) -> forms.BooleanField:
    """Return a checkbox."""
    return forms.BooleanField(required=False, label=say(label), help_text=say(hint))


def namespace(hint: str) -> forms.CharField:
    """Return the field for a namespace; ``default`` if it is empty."""
    return text("forms.namespace", hint, initial="default", empty="default")


class _Several(forms.Field):
    """A field for several values in one line."""

    def __init__(self, label: str, hint: str, example: str = "") -> None:
        widget = forms.TextInput({"placeholder": example})
        super().__init__(required=False, label=say(label), help_text=say(hint), initial="", widget=widget)


class Pairs(_Several):
    """A field for ``key=value`` pairs, separated by line ends or commas. Its value is a dict."""

    def to_python(self, value: Any) -> dict[str, str]:
        return pairs(value or "")


class Listed(_Several):
    """A field for values, separated by line ends or commas. Its value is a list."""

    def to_python(self, value: Any) -> list[str]:
        return listed(value or "")
