"""``fit`` and its siblings say in 80 columns, or in JSON, what fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.cli.beginning import BLANK

DEPLOYMENT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: large}
spec:
  selector: {matchLabels: {app: large}}
  template:
    metadata: {labels: {app: large}}
    spec:
      containers:
      - {name: main, image: nginx, resources: {requests: {cpu: "3"}}}
"""


@pytest.fixture
def blank(tmp_path: Path) -> str:
    path = tmp_path / "blank.scenario.yaml"
    path.write_text(BLANK)
    (tmp_path / "large.yaml").write_text(DEPLOYMENT)
    (tmp_path / "huge.yaml").write_text(DEPLOYMENT.replace("large", "huge").replace('"3"', '"30"'))
    return str(path)


BY = "By the rules of Kubernetes v1.34.1.\n"
OUTPUTS = {
    "the scheduler places copies": (
        ["--pod", "web"],
        """\
default/web: 11 more copies fit.
  node-a  4
  node-b  7
The next one has no place: 0/2 nodes are available: 2 Insufficient cpu.
  NodeResourcesFit: Insufficient cpu: 2 nodes: node-a, node-b
""",
    ),
    "every copy goes to one node": (
        ["--pod", "default/web", "--per-node"],
        """\
default/web: if all copies went to one node:
  up to 4 on node-a: Insufficient cpu
  up to 7 on node-b: Insufficient cpu
""",
    ),
    "a limit": (
        ["--pod", "web", "--most", "2"],
        """\
default/web: at least 2 more copies fit; the limit is 2.
  node-a  1
  node-b  1
""",
    ),
    "new nodes": (
        ["--pod", "web", "--nodes-for", "20", "--shape", "node-a"],
        """\
default/web: 20 more copies need 3 new nodes like node-a.
  node-a    4
  node-b    7
  node-a-4  3
  node-a-3  3
  node-a-2  3
""",
    ),
    "no new nodes help": (
        ["--pod", "HUGE", "--nodes-for", "1", "--shape", "node-a"],
        """\
default/huge: no number of new nodes like node-a makes room for 1 more copy.
The next one has no place: 0/3 nodes are available: 3 Insufficient cpu.
  NodeResourcesFit: Insufficient cpu: 3 nodes: node-a, node-b, node-a-2
""",
    ),
    "a limit on each node": (
        ["--pod", "web", "--most", "5", "--per-node"],
        """\
default/web: if all copies went to one node:
  up to 4 on node-a: Insufficient cpu
  at least 5 on node-b; the limit is 5
""",
    ),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_fit_prints_how_many_copies_fit_and_why_no_more(case: str, blank: str, capsys: Any) -> None:
    options, expected = OUTPUTS[case]
    options = [option.replace("HUGE", str(Path(blank).with_name("huge.yaml"))) for option in options]
    assert main(["fit", blank, *options]) == 0
    assert capsys.readouterr().out == f"{expected}{BY}"


def test_fit_takes_a_template_from_a_file(blank: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["fit", blank, "--pod", str(tmp_path / "large.yaml"), "--output", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["pod"], answer["total"], answer["placed"]) == ("default/large", 3, {"node-b": 2, "node-a": 1})
    assert answer["stopped"]["reasons"][0]["nodes"] == ["node-a", "node-b"]
    assert main(["fit", blank, "--pod", str(tmp_path / "large.yaml"), "--output", "json", "--per-node"]) == 0
    assert {name: found["total"] for name, found in json.loads(capsys.readouterr().out)["nodes"].items()} == {
        "node-a": 1,
        "node-b": 2,
    }


def test_fit_refuses_what_is_no_pod_and_no_node(blank: str, tmp_path: Path, capsys: Any) -> None:
    for options in (["--nodes-for", "2"], ["--nodes-for", "2", "--shape", "node-a", "--per-node"]):
        assert main(["fit", blank, "--pod", "web", *options]) == 2
        assert capsys.readouterr().err == "use --nodes-for N and --shape NODE together, without --per-node\n"
    for shape, error in {
        "nowhere": 'nodes "nowhere" not found, and there is no such file\n',
        str(tmp_path / "large.yaml"): f"{tmp_path / 'large.yaml'}: there is no node in it\n",
    }.items():
        assert main(["fit", blank, "--pod", "web", "--nodes-for", "2", "--shape", shape]) == 2
        assert capsys.readouterr().err == error
    (tmp_path / "node.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {name: n}}")
    for pod, error in {
        "nobody": 'pods "nobody" not found, and there is no such file\n',
        str(tmp_path / "node.yaml"): f"{tmp_path / 'node.yaml'}: there is no pod or workload in it\n",
    }.items():
        assert main(["fit", blank, "--pod", pod]) == 2
        assert capsys.readouterr().err == error


def test_long_lists_are_wrapped_at_80_columns(tmp_path: Path, capsys: Any) -> None:
    nodes = "".join(
        f"  - {{apiVersion: v1, kind: Node, metadata: {{name: node-{n:02}}}, "
        "status: {capacity: {cpu: '1', memory: 9Gi, pods: '9'}}}\n"
        for n in range(30)
    )
    head, _, rest = BLANK.partition("  - apiVersion: v1\n    kind: Node")
    path = tmp_path / "many.yaml"
    path.write_text(f"{head}{nodes}  - apiVersion: v1\n    kind: Node{rest}")
    assert main(["fit", str(path), "--pod", "web"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "default/web: 41 more copies fit."


def test_an_invalid_manifest_is_reported_with_its_line(blank: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(DEPLOYMENT.replace("containers:", "containerz:"))
    assert main(["fit", blank, "--pod", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"{path}:13:7: spec.template.spec.containerz: unknown field")


def test_fit_without_a_pod_shows_the_room_of_each_workload(blank: str, tmp_path: Path, capsys: Any) -> None:
    assert main(["fit", blank]) == 0
    none = "There are no workloads. Name a pod with --pod.\n"
    assert capsys.readouterr().out == f"{none}cpu: 8% requested\nmemory: 4% requested\npods: 0% requested\n{BY}"
    assert main(["fit", blank, "--per-node"]) == 2
    assert capsys.readouterr().err == "--per-node and --nodes-for need --pod\n"
    path = tmp_path / "owner.yaml"
    owner = DEPLOYMENT.partition("---\n")[2].replace('cpu: "3"', 'cpu: "2"')
    item = "  - " + owner.rstrip().replace("\n", "\n    ") + "\n"
    path.write_text(BLANK.partition("expect:")[0].replace("setup:\n- apply:\n", f"setup:\n- apply:\n{item}"))
    assert main(["fit", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Deployment default/large: 4 more copies fit, then: 0/2 nodes are available: 2"
    assert lines[1] == "  Insufficient cpu."
    assert main(["fit", str(path), "--most", "2"]) == 0
    assert capsys.readouterr().out.startswith("Deployment default/large: at least 2 more copies fit; the limit is 2.\n")
    assert main(["fit", str(path), "--output", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [(item["key"], item["total"]) for item in answer["workloads"]] == [("default/large", 4)]
    assert answer["resources"][0] == {"resource": "cpu", "requested": 3000, "allocatable": 12000}


@pytest.mark.parametrize(("version", "status"), [("1.34", 2), ("1.36", 0)])
def test_a_node_of_a_file_is_judged_by_the_version(
    version: str, status: int, blank: str, tmp_path: Path, capsys: Any
) -> None:
    shape = tmp_path / "declaring.yaml"
    capacity = "capacity: {cpu: 4, memory: 8Gi, pods: 9}"
    shape.write_text(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: node-n}}, status: {{declaredFeatures: [A], {capacity}}}}}"
    )
    options = ["--pod", "web", "--nodes-for", "2", "--shape", str(shape), "--kubernetes", version]
    assert main(["fit", blank, *options]) == status
    assert ("declaredFeatures" in capsys.readouterr().err) == bool(status)
