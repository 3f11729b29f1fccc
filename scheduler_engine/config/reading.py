"""A KubeSchedulerConfiguration from the text of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine.api.loading import read_documents
from scheduler_engine.config.load import load_configuration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.versions import DEFAULT_RULES, Rules


def read_configuration(
    text: bytes,
    name: str,
    rules: Rules = DEFAULT_RULES,
    own: Sequence[type[Plugin]] = (),
    calls: ExtenderCalls = NO_CALLS,
) -> dict[str, Any]:
    """Read the file ``name`` as a mapping. ``own`` and ``calls`` as in ``load_configuration``. Raises Rejected with all
    errors and their places: ``name:3:1: …``.
    """
    try:
        decoded = text.decode()
        load_configuration(decoded, rules, own, calls)
    except UnicodeDecodeError as problem:
        raise Rejected(f"{name}: this is not valid UTF-8 text") from problem
    except Rejected as refusal:
        raise Rejected("\n".join(in_file(name, error) for error in refusal.errors)) from refusal
    configuration: dict[str, Any] = read_documents(decoded)[0].data
    return configuration


def in_file(name: str, error: FieldError) -> str:
    """Return an error with its place in the file."""
    place = [name, *(str(number) for number in (error.line, error.column) if number)]
    return f"{':'.join(place)}: {error}"
