"""Devices on the cards of nodes and in the inspector, and the claims of pods."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import PANELS, View
from sandbox.panels.facts.devices import MOST_CHIPS
from scheduler_engine import commands
from scheduler_engine.testing.cluster import Cluster
from tests.installed import SCENARIOS
from tests.sandbox.scenarios import panel_html
from tests.sandbox.witnessing import witnessed

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"}},
}


def of_kind(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def offering(count: int) -> dict[str, Any]:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    devices = [{"name": f"d{number}"} for number in range(count)]
    return of_kind("ResourceSlice", "s", {"driver": "d.example", "nodeName": "n", "pool": pool, "devices": devices})


def pod(name: str, *entries: dict[str, Any]) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [*entries]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(name="scenario", scope="module")
def play_scenario() -> Any:
    simulation = SCENARIOS["devices-for-claims"].open()
    simulation.execute(commands.Run())
    return witnessed(simulation)


def card(world: Any, name: str) -> dict[str, Any]:
    zones = PANELS["cluster"].stats(world, View())["zones"]
    return next(item["devices"] for zone in zones for item in zone["nodes"] if item["name"] == name)


def test_a_card_shows_which_devices_claims_have(scenario: Any) -> None:
    shown = card(scenario, "node-a")
    assert shown["text"] == "1/2 devices"
    assert [(chip["name"], chip["held"], chip["title"]) for chip in shown["chips"]] == [
        ("gpu-0", True, "gpu-0: demo-gpu"),
        ("gpu-1", False, "gpu-1: free"),
    ]


def test_the_inspector_of_a_node_names_claims_and_pods_of_its_devices(scenario: Any) -> None:
    panel = PANELS["inspector"].stats(scenario, View(node="node-a"))
    used, free = panel["devices"]
    assert (used.name, used.about, free.holders, panel["devices_used"]) == ("gpu-0", "model t4, memory 16Gi", (), 1)
    (holder,) = used.holders
    assert (holder.claim, [name for _, name in holder.pods]) == ("demo-gpu", ["demo-1", "demo-2"])
    html = panel_html("inspector", scenario, node="node-a")
    assert 'data-pod="default/demo-2"' in html
    assert "1 of 2 in use" in html


def test_the_inspector_of_a_pod_names_its_claims_and_devices(scenario: Any) -> None:
    (claim,) = PANELS["inspector"].stats(scenario, View(pod="default/demo-1"))["device_claims"]
    assert (claim.name, claim.wants, claim.devices) == ("demo-gpu", "gpu: 1 gpu", (("gpu", "node-a/gpu-0"),))
    assert claim.others == (("default/demo-2", "demo-2"),)
    (waiting,) = PANELS["inspector"].stats(scenario, View(pod="default/train-3"))["device_claims"]
    assert (waiting.wants, waiting.state, waiting.devices) == ("gpu: 1 big-gpu", "no devices yet", ())


REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "several": ({"name": "r", "exactly": {"deviceClassName": "c", "count": 2}}, "r: 2 c"),
    "all": ({"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "All"}}, "r: all c"),
    "alternatives": (
        {
            "name": "r",
            "firstAvailable": [
                {"name": "a", "deviceClassName": "c"},
                {"name": "b", "deviceClassName": "d", "count": 3},
            ],
        },
        "r: 1 c, else 3 d",
    ),
}


@pytest.mark.parametrize(("request_", "words"), REQUESTS.values(), ids=REQUESTS)
def test_what_a_claim_wants(request_: dict[str, Any], words: str) -> None:
    claim = of_kind("ResourceClaim", "x", {"devices": {"requests": [request_]}})
    cluster = Cluster().apply(claim, pod("p", {"name": "e", "resourceClaimName": "x"}))
    (row,) = PANELS["inspector"].stats(witnessed(cluster.simulation), View(pod="default/p"))["device_claims"]
    assert row.wants == words


def test_claims_that_are_missing_or_not_created_say_so() -> None:
    entries = ({"name": "a", "resourceClaimName": "x"}, {"name": "b", "resourceClaimTemplateName": "none"})
    world = witnessed(Cluster().apply(pod("p", *entries)).simulation)
    rows = PANELS["inspector"].stats(world, View(pod="default/p"))["device_claims"]
    assert [row.state for row in rows] == ["does not exist", "not created yet"]


def claim(name: str, **wanted: Any) -> dict[str, Any]:
    request = {"name": "r", "exactly": {"deviceClassName": "c", **wanted}}
    return of_kind("ResourceClaim", name, {"devices": {"requests": [request]}})


def test_a_claim_that_is_being_deleted_keeps_a_new_pod_out() -> None:
    cluster = Cluster().apply(NODE, offering(1), of_kind("DeviceClass", "c", {}), claim("x"))
    cluster.apply(pod("old", {"name": "a", "resourceClaimName": "x"})).run()
    cluster.execute({"kind": "delete", "object_kind": "ResourceClaim", "key": "default/x"})
    cluster.apply(pod("new", {"name": "a", "resourceClaimName": "x"})).run()
    world = witnessed(cluster.simulation)
    (new,), (old,) = (
        PANELS["inspector"].stats(world, View(pod=f"default/{name}"))["device_claims"] for name in ("new", "old")
    )
    assert (new.state, new.uses, new.others) == ("is being deleted", False, (("default/old", "old"),))
    assert (old.state, old.uses) == ("", True)
    assert "claim x is being deleted" in panel_html("queues", world)
    assert "Used by" in panel_html("inspector", world, pod="default/new")


def test_devices_with_admin_access_are_free_for_others() -> None:
    label = {"resource.kubernetes.io/admin-access": "true"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "adm", "labels": label}}
    watching = claim("mon", adminAccess=True, allocationMode="All")
    watching["metadata"]["namespace"] = "adm"
    monitor = pod("pm", {"name": "a", "resourceClaimName": "mon"})
    monitor["metadata"]["namespace"] = "adm"
    cluster = Cluster().apply(NODE, offering(2), of_kind("DeviceClass", "c", {}), space, watching, claim("x"))
    cluster.apply(monitor).run()
    assert (card(witnessed(cluster.simulation), "n")["text"]) == "0/2 devices"
    reserved = "adm/pm have their devices with admin access, so other claims can get them, too"
    assert reserved in panel_html("inspector", witnessed(cluster.simulation), pod="adm/pm")
    cluster.apply(pod("p", {"name": "a", "resourceClaimName": "x"})).run()
    shown = card(witnessed(cluster.simulation), "n")
    assert (shown["text"], [chip["held"] for chip in shown["chips"]]) == ("1/2 devices", [True, False])
    assert shown["title"] == "d0: mon (with admin access), x\nd1: free, mon (with admin access)"


def test_a_node_with_many_devices_has_no_chips() -> None:
    few, many = (witnessed(Cluster().apply(NODE, offering(MOST_CHIPS + more)).simulation) for more in (0, 1))
    assert len(card(few, "n")["chips"]) == MOST_CHIPS
    assert (card(many, "n")["chips"], card(many, "n")["text"]) == ([], f"0/{MOST_CHIPS + 1} devices")


def test_a_card_follows_a_claim_that_gets_its_devices() -> None:
    claim = of_kind(
        "ResourceClaim", "x", {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    )
    cluster = Cluster().apply(NODE, offering(1), of_kind("DeviceClass", "c", {}), claim)
    same_while = PANELS["cluster"].same_while
    assert same_while is not None
    world = witnessed(cluster.simulation)
    before = same_while(world, View())
    cluster.apply(pod("p", {"name": "e", "resourceClaimName": "x"})).settle()
    after = witnessed(cluster.simulation)
    assert card(after, "n")["text"] == "1/1 devices"
    assert same_while(after, View()) != before
