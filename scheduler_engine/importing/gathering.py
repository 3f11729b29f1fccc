"""The content of a dump's files: objects by kind, a scheduler's configuration, or a scenario.

Source: what ``kubectl get`` and ``kubectl cluster-info dump`` write, and the snapshots of kube-scheduler-simulator
(``simulator/snapshot``: ``ResourcesForSnap``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from scheduler_engine.api.scheme import KINDS, NO_OBJECTS
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.importing.advice import how
from scheduler_engine.importing.archives import unpacked
from scheduler_engine.importing.kubelets import newest, version_of_kubelet
from scheduler_engine.importing.reading import MOST_BYTES, MOST_OBJECTS, Text, read_text
from scheduler_engine.importing.result import Skipped, grouped
from scheduler_engine.importing.trimming import Notes, StandIns, trimmed, trimmed_configuration
from scheduler_engine.words import say

CONFIGURATION = "KubeSchedulerConfiguration"
SNAPSHOT = {
    "namespaces": "Namespace",
    "priorityClasses": "PriorityClass",
    "storageClasses": "StorageClass",
    "pvcs": "PersistentVolumeClaim",
    "pvs": "PersistentVolume",
    "nodes": "Node",
    "pods": "Pod",
}
"""Key of a simulator's snapshot → the kind of its items."""
SNAPSHOT_CONFIGURATION = "schedulerConfig"
WITH_DATA = ("Secret", "ConfigMap")
UNREAD = {
    "Endpoints": "import-errors.not-read",
    "EndpointSlice": "import-errors.not-read",
    "Event": "import-errors.not-read",
    "Lease": "import-errors.own",
    "ControllerRevision": "import-errors.own",
}
"""Kinds that are omitted although, or because, the sandbox could know them → key of the reason."""
LONGEST = 253
"""The most characters of a kind or name shown."""


@dataclass(slots=True)
class Gathered:
    """The kept content of a file, as plain data. ``objects`` have apiVersion and kind, and only fields of the
    allow-list; ``places`` has the place of each, ``notes`` what was dropped or replaced in it. ``secrets``: the number
    of Secrets and ConfigMaps dropped. ``scenario``: the text of a file that is one. ``kubelets``: the version of the
    newest kubelet (``v1.35``), "" if no node says it.
    """

    objects: list[dict[str, Any]] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    notes: list[Notes] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    configurations: list[dict[str, Any]] = field(default_factory=list)
    secrets: int = 0
    scenario: str = ""
    kubelets: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the input of ``from_json``."""
        return {name: getattr(self, name) for name in self.__slots__} | {"skipped": [asdict(i) for i in self.skipped]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Gathered:
        return cls(**{**data, "skipped": [Skipped(**item) for item in data["skipped"]]})


def gather(content: bytes, name: str = "", most: int = MOST_BYTES, stand_ins: StandIns | None = None) -> Gathered:
    """Read a file: manifests, a dump, a zip of dumps, a simulator's snapshot or a scenario.

    ``most``: bytes once unpacked. ``stand_ins``: those of earlier files, so that equal names stay equal. Raises
    Rejected, with the line if there is one.
    """
    gathered, stand_ins = Gathered(), stand_ins or StandIns()
    several = content[:2] == b"PK"
    for file, data in unpacked(content, name, most):
        text = read_text(data, file if several else "")
        if not several and _is_scenario(text.documents):
            return Gathered(scenario=text.whole)
        for number, document in enumerate(text.documents):
            place = say("import-errors.document", number=number + 1) if len(text.documents) > 1 else ""
            _take(gathered, document, text, place)
        for number in range(len(gathered.notes), len(gathered.objects)):
            gathered.objects[number], notes = trimmed(gathered.objects[number], stand_ins)
            gathered.notes.append(notes)
    gathered.configurations = [trimmed_configuration(item) for item in gathered.configurations]
    gathered.skipped = list(grouped(gathered.skipped))
    if not gathered.objects:
        raise Rejected(_nothing(gathered, several))
    return gathered


def _nothing(gathered: Gathered, several: bool) -> str:
    if gathered.configurations:
        return say("import-errors.only-configuration", how=how())
    if gathered.skipped or gathered.secrets:
        kinds = ", ".join(dict.fromkeys(item.kind for item in gathered.skipped)) or "Secret, ConfigMap"
        return say("import-errors.only-others", kinds=kinds, how=how())
    return say("import-errors.no-object-in-archive" if several else "import-errors.no-object-in-file", how=how())


def _is_scenario(documents: list[Any]) -> bool:
    """Return True for ``scheduler-sandbox/v1``, or one without a version."""
    first = documents[0] if len(documents) == 1 else None
    if not isinstance(first, dict):
        return False
    named = str(first.get("apiVersion", "")).startswith("scheduler-sandbox/")
    return named or ("kind" not in first and {"title", "setup"} <= first.keys())


def _take(gathered: Gathered, data: Any, text: Text, place: str) -> None:
    """Sort one document. Raises Rejected if it is not an object of any kind."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            _take(gathered, item, text, f"{place}[{index}]")
    elif not isinstance(data, dict):
        raise _wrong(text, data, place, say("import-errors.not-an-object"))
    elif data.get("kind") == CONFIGURATION:
        gathered.configurations.append(data)
    elif isinstance(data.get("kind"), str):
        for item, where in _taken_apart(data, text, place):
            _sort(gathered, item, text, where)
    elif not data.keys().isdisjoint((*SNAPSHOT, SNAPSHOT_CONFIGURATION)):
        _take_snapshot(gathered, data, text)
    elif "items" in data:
        last = text.whole.rstrip().count("\n") + 1
        problem = say("import-errors.list-without-kind", cut_off=say("import-advice.cut-off"))
        raise _wrong(text, data, place, problem, last)
    elif not data.get("kind") and "metadata" in data:
        raise _wrong(text, data, f"{place}.kind".lstrip("."), say("import-errors.no-kind"))
    else:
        raise _wrong(text, data, place, say("import-errors.not-an-object"))


