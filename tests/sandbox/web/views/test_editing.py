"""A form and its YAML side by side, and existing objects edited by them or by single controls."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
import yaml

from sandbox.changes import store

pytestmark = pytest.mark.django_db

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {disk: ssd}
  containers:
  - name: main
    image: shop:1
    resources: {requests: {cpu: 500m}}
  - {name: side, image: side:1}
"""
TEXT = {"leads": "yaml"}
FORM = {"leads": "form"}


def text_of(answer: Any) -> str:
    return unescape(answer.content.decode())


def previewed(answer: Any) -> Any:
    """Return the manifest in the answer of a preview from the form."""
    match = re.search(r"<template data-yaml>(.*?)</template>", text_of(answer), re.DOTALL)
    return yaml.safe_load(match[1]) if match else None


def value(answer: Any, name: str) -> str:
    match = re.search(rf'name="{name}"\s+value="([^"]*)"', text_of(answer))
    assert match, name
    return match[1]


@pytest.fixture(name="cluster")
def create_cluster(visitor: Any, node: Any) -> Any:
    """Create two nodes, and a pod that waits for a label."""
    store.execute(visitor.sandbox, node("a", "b"))
    visitor.post("apply/", manifests=POD)
    visitor.post("do/settle/")
    return visitor


def stored(visitor: Any, kind: str = "Pod", key: str = "default/web") -> Any:
    answer = visitor.get(f"yaml/{kind}/", key=key)
    shown = re.search(r"<pre[^>]*>(.*?)</pre>", text_of(answer), re.DOTALL)
    assert shown
    return yaml.safe_load(shown[1])


def shown(visitor: Any, kind: str = "Pod", key: str = "default/web") -> str:
    """Return the text in which an object is edited."""
    answer = visitor.get(f"edit/{kind}/form/", key=key)
    assert answer.status_code == 200
    return text_of(answer).split('name="yaml"')[1].split(">\n", 1)[1].split("</textarea>")[0]


def last(visitor: Any) -> Any:
    """Return the last command."""
    return json.loads(visitor.log()[-1])


# --- form and text ---


def test_typing_in_the_yaml_updates_the_form(visitor: Any) -> None:
    answer = visitor.post("preview/pod/", **TEXT, yaml=POD, replicas="3")
    assert 'hx-swap-oob="true"' in text_of(answer)
    assert (value(answer, "name"), value(answer, "cpu")) == ("web", "500m")
    assert (value(answer, "node_selector"), value(answer, "image")) == ("disk=ssd", "shop:1")
    assert value(answer, "replicas") == "3", "text outside of the manifest stays"
    assert previewed(answer) is None, "the text stays as typed"
    assert "Not shown in the form: spec.containers[1]." in text_of(answer)


def test_typing_in_the_form_is_merged_into_the_yaml(visitor: Any) -> None:
    response = visitor.post("preview/pod/", **FORM, yaml=POD, name="web", cpu="2", image="shop:1", labels="app=web")
    manifest = previewed(response)
    assert manifest["metadata"] == {"name": "web", "labels": {"app": "web"}}
    assert "nodeSelector" not in manifest["spec"], "its field is empty now"
    first, second = manifest["spec"]["containers"]
    assert first == {"name": "main", "image": "shop:1", "resources": {"requests": {"cpu": "2"}}}
    assert second == {"name": "side", "image": "side:1"}, "hidden fields stay"


def test_comments_stay_where_the_form_changes_something_else(visitor: Any) -> None:
    commented = POD.replace("spec:", "spec:  # what it needs").replace("image: shop:1", "image: shop:1  # the shop")
    fields = {"name": "web", "cpu": "2", "image": "shop:1", "node_selector": "disk=ssd"}
    response = visitor.post("preview/pod/", **FORM, yaml=commented, **fields)
    assert "spec:  # what it needs" in text_of(response)
    assert "image: shop:1  # the shop" in text_of(response)


SELECTING = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers: [{name: main, image: x}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: own, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
  - {maxSkew: 1, topologyKey: none, whenUnsatisfiable: DoNotSchedule}
  - {maxSkew: 1, topologyKey: all, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}
  - maxSkew: 1
    topologyKey: some
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchExpressions: [{key: a, operator: Exists}]}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: own, labelSelector: {matchLabels: {app: web}}}
      - {topologyKey: all, labelSelector: {}}
