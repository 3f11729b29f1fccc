"""From a file to a scenario, with everything that is wrong in it at its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.loading import DEFAULT_LIMITS, read_documents
from scheduler_engine.api.parsing import Document, Limits, Place
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.scenario.format import KEYS, SCENARIO, wrong_version
from scheduler_engine.scenario.model import FOLDER, Origin, Scenario
from scheduler_engine.scenario.shapes import Data
from scheduler_engine.scenario.steps import BESIDE, in_configuration

ENDING = ".scenario"
"""Of a name such as ``spread.scenario.yaml``: no part of the scenario's own name."""


@dataclass(frozen=True, slots=True)
class FileError(FieldError):
    """A wrong field of a file, which says where: ``name.yaml:12:5: then[2].advance.seconds: …``."""

    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


FILE_LIMITS = Limits(size=64 * 1024 * 1024, nodes=5_000_000)
"""Wider than for pasted text: whoever names a file waits for it alone."""


def load_scenarios(folder: Path = FOLDER) -> list[Scenario]:
    """Every scenario of a folder, in the order of their file names. Raises Rejected when a file is none."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def load_scenario(path: Path) -> Scenario:
    """One scenario from its file. Raises Rejected with everything that is wrong, at its line, and OSError."""
    return read_scenario(path.read_bytes(), path.name, FILE_LIMITS)


def read_scenario(text: str | bytes, name: str = "scenario.yaml", limits: Limits = DEFAULT_LIMITS) -> Scenario:
    """One scenario from the text of a file of this name; a leading number in the name only orders the list."""
    document = _document(text, name, limits)
    data: Data = document.data
    _rename_on(data, document.place)
    problems = list(_problems(data))
    if problems:
        raise Rejected([_at(error, document.place, name) for error in problems])
    stem = name.rpartition(".")[0].removesuffix(ENDING) or name
    slug = stem.split("-", 1)[1] if stem[:2].isdigit() and "-" in stem else stem
    opened, then, written = _steps(data.get("then"))
    given: Data = {key: data[key] for key in data if key in PLAIN}
    if "then" in data:
        given["then"] = then
    setup, expect = (_command(step) for step in data.get("setup", ())), data.get("expect", ())
    origin = Origin(name, document.place, written)
    return Scenario(slug, **given, setup=(*setup,), opened=opened, expect=(*expect,), origin=origin)


PLAIN = tuple(key for key in KEYS if key not in ("apiVersion", "kind", "setup", "then", "expect"))
"""Keys that a scenario holds as they are."""


def _document(text: str | bytes, name: str, limits: Limits) -> Document:
    try:
        documents = read_documents(text, limits)
    except Rejected as refusal:
        raise Rejected([_in_file(error, name) for error in refusal.errors]) from refusal
    if not documents or documents[0].data is None:
        raise Rejected([FileError("", "FieldValueRequired", "the file is empty", file=name)])
    if len(documents) > 1:
        place, text = documents[1].place, f"a file holds one scenario, and here are {len(documents)} documents"
        raise Rejected([FileError("", "FieldValueTooMany", text, 1, place.line, place.column, file=name)])
    document = documents[0]
    if not isinstance(document.data, dict):
        message = "a scenario must be a mapping, with a title at least"
        place = document.place
        raise Rejected([FileError("", "FieldValueTypeInvalid", message, 0, place.line, place.column, file=name)])
    if document.duplicates:
        raise Rejected([_in_file(error, name) for error in document.duplicates])
    return document


def _in_file(error: FieldError, name: str) -> FileError:
    return FileError(error.path, error.kind, error.message, 0, error.line, error.column, error.object_name, name)


def _at(error: FieldError, root: Place, name: str) -> FileError:
    place = root.find(error.path)
    return FileError(error.path, error.kind, error.message, 0, place.line, place.column, error.object_name, name)


def _problems(data: Data) -> Iterable[FieldError]:
    """Everything that is wrong; of a file of another version, only that."""
    wrong = wrong_version(data)
    if wrong is not None:
        return [FieldError(wrong[0], "FieldValueNotSupported", wrong[1])]
    found = [*SCENARIO.problems(data, "")]
    if isinstance(data.get("configuration"), dict):
        found += in_configuration(data["configuration"], "configuration")
    return [*found, *_names(data.get("then"))]


def _names(steps: Any) -> Iterable[FieldError]:
    """No two steps have the same name."""
    seen: dict[str, int] = {}
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        name = step.get("name") if isinstance(step, dict) else None
        if isinstance(name, str) and seen.setdefault(name, number) != number:
            text = f'Duplicate value: "{name}": then[{seen[name]}] has this name'
            yield FieldError(f"then[{number}].name", "FieldValueDuplicate", text)


def _rename_on(data: Data, root: Place) -> None:
    """A bare ``on`` is the boolean true in YAML 1.1, as a key too; the field ``on`` of a command needs no quotes."""
    for part in ("setup", "then"):
        steps = data.get(part)
        for number, step in enumerate(steps if isinstance(steps, list) else ()):
            for kind, given in step.items() if isinstance(step, dict) else ():
                known = commands.COMMANDS[kind].__dataclass_fields__ if kind in commands.COMMANDS else {}
                if isinstance(given, dict) and "true" in given and "on" in known and "on" not in given:
                    given["on"] = given.pop("true")
                    children = root.find(f"{part}[{number}].{kind}").children
                    if "true" in children:
                        children["on"] = children.pop("true")


def _steps(steps: Sequence[Data] | None) -> tuple[tuple[Data, ...], tuple[Data, ...], dict[str, str]]:
    """What holds before the first step, the steps, and path → path in the file. Expectations that stand as a step of
    their own belong to the step before.
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
            then.append(_command(step))
        for index in range(len(held)):
            written[f"{owner}[{before + index}]"] = f"then[{number}].expect[{index}]"
    return tuple(opened), tuple(then), written


def _command(step: Data) -> Data:
    """``apply: […]`` or ``run: {…}`` as a command in its JSON form, and what stands beside it."""
    beside = {name: step[name] for name in step if name in BESIDE}
    if "expect" in beside:
        beside["expect"] = tuple(beside["expect"])
    kind = next(name for name in step if name not in BESIDE)
    fields = step[kind]
    command = {"kind": kind, "manifests": fields} if kind == "apply" else {"kind": kind, **(fields or {})}
    return command | beside
