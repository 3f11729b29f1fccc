"""Imports accept a dump from any writer. For other files they say what the file is, where it fails, and what to do."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from scheduler_engine.cli import program
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import gather, prepare
from tests.engine import dumps

OBJECTS = dumps.cluster(2, nodes=3, pods=12).objects
YAML, JSON = dumps.as_yaml(OBJECTS).decode(), dumps.as_json(OBJECTS).decode()
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", MARKS)
@pytest.mark.parametrize("marked", [True, False], ids=["with a mark", "without a mark"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("text", [YAML, JSON], ids=["YAML", "JSON"])
def test_a_dump_is_read_in_every_encoding(text: str, ends: str, marked: bool, encoding: str) -> None:
    content = (MARKS[encoding] if marked else b"") + text.replace("\n", ends).encode(encoding)
    assert gather(content).objects == gather(text.encode()).objects


def test_lines_are_counted_as_the_person_sees_them() -> None:
    text = "kind: Node\r\nmetadata:\r\n  name: a\r\n  name: b\r\n"
    with pytest.raises(Rejected, match="duplicate field") as refusal:
        gather(codecs.BOM_UTF16_LE + text.encode("utf-16-le"))
    assert refusal.value.errors[0].line == 4


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\xff", codecs.BOM_UTF16_LE + b"a\0\0\xd8"], ids=["a picture", "half"]
)
def test_a_binary_file_gets_advice_on_how_to_save_it(content: bytes) -> None:
    with pytest.raises(Rejected, match="save it as UTF-8"):
        gather(content)


def test_a_scenario_is_read_in_every_encoding_and_packed() -> None:
    text = "title: t\nsetup:\n- run: {}\n"
    assert gather(codecs.BOM_UTF16_LE + text.encode("utf-16-le")).scenario == text


MESSAGES = {
    "forbidden": (
        'Error from server (Forbidden): pods is forbidden: User "ann" cannot list resource "pods" in API group ""',
        "Leave it out of the command",
    ),
    "refused": (
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        "did not reach the cluster",
    ),
    "unreachable": (
        "Unable to connect to the server: dial tcp: lookup a.example: no such host",
        "did not reach the cluster",
    ),
    "logged out": ("error: You must be logged in to the server (Unauthorized)", "Log in to the cluster"),
    "a kind": ('error: the server doesn\'t have a resource type "deploys"', "does not know this kind"),
    "not found": ('Error from server (NotFound): pods "web" not found', "Check its name"),
    "nothing": ("No resources found in default namespace.", "Check the namespace"),
    "a warning": ("Warning: v1 ComponentStatus is deprecated in v1.19+", "without 2>&1"),
    "a log": (
        "E1126 08:40:46.123456    4711 memcache.go:265] couldn't get current server API group list",
        "without 2>&1",
    ),
    "no kubectl": ("bash: kubectl: command not found", "where kubectl is installed"),
    "no kubectl on Windows": ("'kubectl' is not recognized as an internal or external command,", "is installed"),
    "PowerShell": ("kubectl : Unable to connect to the server: EOF", "did not reach the cluster"),
    "anything else": ("error: unknown flag: --al", "Run the command again"),
}


@pytest.mark.parametrize("after", ["", "\n" + YAML, "\n" + JSON], ids=["alone", "before YAML", "before JSON"])
@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_of_kubectl_in_the_file_says_what_to_do(name: str, after: str) -> None:
    line, advice = MESSAGES[name]
    with pytest.raises(Rejected) as refusal:
        gather(f"\n{line}{after}".encode())
    (error,) = refusal.value.errors
    assert error.line == 2
    assert f"“{line.removeprefix('kubectl : ')[:200]}”" in error.message
    assert advice in error.message


def test_a_message_in_the_middle_is_located_where_the_text_breaks() -> None:
    lines = JSON.splitlines()
    lines.insert(20, MESSAGES["refused"][0])
    with pytest.raises(Rejected, match="did not reach the cluster") as refusal:
        gather("\n".join(lines).encode())
    assert refusal.value.errors[0].line == 21


FOR_PEOPLE = {
    "a table": "NAME    READY   STATUS    RESTARTS   AGE\nweb-1   1/1     Running   0          3d\n",
    "a table of all namespaces": "NAMESPACE     NAME    READY\ndefault       web-1   1/1\n",
    "a description": "Name:             web-1\nNamespace:        default\n",
}


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_kubectls_plain_output_gets_advice_on_how_to_write_a_dump(name: str) -> None:
    with pytest.raises(Rejected, match=r"-A -o yaml") as refusal:
        gather(FOR_PEOPLE[name].encode())
    assert refusal.value.errors[0].line == 1


@pytest.mark.parametrize("cut", range(10, 1500, 97))
def test_a_file_that_is_cut_off_says_at_which_line(cut: int) -> None:
    text = json.dumps({"kind": "List", "items": OBJECTS}, indent=1)[:-cut].rstrip()
    with pytest.raises(Rejected, match="it is cut off") as refusal:
        gather(text.encode())
    assert refusal.value.errors[0].line == text.count("\n") + 1


@pytest.mark.parametrize("text", ['{"kind": "Node" "x"}', "{kind: [a}", "kind: a: b"])
def test_an_error_in_the_last_line_is_not_taken_for_the_end(text: str) -> None:
    with pytest.raises(Rejected, match="invalid") as refusal:
        gather(text.encode())
    assert "cut off" not in str(refusal.value)


@pytest.mark.parametrize("cut", range(60, 1500, 97))
def test_yaml_that_is_cut_off_anywhere_says_at_which_line(cut: int) -> None:
    text = YAML[:-cut].rstrip()
    with pytest.raises(Rejected, match="it is cut off") as refusal:
        gather(text.encode())
    assert refusal.value.errors[0].line == text.count("\n") + 1


def test_yaml_that_is_cut_off_says_at_which_line() -> None:
    text = YAML[: len(YAML) // 2].rpartition("\n")[0]
    with pytest.raises(Rejected, match="it is cut off") as refusal:
        gather(text.encode())
    assert refusal.value.errors[0].line == text.count("\n") + 1


@pytest.mark.parametrize(
    "content", [b"", b'{"kind": "Secret", "metadata": {"name": "a"}}'], ids=["nothing", "a secret"]
)
def test_a_file_without_objects_says_how_to_write_one_with_them(content: bytes) -> None:
    with pytest.raises(Rejected, match="kubectl get nodes,pods"):
        gather(content)


def test_a_file_without_nodes_says_so_first() -> None:
    pods = [item for item in OBJECTS if item["kind"] != "Node"]
    notices = prepare(gather(dumps.as_json(pods))).notices
    assert notices[0].text.startswith("This file has no node")
    bound: dict[str, Any] = {"containers": [{"name": "c", "image": "x"}], "nodeName": "n1"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": bound}
    with pytest.raises(Rejected, match=r"Nothing is left to import\. This file has no node"):
        prepare(gather(dumps.as_json([pod])))
    assert "no-nodes" not in [item.key for item in prepare(gather(dumps.as_json(OBJECTS))).notices]


def test_unknown_fields_are_named_with_their_kind_and_place() -> None:
    spec = {"containers": [{"name": "c", "image": "x", "gpu": "1"}], "brandNew": {"a": 1}}
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec} for name in ("a", "b")]
    notices = {item.key: item for item in prepare(gather(dumps.as_json(pods))).notices}
    assert notices["unknown-fields"].count == 2
    assert notices["unknown-fields"].examples == ("Pod: spec.containers[].gpu, spec.brandNew",)


def test_the_command_line_says_the_same(tmp_path: Path) -> None:
    def ran(content: bytes) -> tuple[int, str]:
        path = tmp_path / "cluster.yaml"
        path.write_bytes(content)
        done = CliRunner().invoke(program, ["import", str(path)], standalone_mode=False)
        return done.exit_code, done.stderr + str(done.exception or "")

    line = MESSAGES["forbidden"][0]
    assert "cluster.yaml:1: this is a message, not an object" in ran(line.encode())[1]
    code, output = ran(codecs.BOM_UTF16_LE + YAML.replace("\n", "\r\n").encode("utf-16-le"))
    assert code == 0
    assert "Node: status.someNewField" in output