"""
ROWS = {
    "spread_topologyKey": ["own", "none", "all", "some"],
    "spread_whenUnsatisfiable": ["DoNotSchedule"] * 4,
    "spread_maxSkew": ["1"] * 4,
    "pod_term_id": ["0", "1"],
    "pod_term_topologyKey": ["own", "all"],
}


def selectors(manifest: Any) -> list[Any]:
    spec = manifest["spec"]
    terms = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return [item.get("labelSelector") for item in (*spec["topologySpreadConstraints"], *terms)]


def test_only_what_selects_the_pods_own_labels_follows_them(visitor: Any) -> None:
    response = visitor.post("preview/pod/", **FORM, yaml=SELECTING, name="web", image="x", labels="app=shop", **ROWS)
    own, some = {"matchLabels": {"app": "shop"}}, {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    assert previewed(response)["metadata"]["labels"] == {"app": "shop"}
    assert selectors(previewed(response)) == [own, None, {}, some, own, {}], "hidden fields stay"


def test_labels_that_come_after_a_constraint_are_selected_by_it(visitor: Any) -> None:
    rows = {"spread_topologyKey": "zone", "spread_whenUnsatisfiable": "DoNotSchedule", "spread_maxSkew": "1"}
    first = visitor.post("preview/pod/", **FORM, name="web", **rows)
    text = yaml.safe_dump(previewed(first))
    for labels, selector in (("app=web", {"matchLabels": {"app": "web"}}), ("", None)):
        response = visitor.post("preview/pod/", **FORM, yaml=text, name="web", labels=labels, **rows)
        assert previewed(response)["spec"]["topologySpreadConstraints"][0].get("labelSelector") == selector
        text = yaml.safe_dump(previewed(response))


VOLUMES = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: shop, image: x}
  - {name: main, image: x}
  volumes:
  - {name: volume-1, emptyDir: {}}
  - {name: a, persistentVolumeClaim: {claimName: one}}
  - {name: b, persistentVolumeClaim: {claimName: two, readOnly: true}}
"""


@pytest.mark.parametrize(
    ("claims", "volumes"),
    [
        ("one, two", {"a": "one", "b": "two"}),
        ("two", {"b": "two"}),
        ("", {}),
        ("one, three", {"a": "one", "b": "three"}),
        ("one, two, three", {"a": "one", "b": "two", "volume-2": "three"}),
    ],
)
def test_claims_come_and_go_beside_other_volumes(visitor: Any, claims: str, volumes: dict[str, str]) -> None:
    response = visitor.post("preview/pod/", **FORM, yaml=VOLUMES, name="web", image="x", cpu="2", claims=claims)
    spec = previewed(response)["spec"]
    held = {volume["name"]: volume.get("persistentVolumeClaim", {}).get("claimName") for volume in spec["volumes"]}
    assert held == {"volume-1": None} | volumes
    assert [(one["name"], "resources" in one) for one in spec["containers"]] == [("shop", True), ("main", False)]


def test_hidden_fields_of_volumes_are_named_correctly(visitor: Any) -> None:
    text = text_of(visitor.post("preview/pod/", **TEXT, yaml=VOLUMES))
    assert "Not shown in the form: spec.containers[1], spec.volumes[0], spec.volumes[2].persistentVolumeClaim" in text


def test_of_many_hidden_fields_some_are_named_and_the_others_counted(visitor: Any) -> None:
    switches = ("hostNetwork", "hostPID", "hostIPC", "setHostnameAsFQDN", "automountServiceAccountToken")
    fields = (*(f"{name}: true" for name in switches), "hostname: a", "subdomain: b", "dnsPolicy: Default")
    text = text_of(visitor.post("preview/pod/", **TEXT, yaml=POD + "".join(f"  {one}\n" for one in fields)))
    assert ", spec.automountServiceAccountToken, 3 more. It stays as it is." in text