def _taken_apart(data: dict[str, Any], text: Text, place: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the object, or the items of a list; those of a ``PodList`` inherit kind and apiVersion."""
    kind = data["kind"]
    if not kind.endswith("List") or "items" not in data:
        yield data, place
        return
    items = data["items"]
    if items is not None and not isinstance(items, list):
        raise _wrong(text, data, f"{place}.items".lstrip("."), say("manifest-errors.items-not-a-list"))
    common = {} if kind == "List" else {"apiVersion": data.get("apiVersion"), "kind": kind.removesuffix("List")}
    for index, item in enumerate(items or ()):
        where = f"{place}.items[{index}]".lstrip(".")
        if not isinstance(item, dict):
            raise _wrong(text, data, where, say("manifest-errors.item-not-an-object"))
        whole = item if not common or item.get("kind") else {**common, **item}
        text.lines[id(whole)] = text.line(item)
        if isinstance(whole.get("kind"), str):
            yield from _taken_apart(whole, text, where)
        else:
            raise _wrong(text, whole, f"{where}.kind", say("import-errors.no-kind"))


def _take_snapshot(gathered: Gathered, data: dict[str, Any], text: Text) -> None:
    for key, kind in SNAPSHOT.items():
        items = data.get(key)
        if items is not None and not isinstance(items, list):
            raise _wrong(text, data, key, say("import-errors.not-a-list"))
        for index, item in enumerate(items or ()):
            where = f"{key}[{index}]"
            if item is None:
                continue
            if not isinstance(item, dict):
                raise _wrong(text, data, where, say("manifest-errors.item-not-an-object"))
            line = text.line(item)
            # Objects of a snapshot have neither.
            whole = {**item, "apiVersion": KINDS[kind].api_versions[0], "kind": kind}
            text.lines[id(whole)] = line
            _sort(gathered, whole, text, where)
    configuration = data.get(SNAPSHOT_CONFIGURATION)
    if isinstance(configuration, dict):
        named = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": CONFIGURATION}
        gathered.configurations.append(
            named | {key: value for key, value in configuration.items() if value is not None}
        )
    elif configuration is not None:
        raise _wrong(text, data, SNAPSHOT_CONFIGURATION, say("import-errors.not-a-mapping"))


def _sort(gathered: Gathered, item: dict[str, Any], text: Text, where: str) -> None:
    """Sort one object of any kind."""
    kind, metadata = str(item["kind"]), item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name")
    if kind == CONFIGURATION:
        gathered.configurations.append(item)
        return
    if kind in WITH_DATA:
        gathered.secrets += 1
        return
    place = _place(text, item, where)
    shown = name[:LONGEST] if isinstance(name, str) else ""
    reason = ""
    if kind in UNREAD:
        reason = say(UNREAD[kind])
    elif kind not in KINDS:
        reason = NO_OBJECTS.get(kind) or say("import-errors.no-such-kind")
    elif not isinstance(name, str) or not name:
        reason = say("import-errors.no-name")
    if reason:
        gathered.skipped.append(Skipped(kind[:LONGEST], shown, reason, place))
        return
    if len(gathered.objects) >= MOST_OBJECTS:
        raise Rejected(say("import-errors.too-many-objects", most=MOST_OBJECTS))
    gathered.objects.append(item)
    gathered.places.append(place)
    if kind == "Node":
        gathered.kubelets = newest(gathered.kubelets, version_of_kubelet(item))


def _place(text: Text, item: Any, where: str) -> str:
    """Return the place in words: file, line or path."""
    line = text.line(item)
    spot = say("import-errors.line", number=line) if line else where
    return ", ".join(part for part in (text.name, spot) if part)


def _wrong(text: Text, data: Any, path: str, message: str, line: int = 0) -> Rejected:
    named = f"{text.name}: {message}" if text.name else message
    return Rejected([FieldError(path.lstrip("."), "FieldValueInvalid", named, 0, line or text.line(data), 0)])
