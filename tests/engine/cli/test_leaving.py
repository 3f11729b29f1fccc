"""``leave`` says what becomes of pods, and its exit status says whether all have a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_engine.cli import main
from scheduler_engine.testing import make_budget, make_node, make_pod
from tests.engine.answers.test_leaving import deployment

BY = "By the rules of Kubernetes v1.34.1.\n"


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """Write a scenario: two nodes that hold four pods each, with a pod of each fate on na, and an empty third node."""
    nodes = [
        make_node(f"n{zone}").zone(zone).capacity(cpu=cpu, pods="20").obj() for zone, cpu in (("a", "9"), ("b", "2"))
    ]
    objects = [
        *nodes,
        deployment("web", 1, make_pod("p").cpu("1").node_selector({"topology.kubernetes.io/zone": "a"})),
        deployment("held", 1, make_pod("p").cpu("1").node_affinity("topology.kubernetes.io/zone", ["a"], weight=9)),
        make_budget("held", {"app": "held"}, maxUnavailable=0),
        make_pod("alone").cpu("1").node("na").obj(),
        {**deployment("d", 1, make_pod("p")), "kind": "DaemonSet"},
        make_node("nc").zone("c").capacity(cpu="9", pods="20").taint("closed").obj(),
    ]
    del objects[-2]["spec"]["replicas"]
    head = {"apiVersion": "scheduler-sandbox/v1", "kind": "Scenario", "title": "Leaving"}
    path = tmp_path / "leaving.yaml"
    path.write_text(yaml.safe_dump({**head, "setup": [{"apply": objects}], "then": [{"run": {}}]}))
    return str(path)


def outcomes(cluster: str, capsys: Any, *options: str) -> tuple[int, dict[str, str]]:
    status = main(["leave", cluster, *options, "--output", "json"])
    answer = json.loads(capsys.readouterr().out)
    return status, {item["pod"].partition("/")[2][:4].rstrip("-"): item["outcome"] for item in answer["leavers"]}


def test_leave_knows_the_fate_of_each_pod(cluster: str, capsys: Any) -> None:
    drained = {"web": "waits", "held": "blocked", "alon": "lost"}
    status, found = outcomes(cluster, capsys, "--node", "na")
    assert (status, {name: fate for name, fate in found.items() if name[0] != "d"}) == (1, drained)
    assert [fate for name, fate in found.items() if name[0] == "d"] == ["kept"]
    status, found = outcomes(cluster, capsys, "--zone", "a")
    assert (status, found["held"], found["web"], found["alon"]) == (1, "moved", "waits", "lost")


def test_leave_says_it_in_80_columns(cluster: str, capsys: Any) -> None:
    assert main(["leave", cluster, "--node", "na"]) == 1
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    assert "default/alone: lost, because no controller replaces it\n" in output
    assert "stays, because default/held refuses its eviction:" in " ".join(output.split())
    assert "stays, because drains leave pods of DaemonSets" in " ".join(output.split())
    assert output.endswith(f"Not all pods have a place.\n{BY}")
    assert main(["leave", cluster, "--zone", "c"]) == 0
    assert capsys.readouterr().out == f"No pods run there.\nAll pods have a place.\n{BY}"
    assert main(["leave", cluster, "--removable"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "na: cannot be removed: 1 lost, 1 without a place, 1 held by budgets"
    assert lines[1:3] == ["nb: can be removed", "nc: can be removed"]
    assert lines[3] == "2 nodes can be removed in all, one after the other: nc, nb"


def test_leave_refuses_what_does_not_exist(cluster: str, capsys: Any) -> None:
    for options, error in {
        (): "use one of --node, --zone and --removable",
        ("--node", "na", "--removable"): "use one of --node, --zone and --removable",
        ("--node", "nowhere"): 'nodes "nowhere" not found',
        ("--zone", "nowhere"): "no node has the label topology.kubernetes.io/zone=nowhere",
    }.items():
        assert main(["leave", cluster, *options]) == 2
        assert capsys.readouterr().err == f"{error}\n"
