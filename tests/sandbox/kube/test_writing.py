"""Requests that change objects: what they do, what they put into the log, and how they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import store
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.conftest import Visitor

PODS = "api/v1/namespaces/default/pods"
DEPLOYMENTS = "apis/apps/v1/namespaces/default/deployments"
LABELS = {"app": "web"}
WEB = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "web:1"}]}},
    },
}
MERGE = "application/merge-patch+json"


@pytest.fixture
def cluster(visitor: Visitor) -> Visitor:
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_node("n1").obj(), make_pod("a").obj()]})
    return visitor


def send(visitor: Visitor, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, Any]:
    data = (
        body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body) if body is not None else ""
    )
    answer = visitor.client.generic(
        method, visitor.url(f"kube/{path}"), data, kind, HTTP_USER_AGENT="kubectl/v1.37.1 (linux)"
    )
    return answer.status_code, answer.json()


def log(visitor: Visitor) -> list[dict[str, Any]]:
    return [json.loads(text) for text in visitor.log()]


def test_an_object_is_created_and_the_log_says_by_whom(cluster: Visitor) -> None:
    code, made = send(cluster, "POST", DEPLOYMENTS, WEB)
    assert (code, made["metadata"]["namespace"], made["spec"]["strategy"]["type"]) == (201, "default", "RollingUpdate")
    last = cluster.sandbox.records.order_by("n").last()
    assert (json.loads(last.command)["kind"], last.who) == ("apply", "kubectl")
    code, again = send(cluster, "POST", DEPLOYMENTS, WEB)
    assert (code, again["reason"]) == (409, "AlreadyExists")
    assert again["message"] == 'deployments.apps "web" already exists'
    assert len(log(cluster)) == 2


def test_a_name_may_be_generated(cluster: Visitor) -> None:
    pod = {"metadata": {"generateName": "job-"}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    names = {send(cluster, "POST", PODS, pod)[1]["metadata"]["name"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("job-") for name in names)


def test_an_object_is_replaced_unless_it_has_changed_meanwhile(cluster: Visitor) -> None:
    _, web = send(cluster, "POST", DEPLOYMENTS, WEB)
    web["spec"]["replicas"] = 3
    web["status"] = {"replicas": 99}
    code, now = send(cluster, "PUT", f"{DEPLOYMENTS}/web", web)
    assert (code, now["spec"]["replicas"], now["status"]["replicas"]) == (200, 3, 3)
    assert log(cluster)[-1]["changes"] == {"spec": {"replicas": 3}}
    code, refused = send(cluster, "PUT", f"{DEPLOYMENTS}/web", web)
    assert (code, refused["reason"]) == (409, "Conflict")
    assert "the object has been modified" in refused["message"]
    count = len(log(cluster))
    assert send(cluster, "PUT", f"{DEPLOYMENTS}/web", now)[0] == 200  # Nothing differs, so nothing is in the log.
    assert len(log(cluster)) == count


def version_of(visitor: Visitor, path: str) -> str:
    return str(send(visitor, "GET", path)[1]["metadata"]["resourceVersion"])


def label(visitor: Visitor, value: str, version: str = "") -> int:
    metadata = {"labels": {"n": value}, **({"resourceVersion": version} if version else {})}
    return send(visitor, "PATCH", f"{PODS}/a", {"metadata": metadata}, MERGE)[0]


def test_a_version_from_before_somebody_went_back_is_stale_if_the_object_differs(cluster: Visitor) -> None:
    first = version_of(cluster, f"{PODS}/a")
    assert label(cluster, "one") == 200
    undone = version_of(cluster, f"{PODS}/a")
    store.go_to(cluster.row(), lambda here: here.head - 1)
    assert int(version_of(cluster, PODS)) > int(version_of(cluster, f"{PODS}/a")) > int(undone)
    assert label(cluster, "two", undone) == 409
    assert label(cluster, "two", first) == 200  # It is again as it was when this version was given out.
    assert label(cluster, "three", undone) == 409  # The engine counts this change as it did the undone one.
    assert label(cluster, "three", first) == 409
    assert label(cluster, "three", version_of(cluster, f"{PODS}/a")) == 200
    patch = [{"op": "test", "path": "/metadata/resourceVersion", "value": version_of(cluster, f"{PODS}/a")}]
    assert send(cluster, "PATCH", f"{PODS}/a", patch, JSON_PATCH)[0] == 200


LEASES = "apis/coordination.k8s.io/v1/namespaces/default/leases"


def test_a_lease_is_created_by_an_update_and_then_needs_its_version(cluster: Visitor) -> None:
    lease = {"metadata": {"name": "l", "uid": "zzz"}, "spec": {"holderIdentity": "a"}}
    code, refused = send(cluster, "PUT", f"{LEASES}/l", lease)
    assert (code, refused["message"].endswith(OTHER_UID.format(uid=""))) == (409, True)
    code, made = send(cluster, "PUT", f"{LEASES}/l", {**lease, "metadata": {"name": "l", "resourceVersion": "1"}})
    assert (code, made["spec"]) == (201, lease["spec"])
    code, refused = send(cluster, "PUT", f"{LEASES}/l", {**lease, "metadata": {"name": "l"}})
    assert (code, refused["message"]) == (
        422,
        'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for '
        "an update",
    )
    assert send(cluster, "PUT", f"{LEASES}/l", {**made, "spec": {"holderIdentity": "b"}})[0] == 200
    assert send(cluster, "PUT", f"{DEPLOYMENTS}/none", {**WEB, "metadata": {"name": "none"}})[0] == 404


IN_STORAGE = "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: 0, AdditionalErrorMsg: "
OTHER_UID = "Precondition failed: UID in precondition: zzz, UID in object meta: {uid}"
OTHER = {
    "a deployment": ("PUT", f"{DEPLOYMENTS}/web", IN_STORAGE.format("deployments/default/web") + OTHER_UID),
    "its status": ("PUT", f"{DEPLOYMENTS}/web/status", IN_STORAGE.format("deployments/default/web") + OTHER_UID),
    "its scale": ("PUT", f"{DEPLOYMENTS}/web/scale", IN_STORAGE.format("deployments/default/web") + OTHER_UID),
    "a node": ("PUT", "api/v1/nodes/n1", IN_STORAGE.format("minions/n1") + OTHER_UID),
    "a patched scale": ("PATCH", f"{DEPLOYMENTS}/web/scale", OTHER_UID),
    "a patched node": ("PATCH", "api/v1/nodes/n1", 'metadata.uid: Invalid value: "zzz": field is immutable'),
}


@pytest.mark.parametrize(("method", "path", "text"), OTHER.values(), ids=OTHER)
def test_an_object_of_another_uid_is_not_changed(cluster: Visitor, method: str, path: str, text: str) -> None:
    send(cluster, "POST", DEPLOYMENTS, WEB)
    _, held = send(cluster, "GET", path)
    before, metadata = log(cluster), {**held["metadata"], "uid": "zzz", "resourceVersion": "1"}
    if method == "PATCH":
        body, kind, code = {"metadata": {"uid": "zzz"}}, MERGE, 409 if "scale" in path else 422
    else:
        body, kind, code = {**held, "metadata": metadata}, "application/json", 409
    status, refused = send(cluster, method, path, body, kind)
    assert (status, refused["message"].endswith(text.format_map(held["metadata"]))) == (code, True), refused["message"]
    assert log(cluster) == before


def test_the_status_is_a_subresource(cluster: Visitor) -> None:
    _, node = send(cluster, "GET", "api/v1/nodes/n1")
    node["status"]["capacity"]["cpu"] = node["status"]["allocatable"]["cpu"] = "1"
    node["spec"] = {"unschedulable": True}
    code, now = send(cluster, "PUT", "api/v1/nodes/n1/status", node)
    assert (code, now["status"]["capacity"]["cpu"], now.get("spec")) == (200, "1", None)


def test_scale_is_a_subresource(cluster: Visitor) -> None:
    send(cluster, "POST", DEPLOYMENTS, WEB)
    _, scale = send(cluster, "GET", f"{DEPLOYMENTS}/web/scale")
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 2}, "app=web")
    code, scaled = send(cluster, "PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 5}}, MERGE)
    assert (code, scaled["spec"]) == (200, {"replicas": 5})
    assert log(cluster)[-1] == {"kind": "scale", "object_kind": "Deployment", "key": "default/web", "replicas": 5}
    assert send(cluster, "PUT", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": "many"}})[0] == 422
    assert send(cluster, "PUT", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 2**31}})[0] == 422
    assert send(cluster, "GET", "api/v1/nodes/n1/scale")[0] == 404


def test_objects_go(cluster: Visitor) -> None:
    assert send(cluster, "DELETE", f"{PODS}/a", {"propagationPolicy": "Background"})[1]["status"] == "Success"
    assert send(cluster, "DELETE", f"{PODS}/a") == (404, send(cluster, "GET", f"{PODS}/a")[1])
    store.execute(
        cluster.row(),
        {"kind": "apply", "manifests": [make_pod(f"p{n}").labels(LABELS).node("n1").obj() for n in range(2)]},
    )
    _, leaving = send(cluster, "DELETE", f"{PODS}/p0")
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 30
    assert send(cluster, "DELETE", f"{PODS}/p0", {"gracePeriodSeconds": 0})[1]["status"] == "Success"
    assert send(cluster, "DELETE", f"{PODS}?labelSelector=app%3Dweb&gracePeriodSeconds=0")[0] == 200
    assert send(cluster, "GET", PODS)[1]["items"] == []


def test_an_eviction_is_answered_by_the_budget(cluster: Visitor) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}}
    assert send(cluster, "POST", "apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)[0] == 201
    pods = [make_pod(name).labels(LABELS).obj() for name in ("x", "y")]
    store.execute(cluster.row(), {"kind": "apply", "manifests": pods})
    store.execute(cluster.row(), {"kind": "run"})
    eviction: dict[str, Any] = {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": "x", "namespace": "default"},
    }
    assert send(cluster, "POST", f"{PODS}/x/eviction", eviction)[0] == 201
    eviction["metadata"] = {"name": "y", "namespace": "default"}
    code, refused = send(cluster, "POST", f"{PODS}/y/eviction", eviction)
    assert (code, refused["reason"]) == (429, "TooManyRequests")
    assert refused["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert [command["kind"] for command in log(cluster)[-2:]] == ["evict", "evict"]


def test_a_dry_run_changes_nothing(cluster: Visitor) -> None:
    code, made = send(cluster, "POST", f"{DEPLOYMENTS}?dryRun=All", WEB)
    assert (code, made["metadata"]["uid"] != "") == (201, True)
    assert "replicas" not in (made.get("status") or {})  # No controller has seen it.
    assert send(cluster, "GET", f"{DEPLOYMENTS}/web")[0] == 404
    assert len(log(cluster)) == 1


REFUSED = {
    "wrong fields": ("POST", PODS, {"metadata": {"name": "Bad"}, "spec": {"containers": []}}, 422, "Invalid"),
    "another kind": ("POST", PODS, {"kind": "Node", "metadata": {"name": "x"}}, 400, "BadRequest"),
    "another version": ("POST", DEPLOYMENTS, {"apiVersion": "apps/v1beta1", "metadata": {}}, 400, "BadRequest"),
    "another namespace": ("POST", PODS, {"metadata": {"name": "x", "namespace": "other"}}, 400, "BadRequest"),
    "another name": ("PUT", f"{PODS}/a", {"metadata": {"name": "b"}}, 400, "BadRequest"),
    "a namespace that does not exist": ("POST", "apis/apps/v1/namespaces/no/deployments", WEB, 404, "NotFound"),
    "a body that is too large": ("POST", PODS, " " * 3_000_000, 413, "RequestEntityTooLarge"),
    "bytes that are no text": ("POST", PODS, "\ud800", 400, "BadRequest"),
    "a tree without end": ("POST", PODS, "[" * 100_000, 400, "BadRequest"),
    "no object": ("POST", PODS, "[]", 400, "BadRequest"),
    "no JSON": ("POST", PODS, "{", 400, "BadRequest"),
    "an immutable field": ("PATCH", f"{PODS}/a", {"spec": {"nodeSelector": {"a": "b"}}}, 422, "Invalid"),
    "an object that is not there": ("PATCH", f"{PODS}/no", {}, 404, "NotFound"),
    "an old version": ("PATCH", f"{PODS}/a", {"metadata": {"resourceVersion": "1"}}, 409, "Conflict"),
    "an unknown policy": ("DELETE", f"{PODS}/a?propagationPolicy=Sideways", None, 422, "Invalid"),
    "a wrong grace period": ("DELETE", f"{PODS}/a", {"gracePeriodSeconds": -1}, 422, "Invalid"),
    "an event": ("POST", "api/v1/namespaces/default/events", {"metadata": {"name": "x"}}, 405, "MethodNotAllowed"),
    "a command in a container": ("POST", f"{PODS}/a/exec", {}, 400, "BadRequest"),
    "a method": ("OPTIONS", f"{PODS}/a", None, 405, "MethodNotAllowed"),
    "a resource": ("POST", "api/v1/namespaces/default/secrets", {}, 404, "NotFound"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "code", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_is_a_status_and_changes_nothing(
    cluster: Visitor, method: str, path: str, body: Any, code: int, reason: str
) -> None:
    kind = MERGE if method == "PATCH" else "application/json"
    status, document = send(cluster, method, path, body, kind)
    assert (status, document["kind"], document["reason"]) == (code, "Status", reason), document
    assert len(log(cluster)) == 1


def test_wrong_fields_are_listed(cluster: Visitor) -> None:
    _, document = send(cluster, "POST", PODS, {"metadata": {"name": "x"}, "spec": {"containers": [], "nodeName": "B"}})
    assert document["message"].startswith('Pod "x" is invalid: ')
    causes = {(cause["field"], cause["reason"]) for cause in document["details"]["causes"]}
    assert ("spec.containers", "FieldValueRequired") in causes


def test_those_who_watch_or_are_paused_change_nothing(cluster: Visitor) -> None:
    code, document = send(cluster.watching(), "POST", DEPLOYMENTS, WEB)
    assert (code, document["reason"]) == (403, "Forbidden")
    review = {"spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}}}
    path = "apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert [send(who, "POST", path, review)[1]["status"]["allowed"] for who in (cluster, cluster.watching())] == [
        True,
        False,
    ]
    type(cluster.sandbox).objects.update(frozen=True)
    assert send(cluster, "POST", DEPLOYMENTS, WEB)[0] == 403
    assert len(log(cluster)) == 1


def test_a_dry_run_in_the_body_changes_nothing(cluster: Visitor) -> None:
    store.execute(cluster.row(), {"kind": "run"})
    count = len(log(cluster))
    options = {"dryRun": ["All"]}
    assert send(cluster, "DELETE", f"{PODS}/a", options)[0] == 200
    assert send(cluster, "DELETE", "api/v1/nodes/n1", options)[0] == 200
    assert send(cluster, "POST", f"{PODS}/a/eviction", {"deleteOptions": options})[0] == 201
    assert send(cluster, "DELETE", f"{PODS}/a?dryRun=Some")[0] == 422
    assert len(log(cluster)) == count
    assert "deletionTimestamp" not in send(cluster, "GET", f"{PODS}/a")[1]["metadata"]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (
            {"uid": "zzz"},
            "the UID in the precondition (zzz) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated",
        ),
        (
            {"resourceVersion": "1"},
            "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record "
            "({resourceVersion}). The object might have been modified",
        ),
    ],
)
def test_preconditions_hold_for_deletions_and_evictions(cluster: Visitor, wanted: dict[str, str], text: str) -> None:
    _, pod = send(cluster, "GET", f"{PODS}/a")
    before, options = log(cluster), {"preconditions": wanted}
    evicting = ("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}, "deleteOptions": options})
    for method, path, body in (("DELETE", f"{PODS}/a", options), evicting):
        code, refused = send(cluster, method, path, body)
        assert (code, refused["reason"]) == (409, "Conflict")
        assert refused["message"] == f'Operation cannot be fulfilled on Pod "a": {text.format_map(pod["metadata"])}'
    assert log(cluster) == before
    right = {name: pod["metadata"][name] for name in wanted}
    assert send(cluster, "DELETE", f"{PODS}/a", {"preconditions": right})[0] == 200


def test_an_eviction_names_the_pod_of_its_address(cluster: Visitor) -> None:
    code, refused = send(cluster, "POST", f"{PODS}/a/eviction", {"metadata": {"name": "b"}})
    assert (code, refused["message"]) == (400, "name in URL does not match name in Eviction object")
    assert len(log(cluster)) == 1


def test_a_refused_eviction_is_in_the_log_once_while_nothing_changes(cluster: Visitor) -> None:
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}}
    send(cluster, "POST", "apis/policy/v1/namespaces/default/poddisruptionbudgets", budget)
    store.execute(cluster.row(), {"kind": "apply", "manifests": [make_pod("x").labels(LABELS).obj()]})
    store.execute(cluster.row(), {"kind": "run"})
    for _ in range(3):
        code, refused = send(cluster, "POST", f"{PODS}/x/eviction", {})
        assert (code, refused["details"]["causes"][0]["reason"]) == (429, "DisruptionBudget")
    assert [command["kind"] for command in log(cluster)].count("evict") == 1


def test_an_unknown_field_selects_nothing_to_delete(cluster: Visitor) -> None:
    code, refused = send(cluster, "DELETE", f"{PODS}?fieldSelector=spec.nodeNam!%3Dzzz")
    assert (code, refused["message"]) == (400, "field label not supported: spec.nodeNam")
    assert len(log(cluster)) == 1


def test_the_last_finalizer_goes_with_the_object(cluster: Visitor) -> None:
    held = {"metadata": {"name": "held", "finalizers": ["example.com/wait"]}, "data": {}}
    path = "api/v1/namespaces/default/configmaps"
    assert send(cluster, "POST", path, held)[0] == 201
    assert "deletionTimestamp" in send(cluster, "DELETE", f"{path}/held")[1]["metadata"]
    assert send(cluster, "PATCH", f"{path}/held", {"metadata": {"finalizers": None}}, MERGE)[0] == 200
    assert send(cluster, "GET", f"{path}/held")[0] == 404


def test_apply_on_the_server_keeps_what_it_does_not_name(cluster: Visitor) -> None:
    send(cluster, "POST", DEPLOYMENTS, WEB)
    path = f"{DEPLOYMENTS}/web?fieldManager=a&force=true"
    code, now = send(cluster, "PATCH", path, {"spec": {"replicas": 4}}, "application/apply-patch+yaml")
    assert (code, now["spec"]["replicas"], now["spec"]["selector"]) == (200, 4, {"matchLabels": LABELS})
    stale = {"metadata": {"resourceVersion": "1"}}
    assert send(cluster, "PATCH", path, stale, "application/apply-patch+yaml")[0] == 409


def test_what_only_the_server_sets_is_not_taken(cluster: Visitor) -> None:
    made = {"metadata": {"name": "own", "uid": "zzz", "creationTimestamp": "2001-01-01T00:00:00Z"}}
    _, now = send(cluster, "POST", "api/v1/namespaces", made)
    assert now["metadata"]["uid"] != "zzz"
    assert send(cluster, "POST", "api/v1/namespaces", {"metadata": {"name": "o", "resourceVersion": "3"}})[0] == 400


STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
ODD = {
    "no metadata": ("PATCH", f"{PODS}/a", {"metadata": None}, MERGE),
    "metadata that is a text": ("PATCH", f"{PODS}/a", {"metadata": "x"}, MERGE),
    "metadata that is removed": ("PATCH", f"{PODS}/a", [{"op": "remove", "path": "/metadata"}], JSON_PATCH),
    "all deleted": ("PATCH", f"{PODS}/a", {"$patch": "delete"}, STRATEGIC),
    "an unknown directive": ("PATCH", f"{PODS}/a", {"$patch": "bogus"}, STRATEGIC),
    "a wrong list": ("PATCH", f"{PODS}/a", {"metadata": {"$deleteFromPrimitiveList/labels": 5}}, STRATEGIC),
    "copies of copies": (
        "PATCH", f"{PODS}/a",
        [{"op": "copy", "from": "/metadata", "path": f"/metadata/x{n}"} for n in range(40)], JSON_PATCH,
    ),
    "preconditions": ("DELETE", f"{PODS}/a", {"preconditions": "x"}, "application/json"),
    "preconditions of an eviction": (
        "POST", f"{PODS}/a/eviction", {"deleteOptions": {"preconditions": 5}}, "application/json",
    ),
    "metadata of an eviction": ("POST", f"{PODS}/a/eviction", {"metadata": "x"}, "application/json"),
    "a policy": ("DELETE", f"{PODS}/a", {"propagationPolicy": ["x"]}, "application/json"),
    "an empty policy": ("DELETE", f"{PODS}/a", {"propagationPolicy": {}}, "application/json"),
    "a scale": ("PUT", f"{DEPLOYMENTS}/web/scale", [], "application/json"),
    "another scale": ("PUT", f"{DEPLOYMENTS}/web/scale", {"kind": "X"}, "application/json"),
    "a review": ("POST", "apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "[" * 50_000, "application/json"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "kind"), ODD.values(), ids=ODD)
def test_odd_bodies_are_refused(cluster: Visitor, method: str, path: str, body: Any, kind: str) -> None:
    send(cluster, "POST", DEPLOYMENTS, WEB)
    before = log(cluster)
    status, document = send(cluster, method, path, body, kind)
    assert status in (400, 413, 422), document
    assert log(cluster) == before


def test_too_many_replicas_are_refused_with_the_reason(cluster: Visitor) -> None:
    send(cluster, "POST", DEPLOYMENTS, WEB)
    code, refused = send(cluster, "PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 3_000_000}}, MERGE)
    assert (code, "replicas" in refused["message"]) == (422, True), refused


def binding(node: str = "n1", **metadata: Any) -> dict[str, Any]:
    return {"kind": "Binding", "metadata": metadata, "target": {"kind": "Node", "name": node}}


def test_an_own_scheduler_binds_pods(cluster: Visitor) -> None:
    store.execute(cluster.row(), {"kind": "apply", "manifests": [make_pod("b").obj(), make_pod("c").obj()]})
    assert send(cluster, "POST", f"{PODS}/a/binding", binding(annotations={"by": "me"}))[0] == 201
    assert send(cluster, "POST", "api/v1/namespaces/default/bindings", binding("gone", name="b"))[0] == 201
    _, bound = send(cluster, "GET", f"{PODS}/a")
    assert (bound["spec"]["nodeName"], bound["metadata"]["annotations"]) == ("n1", {"by": "me"})
    assert {"type": "PodScheduled", "status": "True"} in bound["status"]["conditions"]
    assert send(cluster, "GET", f"{PODS}/b")[1]["spec"]["nodeName"] == "gone"
    assert [command["kind"] for command in log(cluster)[-3:]] == ["bind", "patch", "bind"]
    assert send(cluster, "POST", f"{PODS}/c/binding?dryRun=All", binding())[0] == 201
    assert "nodeName" not in send(cluster, "GET", f"{PODS}/c")[1]["spec"]


UNBOUND = {
    "a pod on a node": ("a", binding("n2"), 409, 'pod a is already assigned to node "n1"'),
    "a gated pod": ("gated", binding(), 409, "pod gated has non-empty .spec.schedulingGates"),
    "a pod that is deleted": ("going", binding(), 409, "pod going is being deleted, cannot be assigned to a host"),
    "no node": ("free", binding(""), 500, "target.name: Required value"),
    "another kind of target": ("free", {"target": {"kind": "Pod", "name": "x"}}, 500, "target.kind: Unsupported value"),
    "another pod's Binding": ("free", binding(name="a"), 400, "name in URL does not match name in Binding object"),
    "another object": ("free", {"kind": "Pod"}, 400, "must be of type Binding"),
    "an earlier pod of the name": ("free", binding(uid="zzz"), 409, "UID in precondition: zzz, UID in object meta: 0"),
    "an earlier form of the pod": ("free", binding(resourceVersion="1"), 409, "ResourceVersion in precondition: 1, "),
    "no such pod": ("none", binding(), 404, 'pods "none" not found'),
}


@pytest.mark.parametrize(("pod", "body", "code", "message"), UNBOUND.values(), ids=UNBOUND)
def test_what_cannot_be_bound(cluster: Visitor, pod: str, body: Any, code: int, message: str) -> None:
    going = make_pod("going").obj()
    going["metadata"]["finalizers"] = ["example.com/wait"]
    pods = [make_pod("gated").gate("g").obj(), going, make_pod("free").obj()]
    store.execute(cluster.row(), {"kind": "apply", "manifests": pods})
    assert send(cluster, "POST", f"{PODS}/a/binding", binding())[0] == 201
    assert send(cluster, "DELETE", f"{PODS}/going")[0] == 200
    before = log(cluster)
    status, document = send(cluster, "POST", f"{PODS}/{pod}/binding", body)
    assert (status, message in document["message"]) == (code, True), document
    assert log(cluster) == before


ODD_POD = (
    '{"metadata": {"name": "odd", "colour": "red"}, "spec": {"containers": [{"name": "c", "image": "x", "tint": 1}],'
    ' "nodeSelector": {"a": "b"}, "nodeSelector": {"a": "c"}}}'
)
PROBLEMS = (
    'duplicate field "spec.nodeSelector"',
    'unknown field "metadata.colour"',
    'unknown field "spec.containers[0].tint"',
)


def create_odd(visitor: Visitor, query: str, method: str = "POST", path: str = PODS, body: str = ODD_POD) -> Any:
    kind = "application/json" if method == "POST" else MERGE
    return visitor.client.generic(method, visitor.url(f"kube/{path}{query}"), body, kind)


@pytest.mark.parametrize("query", ["", "?fieldValidation=Warn"])
def test_unknown_and_duplicate_fields_are_reported(cluster: Visitor, query: str) -> None:
    answer = create_odd(cluster, query)
    assert answer.status_code == 201
    escaped = (text.replace('"', '\\"') for text in PROBLEMS)
    assert answer["Warning"] == ", ".join(f'299 - "{text}"' for text in escaped)
    stored = log(cluster)[-1]["manifests"][0]
    assert stored["spec"] == {"containers": [{"name": "c", "image": "x"}], "nodeSelector": {"a": "c"}}


def test_unknown_fields_are_ignored_or_refused(cluster: Visitor) -> None:
    refused = create_odd(cluster, "?fieldValidation=Strict")
    text = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
    assert (refused.status_code, refused.json()["message"]) == (400, f"{text}{', '.join(PROBLEMS)}")
    wrong = create_odd(cluster, "?fieldValidation=Maybe")
    assert (wrong.status_code, "supported values" in wrong.json()["message"]) == (422, True)
    ignored = create_odd(cluster, "?fieldValidation=Ignore")
    assert (ignored.status_code, ignored.headers.get("Warning")) == (201, None)
    patch = '{"metadata": {"labels": {"n": "1"}, "colour": "red"}}'
    refused = create_odd(cluster, "?fieldValidation=Strict", "PATCH", f"{PODS}/a", patch)
    assert refused.status_code == 422
    assert 'strict decoding error: unknown field "metadata.colour"' in refused.json()["message"]
    patched = create_odd(cluster, "", "PATCH", f"{PODS}/a", patch)
    assert (patched.status_code, patched["Warning"]) == (200, '299 - "unknown field \\"metadata.colour\\""')
