"""Manifests as YAML text for people: keys in their order, no anchors; comments stay."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import SingleQuotedScalarString

from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.scalars import resolve_plain
from scheduler_engine.errors import Rejected

BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""The dumper of libyaml, if it is installed, is ten times as fast."""
LONGEST_COMMENTED = 8000
"""Characters of the longest text whose comments are kept; reading takes a millisecond per forty characters."""

UNWRAPPED = 2**31 - 1


class _Dumper(BASE):
    """A dumper without aliases: what is in two places is written twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, text: str) -> Any:
    """Return the scalar, in quotes if a cluster would read something else: ``y``, ``1e3``."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if _needs_quotes(text) else None)


def _needs_quotes(text: str) -> bool:
    try:
        return resolve_plain(text) != text
    except ValueError:  # .inf
        return True


_Dumper.add_representer(str, _text)


def written(*documents: object) -> str:
    """Return the documents as YAML, one after the other; "" if there are none. As in kubectl, no line is wrapped."""
    if not documents:
        return ""
    return str(yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=UNWRAPPED))


def rewritten(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return a ``text`` that says ``before``, changed to say ``after``; its comments stay.

    The comments are lost if the text is too long, or if only one of the two readers accepts it.
    """
    if "#" not in text or len(text) > LONGEST_COMMENTED:
        return written(after)
    reader = YAML()
    reader.preserve_quotes = True
    reader.width = LONGEST_COMMENTED
    stream = io.StringIO()
    try:
        documents = [document for document in reader.load_all(text) if document is not None]
        (document,) = documents
        _change(document, before, after)
        reader.dump(document, stream)
        manifests = [document.data for document in read_documents(stream.getvalue())]
    except (YAMLError, Rejected, ValueError):
        return written(after)
    return stream.getvalue() if manifests == [after] else written(after)


def _change(place: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for name in [name for name in before if name not in after]:
        del place[name]
    for name, value in after.items():
        if name not in before:
            place[_plain(name)] = _plain(value)
        elif before[name] != value:
            _replace(place, name, before[name], value)


def _replace(place: Any, name: Any, before: Any, after: Any) -> None:
    """Change the value at ``name``; what is in both values keeps its comments."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        _change(place[name], before, after)
    elif isinstance(before, list) and isinstance(after, list):
        items = place[name]
        for number, value in enumerate(after[: len(before)]):
            if before[number] != value:
                _replace(items, number, before[number], value)
        del items[len(after) :]
        items.extend(_plain(value) for value in after[len(before) :])
    else:
        place[name] = _plain(after)


def _plain(value: Any) -> Any:
    """Return a new value, in quotes where YAML 1.1 would read something else."""
    if isinstance(value, Mapping):
        return {_plain(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return SingleQuotedScalarString(value) if isinstance(value, str) and _needs_quotes(value) else value
