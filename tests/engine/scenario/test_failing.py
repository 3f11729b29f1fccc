"""A failing placement is explained in the same words by tests in Python, ``check``, pytest and the page's answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.answers.explained import explained
from scheduler_engine.api.topology import HOSTNAME, ZONE
from scheduler_engine.cli import main
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.scenario.writing import dump
from scheduler_engine.testing import Builder, Cluster, make_claim, make_node, make_pod
from tests.engine.pytest_plugin.test_scenario_files import own

__all__ = ["own"]

SEED = 7
WEB = make_pod("web")
A, B = make_node("a"), make_node("b")
CASES: dict[str, tuple[Sequence[Builder], str]] = {
    "taints": (
        (make_node("a").taint("dedicated", "gpu"), B, WEB),
        "a has the taint dedicated=gpu:NoSchedule, which web does not tolerate.",
    ),
    "node affinity": (
        (A, make_node("b").label("disk", "ssd"), make_pod("web").spec(nodeSelector={"disk": "ssd"})),
        "web needs disk ssd; a has no disk.",
    ),
    "spread": (
        (A, make_node("b").zone("z"), make_pod("web").label("app", "web").spread(ZONE, {"app": "web"})),
        f"a has no label {ZONE}, so it is in no domain that counts.",
    ),
    "inter-pod affinity": (
        (A, B, make_pod("db").label("app", "db").node("a"), make_pod("web").anti_affinity(HOSTNAME, {"app": "db"})),
        "web must not be near pods with app=db, but db is on a.",
    ),
    "resources": (
        (make_node("a").capacity(cpu="1"), make_node("b").capacity(cpu="8"), make_pod("web").cpu("2")),
        "a is too small: web requests more cpu than the whole node has.",
    ),
    "volumes": ((A, B, make_pod("web").claim("data")), "web uses the claim data, which does not exist."),
    "ties": ((A, B, make_pod("web").cpu("1")), "b and a have 473 each, drawn by seed 7."),
    "scores": (
        (A, make_node("b").capacity(cpu="64", memory="64Gi"), make_pod("web").cpu("1")),
        "b has 497, a has 473. NodeResourcesFit differs most: 98 and 86.",
    ),
}
ONLY_IN_TESTS = ("ties", "scores")
"""The page shows totals and the draw as figures."""
EXPECTED = {"pod": "default/web", "node": "a"}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[str, Sequence[Builder], str]:
    return (request.param, *CASES[request.param])


def scenario(objects: Sequence[Builder]) -> str:
    """Return a scenario that expects the pod on the wrong node."""
    apply = {"kind": "apply", "manifests": [item.obj() for item in objects]}
    return dump(Scenario("case", "A case", seed=SEED, setup=(apply,), expect=(EXPECTED,)))


def test_in_python(case: tuple[str, Sequence[Builder], str]) -> None:
    name, objects, sentence = case
    cluster = Cluster(seed=SEED).apply(*objects).run()
    assert f"\n  {sentence}\n" in f"{cluster.explain('web')}\n"
    with pytest.raises(AssertionError) as failure:
        cluster.expect(EXPECTED)
    assert f"\n  {sentence}\n" in f"{failure.value}\n"
    data = explained(cluster.simulation, "default/web", cluster.attempts("web")[-1], ["a"])
    assert (sentence in json.dumps(data, ensure_ascii=False)) is (name not in ONLY_IN_TESTS)


def test_in_a_terminal(case: tuple[str, Sequence[Builder], str], tmp_path: Path, capsys: Any) -> None:
    _, objects, sentence = case
    path = tmp_path / "case.yaml"
    path.write_text(scenario(objects))
    for command in ("check", "run"):
        assert main([command, str(path)]) == 1
        assert sentence in [line.strip() for line in capsys.readouterr().out.splitlines()]


def test_in_pytest(case: tuple[str, Sequence[Builder], str], own: pytest.Pytester) -> None:
    _, objects, sentence = case
    (own.path / "case.scenario.yaml").write_text(scenario(objects))
    result = own.runpytest()
    result.assert_outcomes(failed=1)
    assert sentence in [line.strip() for line in result.outlines]


def test_without_a_draw_the_first_of_the_ranking_is_named() -> None:
    cluster = Cluster(kubernetes="v1.36").apply(A, B, make_pod("web").cpu("1")).run()
    winner, other = sorted("ab", key=lambda node: node != cluster.node_of("web"))
    assert f"{winner} and {other} have 454 each. {winner} is first in the ranking." in cluster.explain("web")


def test_every_node_of_a_list_is_explained() -> None:
    nodes = (make_node("a").cordoned(), make_node("b").cordoned(), make_node("c"))
    cluster = Cluster().apply(*nodes, WEB, make_claim("data")).run()
    with pytest.raises(AssertionError) as failure:
        cluster.expect({"pod": "default/web", "nodes": ["a", "b"]})
    assert [line[2:] for line in str(failure.value).splitlines() if "cordoned" in line or "unschedulable" in line]
