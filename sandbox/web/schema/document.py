"""The schema as one document for the browser: kinds, and the fields of every type.

``kinds``: kind → ``type``, ``versions``, ``says`` (a description), and ``alone`` for a file that is not an object.
``types``: type → field → ``shown`` (the type in words) and ``type``. Optional: ``holds`` (list or map), ``required``,
``says``, ``values``, ``from`` and ``part`` (a table of the cluster), ``selects``, and ``by``: a mapping from the
``name`` beside the field to the type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sandbox.runtime.local import local
from sandbox.web.schema.help import HELP
from sandbox.web.schema.values import SELECTS, SOURCES, VALUES
from sandbox.words.say import say
from scheduler_engine.api.fields import TYPES, absent_fields
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.config import schema as config
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.versions import DEFAULT_RULES, NOT_SIMULATED, VERSIONS, Rules, rules_for

Entry = dict[str, Any]

SHOWN = {
    "bool": "types.boolean",
    "float32": "types.number",
    "int32": "types.integer",
    "int64": "types.integer",
    "intstr": "types.integer-or-string",
    "microtime": "types.time",
    "raw": "types.any",
}
"""Scalars whose names are not what people call them → the row with their name."""
HOLDERS = {"list": "types.list", "map": "types.map"}


def document(rules: Rules = DEFAULT_RULES) -> dict[str, Any]:
    """Return the whole document: the kinds and fields under these rules, without fields that are always dropped."""
    kinds: dict[str, Entry] = {
        kind.name: {"type": kind.name, "versions": kind.api_versions, "says": say(f"kinds.{kind.name}")}
        for kind in KINDS.values()
    }
    kinds[config.KIND] = {
        "type": config.KIND,
        "versions": (config.API_VERSION,),
        "says": HELP[config.KIND],
        "alone": True,
    }
    types = {
        name: {field: _entry(f"{name}.{field}", spec.type, spec.holds, spec.always) for field, spec in fields.items()}
        for name, fields in TYPES.items()
    }
    for owner, field in absent_fields(rules):
        del types[owner][field]
    for owner, field in (place.split(".") for place in NOT_SIMULATED):
        types[owner].pop(field, None)
    known = config.schema_for(rules)
    for struct in (known.configuration, *known.plugin_args.values(), config.EXPRESSION_ARGS):
        _add_struct(struct, types)
    args = types["PluginConfig"]["args"]
    # A plugin with another name is one that expressions declare.
    args["type"] = config.EXPRESSION_ARGS.name
    args["by"] = {plugin: struct.name for plugin, struct in known.plugin_args.items()}
    types["Plugin"]["name"]["values"] = ("*", *registry_for(rules), *local.names)
    return {"kinds": kinds, "types": types}


def _add_struct(struct: config.Struct, types: dict[str, dict[str, Entry]]) -> None:
    """Add a type and the types in it, unless they are there, as those of ``core/v1`` are."""
    if struct.name in types:
        return
    fields = types[struct.name] = {}
    for field, spec in struct.fields.items():
        holds, inner = _item(spec.type)
        fields[field] = _entry(f"{struct.name}.{field}", getattr(inner, "name", inner), holds)
        if isinstance(inner, config.Struct):
            _add_struct(inner, types)


def _item(kind: Any) -> tuple[str, Any]:
    """Return the kind of holder of a type (one, list or map), and the type of its items."""
    holders = {config.ListOf: "list", config.MapOf: "map"}
    return (holders[type(kind)], kind.item) if type(kind) in holders else ("one", kind)


def _entry(key: str, type_name: str, holds: str, required: bool = False) -> Entry:
    source = SOURCES.get(key)
    optional: Mapping[str, Any] = {
        "holds": "" if holds == "one" else holds,
        "required": required,
        "says": HELP.get(key),
        "values": VALUES.get(key),
        "from": source and source.table,
        "part": source and source.part,
        "selects": SELECTS.get(key),
    }
    shown = say(SHOWN[type_name]) if type_name in SHOWN else type_name
    entry = {"type": type_name, "shown": say(HOLDERS[holds], type=shown) if holds in HOLDERS else shown}
    return entry | {name: value for name, value in optional.items() if value}


def _text(kubernetes: str) -> str:
    return json.dumps(document(rules_for(kubernetes)), ensure_ascii=False, separators=(",", ":"))


def digests(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a part of the address of each version's document, so that a browser may cache it."""
    return {version: sha256(text.encode()).hexdigest()[:16] for version, text in texts.items()}


TEXTS = {version: _text(version) for version in VERSIONS}
"""Version of Kubernetes → the document as text. No feature gate changes a field."""
DIGESTS = digests(TEXTS)
