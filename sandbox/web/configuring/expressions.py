"""Controls of plugins that a configuration declares by expressions.

A plugin is called by the position of its entry in ``pluginConfig``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sandbox.web.configuring.manifests import Manifest, append_named, free_name, named, number, put_member, put_named
from sandbox.web.presets.expressions import EXAMPLES
from sandbox.words.say import say
from scheduler_engine.config.schema import EXPRESSION_API, EXPRESSION_ARGS, TYPE_META, declares_expressions
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.extension_points import EXTENSION_POINTS

FIELDS = tuple(name for name in EXPRESSION_ARGS.fields if name not in TYPE_META)
"""The arguments that have controls, in their order."""


def declared(profile: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield position and entry of each plugin that a profile declares by expressions."""
    for index, config in enumerate(profile.get("pluginConfig") or ()):
        if declares_expressions((config or {}).get("args")):
            yield str(index), config


def shown(profile: Manifest, running: dict[str, int]) -> list[dict[str, Any]]:
    """Return the content of the controls. ``running``: plugin → its weight at Score, 0 if it only runs elsewhere."""
    return [
        {
            "at": at,
            "name": config.get("name") or "",
            "fields": [{"name": name, "value": str(config["args"].get(name, ""))} for name in FIELDS],
            "on": config.get("name") in running,
            "weight": running.get(config.get("name") or ""),
        }
        for at, config in declared(profile)
    ]


def _entry(profile: Manifest, at: str) -> Manifest:
    """Return an entry. Raises Rejected if there is none."""
    found = dict(declared(profile)).get(at)
    if found is None:
        raise Rejected(say("errors.no-row"))
    return found


def _add(profile: Manifest, slug: str, _: str) -> None:
    """Add an example, with a name that is free, and enable it."""
    example = next((item for item in EXAMPLES if item.slug == slug), None)
    if example is None:
        raise Rejected(say("errors.no-row"))
    configs = [config or {} for config in profile.get("pluginConfig") or ()]
    name = free_name(example.name, {config.get("name") for config in configs})
    args = {"apiVersion": EXPRESSION_API, "kind": EXPRESSION_ARGS.name, **example.args}
    append_named(profile, "multiPoint", "enabled", {"name": name})
    put_member(profile, "pluginConfig", [*configs, {"name": name, "args": args}], ())


def _remove(profile: Manifest, at: str, _: str) -> None:
    entry = _entry(profile, at)
    _replace(profile, entry.get("name"), None)
    profile["pluginConfig"] = [config for config in profile["pluginConfig"] if config is not entry]
    if not profile["pluginConfig"]:
        del profile["pluginConfig"]


def _rename(profile: Manifest, at: str, value: str) -> None:
    entry = _entry(profile, at)
    _replace(profile, entry.get("name"), value)
    entry["name"] = value


def _replace(profile: Manifest, name: str | None, new: str | None) -> None:
    """Rename a plugin in all sets; None: remove it."""
    for point, plugins in list((profile.get("plugins") or {}).items()):
        for key in list(plugins or {}):
            items = [item | {"name": new} if item.get("name") == name else item for item in named(profile, point, key)]
            put_named(profile, point, key, [item for item in items if item.get("name") is not None])


def _write(profile: Manifest, argument: str, value: str) -> None:
    """Set one expression or message, or remove it for an empty value."""
    at, _, field = argument.partition(".")
    entry = _entry(profile, at)
    args = entry["args"]
    if field not in FIELDS:
        raise Rejected(say("errors.no-row"))
    if value:
        args[field] = number(value) if EXPRESSION_ARGS.fields[field].type == "int64" else value
        _enable(profile, entry.get("name"), field)
    else:
        args.pop(field, None)


def _enable(profile: Manifest, name: str | None, point: str) -> None:
    """Enable a plugin at the point of an expression too, if the profile enables it at other points one by one."""
    if point not in EXTENSION_POINTS or not name:
        return
    listed = [at for at in (profile.get("plugins") or {}) if _is_listed(profile, at, name)]
    if listed and "multiPoint" not in listed and point not in listed:
        append_named(profile, point, "enabled", {"name": name})


def _is_listed(profile: Manifest, point: str, name: str | None) -> bool:
    return any(item.get("name") == name for item in named(profile, point, "enabled"))


def _weigh(profile: Manifest, at: str, value: str) -> None:
    """Set the weight where the plugin is enabled: at ``score`` if it is listed there, because that one wins."""
    name = _entry(profile, at).get("name")
    for point in ("score", "multiPoint"):
        items = named(profile, point, "enabled")
        if _is_listed(profile, point, name):
            weight = {"weight": number(value)} if value else {}
            changed = [{"name": name} | weight if item.get("name") == name else item for item in items]
            put_named(profile, point, "enabled", changed)
            return


EXPRESSION_EDITS: dict[str, Callable[[Manifest, str, str], None]] = {
    "add-expression": _add,
    "remove-expression": _remove,
    "expression-name": _rename,
    "expression": _write,
    "expression-weight": _weigh,
}
