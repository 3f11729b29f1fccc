"""Requests that read: selectors, parts of a list, and refusals as ``Status``."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.kube import tables
from sandbox.kube.events import recorded_events
from sandbox.panels.model.world import World
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import Entry, EventRecorded
from tests.engine.controllers import deployment
from tests.sandbox.conftest import Visitor

PODS = {"a": {"app": "web", "tier": "front"}, "b": {"app": "web"}, "c": {"app": "db"}}


@pytest.fixture
def cluster(visitor: Visitor) -> Visitor:
    pods = [make_pod(name).labels(labels).obj() for name, labels in PODS.items()]
    other = make_pod("a", "kube-system").obj()
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_node("n1").obj(), *pods, other]})
    return visitor


def get(visitor: Visitor, path: str, accept: str = "application/json", **query: str) -> tuple[int, dict[str, Any]]:
    answer = visitor.client.get(visitor.url(f"kube/{path}"), query, HTTP_ACCEPT=accept)
    return answer.status_code, answer.json()


def names(document: dict[str, Any]) -> list[str]:
    return [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in document["items"]]


OURS = "api/v1/namespaces/default/pods"
SELECTED = {
    "": "abc",
    "app=web": "ab",
    "app==web,tier=front": "a",
    "app!=web": "c",
    "tier": "a",
    "!tier": "bc",
    "app in (web, db),tier notin (front)": "bc",
}


@pytest.mark.parametrize(("selector", "found"), SELECTED.items())
def test_labels_select(cluster: Visitor, selector: str, found: str) -> None:
    assert names(get(cluster, OURS, labelSelector=selector)[1]) == [f"default/{name}" for name in found]


def test_fields_select(cluster: Visitor) -> None:
    fields = "metadata.name=a,metadata.namespace!=default"
    assert names(get(cluster, "api/v1/pods", fieldSelector=fields)[1]) == ["kube-system/a"]
    assert names(get(cluster, "api/v1/pods", fieldSelector="status.phase=Running")[1]) == []


def test_a_long_list_comes_in_parts(cluster: Visitor) -> None:
    _, first = get(cluster, "api/v1/pods", limit="3")
    _, rest = get(cluster, "api/v1/pods", limit="3", **{"continue": first["metadata"]["continue"]})
    assert first["metadata"]["remainingItemCount"] == 1
    assert names(first) + names(rest) == ["default/a", "default/b", "default/c", "kube-system/a"]
    assert "continue" not in rest["metadata"]


def test_a_long_list_stays_as_it_was_when_it_began(cluster: Visitor) -> None:
    _, first = get(cluster, "api/v1/pods", limit="3")
    more = {"limit": "3", "continue": first["metadata"]["continue"]}
    store.execute(cluster.row(), {"kind": "delete", "object_kind": "Pod", "key": "kube-system/a"})
    store.execute(cluster.row(), {"kind": "apply", "manifests": [make_pod("z", "kube-system").obj()]})
    _, rest = get(cluster, "api/v1/pods", **more)
    assert names(rest) == ["kube-system/a"]
    assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert names(get(cluster, "api/v1/pods")[1])[-1] == "kube-system/z"


def test_a_long_list_ends_when_somebody_goes_back_behind_it(cluster: Visitor) -> None:
    store.execute(cluster.row(), {"kind": "apply", "manifests": [make_pod("z").obj()]})
    more = {"continue": get(cluster, "api/v1/pods", limit="3")[1]["metadata"]["continue"]}
    store.go_to(cluster.row(), lambda position: position.head - 1)
    code, refused = get(cluster, "api/v1/pods", **more)
    assert (code, refused["reason"], refused["message"][:38]) == (
        410,
        "Expired",
        "The provided continue parameter is too",
    )


def test_an_earlier_version_can_be_listed(cluster: Visitor) -> None:
    version = get(cluster, "api/v1/pods")[1]["metadata"]["resourceVersion"]
    store.execute(cluster.row(), {"kind": "run"})

    def bound(**query: str) -> tuple[str, int]:
        _, listed = get(cluster, OURS, resourceVersion=version, **query)
        return listed["metadata"]["resourceVersion"], sum("nodeName" in item["spec"] for item in listed["items"])

    assert bound(resourceVersionMatch="Exact") == bound(limit="5") == (version, 0)
    now = get(cluster, OURS)[1]["metadata"]["resourceVersion"]
    assert bound(resourceVersionMatch="NotOlderThan") == bound() == (now, 3)


def test_any_version_has_no_parts_and_a_selection_has_no_count(cluster: Visitor) -> None:
    assert len(get(cluster, OURS, limit="1", resourceVersion="0")[1]["items"]) == 3
    assert set(get(cluster, OURS, limit="1", labelSelector="app=web")[1]["metadata"]) == {"resourceVersion", "continue"}


HELD = {"None": None, "Metadata": "PartialObjectMetadata", "Object": "Pod"}


@pytest.mark.parametrize(("include", "held"), HELD.items())
def test_a_table_holds_as_much_of_its_objects_as_was_asked(cluster: Visitor, include: str, held: str | None) -> None:
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    _, table = get(cluster, f"{OURS}/a", accept, includeObject=include)
    (row,) = table["rows"]
    assert (table["kind"], row["cells"][0], row.get("object", {}).get("kind")) == ("Table", "a", held)


def token(v: str = "meta.k8s.io/v1", rv: int = 1) -> str:
    return urlsafe_b64encode(json.dumps({"v": v, "rv": rv, "start": "default/a"}).encode()).decode().rstrip("=")


REFUSED = {
    "an unknown path": ("what", {}, 404, "NotFound"),
    "an unknown group": ("apis/example.com/v1", {}, 404, "NotFound"),
    "an unknown resource": ("api/v1/secrets", {}, 404, "NotFound"),
    "a namespace of a node": ("api/v1/namespaces/default/nodes", {}, 404, "NotFound"),
    "a pod without a namespace": ("api/v1/pods/a", {}, 404, "NotFound"),
    "an unknown subresource": ("api/v1/namespaces/default/pods/a/what", {}, 404, "NotFound"),
    "logs": ("api/v1/namespaces/default/pods/a/log", {}, 400, "BadRequest"),
    "no such pod": (f"{OURS}/nothing", {}, 404, "NotFound"),
    "a broken label selector": ("api/v1/pods", {"labelSelector": "a in b"}, 400, "BadRequest"),
    "a broken field selector": ("api/v1/pods", {"fieldSelector": "a"}, 400, "BadRequest"),
    "a limit that is no number": ("api/v1/pods", {"limit": "-1"}, 400, "BadRequest"),
    "a list of the future": ("api/v1/pods", {"resourceVersion": "99999"}, 504, "Timeout"),
    "an object of the future": (f"{OURS}/a", {"resourceVersion": "99999"}, 504, "Timeout"),
    "an exact list of any version": (
        *("api/v1/pods", {"resourceVersion": "0", "resourceVersionMatch": "Exact"}),
        *(422, "Invalid"),
    ),
    "an exact list of no version": ("api/v1/pods", {"resourceVersionMatch": "Exact"}, 422, "Invalid"),
    "an unknown way to match": (
        *("api/v1/pods", {"resourceVersion": "1", "resourceVersionMatch": "What"}),
        *(422, "Invalid"),
    ),
    "initial events of a list": ("api/v1/pods", {"sendInitialEvents": "true"}, 422, "Invalid"),
    "no token": ("api/v1/pods", {"continue": "default/a"}, 400, "BadRequest"),
    "a token of another version": ("api/v1/pods", {"continue": token(v="v2")}, 400, "BadRequest"),
    "a token without a version": ("api/v1/pods", {"continue": token(rv=0)}, 400, "BadRequest"),
    "a token of the future": ("api/v1/pods", {"continue": token(rv=99999)}, 504, "Timeout"),
    "a token and a version": ("api/v1/pods", {"continue": token(), "resourceVersion": "1"}, 400, "BadRequest"),
    "a token and a way to match": (
        *("api/v1/pods", {"continue": token(), "resourceVersion": "1", "resourceVersionMatch": "Exact"}),
        *(422, "Invalid"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_a_status(cluster: Visitor, case: str) -> None:
    path, query, status, reason = REFUSED[case]
    code, found = get(cluster, path, **query)
    assert (code, found["kind"], found["code"], found["reason"]) == (status, "Status", status, reason)


def test_a_wrong_key_is_refused(cluster: Visitor) -> None:
    wrong = cluster.client.get(f"/s/{cluster.sandbox.pk}/wrong/kube/api/v1/pods")
    assert (wrong.status_code, wrong.json()["kind"]) == (404, "Status")


def test_what_django_refuses_is_a_status_too(cluster: Visitor, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    code, document = get(cluster, OURS, a="1", b="2", c="3", d="4")
    assert (code, document["kind"], document["reason"]) == (400, "Status", "BadRequest")


METHODS = {
    "the health": ("HEAD", "healthz", 200),
    "a change of the health": ("POST", "healthz", 405),
    "objects": ("HEAD", "api/v1/pods", 405),
    "the version": ("HEAD", "version", 405),
    "a group": ("POST", "apis/apps/v1", 405),
    "an unknown group": ("POST", "apis/example.com/v1", 404),
}


@pytest.mark.parametrize(("method", "path", "status"), METHODS.values(), ids=METHODS)
def test_what_is_only_read_has_no_other_methods(cluster: Visitor, method: str, path: str, status: int) -> None:
    assert cluster.client.generic(method, cluster.url(f"kube/{path}")).status_code == status


@pytest.mark.parametrize("path", ["healthz", "livez", "readyz"])
def test_the_server_says_that_it_works(cluster: Visitor, path: str) -> None:
    plain, verbose = (cluster.client.get(cluster.url(f"kube/{path}{query}")) for query in ("", "?verbose"))
    assert (plain.content, plain.headers["Content-Type"]) == (b"ok", "text/plain; charset=utf-8")
    assert verbose.content == f"[+]ping ok\n{path} check passed\n".encode()


def test_too_many_requests_are_a_status(cluster: Visitor, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"look": (0.001, 1)}
    statuses = [get(cluster, "version")[0] for _ in range(2)]
    assert statuses == [200, 429]
    assert get(cluster, "version")[1]["reason"] == "TooManyRequests"


def test_events_name_their_object(cluster: Visitor) -> None:
    store.execute(cluster.sandbox, {"kind": "run"})
    _, pod = get(cluster, f"{OURS}/a")
    fields = f"involvedObject.name=a,involvedObject.uid={pod['metadata']['uid']}"
    _, found = get(cluster, "api/v1/namespaces/default/events", fieldSelector=fields)
    (event,) = found["items"]
    assert (event["reason"], event["action"], event["source"]) == ("Scheduled", "Binding", {})
    assert (event["reportingComponent"], event["firstTimestamp"]) == ("default-scheduler", None)
    _, newer = get(cluster, f"apis/events.k8s.io/v1/namespaces/default/events/{event['metadata']['name']}")
    assert (newer["apiVersion"], newer["note"], newer["eventTime"]) == (
        *("events.k8s.io/v1", event["message"], event["eventTime"]),
    )
    assert newer["regarding"] == event["involvedObject"]
    assert newer["metadata"] == event["metadata"]
    fields = f"regarding.name={event['involvedObject']['name']},reportingController=default-scheduler"
    _, listed = get(cluster, "apis/events.k8s.io/v1/namespaces/default/events", fieldSelector=fields)
    assert [item["reason"] for item in listed["items"]] == ["Scheduled"]


def test_an_event_keeps_the_object_that_it_regards(cluster: Visitor) -> None:
    def references() -> list[Any]:
        _, listed = get(cluster, "api/v1/namespaces/default/events")
        return [event["involvedObject"] for event in listed["items"] if event["involvedObject"]["name"] == "web"]

    store.execute(cluster.row(), {"kind": "apply", "manifests": [deployment("web", 1)]})
    (first,) = references()
    assert first["apiVersion"] == "apps/v1"
    store.execute(cluster.row(), {"kind": "delete", "object_kind": "Deployment", "key": "default/web"})
    assert references() == [first]
    store.execute(cluster.row(), {"kind": "apply", "manifests": [deployment("web", 1)]})
    before, after = references()
    assert (before, after) == (first, {**first, "uid": after["uid"]})
    assert after["uid"] != first["uid"]


def test_an_event_that_repeats_has_two_times_and_a_count() -> None:
    world = World()
    told = [
        (0, EventRecorded("Pod", "default/a", "Warning", "FailedScheduling", "no", uid="u")),
        (5_000_000, EventRecorded("Pod", "default/a", "Warning", "FailedScheduling", "no", uid="u")),
        (6_000_000, EventRecorded("Deployment", "default/web", "Normal", "ScalingReplicaSet", "up")),
        (9_500_000, EventRecorded("Deployment", "default/web", "Normal", "ScalingReplicaSet", "up")),
    ]
    for number, (at_us, event) in enumerate(told, 1):
        world.apply(Entry(number, at_us, 0, event))
    first, second = recorded_events(world).values()
    assert first["series"] == {"count": 2, "lastObservedTime": first["eventTime"].replace("00.", "05.")}
    assert second["source"] == {"component": "deployment-controller"}
    assert [second["count"], second["firstTimestamp"][-3:], second["lastTimestamp"][-3:]] == [2, "06Z", "09Z"]
    rows = tables.table("Event", [first, second], 10_000_000, "None")["rows"]
    listed = [[row["cells"][place] for place in (0, 5, 7, 8)] for row in rows]
    assert listed == [["5s", "default-scheduler", "10s", 2], ["1s", "deployment-controller", "4s", 2]]


def test_a_scale_has_a_table(cluster: Visitor) -> None:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    store.execute(cluster.row(), {"kind": "apply", "manifests": [web]})
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    path = cluster.url("kube/apis/apps/v1/namespaces/default/deployments/web/")
    shown = [cluster.client.get(f"{path}{name}", HTTP_ACCEPT=table).json() for name in ("scale", "status")]
    assert [column["name"] for column in shown[0]["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert [one["rows"][0]["cells"][0] for one in shown] == ["web", "web"]


def test_a_page_of_another_origin_may_send_changes(cluster: Visitor) -> None:
    answer = cluster.client.options(cluster.url("kube/api/v1/pods"), HTTP_ORIGIN="http://other.example")
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (204, "*")
    assert "PATCH" in answer["Access-Control-Allow-Methods"]


def test_another_host_is_answered_as_a_status(cluster: Visitor) -> None:
    answer = cluster.client.get(cluster.url("kube/api/v1/pods"), HTTP_HOST="other.example")
    assert (answer.status_code, answer.json()["kind"]) == (400, "Status")
