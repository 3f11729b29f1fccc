"""What programs ask the API for: explanations, many commands, dry runs, waits, expectations, and a sandbox's end."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import once
from sandbox.storage.models import CommandRecord, Done, Expectation, Sandbox
from sandbox.web.api.programs import NEEDED
from scheduler_engine.answers import explained
from scheduler_engine.scenario.facts import FACTS
from scheduler_engine.testing import make_node, make_pod
from tests.engine.simulated_extender import URL, answering
from tests.sandbox.web.test_api import cluster, create_sandbox, get, post

pytestmark = pytest.mark.django_db

RUN = {"kind": "run"}
ON_N1 = {"pod": "default/web", "node": "n1"}
PENDING = {"pod": "default/big", "pending": True}


def crowded() -> str:
    """Create a sandbox with a pod that fits on one of two nodes, and one that fits on none. Return its path."""
    objects = [
        make_node("n1").capacity(cpu="2"),
        make_node("n2").capacity(cpu="1"),
        make_pod("web").cpu("1500m"),
        make_pod("big").cpu("8"),
    ]
    return create_sandbox(commands=[{"kind": "apply", "manifests": [item.obj() for item in objects]}, RUN])


def delete(path: str) -> int:
    return Client(enforce_csrf_checks=True).delete(path).status_code


def test_a_pending_pod_is_explained_by_facts_and_in_words() -> None:
    found = get(f"{crowded()}/explain", pod="default/big").json()
    attempt = found["attempt"]
    assert (found["exists"], found["node"], found["lane"], found["why"]) == (True, "", "unschedulablePods", "")
    assert attempt["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    refusals = {"code": "UnschedulableAndUnresolvable", "reasons": ["Insufficient cpu"], "count": 2}
    assert attempt["refusals"] == [{"plugin": "NodeResourcesFit", **refusals, "nodes": ["n1", "n2"]}]
    node = next(node for node in attempt["nodes"] if node["node"] == "n1")
    assert node["passes"] is False
    amounts = [value for fact in node["why"]["facts"] for value in fact["values"].values() if isinstance(value, dict)]
    assert {"resource": "cpu", "number": 8000} in amounts
    assert node["why"]["sentence"] == "n1 is too small: big requests more cpu than the whole node has."
    assert node["why"]["arithmetic"]


def test_a_bound_pod_is_explained_with_its_scores() -> None:
    found = get(f"{crowded()}/explain", pod="default/web").json()
    chosen = found["attempt"]["chosen"]
    assert (found["node"], chosen["node"], chosen["how"]) == ("n1", "n1", "only")
    (refusal,) = found["attempt"]["refusals"]
    assert (refusal["nodes"], refusal["reasons"]) == (["n2"], ["Insufficient cpu"])


def test_points_of_an_extender_are_explained_like_those_of_a_plugin() -> None:
    objects = [*(make_node(name).capacity(cpu="2") for name in ("n1", "n2")), make_pod("web").cpu("1")]
    made = create_sandbox(
        configuration=answering(prioritize="5", filter="true"),
        commands=[{"kind": "apply", "manifests": [item.obj() for item in objects]}, RUN],
    )
    nodes = get(f"{made}/explain", pod="default/web").json()["attempt"]["nodes"]
    assert [node["scores"][URL] for node in nodes] == [{"raw": 5, "normalized": 50, "weighted": 100}] * 2


def test_no_change_is_promised_or_ruled_out_where_others_decide_too() -> None:
    objects = [make_node("n1").capacity(cpu="2"), make_pod("web").cpu("1")]
    made = create_sandbox(
        configuration=answering(filter='"rack" in node.metadata.labels'),
        commands=[{"kind": "apply", "manifests": [item.obj() for item in objects]}, RUN],
    )
    assert get(f"{made}/fixes", pod="default/web").json()["problem"] == (
        f"No change is known. {URL} also decides where default/web may run, "
        "and fixes are known only for the plugins of Kubernetes."
    )


def test_an_earlier_attempt_is_explained_as_it_was() -> None:
    base = crowded()
    post(
        f"{base}/commands",
        {"kind": "patch", "object_kind": "Node", "key": "n2", "changes": {"metadata": {"labels": {"a": "b"}}}},
    )
    post(f"{base}/commands", {"kind": "apply", "manifests": [make_node("n3").capacity(cpu="9").obj()]})
    post(f"{base}/commands", {"kind": "advance", "seconds": 30})
    last = get(f"{base}/explain", pod="default/big").json()
    first = get(f"{base}/explain", pod="default/big", attempt=1).json()
    assert last["node"] == first["node"] == "n3"
    assert (first["attempt"]["number"], first["attempt"]["outcome"]) == (1, "unschedulable")
    assert all(node["why"] for node in first["attempt"]["nodes"])
    assert last["attempt"]["chosen"]["node"] == "n3"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"attempt": 9}, "attempt"),
        ({"cycle": 9}, "cycle"),
        ({"attempt": 9, "cycle": 9}, "attempt"),
        ({"pod": "default/nobody"}, "pod"),
    ],
)
def test_the_parameter_of_an_unknown_attempt_is_named(asked: dict[str, Any], field: str) -> None:
    answer = get(f"{crowded()}/explain", **{"pod": "default/web", **asked})
    assert answer.status_code == 404
    (error,) = answer.json()["errors"]
    assert (error["path"], "no such attempt" in error["message"]) == (field, field != "pod")


def test_a_node_that_is_named_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explained, "MOST_NODES", 1)
    base = crowded()
    nodes = get(f"{base}/explain", pod="default/big", node="n2").json()["attempt"]["nodes"]
    assert [(node["node"], bool(node["why"])) for node in nodes] == [("n1", True), ("n2", True)]
    assert len(get(f"{base}/explain", pod="default/big").json()["attempt"]["nodes"]) == 1


def test_a_pod_without_an_attempt_is_explained() -> None:
    base = cluster()
    found = get(f"{base}/explain", pod="default/web").json()
    assert found["attempt"] is None
    assert "activeQ" in found["why"]


@pytest.mark.parametrize(
    ("query", "field"),
    [({"pod": "default/nobody"}, "pod"), ({"pod": "default/web", "attempt": 9}, "attempt")],
)
def test_what_is_unknown_is_named(query: dict[str, Any], field: str) -> None:
    answer = get(f"{crowded()}/explain", **query)
    assert answer.status_code == 404
    assert answer.json()["errors"][0]["path"] == field


def test_many_commands_are_one_change_or_none() -> None:
    base = cluster()
    cordon = {"kind": "cordon", "node": "n1", "on": True}
    refused = post(f"{base}/batch", {"commands": [cordon, {"kind": "evict", "pod": "default/nobody"}]})
    assert refused.status_code == 422
    assert get(base).json()["head"] == 1
    state = post(f"{base}/batch", {"commands": [cordon, RUN]}).json()
    assert (state["head"], state["bound"]) == (3, 0)


@pytest.mark.parametrize("path", ["commands", "batch"])
def test_a_dry_run_returns_the_state_and_changes_nothing(path: str) -> None:
    base = cluster()
    before = get(base).json()
    body = {"commands": [RUN]} if path == "batch" else RUN
    tried = post(f"{base}/{path}?dry_run=true", body).json()
    assert (tried["bound"], tried["head"]) == (1, 2)
    assert get(base).json() == before
    assert CommandRecord.objects.count() == 1
    assert post(f"{base}/{path}", body).json() == tried


def test_manifests_are_tried_with_their_warnings_and_errors() -> None:
    base = cluster()
    path = f"{base}/manifests?dry_run=true"
    good, bad = make_pod("more").obj(), make_pod("Wrong").obj()
    assert post(path, good).json()["state"]["pods"] == 2
    refused = post(path, bad)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["path"] == "metadata.name"
    assert get(base).json()["pods"] == 1


def test_a_dry_run_is_refused_as_the_command_would_be() -> None:
    base = cluster()
    command = {"kind": "evict", "pod": "default/nobody"}
    assert post(f"{base}/commands?dry_run=true", command).json() == post(f"{base}/commands", command).json()


def test_waiting_ends_when_the_expectation_holds() -> None:
    base = crowded()
    post(f"{base}/commands", {"kind": "apply", "manifests": [make_node("n3").capacity(cpu="9").obj()]})
    waited = post(f"{base}/wait", {"until": [{"pod": "default/big", "node": "n3"}], "seconds": 600}).json()
    assert waited["met"]
    assert waited["until"] == [{"expectation": {"pod": "default/big", "node": "n3"}, "holds": True, "differs": []}]
    again = post(f"{base}/wait", {"until": [{"pod": "default/big", "node": "n3"}]}).json()
    assert again["state"] == waited["state"], "it held already"


def test_waiting_ends_after_its_time() -> None:
    base = crowded()
    before = get(base).json()
    waited = post(f"{base}/wait", {"until": [{"pod": "default/big", "node": "n1"}], "seconds": 90}).json()
    assert not waited["met"]
    assert waited["until"][0]["differs"]
    assert waited["state"]["seconds"] == before["seconds"] + 90
    assert waited["state"]["head"] <= before["head"] + 2, "ticks merge"


@pytest.mark.parametrize(
    ("until", "path"),
    [
        ([{"pot": "default/web"}], "until[0].pot"),
        ([{"pod": "default/web", "nod": "n1"}], "until[0].nod"),
        ([], "until"),
    ],
)
def test_what_is_no_expectation_is_refused(until: list[Any], path: str) -> None:
    base = cluster()
    answer = post(f"{base}/wait", {"until": until})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == path
    assert get(base).json()["head"] == 1


def test_expectations_are_checked_at_any_moment() -> None:
    base = crowded()
    (holds, fails) = post(f"{base}/check", {"expectations": [ON_N1, {**PENDING, "pending": False}]}).json()
    assert (holds["holds"], holds["differs"]) == (True, [])
    assert not fails["holds"]
    assert fails["differs"]
    assert not post(f"{base}/check", {"expectations": [ON_N1], "at": "1.1"}).json()[0]["holds"]


def test_expectations_are_collected_listed_and_dropped() -> None:
    base = crowded()
    kept = post(f"{base}/expectations", {"fact": "placement", "pod": "default/web"})
    assert kept.status_code == 201
    assert kept.json()["expectation"] == ON_N1
    (listed,) = get(f"{base}/expectations").json()
    assert (listed["key"], listed["expectation"], listed["place"]) == (kept.json()["key"], ON_N1, "here")
    assert (listed["wrong"], listed["differs"]) == ([], [])
    post(f"{base}/commands", {"kind": "delete", "object_kind": "Pod", "key": "default/web", "grace_period_seconds": 0})
    (later,) = get(f"{base}/expectations").json()
    assert (later["place"], later["wrong"], bool(later["differs"])) == ("behind", [], True)
    path = f"{base}/expectations/{listed['key']}"
    assert (delete(path), delete(path)) == (204, 404)
    assert not Expectation.objects.exists()


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_about_nothing_is_not_collected(fact: str) -> None:
    base = crowded()
    fields = {"pod": "default/web", "node": "n1", "plugin": "NodeResourcesFit"}
    for field in NEEDED.get(fact, ("pod",)):
        answer = post(f"{base}/expectations", {**fields, "fact": fact, field: ""})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, field)
        answer = post(f"{base}/expectations", {"fact": fact, **{key: fields[key] for key in fields if key != field}})
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, field)
    assert not Expectation.objects.exists()


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("head", {"to": True}),
        ("head", {"to": "0"}),
        ("wait", {"until": [], "seconds": "5"}),
        ("fork", {"anew": "yes"}),
        ("expectations", {"fact": "placement", "pod": 5}),
    ],
)
def test_a_value_of_another_type_is_refused(route: str, body: dict[str, Any]) -> None:
    base = crowded()
    head = Sandbox.objects.get().head
    assert post(f"{base}/{route}", body).status_code == 422
    assert Sandbox.objects.get().head == head


def test_a_deleted_sandbox_is_gone() -> None:
    base, other = crowded(), cluster()
    assert delete(base) == 204
    assert get(base).status_code == 404
    assert get(other).status_code == 200
    assert Sandbox.objects.count() == 1
    assert json.loads(Client().delete(base).content)["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("commands", {"kind": "advance", "seconds": 5}),
        ("batch", {"commands": [{"kind": "advance", "seconds": 5}]}),
        ("wait", {"until": [{"clock": 99}], "seconds": 5}),
        ("manifests", {**make_pod("more").obj(), "metadata": {"generateName": "more-"}}),
    ],
)
def test_a_repeated_request_is_carried_out_once(path: str, body: dict[str, Any]) -> None:
    base = cluster()
    first = post(f"{base}/{path}", body, headers={"Idempotency-Key": "one"})
    again = post(f"{base}/{path}", body, headers={"Idempotency-Key": "one"})
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    state = get(base).json()
    other = post(f"{base}/{path}", body, headers={"Idempotency-Key": "two"})
    assert "Idempotency-Replayed" not in other.headers
    assert get(base).json() != state


def test_a_key_is_for_one_request_of_one_sandbox() -> None:
    base, key = cluster(), {"Idempotency-Key": "one"}
    post(f"{base}/commands", {"kind": "advance", "seconds": 5}, headers=key)
    refused = post(f"{base}/commands", {"kind": "advance", "seconds": 6}, headers=key)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (422, "Idempotency-Key")
    assert get(base).json()["seconds"] == 5
    other = cluster()
    assert post(f"{other}/commands", {"kind": "advance", "seconds": 6}, headers=key).json()["seconds"] == 6
    long = post(f"{base}/commands", RUN, headers={"Idempotency-Key": "x" * 101})
    assert long.status_code == 422


def test_a_refused_request_leaves_its_key_unused() -> None:
    base, key = cluster(), {"Idempotency-Key": "one"}
    evict = {"kind": "evict", "pod": "default/late"}
    assert post(f"{base}/commands", evict, headers=key).status_code == 422
    post(f"{base}/commands", {"kind": "apply", "manifests": [make_pod("late").obj()]})
    assert post(f"{base}/commands", evict, headers=key).status_code == 200


def test_keys_are_forgotten_after_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "advance", "seconds": 5}, headers={"Idempotency-Key": "old"})
    monkeypatch.setattr(once, "KEPT", timedelta(0))
    post(f"{base}/commands", {"kind": "advance", "seconds": 5}, headers={"Idempotency-Key": "new"})
    assert [*Done.objects.values_list("key", flat=True)] == ["new"]


def test_waiting_also_ends_with_the_time_alone() -> None:
    base = cluster()
    post(f"{base}/commands", RUN)
    now = get(base).json()["seconds"]
    waited = post(f"{base}/wait", {"until": [{"clock": now + 7}], "seconds": 7}).json()
    assert waited["met"]
    assert waited["until"][0]["differs"] == []
