"""``import`` on the command line: from dumps to a runnable scenario file."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

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
    assert main(["import", str(dumped), "--to", str(output)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Nodes: 12, pods with a node: " in printed.err
    assert SECRET not in output.read_text()
    assert main(["run", str(output), "--quiet"]) == 0
    scenario = load_scenario(output)
    assert (scenario.title, scenario.slug) == ("cluster", "mine")
    assert len(scenario.open().api.pods()) > 20


def test_bound_pods_are_bound_to_the_same_nodes(dumped: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.scenario.yaml"
    assert main(["import", str(dumped), "--to", str(output), "--quiet"]) == 0
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
    assert main(["import", str(path), "--to", str(tmp_path / "out")]) == 2
    output = capsys.readouterr()
    assert words in output.err
    assert "Traceback" not in output.err
    assert not (tmp_path / "out").exists()


def test_a_missing_file_is_named(tmp_path: Path, capsys: Any) -> None:
    assert main(["import", str(tmp_path / "gone.yaml")]) == 2
    assert "gone.yaml: No such file or directory" in capsys.readouterr().err


def of_kubelets(objects: list[dict[str, Any]], *versions: str) -> list[dict[str, Any]]:
    """Return the objects with these versions of kubelets, one after the other."""
    nodes = [item for item in objects if item["kind"] == "Node"]
    for number, node in enumerate(nodes):
        node["status"]["nodeInfo"] = {"kubeletVersion": versions[number % len(versions)]}
    return objects


SAYS = {
    "the same": (
        ("v1.34.9", "v1.36.0-eks-1a2b"),
        [],
        "v1.36",
        "The nodes run v1.36, so this follows Kubernetes v1.36.2.",
    ),
    "chosen": (
        ("v1.35.1+k3s1",),
        ["--kubernetes", "1.34"],
        "v1.34",
        "The nodes run v1.35. This follows Kubernetes v1.34.1, as you chose.",
    ),
    "older": (
        ("v1.29.3",),
        [],
        "v1.34",
        "The nodes run v1.29, which is not available here. This follows Kubernetes v1.34.1.",
    ),
    "newer": (
        ("v1.37.0-alpha.1",),
        [],
        "v1.36",
        "The nodes run v1.37, which is not available here. This follows Kubernetes v1.36.2.",
    ),
    "none": (("unknown",), [], "v1.34", "The nodes do not say their version. This follows Kubernetes v1.34.1."),
}


@pytest.mark.parametrize(("kubelets", "options", "version", "says"), SAYS.values(), ids=SAYS)
def test_the_newest_kubelet_proposes_the_version(
    kubelets: tuple[str, ...], options: list[str], version: str, says: str, tmp_path: Path, capsys: Any
) -> None:
    path, output = tmp_path / "cluster.yaml", tmp_path / "mine.yaml"
    path.write_bytes(as_yaml(of_kubelets(cluster(seed=5).objects, *kubelets)))
    assert main(["import", str(path), "--to", str(output), *options]) == 0
    assert says in capsys.readouterr().err
    assert load_scenario(output).kubernetes == version


def test_of_several_files_the_newest_kubelet_counts(tmp_path: Path, capsys: Any) -> None:
    objects = [item for item in cluster(seed=5).objects if item["kind"] == "Node"]
    for name, items, version in (("a", objects[:5], "v1.36.1"), ("b", objects[5:], "v1.35.0")):
        (tmp_path / f"{name}.yaml").write_bytes(as_documents(of_kubelets(items, version)))
    assert main(["import", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"), "--quiet"]) == 0
    assert "\nkubernetes: v1.36\n" in capsys.readouterr().out


def test_an_import_keeps_feature_gates(dumped: Path, capsys: Any) -> None:
    options = ["--kubernetes", "1.36", "--feature-gates", "DRAExtendedResource=false"]
    assert main(["import", str(dumped), "--quiet", *options]) == 0
    assert "\nkubernetes: v1.36\nfeature_gates: {DRAExtendedResource: false}\n" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_the_report_is_data_for_programs(dumped: Path, tmp_path: Path, output: str, capsys: Any) -> None:
    (tmp_path / "broken.yaml").write_text("{apiVersion: v1, kind: Pod, metadata: {name: torn}, spec: 7}\n")
    written = tmp_path / "mine.yaml"
    assert main(["import", str(tmp_path), "--to", str(written), "--output", output]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    report = yaml.safe_load(printed.out)
    assert (report["file"], report["title"], report["kubernetes"]) == (str(written), tmp_path.name, "v1.34")
    assert [Path(item["file"]).name for item in report["read"]] == ["broken.yaml", "cluster.yaml"]
    pods = load_scenario(written).open().api.pods()
    assert report["pods"]["bound"] == sum(bool(pod.node_name) for pod in pods)
    assert sum(report["pods"].values()) == report["kinds"]["Pod"]
    assert {pod["key"] for pod in report["waiting"]} == {pod.key for pod in pods if not pod.node_name}
    assert {"finished", "not-ready"} <= {notice["key"] for notice in report["notices"]}
    (torn,) = (item for item in report["left_out"] if item["name"].endswith("torn"))
    assert torn["kind"] == "Pod"
    assert torn["reason"]


@pytest.mark.parametrize("options", [[], ["--to", "x.yaml", "--quiet"]])
def test_a_report_for_programs_needs_a_file_for_the_scenario(dumped: Path, options: list[str], capsys: Any) -> None:
    assert main(["import", str(dumped), "--output", "json", *options]) == 2
    assert capsys.readouterr().err == "use --output with --to FILE, without --quiet\n"
