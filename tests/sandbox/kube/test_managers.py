"""Server-side apply: who manages which fields, what is removed, and conflicts."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.kube.field_sets import (
    KEYED,
    SETS,
    WHOLE_MAPS,
    WHOLE_TYPES,
    leaves,
    merged,
    of_fields,
    shown,
    to_fields,
    without,
)
from scheduler_engine.api.fields import TYPES
from tests.sandbox.conftest import Visitor
from tests.sandbox.kube.test_writing import DEPLOYMENTS, LABELS, WEB, log, send

APPLY = "application/apply-patch+yaml"
WEB_PATH = f"{DEPLOYMENTS}/web"
CONTAINER = 'k:{"name":"c"}'
IMAGE = ("f:spec", "f:template", "f:spec", "f:containers", CONTAINER, "f:image")


def config(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def whole(replicas: int | None = None, image: str = "web:1", **more: Any) -> dict[str, Any]:
    """Return a complete configuration of the Deployment."""
    container = {"name": "c", "image": image, **more}
    spec = {"selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}}}
    wanted = {} if replicas is None else {"replicas": replicas}
    return config(**deepcopy(spec) | {"template": {**spec["template"], "spec": {"containers": [container]}}} | wanted)


def apply(visitor: Visitor, body: dict[str, Any], manager: str = "kubectl", force: bool = False) -> tuple[int, Any]:
    more = "&force=true" if force else ""
    return send(visitor, "PATCH", f"{WEB_PATH}?fieldManager={manager}{more}", body, APPLY)


def managed(visitor: Visitor) -> dict[str, set[tuple[str, ...]]]:
    """Return who manages which fields of the Deployment."""
    _, held = send(visitor, "GET", WEB_PATH)
    found = held["metadata"].get("managedFields", [])
    return {f"{entry['manager']} {entry['operation']}": set(of_fields(entry["fieldsV1"])) for entry in found}


def test_who_applies_first_manages_what_it_sets(visitor: Visitor) -> None:
    code, made = apply(visitor, whole(3))
    assert (code, made["spec"]["replicas"]) == (201, 3)
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"], entry["apiVersion"]) == ("kubectl", "Apply", "apps/v1")
    assert entry["fieldsV1"]["f:spec"] == {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {"f:containers": {CONTAINER: {".": {}, "f:image": {}, "f:name": {}}}},
        },
    }
    before = len(log(visitor))
    assert apply(visitor, whole(3))[0] == 200
    assert len(log(visitor)) == before


def test_what_is_no_longer_applied_goes_unless_somebody_else_applies_it(visitor: Visitor) -> None:
    apply(visitor, whole(3, command=["a"], env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]))
    image = {"name": "c", "env": [{"name": "B", "value": "2"}]}
    other = config(template={"spec": {"containers": [image]}})
    assert apply(visitor, other, "tuner")[0] == 200
    code, now = apply(visitor, whole(3))
    container = now["spec"]["template"]["spec"]["containers"][0]
    assert (code, container.get("env"), "command" in container) == (200, [{"name": "B", "value": "2"}], False)
    assert container["imagePullPolicy"] == "IfNotPresent"


def test_other_values_of_another_manager_are_a_conflict(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    code, status = apply(visitor, config(replicas=5), "scaler")
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas'
    (cause,) = status["details"]["causes"]
    assert cause == {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": ".spec.replicas"}
    image = {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}
    _, status = apply(visitor, config(replicas=5, **image), "scaler")
    assert status["message"] == (
        'Apply failed with 2 conflicts: conflicts with "kubectl":\n- .spec.replicas\n'
        '- .spec.template.spec.containers[name="c"].image'
    )
    assert len(log(visitor)) == 1
    assert apply(visitor, config(replicas=3), "scaler")[0] == 200
    assert all(("f:spec", "f:replicas") in fields for fields in managed(visitor).values())


def test_who_forces_takes_the_field_over(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    code, now = apply(visitor, config(replicas=5), "scaler", force=True)
    assert (code, now["spec"]["replicas"]) == (200, 5)
    fields = managed(visitor)
    assert fields["scaler Apply"] == {("f:spec", "f:replicas")}
    assert ("f:spec", "f:replicas") not in fields["kubectl Apply"]
    code, now = apply(visitor, whole())
    assert (code, now["spec"]["replicas"]) == (200, 5)


def test_whoever_updates_manages_what_changed(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
    kind = "application/strategic-merge-patch+json"
    assert send(visitor, "PATCH", f"{WEB_PATH}?fieldManager=kubectl-set", patch, kind)[0] == 200
    assert (
        send(visitor, "PATCH", f"{WEB_PATH}/scale", {"spec": {"replicas": 4}}, "application/merge-patch+json")[0] == 200
    )
    fields = managed(visitor)
    assert fields["kubectl-set Update"] == {IMAGE}
    assert fields["kubectl Update"] == {("f:spec", "f:replicas")}
    code, status = apply(visitor, whole(3))
    assert code == 409
    assert status["message"] == (
        'Apply failed with 2 conflicts: conflicts with "kubectl" with subresource "scale" using apps/v1 at'
        " 2026-01-01T00:00:00Z:\n- .spec.replicas\n"
        'conflicts with "kubectl-set" using apps/v1 at 2026-01-01T00:00:00Z:\n'
        '- .spec.template.spec.containers[name="c"].image'
    )


def test_the_oldest_updates_become_one(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    for number in range(12):
        patch = {"metadata": {"annotations": {f"a{number}": "1"}}}
        path = f"{WEB_PATH}?fieldManager=updater-{number:02}"
        assert send(visitor, "PATCH", path, patch, "application/merge-patch+json")[0] == 200
        store.execute(visitor.row(), {"kind": "advance", "seconds": 1})
    fields = managed(visitor)
    kept = [f"updater-{number:02} Update" for number in range(3, 12)]
    assert sorted(fields) == ["ancient-changes Update", "kubectl Apply", *kept]
    annotations = {path[-1] for path in fields["ancient-changes Update"]}
    assert annotations >= {"f:a0", "f:a1", "f:a2"}
    assert "f:a3" not in annotations
    (entry,) = (
        one
        for one in send(visitor, "GET", WEB_PATH)[1]["metadata"]["managedFields"]
        if one["manager"] == "ancient-changes"
    )
    assert entry["time"].endswith(":02Z")


def apply_scale(visitor: Visitor, replicas: int, query: str = "", **more: Any) -> tuple[int, Any]:
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas}} | more
    return send(visitor, "PATCH", f"{WEB_PATH}/scale?fieldManager=scaler{query}", body, APPLY)


def test_a_scale_is_applied(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    code, status = apply_scale(visitor, 5)
    assert (code, status["message"]) == (
        *(409, 'Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas'),
    )
    code, scale = apply_scale(visitor, 5, "&force=true", metadata={"name": "web"})
    assert (code, scale["kind"], scale["spec"]) == (200, "Scale", {"replicas": 5})
    fields = managed(visitor)
    assert fields["scaler Apply"] == {("f:spec", "f:replicas")}
    assert ("f:spec", "f:replicas") not in fields["kubectl Apply"]
    (entry,) = (
        one for one in send(visitor, "GET", WEB_PATH)[1]["metadata"]["managedFields"] if one["manager"] == "scaler"
    )
    assert (entry["apiVersion"], entry["subresource"]) == ("apps/v1", "scale")
    merge = "application/merge-patch+json"
    assert send(visitor, "PATCH", f"{WEB_PATH}/scale", {"spec": {"replicas": 4}}, merge)[0] == 200
    _, status = apply_scale(visitor, 6)
    assert 'conflict with "kubectl" with subresource "scale" using autoscaling/v1 at' in status["message"]


NOT_SCALES = {
    "another kind": ({"kind": "Deployment"}, 400, "invalid object type: autoscaling/v1, Kind=Deployment"),
    "another name": ({"metadata": {"name": "db"}}, 400, "does not match the name on the URL (web)"),
    "managers": ({"metadata": {"managedFields": [{}]}}, 400, "metadata.managedFields must be nil"),
    "a list": ({"spec": []}, 400, "must be of type Scale"),
    "a text": ({"spec": "x"}, 400, "must be of type Scale"),
    "a wrong number": ({"spec": {"replicas": "x"}}, 422, "spec.replicas"),
    "another uid": ({"metadata": {"uid": "zzz"}}, 409, "UID in precondition: zzz"),
    "an old version": ({"metadata": {"resourceVersion": "1"}}, 409, "the object has been modified"),
}


@pytest.mark.parametrize(("more", "code", "text"), NOT_SCALES.values(), ids=NOT_SCALES)
def test_what_cannot_be_applied_to_a_scale(visitor: Visitor, more: dict[str, Any], code: int, text: str) -> None:
    send(visitor, "POST", DEPLOYMENTS, whole(2))
    status, said = apply_scale(visitor, 2, "&force=true", **more)
    assert (status, text in said.get("message", "")) == (code, True), said


def test_an_object_that_nobody_applied_belongs_to_all(visitor: Visitor) -> None:
    send(visitor, "POST", DEPLOYMENTS, WEB)
    assert managed(visitor) == {}
    code, status = apply(visitor, whole(2, "web:2"))
    assert (code, 'conflict with "before-first-apply" using apps/v1' in status["message"]) == (409, True)
    assert apply(visitor, whole(2), "other")[0] == 200
    assert list(managed(visitor)) == ["other Apply", "before-first-apply Update"]


def test_kubectl_goes_on_on_the_server_with_what_it_applied_itself(visitor: Visitor) -> None:
    last = json.dumps(whole(2))
    annotated = whole(2)
    annotated["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": last}
    send(visitor, "POST", DEPLOYMENTS, annotated)
    assert apply(visitor, whole(2, "web:2"), "other")[0] == 409
    code, now = apply(visitor, whole(2, "web:2"))
    assert (code, now["spec"]["template"]["spec"]["containers"][0]["image"]) == (200, "web:2")


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("", ["fieldManager: Required value: is required for apply patch"]),
        (f"fieldManager={'a' * 129}", ["fieldManager: Too long: may not be more than 128 bytes"]),
        ("fieldManager=a%0Ab", ['fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1)']),
    ],
)
def test_a_manager_needs_a_name(visitor: Visitor, query: str, texts: list[str]) -> None:
    code, status = send(visitor, "PATCH", f"{WEB_PATH}?{query}", whole(), APPLY)
    assert code == 422
    assert status["message"] == f'PatchOptions.meta.k8s.io "" is invalid: {", ".join(texts)}'
    assert log(visitor) == []


def test_only_who_applies_may_force(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    body, kind = {"spec": {"replicas": 5}}, "application/merge-patch+json"
    code, status = send(visitor, "PATCH", f"{WEB_PATH}?force=true", body, kind)
    text = 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    assert (code, status["message"], len(log(visitor))) == (422, text, 1)


def test_managed_fields_are_not_for_the_sender(visitor: Visitor) -> None:
    body = whole()
    body["metadata"]["managedFields"] = [{"manager": "me"}]
    assert apply(visitor, body)[0] == 400
    apply(visitor, whole())
    before = managed(visitor)
    _, held = send(visitor, "GET", WEB_PATH)
    del held["metadata"]["managedFields"]
    assert send(visitor, "PUT", WEB_PATH, held)[0] == 200
    assert managed(visitor) == before


def test_changes_on_the_page_leave_the_managers(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    before = managed(visitor)
    store.execute(visitor.sandbox, {"kind": "scale", "object_kind": "Deployment", "key": "default/web", "replicas": 1})
    assert managed(visitor) == before
    code, now = apply(visitor, whole(3))
    assert (code, now["spec"]["replicas"]) == (200, 3)


def test_the_page_shows_and_edits_objects_without_their_managers(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    before = managed(visitor)
    shown = visitor.client.get(visitor.url("yaml/Deployment/?key=default/web")).content.decode()
    assert ("replicas: 3" in shown, "managedFields" in shown) == (True, False)
    pane = visitor.client.get(visitor.url("edit/Deployment/form/?key=default/web")).content.decode()
    assert ("replicas" in pane, "managedFields" in pane) == (True, False)
    assert managed(visitor) == before


# --- sets of fields ---

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "finalizers": ["example.com/x"]},
    "spec": {
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "a"}],
        "containers": [{"name": "c", "ports": [{"containerPort": 80}], "args": ["x"]}],
        "topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}],
    },
}


def test_every_item_has_a_name() -> None:
    found = set(leaves(POD, "Pod"))
    port = 'k:{"containerPort":80,"protocol":"TCP"}'
    spread = 'k:{"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}'
    assert ("f:metadata", "f:finalizers", 'v:"example.com/x"') in found
    assert ("f:spec", "f:containers", CONTAINER, "f:ports", port) in found
    assert ("f:spec", "f:containers", CONTAINER, "f:args") in found
    assert ("f:spec", "f:topologySpreadConstraints", spread, "f:maxSkew") in found
    assert {("f:spec", "f:nodeSelector"), ("f:spec", "f:tolerations")} <= found
    assert set(of_fields(to_fields(found))) == found
    assert shown(("f:spec", "f:containers", CONTAINER, "f:ports", port)) == (
        '.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"]'
    )
    assert shown(("f:metadata", "f:finalizers", 'v:"example.com/x"')) == '.metadata.finalizers[="example.com/x"]'


def test_items_that_share_their_keys_are_set_together() -> None:
    twice = {"spec": {"containers": [{"name": "c", "env": [{"name": "A"}, {"name": "A", "value": "2"}]}]}}
    assert ("f:spec", "f:containers", CONTAINER, "f:env") in leaves(twice, "Pod")
    assert merged(twice, twice, "Pod") == twice


def test_merging_keeps_what_only_the_old_one_has() -> None:
    old = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "nodeSelector": {"x": "1"}}}
    new = {"spec": {"containers": [{"name": "c"}, {"name": "a", "image": "2"}], "nodeSelector": {"y": "1"}}}
    assert merged(old, new, "Pod") == {
        "spec": {
            "containers": [{"name": "c"}, {"name": "a", "image": "2"}, {"name": "b"}],
            "nodeSelector": {"y": "1"},
        }
    }


@pytest.mark.parametrize(
    ("old", "new", "order"),
    [("ab", "ca", "cab"), ("axb", "ba", "xba"), ("ab", "ba", "ba"), ("ab", "xayb", "xayb"), ("abc", "", "abc")],
)
def test_a_list_has_the_order_in_which_it_is_applied(old: str, new: str, order: str) -> None:
    before, applied = ({"spec": {"containers": [{"name": name} for name in names]}} for names in (old, new))
    assert "".join(item["name"] for item in merged(before, applied, "Pod")["spec"]["containers"]) == order


@pytest.mark.parametrize("empty", [{}, None])
def test_what_has_parts_is_not_emptied_by_an_empty_one(visitor: Visitor, empty: dict[str, Any] | None) -> None:
    body = whole(3)
    body["metadata"] |= {"annotations": empty, "labels": empty}
    body["spec"]["strategy"] = empty
    body["spec"]["template"]["metadata"]["creationTimestamp"] = None
    _, made = apply(visitor, body)
    label = {"metadata": {"labels": {"a": "b"}}}
    send(visitor, "PATCH", WEB_PATH, label, "application/merge-patch+json")
    before = len(log(visitor))
    code, now = apply(visitor, body)
    assert (code, now["metadata"]["labels"], now["spec"]) == (200, {"a": "b"}, made["spec"])
    assert (
        now["metadata"]["annotations"] == made["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "1"}
    )
    assert len(log(visitor)) == before


@pytest.mark.parametrize(
    "more",
    [
        {"resources": {"requests": {"cpu": 1, "memory": "1024Mi"}}},
        {"resources": {}},
        {"command": None, "livenessProbe": None},
        {"env": [], "args": []},
        {"ports": [{"containerPort": 80}]},
    ],
)
def test_the_same_applied_again_is_no_command(visitor: Visitor, more: dict[str, Any]) -> None:
    body = {**whole(3, **more), "status": {}}
    assert apply(visitor, body)[0] == 201
    before = visitor.log()
    assert apply(visitor, body)[0] == 200
    _, held = send(visitor, "GET", WEB_PATH)
    held["spec"]["template"]["spec"]["containers"] = body["spec"]["template"]["spec"]["containers"]
    assert send(visitor, "PUT", WEB_PATH, held)[0] == 200
    assert visitor.log() == before


def test_the_status_is_applied_apart_from_the_rest(visitor: Visitor) -> None:
    apply(visitor, whole(3))
    before = managed(visitor)["kubectl Apply"]
    body = {**config(replicas=9), "status": {"conditions": [{"type": "Own", "status": "True"}]}}
    path = f"{WEB_PATH}/status?fieldManager=kubectl"
    code, now = send(visitor, "PATCH", path, body, APPLY)
    assert (code, now["spec"]["replicas"]) == (200, 3)
    assert "Own" in {one["type"] for one in now["status"]["conditions"]}
    of_status, of_object = sorted(now["metadata"]["managedFields"], key=lambda entry: "subresource" not in entry)
    own: dict[str, Any] = {'k:{"type":"Own"}': {".": {}, "f:status": {}, "f:type": {}}}
    assert (of_status["subresource"], of_status["fieldsV1"]) == ("status", {"f:status": {"f:conditions": own}})
    assert set(of_fields(of_object["fieldsV1"])) == before
    commands = len(log(visitor))
    assert apply(visitor, whole(3))[0] == 200
    assert send(visitor, "PATCH", path, body, APPLY)[0] == 200
    assert len(log(visitor)) == commands


def test_the_status_of_nothing_is_not_applied(visitor: Visitor) -> None:
    code, status = send(visitor, "PATCH", f"{WEB_PATH}/status?fieldManager=a", whole(3), APPLY)
    assert (code, status["message"], log(visitor)) == (404, 'deployments.apps "web" not found', [])


def test_an_empty_list_of_items_sets_nothing() -> None:
    spec = {"containers": [{"name": "c", "env": [], "args": []}]}
    assert set(leaves({"metadata": {"finalizers": []}, "spec": spec}, "Pod")) == {
        ("f:spec", "f:containers", CONTAINER),
        ("f:spec", "f:containers", CONTAINER, "f:name"),
        ("f:spec", "f:containers", CONTAINER, "f:args"),
    }


def test_a_manager_may_have_no_time(visitor: Visitor) -> None:
    entry = {"manager": "m", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    body = whole(3)
    body["metadata"] |= {"namespace": "default", "managedFields": [entry]}
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [body]})
    code, status = apply(visitor, config(replicas=4))
    assert (code, status["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "m" using apps/v1: .spec.replicas',
    )
    image = {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}
    assert apply(visitor, config(**image))[0] == 200


def test_what_is_left_of_an_item_keeps_its_keys() -> None:
    item = ("f:spec", "f:containers", CONTAINER)
    doomed = to_fields({(*item, "f:name"), (*item, "f:args")})
    left = without(POD, doomed, "Pod")["spec"]["containers"]
    assert left == [{"name": "c", "ports": [{"containerPort": 80}]}]
    everything = (path for path in leaves(POD, "Pod") if path[0] == "f:spec")
    assert "spec" not in without(POD, to_fields(everything), "Pod")


NAMED: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "an item by its type": (
        *({"status": {"conditions": [{"type": "A"}]}}, "Service"),
        ("f:status", "f:conditions", 'k:{"type":"A"}', "f:type"),
    ),
    "a value": (
        *({"status": {"uncountedTerminatedPods": {"failed": ["u"]}}}, "Job"),
        ("f:status", "f:uncountedTerminatedPods", "f:failed", 'v:"u"'),
    ),
    "a whole list": ({"subsets": [{"ports": [{"port": 1}]}]}, "Endpoints", ("f:subsets",)),
}


@pytest.mark.parametrize(("manifest", "kind", "path"), NAMED.values(), ids=NAMED)
def test_how_a_field_is_named(manifest: dict[str, Any], kind: str, path: tuple[str, ...]) -> None:
    assert max(leaves(manifest, kind), key=len) == path


def test_the_table_names_known_fields() -> None:
    for place in (*KEYED, *SETS, *WHOLE_MAPS):
        of, name = place.split(".")
        assert name in TYPES[of], place
    assert set(TYPES) >= WHOLE_TYPES
