"""Any input to an import gives an import or ``Rejected`` with a reason, and no other exception."""

from __future__ import annotations

import gzip
import io
import json
import random
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import Choices, gather, prepare, reading
from scheduler_engine.simulation import Simulation
from tests.engine import dumps

MIB = 1024 * 1024


def zipped(*files: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


def twice(name: str) -> bytes:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped((name, NODES), (name, NODES))


NODES = b'{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n1"}}]}'
LIST = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n1\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)

REFUSED: dict[str, tuple[bytes | Callable[[], bytes], str, int]] = {
    "nothing": (b"", "This file has no object of a cluster", 0),
    "blanks": (b" \n\n", "This file has no object of a cluster", 0),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe", "the text is not UTF-8", 1),
    "plain words": (b"hello", "an object must be a mapping", 1),
    "a number": (b"[1, 2]", "an object must be a mapping", 0),
    "no kind": (b'{"metadata": {"name": "a"}}', "every object needs a kind", 0),
    "a truncated list": (LIST.encode(), "a list without kind: the file ends here: it is cut off", 6),
    "YAML truncated in a quoted text": (LIST.encode() + b'    x: "abc', "it is cut off", 7),
    "truncated JSON": (json.dumps(json.loads(NODES), indent=1).encode()[:-20], "it is cut off", 7),
    "a YAML bomb": (BOMB.encode(), "values, aliases counted in full", 6),
    "an anchor that holds itself": (b"kind: List\nitems: &a\n- *a\n", "unknown anchor", 3),
    "an empty merge key": (b"kind: Node\n<<: 5\n", "'<<' needs a mapping", 2),
    "a tag": (b"kind: !!python/object:os.system x\n", "tag", 1),
    "deep YAML": (b"a: " + b"[" * 100, "nested deeper than 60 levels", 1),
    "deep JSON": (b'{"a":' * 50_000, "nested deeper", 0),
    "the same key twice": (b"kind: Node\nmetadata:\n  name: a\n  name: b\n", 'duplicate field "name"', 4),
    "U+0000": (b'{"kind": "Node",\n "metadata": {"name": "a\\u0000b"}}', "U+0000", 2),
    "not a number": (b'{"kind": "Node", "x": NaN}', "NaN is not a JSON number", 0),
    "a number too large": (b'{"kind": "Node", "x": 1e999}', "is too large", 0),
    "a number with too many digits": (b'{"kind": "Node", "x": ' + b"9" * 5000 + b"}", "invalid JSON", 0),
    "items that are not a list": (b'{"kind": "List", "items": {"a": 1}}', "items must be a list", 0),
    "an item that is not an object": (b'{"kind": "List", "items": [7]}', "an item of a list must be an object", 0),
    "a snapshot with a number": (b'{"pods": 5, "nodes": []}', "must be a list", 0),
    "only unused objects": (b'{"kind": "Secret", "metadata": {"name": "a"}}', "This file has no object that", 0),
    "only a configuration": (b'{"kind": "KubeSchedulerConfiguration"}', "but no object of a cluster", 0),
    "an empty zip": (zipped(), "This archive has no object of a cluster", 0),
    "a truncated zip": (zipped(("a.json", NODES))[:-10], "the archive cannot be read", 0),
    "a zip with a file outside": (zipped(("../a.json", NODES)), "leads out of the archive", 0),
    "a zip with a file far outside": (zipped(("a/../../b.json", NODES)), "leads out of the archive", 0),
    "a zip with back slashes": (zipped(("a\\..\\b.json", NODES)), "leads out of the archive", 0),
    "a zip with an absolute name": (zipped(("/etc/a.json", NODES)), "its name is absolute", 0),
    "a zip with a drive": (zipped(("C:/a.json", NODES)), "its name is absolute", 0),
    "a zip in a zip": (zipped(("a.zip", zipped(("b.json", NODES)))), "an archive in the archive", 0),
    "a zip with two files of one name": (twice("a.json"), "another file has the same name", 0),
    "a zip with too many files": (lambda: zipped(*((f"{n}.txt", b"") for n in range(20_001))), "more than 20,000", 0),
    "a zip bomb": (lambda: zipped(("a.json", b" " * (97 * MIB))), "more than 96 MiB once it is unpacked", 0),
    "a zip of two halves of a bomb": (
        lambda: zipped(*((f"{n}.json", b" " * (49 * MIB)) for n in "ab")),
        "96 MiB once it is",
        0,
    ),
    "a packed bomb": (lambda: gzip.compress(b" " * (97 * MIB)), "more than 96 MiB once it is unpacked", 0),
    "a truncated packed file": (gzip.compress(NODES)[:-12], "ends too early", 0),
    "a packed file that is broken": (b"\x1f\x8bxxxxxxxx", "cannot be unpacked", 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unreadable_input_is_refused_with_reason_and_line(name: str) -> None:
    damaged, reason, line = REFUSED[name]
    content = damaged() if callable(damaged) else damaged
    start = time.process_time()
    with pytest.raises(Rejected) as refusal:
        prepare(gather(content))
    assert reason in str(refusal.value)
    assert refusal.value.errors[0].line == line
    assert time.process_time() - start < 5, "a bomb takes no time"


EARLY: dict[str, tuple[str, str, int]] = {
    "a list of words": ("- a\n- a\n", "an item of a list must be an object", 1),
    "words in the items": ("kind: List\nitems:\n- a\n", "an item of a list must be an object", 3),
    "many short documents": ("--- a\n--- a\n", "an object must be a mapping", 1),
    "empty items": ("items:\n- a: 1\n- b: 2\n", "every object needs a kind", 2),
    "a huge object": ("kind: A\ndata:\n" + "- x\n" * 200_000, "an object with more than 200,000 values", 199_999),
    "a huge item": ("kind: List\nitems:\n- kind: A\n  a:\n" + "  - x\n" * 200_000, "more than 200,000 values", 200_001),
}


@pytest.mark.parametrize("name", EARLY)
def test_an_impossible_dump_is_refused_before_all_of_it_is_read(name: str) -> None:
    text, reason, line = EARLY[name]
    with pytest.raises(Rejected, match=reason) as refusal:
        gather(f"{text}'never closed".encode())
    assert refusal.value.errors[0].line == line


def test_too_many_objects_are_refused_where_the_first_of_them_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_OBJECTS", 4)
    text = "kind: List\nitems:\n" + "- {kind: Node, metadata: {name: a}}\n" * 9
    with pytest.raises(Rejected, match="more than 4 objects in this file") as refusal:
        gather(f"{text}'never closed".encode())
    assert refusal.value.errors[0].line == 6


@pytest.mark.parametrize("form", ["a snapshot", "a scenario", "a list"])
def test_many_objects_may_have_more_values_than_one(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_IN_OBJECT", 40)
    nodes = "".join(f"- kind: Node\n  apiVersion: v1\n  metadata: {{name: n{n}}}\n" for n in range(20))
    heads = {"a snapshot": "nodes:\n", "a scenario": "title: t\nsetup:\n", "a list": "kind: List\nitems:\n"}
    result = gather((heads[form] + nodes).encode())
    assert result.scenario if form == "a scenario" else len(result.objects) == 20


def test_a_file_of_an_archive_is_named_with_the_line() -> None:
    with pytest.raises(Rejected, match=r"dump/nodes\.json: invalid JSON") as refusal:
        gather(zipped(("dump/nodes.json", b'{"kind":\n oops]'), ("dump/pods.json", NODES)))
    assert refusal.value.errors[0].line == 2


def test_a_zip_whose_directory_lies_about_the_size_is_refused() -> None:
    content = bytearray(zipped(("a.json", b"[" + b" " * 100_000 + b"]")))
    place = content.rindex(b"PK\x01\x02") + 24
    content[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(Rejected):
        gather(bytes(content))


@pytest.mark.parametrize("seed", range(40))
def test_a_dump_that_is_cut_off_anywhere_is_an_import_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    write = chance.choice((dumps.as_yaml, dumps.as_json, dumps.as_documents, dumps.as_zip))
    content = write(dumps.cluster(1, nodes=3, pods=6).objects)
    cut = content[: chance.randrange(len(content))]
    if write is dumps.as_documents:
        assert_import_or_refused(cut)
    else:
        with pytest.raises(Rejected):
            prepare(gather(cut))


def assert_import_or_refused(content: bytes) -> bool:
    try:
        for choices in (Choices(), Choices(anonymous=True)):
            result = prepare(gather(content), choices)
            simulation = Simulation(configuration=result.configuration)
            for command in result.commands():
                simulation.execute(commands.from_json(command))
    except Rejected:
        return False
    return True


JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**70, 1.5, "", "x", "<script>alert(1)</script>", "a/b/c", "\ud800", "ü" * 300, [], {}),
    *([None], [[]], {"a": None}, {"name": 5}, [{"name": "a"}, 7], "9" * 400, "1e400", "2025-99-99T00:00:00Z"),
)


def spoil(chance: random.Random, value: Any, depth: int = 0) -> Any:
    """Return the value with junk at one place in it."""
    inside = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not inside or chance.random() < 0.06 * depth:
        return chance.choice(JUNK)
    at = chance.choice(inside)
    result = dict(value) if isinstance(value, dict) else list(value)
    if chance.random() < 0.05:
        del result[at]
    else:
        result[at] = spoil(chance, result[at], depth + 1)
    return result


@pytest.mark.parametrize("seed", range(60))
def test_a_spoilt_dump_is_an_import_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    objects = dumps.cluster(seed % 5, nodes=3, pods=6).objects
    for _ in range(12):
        at = chance.randrange(len(objects))
        objects[at] = spoil(chance, objects[at])
    assert_import_or_refused(json.dumps(dumps.as_list(objects)).encode())


def test_a_large_cluster_is_read_in_seconds() -> None:
    """Import 100 nodes and 1,000 pods with all that dumps have."""
    objects = dumps.cluster(1, nodes=100, pods=1000).objects
    content = dumps.as_yaml(objects)
    assert len(content) > 6 * 1000 * 1000
    result = prepare(gather(content))
    assert result.summary.nodes == 100
    assert result.summary.bound + result.summary.pending > 1000
    assert sum(len(json.dumps(command)) for command in result.commands()) < 16 * MIB
