"""``python -m scheduler_engine validate``."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from scheduler_engine.cli import main

BY = "By the rules of Kubernetes v1.34.1."
GOOD = """\
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
WARNED = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeSelector:
    beta.kubernetes.io/os: linux
  containers:
  - {name: c, image: i}
"""
WRONG = """\
apiVersion: v1
kind: Pod
metadata:
  name: Web
  labels:
    tier: front
    app: web app
spec:
  tolerationz: []
  priority: high
  containers:
  - name: c
    image: i
    image: j
    ports:
    - containerPort: 70000
---
apiVersion: extensions/v1beta1
kind: Deployment
metadata: {name: d}
---
apiVersion: v1
kind: Node
metadata: {name: node-1}
spec:
  taints:
  - {key: k, effect: Never}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.yaml"


def test_good_manifests_end_with_0(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().out == f"1 object, 0 errors, 0 warnings\n{BY}\n"


def test_warnings_are_printed_and_end_with_0(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(WARNED)
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:6:5: warning: Pod p: spec.nodeSelector[beta.kubernetes.io/os]: "
        'deprecated since v1.14; use "kubernetes.io/os" instead',
        "1 object, 0 errors, 1 warning",
        BY,
    ]


EXPECTED = [
    ("4:3", 'Pod Web: metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must'),
    ("7:5", 'Pod Web: metadata.labels: Invalid value: "web app": a valid label must'),
    ("9:3", 'Pod Web: spec.tolerationz: unknown field "spec.tolerationz" (did you mean "tolerations"?)'),
    ("10:3", "Pod Web: spec.priority: must be a whole number of 32 bits, not a text ('high')"),
    ("14:5", 'spec.containers[0].image: duplicate field "spec.containers[0].image"'),
    ("16:7", "Pod Web: spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535"),
    (
        "18:1",
        'Deployment d: apiVersion: no matches for kind "Deployment" in version "extensions/v1beta1": Kubernetes no',
    ),
    ("27:14", 'Node node-1: metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule"'),
]


def test_eight_errors_are_printed_with_their_places(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(WRONG)
    assert main(["validate", str(file)]) == 1
    *lines, summary, by = capsys.readouterr().out.splitlines()
    assert len(lines) == len(EXPECTED)
    for line, (place, text) in zip(lines, EXPECTED, strict=True):
        assert line.startswith(f"{file}:{place}: error: {text}")
    assert (summary, by) == ("3 objects, 8 errors, 0 warnings", BY)


def test_json_holds_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(WRONG)
    assert main(["validate", "--json", str(file)]) == 1
    report = json.loads(capsys.readouterr().out)
    [result] = report["files"]
    assert (report["valid"], result["objects"], result["warnings"]) == (False, 3, [])
    assert [f"{error['line']}:{error['column']}" for error in result["errors"]] == [place for place, _ in EXPECTED]
    assert result["errors"][2] == {
        "object": "Pod Web",
        "document": 0,
        "line": 9,
        "column": 3,
        "path": "spec.tolerationz",
        "type": "UnknownField",
        "message": 'unknown field "spec.tolerationz" (did you mean "tolerations"?)',
    }


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"kind: Pod\n")))
    assert main(["validate", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:1: error: Pod: apiVersion: Required value")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(b"", "error: There is no manifest in this text.", id="an empty file holds nothing to apply"),
        pytest.param(b"a: [", ":2:1: error: invalid YAML", id="invalid YAML is an error at its place"),
        pytest.param(b"\xff\xfe\x00", "error: the text is not UTF-8", id="binary data is an error"),
    ],
)
def test_a_file_without_manifests_is_invalid(
    file: Path, capsys: pytest.CaptureFixture[str], text: bytes, message: str
) -> None:
    file.write_bytes(text)
    assert main(["validate", str(file)]) == 1
    assert message in capsys.readouterr().out


def test_an_unreadable_file_ends_with_2_and_the_others_are_checked(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(WARNED)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["validate", str(tmp_path / "none.yaml"), str(empty), str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert "none.yaml: No such file or directory" in shown.err
    assert f"{empty}: this folder has no files that end in .json, .yaml, .yml" in shown.err
    assert f"{file}:6:5: warning" in shown.out


def test_more_objects_than_can_be_pasted_are_judged(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("---\n".join(GOOD.replace("node-1", f"node-{number}") for number in range(10_001)))
    assert main(["validate", str(file)]) == 0
    assert capsys.readouterr().out == f"10001 objects, 0 errors, 0 warnings\n{BY}\n"


DECLARING = """\
apiVersion: v1
kind: Node
metadata: {name: node-n}
status: {declaredFeatures: [SomeFeature], capacity: {cpu: "4", memory: 8Gi, pods: "9"}}
"""


@pytest.mark.parametrize(("version", "status"), [("1.34", 1), ("1.35", 0), ("1.36", 0)])
def test_manifests_are_judged_by_the_version(
    version: str, status: int, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(DECLARING)
    assert main(["validate", str(file), "--kubernetes", version]) == status
    output = capsys.readouterr().out
    assert ('unknown field "status.declaredFeatures"' in output) == bool(status)
    assert f"By the rules of Kubernetes v{version}." in output


RESTARTING = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: "acme.example/main:1", restartPolicy: OnFailure}
"""


@pytest.mark.parametrize(("version", "dropped"), [("1.34", True), ("1.35", False), ("1.36", False)])
def test_the_policy_of_a_container_is_dropped_by_the_oldest_version(
    version: str, dropped: bool, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(RESTARTING)
    assert main(["validate", str(file), "--kubernetes", version]) == 0
    warning = ":7:48: warning: Pod web: spec.containers[0].restartPolicy: v1.34.1 drops this field while the feature "
    assert (f"{warning}gate ContainerRestartRules is off" in capsys.readouterr().out) == dropped


def test_the_json_of_a_check_names_version_and_gates(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD)
    gates = ["--feature-gates", "OpportunisticBatching=false"]
    assert main(["validate", "--json", "--kubernetes", "1.36", *gates, str(file)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kubernetes"], report["feature_gates"]) == ("v1.36", {"OpportunisticBatching": False})
    assert main(["validate", "--feature-gates", "OpportunisticBatching=false", str(file)]) == 2
    assert "unrecognized feature gate" in capsys.readouterr().err
