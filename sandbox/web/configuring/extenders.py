"""Controls of simulated extenders: in place of a server, expressions answer what the scheduler asks.

An extender is called by its position in ``extenders``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sandbox.web.configuring.manifests import Manifest, free_name, number, put_member, set_member
from sandbox.web.presets.extenders import EXTENDERS
from sandbox.words.say import say
from scheduler_engine.config.schema import SIMULATED
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.expressions import SCHEME, VERBS

FIELDS = tuple(name for name in SIMULATED.fields if name != "unresolvable")
"""The fields of a simulated extender that have controls, in their order."""
VERB_OF = {field: verb for verb, field in VERBS.items()}
"""Expression → the verb that it answers."""
WEIGHED = VERB_OF["prioritize"]
AFTER_VERBS = ("weight", "nodeCacheCapable", "ignorable", "simulated")
"""Members of an extender that come after its verbs."""


def shown(manifest: Manifest) -> list[dict[str, Any]]:
    """Return the content of the controls of each simulated extender."""
    return [
        {
            "at": str(index),
            "name": extender["urlPrefix"].removeprefix(SCHEME),
            "weight": extender.get("weight", 1) if extender.get(WEIGHED) else None,
            "ignorable": bool(extender.get("ignorable")),
            "fields": [{"name": name, "value": str(extender["simulated"].get(name, ""))} for name in FIELDS],
        }
        for index, extender in enumerate(manifest.get("extenders") or ())
        if "simulated" in extender
    ]


def _extender(manifest: Manifest, at: str) -> Manifest:
    """Return a simulated extender. Raises Rejected if there is none."""
    found = {str(index): item for index, item in enumerate(manifest.get("extenders") or ()) if "simulated" in item}
    if at not in found:
        raise Rejected(say("errors.no-row"))
    return found[at]


def _add(manifest: Manifest, name: str, _: str) -> None:
    """Add an example, with a name that is free."""
    example = next((item for item in EXTENDERS if item.name == name), None)
    if example is None:
        raise Rejected(say("errors.no-row"))
    extenders = list(manifest.get("extenders") or ())
    taken = [extender.get("urlPrefix", "").removeprefix(SCHEME) for extender in extenders]
    added = deepcopy(example.at(free_name(name, taken, "-")))
    put_member(manifest, "extenders", [*extenders, added], ("profiles",))


def _remove(manifest: Manifest, at: str, _: str) -> None:
    gone = _extender(manifest, at)
    manifest["extenders"] = [extender for extender in manifest["extenders"] if extender is not gone]
    if not manifest["extenders"]:
        del manifest["extenders"]


def _rename(manifest: Manifest, at: str, value: str) -> None:
    _extender(manifest, at)["urlPrefix"] = f"{SCHEME}{value}"


def _write(manifest: Manifest, argument: str, value: str) -> None:
    """Set one field, or remove it for an empty value. An expression brings its verb, and takes it along."""
    at, _, field = argument.partition(".")
    extender = _extender(manifest, at)
    if field not in FIELDS:
        raise Rejected(say("errors.no-row"))
    simulated, verb = extender["simulated"], VERB_OF.get(field)
    if value:
        simulated[field] = number(value) if SIMULATED.fields[field].type == "float32" else value
        if verb:
            put_member(extender, verb, extender.get(verb) or field, AFTER_VERBS)
    else:
        simulated.pop(field, None)
        # A call that fails needs no expression.
        if verb and "failure" not in simulated:
            extender.pop(verb, None)
    if WEIGHED in extender:
        put_member(extender, "weight", extender.get("weight") or 1, AFTER_VERBS[1:])
    else:
        extender.pop("weight", None)


def _ignore(manifest: Manifest, at: str, value: str) -> None:
    extender = _extender(manifest, at)
    if value:
        put_member(extender, "ignorable", True, ("simulated",))
    else:
        extender.pop("ignorable", None)


EXTENDER_EDITS: dict[str, Callable[[Manifest, str, str], None]] = {
    "add-extender": _add,
    "remove-extender": _remove,
    "extender-name": _rename,
    "extender": _write,
    "extender-weight": lambda manifest, at, value: set_member(
        _extender(manifest, at), "weight", value, before=AFTER_VERBS[1:]
    ),
    "extender-ignorable": _ignore,
}