def test_a_value_outside_of_the_list_is_kept_and_reported_at_both(visitor: Any) -> None:
    wrong = POD + "  tolerations: [{key: gpu, operator: Is}]\n"
    answer = visitor.post("preview/pod/", **TEXT, yaml=wrong)
    assert "<option selected>Is</option>" in text_of(answer)
    assert 'data-line="11"' in text_of(answer)
    assert text_of(answer).count('Unsupported value: "Is": supported values: "Equal", "Exists"') == 2
    rows = {"toleration_key": "gpu", "toleration_operator": "Is", "toleration_value": "", "toleration_effect": ""}
    again = visitor.post("preview/pod/", **FORM, yaml=wrong, name="web", priority="7", **rows)
    assert previewed(again)["spec"]["tolerations"] == [{"key": "gpu", "operator": "Is"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: [", "invalid YAML"),
        ("", "There is no manifest in this text."),
        (POD.replace("kind: Pod", "kind: Podd"), "Podd"),
    ],
)
def test_a_text_that_is_wrong_leaves_the_form_alone(visitor: Any, text: str, message: str) -> None:
    answer = visitor.post("preview/pod/", **TEXT, yaml=text, name="web")
    assert message in text_of(answer)
    assert "hx-swap-oob" not in text_of(answer)
    refused = visitor.post("add/pod/", **TEXT, yaml=text, name="web")
    assert refused.status_code == 422
    assert message in text_of(refused)
    assert value(refused, "name") == "web"
    assert visitor.log() == []


@pytest.mark.parametrize(
    "text", [f"{POD}---\n{POD.replace('web', 'other')}", POD.replace("kind: Pod", "kind: Namespace").split("spec:")[0]]
)
def test_a_text_that_the_form_cannot_show_is_still_applied(visitor: Any, text: str) -> None:
    answer = visitor.post("preview/pod/", **TEXT, yaml=text)
    assert "The form follows the YAML again when the YAML is a single Pod." in text_of(answer)
    assert "hx-swap-oob" not in text_of(answer)
    touched = visitor.post("preview/pod/", **FORM, yaml=text, name="web", cpu="2")
    assert "The form follows the YAML again when the YAML is a single Pod." in text_of(touched)
    assert text.strip() in text_of(touched), "typing in the form keeps the text"
    assert visitor.post("add/pod/", **TEXT, yaml=text, replicas="1").status_code == 204
    assert len(visitor.log()) == 1


def test_the_text_counts_when_it_leads_and_the_form_when_it_leads(visitor: Any) -> None:
    assert visitor.post("add/pod/", **TEXT, yaml=POD, name="other", cpu="3").status_code == 204
    assert stored(visitor)["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "500m"
    fields = {"name": "other", "cpu": "3"}
    assert visitor.post("add/pod/", **FORM, yaml=POD, **fields).status_code == 204
    assert stored(visitor, key="default/other")["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"


def test_copies_of_a_text_are_numbered(visitor: Any) -> None:
    manifest = "apiVersion: v1\nkind: Node\nmetadata: {name: big, labels: {kubernetes.io/hostname: big, disk: ssd}}\n"
    size = 'status: {capacity: {cpu: "1", memory: 1Gi, pods: "9"}}\n'
    assert visitor.post("add/node/", **TEXT, yaml=manifest + size, count="2").status_code == 204
    assert stored(visitor, "Node", "big-2")["metadata"]["labels"] == {"kubernetes.io/hostname": "big-2", "disk": "ssd"}


def test_a_name_in_use_is_reported_at_its_line_too(cluster: Any) -> None:
    answer = cluster.post("add/pod/", **TEXT, yaml=POD)
    assert answer.status_code == 422
    assert re.search(r'data-line="3"[\s\S]*pods "web" already exists', text_of(answer))


# --- existing objects ---


def test_an_object_is_edited_without_what_the_server_writes(cluster: Any) -> None:
    manifest = yaml.safe_load(shown(cluster))
    assert set(manifest["metadata"]) == {"name", "namespace"}
    assert "status" not in manifest
    assert "capacity" in yaml.safe_load(shown(cluster, "Node", "a"))["status"]


def test_a_change_in_the_text_is_one_patch(cluster: Any) -> None:
    original = shown(cluster, "Node", "a")
    text = original.replace("name: a\n", "name: a\n  labels: {disk: ssd}\n", 1)
    response = cluster.post("edit/Node/preview/?key=a", **TEXT, yaml=text, original=original)
    assert "1 of 2 nodes fits: it would go to a." in text_of(response)
    assert cluster.post("edit/Node/?key=a", **TEXT, yaml=text, original=original).status_code == 204
    assert stored(cluster, "Node", "a")["metadata"]["labels"] == {"disk": "ssd"}
    assert last(cluster)["changes"] == {"metadata": {"labels": {"disk": "ssd"}}}


def test_a_change_in_the_form_is_the_same_patch(cluster: Any) -> None:
    original = shown(cluster, "Node", "a")
    fields = {"name": "a", "cpu": "4", "memory": "8Gi", "pods": "110", "labels": "disk=ssd"}
    answer = cluster.post("edit/Node/?key=a", **FORM, yaml=original, original=original, **fields)
    assert answer.status_code == 204, text_of(answer)
    labels = {"kubernetes.io/hostname": "a", "disk": "ssd"}
    assert last(cluster)["changes"] == {"metadata": {"labels": labels}}


def test_the_size_of_a_node_is_what_pods_may_ask_for(visitor: Any) -> None:
    size = 'status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}, allocatable: {cpu: 3800m, memory: 7Gi, pods: "9"}}\n'
    visitor.post("apply/", manifests="apiVersion: v1\nkind: Node\nmetadata: {name: a}\n" + size)
    pane = visitor.get("edit/Node/form/", key="a")
    assert value(pane, "cpu") == "3800m"
    original = shown(visitor, "Node", "a")
    fields = {"name": "a", "cpu": "5", "memory": "7Gi", "pods": "9"}
    assert visitor.post("edit/Node/?key=a", **FORM, yaml=original, original=original, **fields).status_code == 204
    changed = {"capacity": {"cpu": "5"}, "allocatable": {"cpu": "5"}}
    assert last(visitor)["changes"] == {"status": changed}, "untouched fields stay, memory 8Gi and 7Gi, too"


def test_a_disk_for_images_comes_and_goes_with_its_field(cluster: Any) -> None:
    fields = {"name": "a", "cpu": "4", "memory": "8Gi", "pods": "10"}
    for amount in ("20Gi", ""):
        original = shown(cluster, "Node", "a")
        answer = cluster.post("edit/Node/?key=a", **FORM, yaml=original, original=original, imagefs=amount, **fields)
        assert answer.status_code == 204, text_of(answer)
        assert value(cluster.get("edit/Node/form/", key="a"), "imagefs") == amount
        annotations = stored(cluster, "Node", "a")["metadata"].get("annotations") or {}
        assert annotations.get("sandbox/imagefs", "") == amount


@pytest.mark.parametrize("amount", ["2", ""])
def test_a_device_is_a_request_too_once_kubernetes_made_it_one(visitor: Any, amount: str) -> None:
    """The API server copies limits of extended resources to requests, and both must be equal."""
    form = {"name": "train", "cpu": "1"}
    visitor.post("add/pod/", **form, extended="nvidia.com/gpu=8")
    assert (
        stored(visitor, key="default/train")["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] == "8"
    )
    original = shown(visitor, key="default/train")
    fields = form | {"extended": f"nvidia.com/gpu={amount}" if amount else "", "priority": "0", "recreate": "1"}
    fields |= {"toleration_key": "", "toleration_operator": "Exists"}
    answer = visitor.post("edit/Pod/?key=default/train", **FORM, yaml=original, original=original, **fields)
    assert answer.status_code == 204, text_of(answer)
    resources = stored(visitor, key="default/train")["spec"]["containers"][0]["resources"]
    assert (
        resources["requests"].get("nvidia.com/gpu", "")
        == resources.get("limits", {}).get("nvidia.com/gpu", "")
        == amount
    )


def test_a_workloads_selector_stays(visitor: Any) -> None:
    fields = {"workload": "Deployment", "name": "web", "replicas": "1", "labels": "app=web"}
    visitor.post("add/workload/", **fields)
    original = shown(visitor, "Deployment")
    changed = fields | {"labels": "app=web, tier=front"}
    response = visitor.post("edit/Deployment/?key=default/web", **FORM, yaml=original, original=original, **changed)
    assert response.status_code == 204, text_of(response)
    assert last(visitor)["changes"] == {"spec": {"template": {"metadata": {"labels": {"tier": "front"}}}}}


def test_a_change_by_somebody_else_meanwhile_stays(cluster: Any) -> None:
    original = shown(cluster, "Node", "a")
    cluster.post("cordon/", node="a", on="1")
    text = original.replace("name: a\n", "name: a\n  labels: {disk: ssd}\n", 1)
    cluster.post("edit/Node/?key=a", **TEXT, yaml=text, original=original)
    assert stored(cluster, "Node", "a")["spec"]["unschedulable"] is True


def test_requests_of_a_pod_are_changed_by_a_resize(cluster: Any) -> None:
    original = shown(cluster)
    text = original.replace("cpu: 500m", "cpu: 250m")
    assert cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original).status_code == 204
    assert last(cluster)["subresource"] == "resize"
    assert stored(cluster)["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "250m"


def test_an_edit_without_changes_says_so_without_alarm(cluster: Any) -> None:
    original, before = shown(cluster), cluster.log()
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=original, original=original)
    assert answer.status_code == 409
    assert "is-calm" in text_of(answer)
    assert "There is no change to apply." in text_of(answer)
    assert cluster.log() == before


def test_a_forbidden_change_is_reported_and_a_pending_pod_can_be_replaced(cluster: Any) -> None:
    original, before = shown(cluster), cluster.log()
    text = original.replace("disk: ssd", "kubernetes.io/arch: amd64")
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original)
    assert answer.status_code == 422
    assert "pod updates may not change fields other than" in text_of(answer)
    assert "Delete and recreate" in text_of(answer)
    assert cluster.log() == before
    recreated = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original, recreate="1")
    assert recreated.status_code == 204
    assert stored(cluster)["spec"]["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
    assert [json.loads(command)["kind"] for command in cluster.log()[len(before) :]] == ["replace"]
    assert cluster.post("do/back/").status_code in (200, 204)
    assert stored(cluster)["spec"]["nodeSelector"] == {"disk": "ssd"}


def test_a_pod_that_cannot_be_replaced_still_exists(cluster: Any) -> None:
    original = shown(cluster)
    text = original.replace("  priority: 0\n", "  priorityClassName: none\n")
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original, recreate="1")
    assert answer.status_code == 422
    assert "no PriorityClass with name none" in text_of(answer)
    assert stored(cluster)["spec"]["nodeSelector"] == {"disk": "ssd"}


def test_a_running_pod_is_not_replaced(cluster: Any) -> None:
    cluster.post("label/", kind="Node", object="a", key="disk", value="ssd", on="1")
    cluster.post("do/advance/", seconds="10")
    original = shown(cluster)
    text = original.replace("disk: ssd", "disk: hdd")
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original)
    assert answer.status_code == 422
    assert "Delete and recreate" not in text_of(answer)


