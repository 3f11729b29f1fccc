"""Turn a KubeSchedulerConfiguration into the scheduler's settings. Source: seed 004."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.parsing import Limits, Place
from scheduler_engine.config.build import build_profiles
from scheduler_engine.config.decode import DECODE_ERROR, decode
from scheduler_engine.config.defaults import set_defaults
from scheduler_engine.config.extenders import build_extenders
from scheduler_engine.config.schema import API_VERSION, KIND, schema_for, written
from scheduler_engine.config.types import Configuration
from scheduler_engine.config.validation import validate
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.versions import DEFAULT_RULES, Rules

LIMITS = Limits(nodes=50_000)
"""Fewer values than for manifests: much is computed for each."""

Result = TypeVar("Result")


def load_configuration(
    source: Mapping[str, Any] | str | None,
    rules: Rules = DEFAULT_RULES,
    own: Sequence[type[Plugin]] = (),
    calls: ExtenderCalls = NO_CALLS,
) -> Configuration:
    """Load ``source``: a manifest, a YAML or JSON text, or None for the default profile. ``own``: plugins that it may
    name beside those of Kubernetes. ``calls``: the way to its extenders.

    Raises Rejected with all errors (with lines and columns if ``source`` is a text); nothing is lenient.
    Extenders that ``calls`` cannot reach are refused although Kubernetes accepts them: decisions would silently differ.
    """
    if source is None:
        source = {"apiVersion": API_VERSION, "kind": KIND}
    load = partial(_load, rules=rules, own=own, calls=calls)
    return in_document(source, load) if isinstance(source, str) else load(source)


def _load(manifest: Any, rules: Rules, own: Sequence[type[Plugin]], calls: ExtenderCalls) -> Configuration:
    defaulted = set_defaults(decode(manifest, rules), rules)
    errors = validate(defaulted, rules)
    if errors:
        raise Rejected(errors)
    profiles = build_profiles(defaulted, registry_for(rules, own), rules)
    extenders = build_extenders(defaulted, calls)
    return Configuration(
        profiles,
        defaulted["percentageOfNodesToScore"],
        defaulted["podInitialBackoffSeconds"],
        defaulted["podMaxBackoffSeconds"],
        defaulted["parallelism"],
        written(defaulted, schema_for(rules).configuration),
        manifest,
        extenders,
    )


def in_document(text: str, load: Callable[[Any], Result], note_place: Callable[[Place], object] = bool) -> Result:
    """Call ``load`` on the only document in ``text``; ``note_place`` gets where its fields are. Raises Rejected with
    lines and columns.
    """
    documents = [document for document in read_documents(text, LIMITS) if document.data is not None]
    if len(documents) != 1:
        problem = "the text is empty" if not documents else f"the text has {len(documents)} documents, not one"
        raise Rejected([FieldError("", DECODE_ERROR, problem)])
    document = documents[0]
    if document.duplicates:
        raise Rejected(document.duplicates)
    note_place(document.place)
    try:
        return load(document.data)
    except Rejected as rejected:
        errors = []
        for error in rejected.errors:
            place = document.place.find(error.path)
            errors.append(replace(error, line=place.line, column=place.column))
        raise Rejected(errors) from rejected
