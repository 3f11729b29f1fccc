"""Read a scenario from a file, and report all errors with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scheduler_engine.api.loading import DEFAULT_LIMITS
from scheduler_engine.api.parsing import Limits
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.own_plugins import NO_PLUGINS, OwnPlugins
from scheduler_engine.scenario.format import KEYS, SCENARIO, wrong_version
from scheduler_engine.scenario.model import FOLDER, Origin, Scenario
from scheduler_engine.scenario.steps import BESIDE, first_rules, in_configuration, refused_in
from scheduler_engine.scenario.yaml_file import FILE_LIMITS, at_lines, document_in, rename_on, slug_of
from scheduler_engine.shapes import Data
from scheduler_engine.words import say

ENDING = ".scenario"
"""The end of a name such as ``spread.scenario.yaml``: not part of the scenario's own name."""


def load_scenarios(folder: Path = FOLDER) -> list[Scenario]:
    """Return every scenario of a folder, in order of file names. Raises Rejected when a file is not one."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def load_scenario(path: Path, own: OwnPlugins = NO_PLUGINS) -> Scenario:
    """Return one scenario from its file. Raises Rejected with all errors and their lines, and OSError."""
    return read_scenario(path.read_bytes(), path.name, FILE_LIMITS, own)


def read_scenario(
    text: str | bytes, name: str = "scenario.yaml", limits: Limits = DEFAULT_LIMITS, own: OwnPlugins = NO_PLUGINS
) -> Scenario:
    """Return one scenario from the text of a file of this name; a leading number in the name only orders the list.

    ``own``: plugins that it may use. If it has no configuration, it gets one that enables those that somebody named.
    """
    document = document_in(text, name, limits, "scenario")
    data: Data = document.data
    for part in ("setup", "then"):
        rename_on(data.get(part), document.place, part)
    problems = list(_problems(data, own))
    if problems:
        raise Rejected(at_lines(problems, document.place, name))
    slug = slug_of(name, (ENDING,))
    opened, then, written = _steps(data.get("then"))
    fields: Data = {key: data[key] for key in data if key in PLAIN}
    fields["tags"] = (*data.get("tags", ()),)
    if "then" in data:
        fields["then"] = then
    setup, expect = (command_from(step) for step in data.get("setup", ())), data.get("expect", ())
    origin = Origin(name, document.place, written)
    if fields.get("configuration") is None:
        fields["configuration"] = own.default_configuration()
    steps: Data = {"setup": (*setup,), "opened": opened, "expect": (*expect,)}
    return Scenario(slug, **fields, **steps, origin=origin, plugins=own.known, extenders=own.extenders)


PLAIN = tuple(key for key in KEYS if key not in ("apiVersion", "kind", "setup", "then", "expect"))
"""Keys that a scenario holds unchanged."""


def _problems(data: Data, own: OwnPlugins) -> Iterable[FieldError]:
    """Yield all errors; for a file of another version, only that."""
    wrong = wrong_version(data)
    if wrong is not None:
        return [FieldError(wrong[0], "FieldValueNotSupported", wrong[1])]
    problems = [*SCENARIO.problems(data, "")]
    wrong_gates, rules = first_rules(data)
    if not any(error.path.startswith("feature_gates") for error in problems):
        problems += wrong_gates
    if isinstance(data.get("configuration"), dict):
        problems += in_configuration(data["configuration"], "configuration", rules, own.known, own.extenders)
    for part in ("setup", "then"):
        refused, rules = refused_in(data.get(part), part, rules, own.known, own.extenders)
        problems += refused
    return [*problems, *_names(data.get("then"))]


def _names(steps: Any) -> Iterable[FieldError]:
    """Check that no two steps have the same name."""
    first_uses: dict[str, int] = {}
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        name = step.get("name") if isinstance(step, dict) else None
        if isinstance(name, str) and first_uses.setdefault(name, number) != number:
            text = say("scenario-errors.same-name", name=name, number=first_uses[name])
            yield FieldError(f"then[{number}].name", "FieldValueDuplicate", text)


def _steps(steps: Sequence[Data] | None) -> tuple[tuple[Data, ...], tuple[Data, ...], dict[str, str]]:
    """Return the expectations before the first step, the steps, and path → path in the file. Expectations that are
    separate steps belong to the step before.
    """
    opened: list[Data] = []
    then: list[Data] = []
    written: dict[str, str] = {}
    for number, step in enumerate(steps or ()):
        held = step.get("expect", ())
        if [*step] == ["expect"] and not then:
            owner, before = "opened", len(opened)
            opened += held
        elif [*step] == ["expect"]:
            owner, before = f"then[{len(then) - 1}].expect", len(then[-1].get("expect", ()))
            then[-1]["expect"] = (*then[-1].get("expect", ()), *held)
        else:
            owner, before = f"then[{len(then)}].expect", 0
            written[f"then[{len(then)}]"] = f"then[{number}]"
            then.append(command_from(step))
        for index in range(len(held)):
            written[f"{owner}[{before + index}]"] = f"then[{number}].expect[{index}]"
    return tuple(opened), tuple(then), written


def command_from(step: Data) -> Data:
    """Return ``apply: […]`` or ``run: {…}`` as a command in its JSON form, with the keys beside it."""
    beside = {name: step[name] for name in step if name in BESIDE}
    if "expect" in beside:
        beside["expect"] = tuple(beside["expect"])
    kind = next(name for name in step if name not in BESIDE)
    fields = step[kind]
    command = {"kind": kind, "manifests": fields} if kind == "apply" else {"kind": kind, **(fields or {})}
    return command | beside
