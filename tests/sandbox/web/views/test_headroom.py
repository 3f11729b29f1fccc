"""What still fits, and which nodes could go, as a page shows it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.words.say import say
from scheduler_engine.testing import make_node, make_pod
from tests.engine.controllers import deployment, job, replica_set

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(visitor: Any) -> Any:
    """Return a visitor with three nodes. ``web`` has a replica, ``big`` has none that fits, ``alone`` has no owner."""
    manifests = [
        *(make_node(name).capacity(cpu="2", memory="8Gi", pods="9").obj() for name in ("n1", "n2", "n3")),
        make_pod("alone").cpu("1").node("n1").obj(),
        deployment("web", 1, cpu="500m"),
        replica_set("big", 0, cpu="3"),
    ]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    store.execute(visitor.sandbox, {"kind": "run"})
    return visitor


def shown(visitor: Any, **query: str) -> str:
    answer = visitor.get("headroom/", **query)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def rows(html: str, part: str) -> dict[str, list[str]]:
    """Return the rows of a section by their heads."""
    section = html.partition(f'id="{part}"')[2].partition("</section>")[0]
    found = re.findall(r'<tr[^>]*><th scope="row">(.*?)</th>(.*?)</tr>', section)
    text = {head: re.findall(r"<td[^>]*>(.*?)</td>", cells) for head, cells in found}
    return {plain(head): [plain(cell) for cell in cells] for head, cells in text.items()}


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).strip()


def test_each_workload_has_its_room_and_what_refuses_the_next_replica(cluster: Any) -> None:
    html = shown(cluster)
    table = rows(html, "workloads")
    assert table["default/web Deployment"] == ["9", "NodeResourcesFit: Insufficient cpu (3 nodes)"]
    assert table["default/big ReplicaSet"] == ["0", "NodeResourcesFit: Insufficient cpu (3 nodes)"]
    assert say("headroom.can-grow", count=1, workloads=2) in html
    assert len(cluster.log()) == 2


def test_the_scarcest_resource_comes_first(cluster: Any) -> None:
    html = shown(cluster)
    assert say("headroom.scarcest", resource="cpu", share="25%") in html
    table = rows(html, "resources")
    assert next(iter(table)) == "cpu"
    assert table["cpu"] == ["25%", "50% n1"]


def test_nodes_that_could_go_alone_and_together(cluster: Any) -> None:
    html = shown(cluster)
    table = rows(html, "nodes")
    assert table["n1"][1] == say("headroom.cannot-go", why="1 lost")
    assert [table[node][1] for node in ("n2", "n3")] == [say("headroom.can-go", count=2)] * 2
    assert plain(html.partition('id="together">')[2].partition("</p>")[0]) == say("headroom.together", count=2)
    assert f'href="{cluster.url()}leave/?node=n1"' in html


def test_a_node_that_could_only_go_alone_is_marked(visitor: Any) -> None:
    """The replica moves to the other node, and then has no third one."""
    nodes = [make_node(name).capacity(cpu="2", memory="8Gi", pods="9").obj() for name in ("n1", "n2")]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [*nodes, replica_set("web", 1, cpu="1")]})
    store.execute(visitor.sandbox, {"kind": "run"})
    html = shown(visitor)
    assert say("headroom.together", count=1) in html
    texts = sorted(cells[1] for cells in rows(html, "nodes").values())
    assert texts == sorted(say(key, count=1) for key in ("headroom.can-go", "headroom.can-go-alone"))


def test_what_there_was_no_time_for_is_counted(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.headroom.MOST_SECONDS", 0)
    html = shown(cluster)
    assert say("headroom.not-all", count=1) in html
    assert say("headroom.tried", count=1, nodes=3) in html
    assert say("headroom.tried-together", count=1, nodes=3) in html
    assert len(rows(html, "nodes")) == len(rows(html, "workloads")) == 1


def test_in_time_nothing_is_left_out(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.headroom.MOST_SECONDS", 600)
    html = shown(cluster)
    assert 'id="not-all' not in html
    assert "There was time" not in html


def test_a_workload_without_end_has_at_least_so_many(visitor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.worker.headroom.MOST_REPLICAS", 5)
    manifests = [make_node("n1").capacity(cpu="9", pods="99").obj(), replica_set("web", 1)]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    assert rows(shown(visitor), "workloads")["default/web ReplicaSet"] == [say("headroom.at-least", count=5), ""]


def test_a_workload_that_nobody_schedules_does_not_hide_the_others(cluster: Any) -> None:
    odd = replica_set("odd", 1)
    odd["spec"]["template"]["spec"]["schedulerName"] = "other"
    store.execute(cluster.sandbox, {"kind": "apply", "manifests": [odd]})
    table = rows(shown(cluster), "workloads")
    assert table["default/odd ReplicaSet"][0] == say("headroom.uncounted")
    assert "other" in table["default/odd ReplicaSet"][1]
    assert table["default/web Deployment"][0] == "9"


def test_a_drain_that_takes_too_much_work_is_a_problem(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(cluster)
    monkeypatch.setattr("scheduler_engine.effort.MOST_ENTRIES", 3)
    html = shown(cluster)
    assert say("headroom.problem") in html
    assert 'id="together"' not in html


def test_an_empty_sandbox_has_an_answer(visitor: Any) -> None:
    html = shown(visitor)
    assert say("headroom.nothing") in html
    assert say("headroom.no-workloads") in html
    assert say("headroom.no-nodes") in html


def test_an_earlier_moment_has_its_own_answer(cluster: Any) -> None:
    store.execute(cluster.sandbox, {"kind": "delete", "object_kind": "Deployment", "key": "default/web"})
    assert "default/web Deployment" not in rows(shown(cluster), "workloads")
    then = shown(cluster, at="2.9999")
    assert "default/web Deployment" in rows(then, "workloads")
    assert say("common.of-earlier-moment") in then
    assert f'href="{cluster.url()}leave/?node=n1&amp;at=2.9999"' in then


def test_the_workbench_and_the_pages_beside_lead_there(cluster: Any) -> None:
    for panel, query in (("workloads", {}), ("inspector", {"node": "n1"})):
        html = cluster.watching().get(f"panel/{panel}/", **query).content.decode()
        assert 'href="headroom/"' in html
        html = cluster.get(f"panel/{panel}/", at="1.8", **query).content.decode()
        assert re.search(r'href="headroom/\?at=1\.\d+"', html)
    assert 'href="headroom/#nodes"' in cluster.watching().get("panel/nodes/").content.decode()
    assert re.search(r'href="headroom/\?at=1\.\d+#nodes"', cluster.get("panel/nodes/", at="1.8").content.decode())
    for path, query in (("fit/", {"pod": "default/alone"}), ("leave/", {"node": "n1"})):
        assert f'href="{cluster.url()}headroom/"' in cluster.get(path, **query).content.decode()


def test_the_only_node_cannot_go(visitor: Any) -> None:
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_node("n1").obj()]})
    html = shown(visitor)
    assert rows(html, "nodes")["n1"] == ["0", say("headroom.cannot-go", why="it is the only node")]
    assert say("headroom.none-together") in html


def test_what_fits_but_would_not_run_is_noted(visitor: Any) -> None:
    gated, paused, scaled = (deployment(name, 1, cpu="1") for name in ("gated", "paused", "scaled"))
    gated["spec"]["template"]["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    paused["spec"]["paused"] = True
    node = make_node("n1").capacity(cpu="4", memory="8Gi", pods="9").obj()
    waits = job("waits", suspend=True)
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [node, gated, paused, scaled, waits]})
    store.execute(visitor.sandbox, {"kind": "settle"})
    scaled["spec"]["paused"] = True
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [scaled]})
    table = rows(shown(visitor), "workloads")
    assert say("fit.gated", gates="example.com/wait") in table["default/gated Deployment"][1]
    assert say("fit.paused") in table["default/paused Deployment"][1]
    assert say("fit.suspended") in table["default/waits Job"][1]
    assert table["default/scaled Deployment"][1] == "NodeResourcesFit: Insufficient cpu (1 node)"
    page = visitor.get("fit/", kind="Deployment", key="default/paused").content.decode()
    assert say("fit.paused") in page
