"""Fields of one line. They read text; whether a value is right the API server says."""

from __future__ import annotations

from typing import Any

from django import forms

from sandbox.web.forms.manifests import listed, pairs


def text(label: str, says: str, initial: str = "", hint: str = "", empty: str = "") -> forms.CharField:
    """One line of text; ``says`` stands below it, ``hint`` inside it while it is empty; ``empty`` is then meant."""
    widget = forms.TextInput({"placeholder": hint})
    return forms.CharField(
        required=False, label=label, help_text=says, initial=initial, widget=widget, empty_value=empty
    )


def number(label: str, says: str, initial: int | None = None, hint: str = "") -> forms.IntegerField:
    widget = forms.TextInput({"placeholder": hint, "inputmode": "numeric"})
    return forms.IntegerField(required=False, label=label, help_text=says, initial=initial, widget=widget)


def choice(label: str, says: str, *choices: tuple[str, str]) -> forms.CharField:
    """A list to choose from. What is sent all the same is judged by the API server."""
    widget = forms.Select(choices=choices)
    return forms.CharField(required=False, label=label, help_text=says, initial=choices[0][0], widget=widget)


def tick(label: str, says: str) -> forms.BooleanField:
    return forms.BooleanField(required=False, label=label, help_text=says)


def namespace(says: str) -> forms.CharField:
    return text("Namespace", says, initial="default", empty="default")


class Pairs(forms.Field):
    """``key=value``, one on each line or separated by commas → dict."""

    def __init__(self, label: str, says: str, hint: str = "") -> None:
        widget = forms.TextInput({"placeholder": hint})
        super().__init__(required=False, label=label, help_text=says, initial="", widget=widget)

    def to_python(self, value: Any) -> dict[str, str]:
        return pairs(value or "")


class Listed(forms.Field):
    """Values, one on each line or separated by commas → list."""

    def __init__(self, label: str, says: str, hint: str = "") -> None:
        widget = forms.TextInput({"placeholder": hint})
        super().__init__(required=False, label=label, help_text=says, initial="", widget=widget)

    def to_python(self, value: Any) -> list[str]:
        return listed(value or "")
