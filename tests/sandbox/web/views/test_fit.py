"""How many more copies of a pod fit, as a page shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.workloads.rollout import GROWING
from sandbox.words.say import say
from sandbox.worker.room import KINDS
from scheduler_engine.answers.headroom import WITH_TEMPLATE
from scheduler_engine.testing import make_node, make_pod
from tests.engine.controllers import daemon_set, deployment

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(visitor: Any) -> Any:
    """Return a visitor whose nodes have room for 3 and 1 more pods like ``web``, and none because of a taint."""
    manifests = [
        make_node("n1").capacity(cpu="4", memory="8Gi", pods="9").obj(),
        make_node("n2").capacity(cpu="1", memory="8Gi", pods="9").obj(),
        make_node("n3").capacity(cpu="4", memory="8Gi", pods="9").taint("dedicated", "gpu").obj(),
        make_pod("web").cpu("1").node("n1").obj(),
        make_pod("waits").cpu("1").obj(),
    ]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    return visitor


def shown(visitor: Any, status: int = 200, **query: str) -> str:
    answer = visitor.get("fit/", **{"pod": "default/web", **query})
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.content.decode())


def rows(html: str) -> dict[str, list[str]]:
    """Return node → the cells of its row."""
    found = re.findall(r'<tr[^>]*><th scope="row">([^<]+)</th>(.*?)</tr>', html)
    return {node: re.findall(r"<td[^>]*>(.*?)</td>", cells) for node, cells in found}


def test_copies_are_counted_in_all_and_node_by_node(small: Any) -> None:
    html = shown(small)
    assert say("fit.total", count=4) in html
    table = rows(html)
    assert [table[node][:2] for node in ("n1", "n2", "n3")] == [["3", "3"], ["1", "1"], ["0", "0"]]
    assert [table[node][2] for node in ("n1", "n2")] == ["Insufficient cpu", "Insufficient cpu"]
    assert "untolerated taint" in table["n3"][2]
    assert "NodeResourcesFit: Insufficient cpu (2 nodes)" in html
    assert "0/3 nodes are available" in html
    assert small.log() == small.log()[:1]


def test_the_nodes_that_copies_need_are_counted(small: Any) -> None:
    assert say("fit.needed", copies=10, count=2, shape="n1") in shown(small, copies="10", shape="n1")
    assert say("fit.needed-none", copies=4) in shown(small, copies="4", shape="n1")
    html = shown(small, copies="5", shape="n3")
    assert say("fit.no-number", copies=5, shape="n3") in html
    assert "untolerated taint" in html.partition('id="needed"')[2].partition("</p>")[0]


def test_a_pod_without_end_is_counted_up_to_a_limit(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.room.MOST_ALONE", 5)
    monkeypatch.setattr("sandbox.worker.room.MOST_COPIES", 7)
    manifests = [make_node("n1").capacity(cpu="9", pods="99").obj(), make_pod("web").obj()]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    html = shown(visitor)
    assert "At least" in html
    assert rows(html)["n1"][:2] == ["7", say("fit.alone-at-least", count=5)]


def test_nodes_of_a_large_cluster_are_not_tried_alone(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.room.MOST_NODES", 2)
    assert [len(cells) for cells in rows(shown(small)).values()] == [2, 2, 2]


def test_a_pod_that_nobody_schedules_has_a_problem(small: Any) -> None:
    manifest = make_pod("odd").scheduler("other").obj()
    store.execute(small.sandbox, {"kind": "apply", "manifests": [manifest]})
    html = shown(small, pod="default/odd")
    assert say("fit.problem") in html
    assert 'id="nodes"' not in html


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"copies": "0"}, 200),
        ({"copies": "501"}, 400),
        ({"copies": "-1"}, 400),
        ({"copies": "x"}, 400),
    ],
    ids=str,
)
def test_what_cannot_be_counted_is_refused(small: Any, query: dict[str, str], status: int) -> None:
    assert small.get("fit/", **{"pod": "default/web", **query}).status_code == status


@pytest.mark.parametrize("pod", ["default/nobody", "x" * 400])
def test_a_pod_that_is_not_there_is_reported(small: Any, pod: str) -> None:
    assert say("errors.no-such-object", kind="Pod", key=pod) in shown(small, 404, pod=pod)


def test_a_page_without_a_pod_asks_for_one(small: Any) -> None:
    for page in ("fit/", "fixes/"):
        assert say("errors.no-pod-named") in small.get(page).content.decode()


def test_a_node_that_is_not_there_is_reported_at_its_field(small: Any) -> None:
    page, says = shown(small, 404, copies="2", shape="n9"), say("fit.no-node", node="n9")
    assert page.count(says) == 1
    assert '<select name="shape" aria-invalid="true" aria-describedby="shape-e">' in page
    assert 'id="shape-e" role="alert"' in page.partition(says)[0].rpartition("</select>")[2]


def test_the_inspector_leads_to_the_page(small: Any) -> None:
    panel = small.watching().get("panel/inspector/", pod="default/web").content.decode()
    assert 'href="fit/?pod=default%2Fweb"' in panel


def test_an_earlier_moment_is_counted_as_it_was(small: Any) -> None:
    now = shown(small)
    store.execute(small.sandbox, {"kind": "apply", "manifests": [make_node("n9").capacity(cpu="64", pods="99").obj()]})
    then = shown(small, at="1.9999")
    assert say("common.of-earlier-moment") in then
    assert "n9" in rows(shown(small))
    assert "n9" not in rows(then)
    assert re.findall(r'class="ans-big">(.*?)<', then) == re.findall(r'class="ans-big">(.*?)<', now)
    panel = small.get("panel/inspector/", pod="default/web", at="1.2").content.decode()
    assert re.search(r'href="fit/\?pod=default%2Fweb&amp;at=\d+\.\d+"', panel)


def test_copies_without_a_model_ask_for_one(small: Any) -> None:
    assert say("fit.no-shape") in shown(small, copies="20")


def test_the_gates_of_a_pod_are_named(small: Any) -> None:
    store.execute(small.sandbox, {"kind": "apply", "manifests": [make_pod("held").cpu("1").gate("wait").obj()]})
    assert say("fit.gated", gates="wait") in shown(small, pod="default/held")
    assert "scheduling gates" not in shown(small)


def test_the_pods_of_a_workload_are_counted_as_those_of_its_template(small: Any) -> None:
    gated = deployment("shop", 1, cpu="1")
    gated["spec"]["template"]["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    store.execute(small.sandbox, {"kind": "apply", "manifests": [gated]})
    html = shown(small, pod="", kind="Deployment", key="default/shop")
    assert say("fit.total", count=4) in html
    assert f"<small>{say('fit.workload', kind='Deployment', key='default/shop')}</small>" in html
    assert "example.com/wait" in html
    assert f'href="{small.url()}?tab=workloads"' in html
    assert '<input type="hidden" name="kind" value="Deployment">' in html
    assert '<input type="hidden" name="key" value="default/shop">' in html
    more = shown(small, pod="", kind="Deployment", key="default/shop", copies="10", shape="n1")
    assert say("fit.needed", copies=10, count=2, shape="n1") in more


def test_a_workload_that_is_not_there_or_cannot_be_copied_is_refused(small: Any) -> None:
    there = say("errors.no-such-object", kind="Deployment", key="default/none")
    assert there in shown(small, 404, pod="", kind="Deployment", key="default/none")
    for kind in ("DaemonSet", "Node"):
        assert say("errors.kind-to-copy", kinds=", ".join(KINDS)) in shown(small, 400, kind=kind, key="n1")


def test_each_workload_that_can_grow_leads_to_its_count(small: Any) -> None:
    manifests = [deployment("shop", 1), daemon_set("agent")]
    store.execute(small.sandbox, {"kind": "apply", "manifests": manifests})
    panel = small.watching().get("panel/workloads/").content.decode()
    assert panel.count(">How many more fit?</a>") == 1
    link = 'href="fit/?kind=Deployment&amp;key=default%2Fshop"'
    assert link in panel
    assert link.replace('href="', f'href="{small.url()}') in small.get("headroom/").content.decode()
    assert {*GROWING} == {*WITH_TEMPLATE}


def test_without_nodes_nothing_is_asked_that_nobody_can_answer(visitor: Any) -> None:
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_pod("web").obj()]})
    page = shown(visitor)
    assert say("fit.none") in page
    assert not re.search('<form|id="nodes"', page)
    assert say("fit.no-node", node="n9") in shown(visitor, 404, copies="2", shape="n9")
    leave = visitor.get("leave/").content.decode()
    assert say("headroom.no-nodes") in leave
    assert "<form" not in leave
    assert "There is no Node n9." in visitor.get("leave/", node="n9").content.decode()
