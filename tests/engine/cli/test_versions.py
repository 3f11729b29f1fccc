"""Other versions of Kubernetes on the command line: what the options accept, and that each command follows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.scenario import read_scenario

TAINTED = """\
title: A pod and a node with a taint
setup:
- apply:
  - apiVersion: v1
    kind: Node
    metadata: {name: gold}
    spec: {taints: [{key: dedicated, value: gold, effect: NoSchedule}]}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}
  - {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
- apply:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]}
then:
- run: {}
expect:
- {pod: default/web, nodes: [n1, n2]}
"""
NAMED, UNNAMED = "untolerated taint {dedicated: gold}", "untolerated taint(s)"
DRAWN, FIRST = "the seeded draw picked it among equals", "it is the first of several equals in the ranking"


@pytest.fixture
def tainted(tmp_path: Path) -> Path:
    path = tmp_path / "tainted.scenario.yaml"
    path.write_text(TAINTED)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param([], NAMED, id="the default"),
        pytest.param(["--kubernetes", "1.34"], NAMED, id="1.34"),
        pytest.param(["--kubernetes", "1.36"], UNNAMED, id="1.36"),
        pytest.param(["--kubernetes", "v1.36"], UNNAMED, id="v1.36"),
        pytest.param(["--kubernetes", "v1.36.2"], UNNAMED, id="v1.36.2"),
        pytest.param(["--kubernetes", "1.35.6"], UNNAMED, id="1.35.6"),
        pytest.param(
            ["--kubernetes", "1.36", "--feature-gates", "OpportunisticBatching=False,DRAExtendedResource=0"],
            UNNAMED,
            id="with feature gates",
        ),
    ],
)
def test_a_scenario_runs_under_the_version(options: list[str], message: str, tainted: Path, capsys: Any) -> None:
    assert main(["run", str(tainted), "--json", *options]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    filtered = next(line for line in lines if line["type"] == "FilterRan")
    assert message in json.dumps(filtered)
    configured = next(line for line in lines if line["type"] == "Configured")
    assert (configured.get("feature_gates") is None) == ("--feature-gates" not in options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kubernetes", "1.33"], "unknown Kubernetes version '1.33'; known are v1.34 or v1.35 or v1.36"),
        (["--kubernetes", "1.36.9"], "unknown Kubernetes version '1.36.9'"),
        (["--kubernetes", ""], "unknown Kubernetes version ''"),
        (["--feature-gates", "PodTopologyLabelsAdmission"], "missing bool value for PodTopologyLabelsAdmission"),
        (
            ["--feature-gates", "PodTopologyLabelsAdmission=yes"],
            'invalid value of PodTopologyLabelsAdmission=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
        ),
        (["--feature-gates", "Magic=true"], "unrecognized feature gate: Magic"),
        (["--feature-gates", "OpportunisticBatching=false"], "unrecognized feature gate: OpportunisticBatching"),
        (
            ["--kubernetes", "1.35", "--feature-gates", "SchedulerQueueingHints=false"],
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
        (
            ["--kubernetes", "1.36", "--feature-gates", "ResourceHealthStatus=false"],
            "ResourceHealthStatusMessage is enabled, but depends on features that are disabled: [ResourceHealthStatus]",
        ),
    ],
)
def test_what_kube_scheduler_would_refuse_is_refused(
    options: list[str], message: str, tainted: Path, capsys: Any
) -> None:
    assert main(["run", str(tainted), *options]) == 2
    assert message in capsys.readouterr().err


def test_the_version_of_the_scenario_holds_unless_an_option_names_another(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "new.yaml"
    path.write_text(f"kubernetes: v1.36\nfeature_gates: {{OpportunisticBatching: false}}\n{TAINTED}")
    assert main(["run", str(path)]) == 0
    assert UNNAMED in capsys.readouterr().out
    assert main(["run", str(path), "--kubernetes", "1.34"]) == 0
    assert NAMED in capsys.readouterr().out
    assert main(["export", str(path), "--feature-gates", "DRAExtendedResource=false"]) == 0
    written = read_scenario(capsys.readouterr().out)
    assert (written.kubernetes, written.feature_gates) == ("v1.36", {"DRAExtendedResource": False})


@pytest.mark.parametrize(("version", "why"), [("1.34", DRAWN), ("1.35", FIRST), ("1.36", FIRST)])
def test_explain_says_how_a_node_is_chosen_among_equals(version: str, why: str, tainted: Path, capsys: Any) -> None:
    arguments = ["explain", str(tainted), "--pod", "web", "--seeds", "3", "--kubernetes", version]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert why in output
    assert ("draws under other seeds" in output) == (why == DRAWN)


def test_each_command_that_plays_a_scenario_follows_the_version(tainted: Path, capsys: Any) -> None:
    plain = ["--kubernetes", "1.36"]
    assert main(["check", str(tainted), *plain]) == 0
    for command in (["fit", str(tainted), "--pod", "web"], ["leave", str(tainted), "--node", "n1"]):
        capsys.readouterr()
        main([*command, "--output", "json"])
        before = capsys.readouterr().out
        assert main([*command, "--output", "json", *plain]) in (0, 1)
        after = capsys.readouterr().out
        assert NAMED not in after
        assert before.replace(NAMED, UNNAMED).count(UNNAMED) == after.count(UNNAMED)
    assert main(["export", str(tainted), *plain]) == 0
    assert "\nkubernetes: v1.36\n" in capsys.readouterr().out


@pytest.mark.parametrize("versions", ["1.36", "1.34,1.36", "v1.34.1,v1.36.2"])
def test_diff_compares_versions(versions: str, tainted: Path, capsys: Any) -> None:
    assert main(["diff", str(tainted), "--kubernetes", versions]) == 1
    output = capsys.readouterr().out
    assert 'kubernetes: "v1.34", "v1.36"' in output
    assert "DynamicResources, weight: 0, 2" in output or "DynamicResources: at " in output
    assert f"first   TaintToleration: node(s) had {NAMED}" in output.replace("\n              ", " ")
    assert max(map(len, output.splitlines())) <= 80


def test_diff_of_a_version_with_itself_differs_in_nothing(tainted: Path, capsys: Any) -> None:
    assert main(["diff", str(tainted), "--kubernetes", "1.36,1.36"]) == 0
    assert capsys.readouterr().out == "no differences\n"


def test_diff_compares_feature_gates(tainted: Path, capsys: Any) -> None:
    gates = [
        "--feature-gates",
        "PodTopologyLabelsAdmission=false",
        "--feature-gates",
        "PodTopologyLabelsAdmission=true",
    ]
    assert main(["diff", str(tainted), "--kubernetes", "1.36,1.36", *gates]) == 0
    assert main(["diff", str(tainted), "--kubernetes", "1.34,1.34", *gates]) == 0


def test_diff_says_that_only_one_run_draws(tmp_path: Path, capsys: Any) -> None:
    for seed in range(20):
        path = tmp_path / "drawn.yaml"
        path.write_text(f"seed: {seed}\n{TAINTED}")
        capsys.readouterr()
        main(["diff", str(path), "--kubernetes", "1.34,1.35"])
        output = capsys.readouterr().out
        if "drawn from 2 nodes" in output and "What differs: the chosen node" in output:
            break
    assert "Both nodes have the same total in both runs. Only one run draws among equals." in output.replace(
        "\n  ", " "
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "diff: name a second file, or use --config or --kubernetes"),
        (["--kubernetes", "1.34,1.35,1.36"], "name one or two versions"),
        (["--kubernetes", "1.34,1.37"], "unknown Kubernetes version '1.37'"),
        (["--feature-gates", "A=1", "--feature-gates", "B=1", "--feature-gates", "C=1"], "at most twice"),
    ],
)
def test_diff_refuses_what_names_no_two_runs(options: list[str], message: str, tainted: Path, capsys: Any) -> None:
    assert main(["diff", str(tainted), *options]) == 2
    assert message in capsys.readouterr().err


def test_the_configuration_of_each_run_is_judged_by_its_version(tainted: Path, tmp_path: Path, capsys: Any) -> None:
    lax = tmp_path / "lax.yaml"
    lax.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- pluginConfig:\n"
        "  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated, "
        "requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}]}}}\n"
    )
    assert main(["diff", str(tainted), "--config", str(lax), "--kubernetes", "1.36,1.34"]) == 1
    capsys.readouterr()
    assert main(["diff", str(tainted), "--config", str(lax), "--kubernetes", "1.34,1.36"]) == 2
    assert "requestedToCapacityRatio" in capsys.readouterr().err


EXPLAINS = (
    ["explain", "--pod", "web"],
    ["explain", "--pod", "web", "--fix"],
    ["fit", "--pod", "web"],
    ["fit"],
    ["leave", "--node", "n1"],
    ["leave", "--removable"],
    ["run"],
)


@pytest.mark.parametrize("command", EXPLAINS, ids=" ".join)
@pytest.mark.parametrize(
    ("options", "version"),
    [
        ([], "v1.34.1"),
        (
            ["--kubernetes", "1.36", "--feature-gates", "OpportunisticBatching=false"],
            "v1.36.2 with OpportunisticBatching=false",
        ),
    ],
    ids=["the default", "another one"],
)
def test_each_command_that_explains_names_the_version(
    command: list[str], options: list[str], version: str, tainted: Path, capsys: Any
) -> None:
    name, *rest = command
    assert main([name, str(tainted), *rest, *options]) in (0, 1)
    assert f"By the rules of Kubernetes {version}." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", [["fit", "--pod", "web"], ["fit"], ["leave", "--node", "n1"]], ids=" ".join)
def test_the_json_of_an_answer_names_the_version(command: list[str], tainted: Path, capsys: Any) -> None:
    name, *rest = command
    main([name, str(tainted), *rest, "--output", "json", "--kubernetes", "1.35"])
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kubernetes"], answer["feature_gates"]) == ("v1.35", {})


def test_an_attempt_is_explained_by_the_version_that_it_followed(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "upgraded.yaml"
    big = '{containers: [{name: main, image: x, resources: {requests: {cpu: "64"}}}]}'
    path.write_text(
        TAINTED.partition("expect:")[0]
        + "- kubernetes: {version: v1.36}\n"
        + f"- apply:\n  - {{apiVersion: v1, kind: Pod, metadata: {{name: big}}, spec: {big}}}\n- run: {{}}\n"
    )
    for pod, version in (("web", "v1.34.1"), ("big", "v1.36.2")):
        assert main(["explain", str(path), "--pod", pod]) == 0
        assert f"By the rules of Kubernetes {version}.\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["manifests", "stored", "kwok"])
def test_exported_manifests_name_the_version(form: str, tainted: Path, capsys: Any) -> None:
    assert main(["export", str(tainted), "--as", form, "--kubernetes", "1.36"]) == 0
    assert capsys.readouterr().out.startswith("# From a cluster that follows Kubernetes v1.36.2.\n")