def test_only_the_same_pod_is_replaced(cluster: Any) -> None:
    original, before = shown(cluster), cluster.log()
    other = original.replace("name: web", "name: other", 1)
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=other, original=original, recreate="1")
    assert "the name of the object (other) does not match the name on the URL (web)" in text_of(answer)
    node = shown(cluster, "Node", "a")
    assert cluster.post("edit/Node/?key=a", **TEXT, yaml=node, original=node, recreate="1").status_code == 409
    assert cluster.log() == before


def test_a_deleted_pod_is_not_replaced(cluster: Any) -> None:
    original = shown(cluster)
    cluster.post("delete/", kind="Pod", key="default/web")
    text = original.replace("disk: ssd", "disk: hdd")
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original)
    assert 'pods "web" not found' in text_of(answer)
    assert "Delete and recreate" not in text_of(answer)


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: shop:1}
      - {name: side, image: side:1}
"""


def test_a_form_is_merged_into_the_object_where_the_text_cannot_be_read(cluster: Any) -> None:
    cluster.post("apply/", manifests=DEPLOYMENT)
    original = shown(cluster, "Deployment")
    fields = {"workload": "Deployment", "name": "web", "replicas": "3", "labels": "app=web", "image": "shop:1"}
    for text in ("kind: [", "", "kind: Service"):
        response = cluster.post(
            "edit/Deployment/preview/?key=default/web", **FORM, yaml=text, original=original, **fields
        )
        containers = previewed(response)["spec"]["template"]["spec"]["containers"]
        assert [container["name"] for container in containers] == ["main", "side"], "hidden fields stay"
    answer = cluster.post("edit/Deployment/?key=default/web", **FORM, yaml="{", original=original, **fields)
    assert answer.status_code == 204
    assert last(cluster)["changes"] == {"spec": {"replicas": 3}}


@pytest.mark.parametrize("original", ["[1, 2]", "text", "5", "{"])
def test_an_original_that_is_not_an_object_is_refused(cluster: Any, original: str) -> None:
    answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=POD, original=original)
    assert answer.status_code == 422


def test_an_original_of_wrong_types_is_only_different(cluster: Any) -> None:
    assert cluster.post("edit/Pod/preview/?key=default/web", **TEXT, yaml=POD, original="spec: 5").status_code == 200


def many(rows: int) -> str:
    return POD + "  tolerations:\n" + "".join(f"  - {{key: k{number}, operator: Exists}}\n" for number in range(rows))


def test_a_text_of_more_rows_than_a_form_shows_is_not_drawn(cluster: Any) -> None:
    shown_text = text_of(cluster.post("preview/pod/", **TEXT, yaml=many(101).replace("web", "big")))
    assert "This has more rows than a form shows." in shown_text
    assert "hx-swap-oob" not in shown_text
    assert 'name="toleration_key"' in text_of(cluster.post("preview/pod/", **TEXT, yaml=many(100)))
    cluster.post("apply/", manifests=many(101).replace("web", "big"))
    pane = text_of(cluster.get("edit/Pod/form/", key="default/big"))
    assert "This Pod has more rows than a form shows." in pane
    original = shown(cluster, key="default/big")
    text = original.replace("name: big", "name: big\n  labels: {a: b}", 1)
    for leads in (TEXT, FORM):
        shown_text = text_of(cluster.post("edit/Pod/preview/?key=default/big", **leads, yaml=text, original=original))
        assert "hx-swap-oob" not in shown_text, "the YAML wins"
    wrong = text.replace("a: b", "a b: c")
    refused = text_of(cluster.post("edit/Pod/?key=default/big", **TEXT, yaml=wrong, original=original))
    assert "This Pod has more rows than a form shows." in refused
    assert "name part must consist of" in refused
    assert cluster.post("edit/Pod/?key=default/big", **TEXT, yaml=text, original=original).status_code == 204
    assert last(cluster)["changes"] == {"metadata": {"labels": {"a": "b"}}}


def test_a_form_has_a_limit_of_rows(visitor: Any) -> None:
    keys = [f"k{number}" for number in range(101)]
    answer = visitor.post("add/pod/", **FORM, name="web", toleration_key=keys)
    assert answer.status_code == 422
    assert "A form takes at most 100 rows. Use YAML for more." in text_of(answer)


def test_one_object_is_edited_at_a_time(cluster: Any) -> None:
    original, before = shown(cluster), cluster.log()
    for text in (f"{original}---\n{POD.replace('web', 'other')}", original.replace("name: web", "name: other", 1)):
        answer = cluster.post("edit/Pod/?key=default/web", **TEXT, yaml=text, original=original)
        assert answer.status_code == 422
    assert "the name of the object (other) does not match the name on the URL (web)" in text_of(answer)
    assert cluster.log() == before


def test_a_kind_without_a_form_is_edited_as_yaml(cluster: Any) -> None:
    pane = text_of(cluster.get("edit/Namespace/form/", key="default"))
    assert "A Namespace has no form." in pane
    assert "stays in step" not in pane
    original = shown(cluster, "Namespace", "default")
    text = original.replace("  labels:\n", "  labels:\n    team: a\n")
    assert cluster.post("edit/Namespace/?key=default", **TEXT, yaml=text, original=original).status_code == 204
    assert stored(cluster, "Namespace", "default")["metadata"]["labels"]["team"] == "a"


def test_a_deleted_object_is_reported(cluster: Any) -> None:
    answer = cluster.get("edit/Pod/form/", key="default/gone")
    assert answer.status_code == 404
    assert "Pod default/gone no longer exists." in text_of(answer)


def test_a_watcher_gets_no_form(cluster: Any) -> None:
    assert cluster.watching().get("edit/Pod/form/", key="default/web").status_code == 404


# --- single controls ---


def test_labels_come_and_go(cluster: Any) -> None:
    cluster.post("label/", kind="Node", object="b", key=" disk ", value="ssd", on="1")
    assert stored(cluster, "Node", "b")["metadata"]["labels"]["disk"] == "ssd"
    cluster.post("do/advance/", seconds="10")
    assert stored(cluster)["spec"]["nodeName"] == "b", "the waiting pod is woken"
    cluster.post("label/", kind="Node", object="b", key="disk", on="0")
    assert "disk" not in stored(cluster, "Node", "b")["metadata"].get("labels", {})


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("label/", {"kind": "Pod", "object": "default/web", "key": "a b", "on": "1"}, "name part must consist of"),
        ("label/", {"kind": "Pod", "object": "default/none", "key": "a", "on": "1"}, 'pods "none" not found'),
        ("resize/", {"pod": "default/web", "container": "main", "cpu": "lots"}, "quantities must match"),
        ("resize/", {"pod": "default/web", "container": "main"}, "resource requests cannot be removed"),
        ("resize/", {"pod": "default/none", "container": "main", "cpu": "1"}, 'pods "none" not found'),
        ("ungate/", {"pod": "default/none", "gate": "x"}, 'pods "none" not found'),
    ],
)
def test_an_error_is_reported_and_changes_nothing(cluster: Any, path: str, fields: dict[str, str], said: str) -> None:
    before = cluster.log()
    answer = cluster.post(path, **fields)
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert cluster.log() == before


def test_a_container_is_resized_and_the_others_stay(cluster: Any) -> None:
    assert cluster.post("resize/", pod="default/web", container="main", cpu="1", memory="1Gi").status_code == 204
    first, second = stored(cluster)["spec"]["containers"]
    assert first["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert not second.get("resources")


def test_gates_are_removed_one_by_one(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    gated = POD.replace("  nodeSelector: {disk: ssd}\n", "  schedulingGates: [{name: x.io/a}, {name: x.io/b}]\n")
    visitor.post("apply/", manifests=gated)
    visitor.post("ungate/", pod="default/web", gate="x.io/a")
    assert stored(visitor)["spec"]["schedulingGates"] == [{"name": "x.io/b"}]
    visitor.post("ungate/", pod="default/web", gate="x.io/b")
    visitor.post("do/settle/")
    assert stored(visitor)["spec"]["nodeName"] == "a"


def test_finalizers_are_removed_one_by_one_and_then_their_object(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    visitor.post("apply/", manifests=POD.replace("{name: web}", "{name: web, finalizers: [x.io/a, x.io/b]}"))
    visitor.post("delete/", kind="Pod", key="default/web")
    visitor.post("unfinalize/", kind="Pod", object="default/web", finalizer="x.io/a")
    assert stored(visitor)["metadata"]["finalizers"] == ["x.io/b"]
    visitor.post("unfinalize/", kind="Pod", object="default/web", finalizer="x.io/b")
    assert visitor.get("yaml/Pod/", key="default/web").status_code == 404
    answer = visitor.post("unfinalize/", kind="Pod", object="default/web", finalizer="x.io/b")
    assert (answer.status_code, 'pods "web" not found' in text_of(answer)) == (422, True)


def test_back_says_what_it_undid(cluster: Any) -> None:
    cluster.post("label/", kind="Node", object="b", key="disk", value="ssd", on="1")
    answer = cluster.post("do/back/")
    assert (answer.status_code, answer["HX-Retarget"]) == (200, "#notice")
    assert "Undone: edit Node b: metadata.labels.disk=ssd. Press Forward to redo." in text_of(answer)
    assert cluster.post("do/back/").status_code == 204, "the scheduler's own steps are shown on the page"
