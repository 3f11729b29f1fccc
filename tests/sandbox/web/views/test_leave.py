"""What becomes of pods if nodes leave, as a page shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.words.say import say
from scheduler_engine.testing import make_budget, make_node, make_pod
from tests.engine.controllers import replica_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def zones(visitor: Any) -> Any:
    """Return a visitor with two zones of one node each. ``web`` has a replica on each, ``alone`` runs on n1."""
    manifests = [
        *(make_node(name).zone(zone).capacity(cpu="2", pods="9").obj() for name, zone in (("n1", "a"), ("n2", "b"))),
        make_pod("alone").cpu("1").node("n1").obj(),
        replica_set("web", 2, cpu="1"),
    ]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    store.execute(visitor.sandbox, {"kind": "run"})
    return visitor


def shown(visitor: Any, status: int = 200, **query: str) -> str:
    answer = visitor.get("leave/", **query)
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.content.decode())


def test_a_pod_without_a_controller_is_lost_and_others_move(zones: Any) -> None:
    page = shown(zones, node="n1")
    assert "default/alone: lost, because no controller replaces it" in page
    assert "Not all pods have a place." in page
    assert "takes its place on n1" in shown(zones, node="n2") or "has no place" in shown(zones, node="n2")
    assert len(zones.log()) == 2


def test_the_loss_of_a_zone_deletes_its_nodes(zones: Any) -> None:
    page = shown(zones, zone="a")
    assert f"{say('leave.heading-zone')} <small>a</small>" in page
    assert "default/alone: lost" in page


def test_a_budget_holds_a_pod(zones: Any) -> None:
    budget = make_budget("all", {"app": "web"}, maxUnavailable=0)
    store.execute(zones.sandbox, {"kind": "apply", "manifests": [budget]})
    assert "refuses its eviction" in shown(zones, node="n1") + shown(zones, node="n2")


@pytest.mark.parametrize(
    ("query", "says"),
    [({"node": "n9"}, "There is no Node n9."), ({"zone": "c"}, "No node has the zone c.")],
    ids=["node", "zone"],
)
def test_what_is_not_there_is_reported_at_its_field(zones: Any, query: dict[str, str], says: str) -> None:
    page, (name,) = shown(zones, 404, **query), query
    assert page.count(says) == 1
    assert f'<select name="{name}" aria-invalid="true" aria-describedby="{name}-e">' in page
    assert f'id="{name}-e" role="alert"' in page.partition(says)[0].rpartition("</select>")[2]
    assert 'id="verdict"' not in page


def test_without_a_choice_the_page_asks_for_one(zones: Any) -> None:
    assert "Choose a node or a zone." in shown(zones)


def test_a_node_and_a_zone_are_too_much(zones: Any) -> None:
    assert say("leave.both", node="n1", zone="a") in shown(zones, 400, node="n1", zone="a")


def test_the_inspector_of_a_node_leads_to_the_page(zones: Any) -> None:
    panel = zones.watching().get("panel/inspector/", node="n1").content.decode()
    assert 'href="leave/?node=n1"' in panel


def test_an_earlier_moment_has_its_own_answer(zones: Any) -> None:
    store.execute(zones.sandbox, {"kind": "delete", "object_kind": "Pod", "key": "default/alone"})
    assert "default/alone" not in shown(zones, node="n1")
    then = shown(zones, node="n1", at="2.9999")
    assert "default/alone: lost" in then
    assert say("common.of-earlier-moment") in then
    assert then.count('name="at" value="2.9999"') == 2
    assert f'href="{zones.url()}?node=n1&amp;at=2.9999"' in then
    panel = zones.get("panel/inspector/", node="n1", at="2.2").content.decode()
    assert 'href="leave/?node=n1&amp;at=2.2"' in panel


def test_a_pod_in_its_binding_cycle_counts_as_being_there(visitor: Any) -> None:
    nodes = [make_node(name).capacity(cpu="4", pods="9").obj() for name in ("n1", "n2")]
    pods = [make_pod(f"p{number}").cpu("3").obj() for number in range(3)]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [*nodes, *pods]})
    for stages in range(14):
        for node in ("n1", "n2"):
            page = shown(visitor, node=node)
            assert "lost, because no controller replaces it" in page, (stages, node)
            assert "Not all pods have a place." in page
        store.execute(visitor.sandbox, {"kind": "stage"})
