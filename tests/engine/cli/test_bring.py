"""``import`` on the command line: from dumps to a runnable scenario file."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.scenario import load_scenario
from tests.engine.dumps import SECRET, as_documents, as_yaml, cluster


@pytest.fixture(name="dumped")
def write_dump(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_bytes(as_yaml(cluster(seed=5).objects))
    return path


def test_a_dump_becomes_a_scenario_that_runs(dumped: Path, tmp_path: Path, capsys: Any) -> None:
    output = tmp_path / "mine.scenario.yaml"
    assert main(["import", str(dumped), "--output", str(output)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "12 nodes, " in printed.err
    assert SECRET not in output.read_text()
    assert main(["run", str(output), "--quiet"]) == 0
    scenario = load_scenario(output)
    assert (scenario.title, scenario.slug) == ("cluster", "mine")
    assert len(scenario.open().api.pods()) > 20


def test_bound_pods_are_bound_to_the_same_nodes(dumped: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.scenario.yaml"
    assert main(["import", str(dumped), "-o", str(output), "--quiet"]) == 0
    nodes = {pod.key: pod.node_name for pod in load_scenario(output).open().api.pods()}
    objects = cluster(seed=5).objects
    bound = {
        f"{item['metadata']['namespace']}/{item['metadata']['name']}": item["spec"]["nodeName"]
        for item in objects
        if item["kind"] == "Pod" and "nodeName" in item["spec"]
    }
    assert {key: node for key, node in nodes.items() if node} == {key: bound[key] for key in nodes if key in bound}


def test_standard_input_and_output_do_too(dumped: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(dumped.read_bytes())))
    assert main(["import", "-", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: A cluster\n")


def test_several_files_become_one_cluster(tmp_path: Path, capsys: Any) -> None:
    objects = cluster(seed=5).objects
    parts = {"nodes": [i for i in objects if i["kind"] == "Node"], "rest": [i for i in objects if i["kind"] != "Node"]}
    for name, items in parts.items():
        (tmp_path / f"{name}.yaml").write_bytes(as_documents(items))
    assert main(["import", str(tmp_path / "nodes.yaml"), str(tmp_path / "rest.yaml"), "--quiet"]) == 0
    assert capsys.readouterr().out.count("- apiVersion: v1\n    kind: Node\n") == 12


def test_names_are_invented_and_objects_left_out(dumped: Path, capsys: Any) -> None:
    assert main(["import", str(dumped), "--anonymous", "--without-kind", "Service", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert "eu-west-1.compute.internal" not in text
    assert "kind: Service\n" not in text


WRONG = {
    "bad YAML": (b"a: [1\nb: 2\n", "bad.yaml:"),
    "a scenario": (b"apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: x\n", "this is already a scenario"),
    "nothing": (b"", "bad.yaml"),
}


@pytest.mark.parametrize(("content", "words"), WRONG.values(), ids=WRONG)
def test_unusable_objects_are_listed_with_their_file(content: bytes, words: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    assert main(["import", str(path), "--output", str(tmp_path / "out")]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert "Traceback" not in output.err
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_named(tmp_path: Path, capsys: Any) -> None:
    assert main(["import", str(tmp_path / "gone.yaml")]) == 2
    assert "gone.yaml: No such file or directory" in capsys.readouterr().err
