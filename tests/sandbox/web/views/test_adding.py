from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from sandbox.changes import store
from sandbox.web.presets.clusters import CLUSTERS

pytestmark = pytest.mark.django_db

TWO_NODES = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
NODE_FIELDS = {"name": "a", "cpu": "4", "memory": "8Gi", "pods": "110"}
POD_FIELDS = {"name": "web", "cpu": "500m", "memory": "1Gi"}
RIGHT = {
    "node": NODE_FIELDS,
    "pod": POD_FIELDS,
    "workload": {"workload": "Deployment", **POD_FIELDS},
    "priority-class": {"name": "high", "value": "1000"},
    "budget": {"name": "web"},
    "claim": {"name": "data", "storage": "1Gi", "access_mode": "ReadWriteOnce"},
    "devices": {"name": "gpus", "node": "a", "driver": "gpu.example.com", "device_name": "gpu-0"},
    "device-class": {"name": "gpu"},
    "device-claim": {
        "claim_kind": "ResourceClaim",
        "name": "mine",
        "device_request_name": "gpu",
        "device_request_deviceClassName": "gpu",
    },
}
"""Form → valid fields."""


def nodes(visitor: Any) -> list[str]:
    panel = visitor.get("panel/cluster/").content.decode()
    return sorted(set(re.findall(r'data-node="([^"]+)"', panel)))


def text_of(answer: Any) -> str:
    return str(answer.content.decode())


def errors_of(answer: Any) -> dict[str, list[str]]:
    """Return field of the form → its errors.

    A field of a row is ``toleration 0 key``, of a nested row ``pod_expression 0 1 key``.
    """
    results: dict[str, list[str]] = {}
    place = ""
    message = r'<p class="err" role="alert"><svg.*?</svg><span>(?P<error>.*?)</span>'
    for token in re.finditer(rf'data-field="(\w+)"|class="cell-e" id="\w+-(.+?)-e"|{message}', text_of(answer)):
        if token["error"] is None:
            place = token[1] or " ".join(part for part in token[2].split("-") if part)
        else:
            results.setdefault(place, []).append(unescape(token["error"]))
    return results


def test_pasted_manifests_are_applied_as_one_command(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests=TWO_NODES, who="Ada")
    assert (answer.status_code, answer["HX-Trigger"]) == (204, "applied")
    assert nodes(visitor) == ["a", "b"]
    assert visitor.sandbox.records.get().who == "Ada"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_an_uploaded_file_counts_instead_of_the_text(visitor: Any, encoding: str) -> None:
    answer = visitor.post("apply/", manifests="junk: [", file=SimpleUploadedFile("x.yaml", TWO_NODES.encode(encoding)))
    assert answer.status_code == 204
    assert nodes(visitor) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(TWO_NODES.replace("{name: b}", "{name: b"), r"\b[89]\b", id="broken YAML names its line"),
        pytest.param(
            TWO_NODES.replace("{name: b}", "{name: B_}"),
            r"\b8\b[\s\S]*metadata.name[\s\S]*RFC 1123",
            id="a wrong field names its line and path",
        ),
        pytest.param(
            TWO_NODES.replace("Node\nmetadata: {name: b", "Noodle\nmetadata: {name: b"), "Noodle", id="a kind"
        ),
        pytest.param("just words", "mapping", id="not an object"),
        pytest.param("", "no manifest", id="empty"),
        pytest.param("# a comment\n---\n", "no manifest", id="only a comment"),
        pytest.param("\x00", "", id="a NUL byte"),
    ],
)
def test_an_invalid_manifest_is_reported_with_its_place_and_nothing_is_applied(
    visitor: Any, text: str, expected: str
) -> None:
    answer = visitor.post("apply/", manifests=text)
    assert answer.status_code == 422
    assert re.search(expected, text_of(answer)), text_of(answer)
    assert visitor.log() == []


def test_every_invalid_field_of_every_document_is_in_one_answer(visitor: Any) -> None:
    wrong = TWO_NODES.replace('cpu: "4"', "cpu: lots").replace("memory: 8Gi", "memory: much")
    text = text_of(visitor.post("apply/", manifests=wrong))
    assert text.count("status.capacity[cpu]") >= 2
    assert text.count("status.capacity[memory]") >= 2


WARNED = """\
apiVersion: v1
kind: Pod
metadata: {name: web.a}
spec:
  nodeSelector:
    beta.kubernetes.io/os: linux
  containers:
  - {name: main, image: x}
"""


def test_warnings_do_not_stop_and_are_in_the_notice(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests=WARNED)
    assert (answer.status_code, answer["HX-Trigger"], answer["HX-Retarget"]) == (200, "applied", "#notice")
    assert "a DNS label is recommended" in text_of(answer)
    assert "spec.nodeSelector[beta.kubernetes.io/os]" in text_of(answer)
    assert len(visitor.log()) == 1


def test_a_notice_lists_a_few_of_many_warnings(visitor: Any) -> None:
    many = "---\n".join(WARNED.replace("web.a", f"web-{number}") for number in range(10))
    text = text_of(visitor.post("apply/", manifests=many))
    assert text.count("deprecated since v1.14") == 4
    assert "and 6 more" in text


def test_errors_and_warnings_are_listed_apart(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests=f"{WARNED}---\n{TWO_NODES.replace('{name: b}', '{name: B_}')}")
    assert answer.status_code == 422
    kinds = re.findall(r'data-kind="(\w+)" data-line="(\d+)"\s+data-column="(\d+)"', text_of(answer))
    assert kinds == [("error", "17", "12"), ("warning", "3", "12"), ("warning", "6", "5")]
    assert visitor.log() == []


def test_a_refusal_by_the_cluster_has_a_place_too(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests=f"{TWO_NODES}---\n{WARNED}  priorityClassName: none\n")
    assert answer.status_code == 422
    assert "no PriorityClass with name none" in text_of(answer)
    assert 'data-line="11"' in text_of(answer)
    assert visitor.log() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(TWO_NODES, "Nothing to fix", id="valid manifests"),
        pytest.param(WARNED, "2 warnings", id="manifests with warnings"),
        pytest.param(TWO_NODES.replace("kind: Node", "kind: Noed"), "2 things to fix", id="invalid manifests"),
    ],
)
def test_a_text_can_be_checked_without_being_applied(visitor: Any, text: str, expected: str) -> None:
    answer = visitor.post("check/", manifests=text)
    assert answer.status_code == 200
    assert expected in text_of(answer)
    assert visitor.log() == []


def test_a_very_long_list_of_errors_is_cut(visitor: Any) -> None:
    many = "---\n".join(TWO_NODES.replace("v1", "v9") for _ in range(150))
    text = text_of(visitor.post("check/", manifests=many))
    assert text.count("data-line") == 200
    assert "300 things to fix" in text
    assert "and 100 more" in text


def test_a_form_shows_its_warnings_too(visitor: Any) -> None:
    answer = visitor.post("add/pod/", **POD_FIELDS | {"name": "web.a", "node_selector": "beta.kubernetes.io/os=linux"})
    assert (answer.status_code, answer["HX-Trigger"], answer["HX-Retarget"]) == (200, "applied", "#notice")
    assert "a DNS label is recommended" in text_of(answer)
    preview = text_of(visitor.post("preview/pod/", **POD_FIELDS | {"name": "web.b"}))
    assert "a DNS label is recommended" in preview


def test_a_binary_file_is_refused(visitor: Any) -> None:
    answer = visitor.post("apply/", file=SimpleUploadedFile("x.yaml", b"\xff\xfe\x00\x01"))
    assert answer.status_code == 422
    assert "UTF-8" in text_of(answer)


def test_a_yaml_bomb_is_refused_quickly(visitor: Any) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n" for before, here in pairwise("abcdefghi")
    )
    answer = visitor.post("apply/", manifests=bomb)
    assert answer.status_code == 422
    assert visitor.log() == []


def test_a_deep_nest_is_refused(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests="[" * 20_000)
    assert answer.status_code == 422


@pytest.mark.parametrize("as_file", [True, False], ids=["as a file", "as text"])
def test_ten_megabytes_are_refused_with_the_limit_in_words(visitor: Any, as_file: bool) -> None:
    big = "# " + "x" * 10_000_000
    fields = {"file": SimpleUploadedFile("x.yaml", big.encode())} if as_file else {"manifests": big}
    answer = visitor.post("apply/", **fields)
    assert answer.status_code == 413
    assert "1,048,576 bytes" in text_of(answer)


@pytest.mark.parametrize("as_file", [True, False], ids=["as a file", "as text"])
def test_a_little_over_one_mebibyte_is_refused_with_the_limit_in_words(visitor: Any, as_file: bool) -> None:
    big = "# " + "x" * 1024 * 1024
    fields = {"file": SimpleUploadedFile("x.yaml", big.encode())} if as_file else {"manifests": big}
    answer = visitor.post("apply/", **fields)
    assert answer.status_code == 413
    assert "1,048,578" in text_of(answer)
    assert "1,048,576 bytes" in text_of(answer)


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100)
def test_a_long_body_that_hides_its_length_is_refused_too(visitor: Any) -> None:
    body = b"manifests=" + b"x" * 1000
    answer = visitor.client.generic(
        "POST", visitor.url("apply/"), body, "application/x-www-form-urlencoded", CONTENT_LENGTH=""
    )
    assert answer.status_code in (413, 422)
    assert visitor.log() == []


def test_the_node_form_makes_a_node(visitor: Any) -> None:
    fields = NODE_FIELDS | {
        "zone": "z1",
        "region": "r1",
        "labels": "disk=ssd\ngpu=true, x=",
        "unschedulable": "on",
        "taint_key": ["k1", "", "k2"],
        "taint_value": ["v1", "", ""],
        "taint_effect": ["NoSchedule", "NoSchedule", "NoExecute"],
    }
    answer = visitor.post("add/node/", **fields)
    assert (answer.status_code, answer["HX-Trigger"]) == (204, "applied")
    text = text_of(visitor.get("yaml/Node/", key="a"))
    for part in ("topology.kubernetes.io/zone: z1", "disk: ssd", "unschedulable: true", "key: k2", "effect: NoExecute"):
        assert part in text


def test_the_pod_form_makes_a_pod(visitor: Any) -> None:
    fields = POD_FIELDS | {
        "labels": "app=web",
        "priority_class": "system-cluster-critical",
        "priority": "2000000000",
        "node_selector": "disk=ssd",
        "host_port": "8080",
        "gates": "example.com/wait",
        "toleration_key": ["k1"],
        "toleration_operator": ["Equal"],
        "toleration_value": ["v1"],
        "toleration_effect": ["NoSchedule"],
        "toleration_tolerationSeconds": [""],
        "spread_topologyKey": "zone",
        "spread_maxSkew": "2",
        "spread_whenUnsatisfiable": "ScheduleAnyway",
        "pod_term_kind": "podAntiAffinity",
        "pod_term_id": "0",
        "pod_expression_of": "0",
        "pod_expression_key": "app",
        "pod_expression_values": "web, db",
    }
    answer = visitor.post("add/pod/", **fields)
    assert answer.status_code == 204, text_of(answer)
    text = text_of(visitor.get("yaml/Pod/", key="default/web"))
    for part in (
        "cpu: 500m",
        "priority: 2000000000",
        "hostPort: 8080",
        "name: example.com/wait",
        "maxSkew: 2",
        "podAntiAffinity",
    ):
        assert part in text.replace("&#39;", "")


def test_copies_are_numbered_and_further_ones_continue(visitor: Any) -> None:
    visitor.post("add/node/", **NODE_FIELDS | {"count": "3"})
    visitor.post("add/node/", **NODE_FIELDS | {"count": "2"})
    assert nodes(visitor) == ["a-1", "a-2", "a-3", "a-4", "a-5"]
    assert len(visitor.log()) == 2


def test_a_name_in_use_is_refused_at_its_field_in_kubernetes_words(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    answer = visitor.post("add/node/", **NODE_FIELDS)
    assert answer.status_code == 422
    assert errors_of(answer) == {"name": ['nodes "a" already exists']}


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        ("node", {"name": "Not A Name"}, "name"),
        ("node", {"name": ""}, "name"),
        ("node", {"name": "Not A Name", "count": "3"}, "name"),
        ("node", {"cpu": "lots"}, "cpu"),
        ("node", {"memory": "-1"}, "memory"),
        ("node", {"name": "n" * 64}, "name"),
        ("node", {"zone": "no zone"}, "zone"),
        ("node", {"region": "no region"}, "region"),
        ("node", {"labels": "a=b c"}, "labels"),
        ("node", {"labels": "a b=c"}, "labels"),
        ("node", {"taint_key": ["k"], "taint_value": [""], "taint_effect": ["Never"]}, "taint 0 effect"),
        ("node", {"taint_key": ["k", "a b"]}, "taint 1 key"),
        ("node", {"extended": "nvidia.com/gpu=many"}, "extended"),
        ("node", {"imagefs": "large"}, "imagefs"),
        ("node", {"count": "many"}, "count"),
        ("node", {"count": "0"}, "count"),
        ("node", {"count": "1001"}, "count"),
        ("pod", {"name": "Not A Name"}, "name"),
        ("pod", {"namespace": "No"}, "namespace"),
        ("pod", {"labels": "a b=c"}, "labels"),
        ("pod", {"cpu": "lots"}, "cpu"),
        ("pod", {"memory": "lots"}, "memory"),
        ("pod", {"node_selector": "a b=c"}, "node_selector"),
        ("pod", {"priority": "high"}, "priority"),
        ("pod", {"priority_class": "never-made"}, "priority_class"),
        ("pod", {"host_port": "70000"}, "host_port"),
        ("pod", {"gates": "no gate"}, "gates"),
        ("pod", {"extended": "nvidia.com/gpu=1.5"}, "extended"),
        ("pod", {"toleration_key": ["k"], "toleration_operator": ["Equals"]}, "toleration 0 operator"),
        (
            "pod",
            {
                "toleration_key": ["", "j", "k"],
                "toleration_tolerationSeconds": ["", "", "soon"],
                "toleration_effect": ["", "", "NoExecute"],
            },
            "toleration 1 tolerationSeconds",
        ),
        ("pod", {"spread_maxSkew": "-1"}, "spread 0 maxSkew"),
        ("pod", {"spread_maxSkew": "one"}, "spread 0 maxSkew"),
        ("pod", {"spread_topologyKey": ""}, "spread 0 topologyKey"),
        ("pod", {"spread_topologyKey": ["zone", "rack"], "spread_minDomains": ["2", "0"]}, "spread 1 minDomains"),
        ("pod", {"spread_whenUnsatisfiable": "Sometimes"}, "spread 0 whenUnsatisfiable"),
        ("pod", {"spread_nodeTaintsPolicy": "Sometimes"}, "spread 0 nodeTaintsPolicy"),
        ("pod", {"spread_matchLabelKeys": "a b"}, "spread 0 matchLabelKeys"),
        ("pod", {"spread_labelSelector": "a b=c"}, "spread 0 labelSelector"),
        ("pod", {"pod_term_topologyKey": "a b"}, "pod_term 0 topologyKey"),
        ("pod", {"pod_term_kind": ["podAffinity"], "pod_term_namespaces": "No"}, "pod_term 0 namespaces"),
        ("pod", {"pod_term_rule": ["required", "preferred"], "pod_term_weight": ["", "101"]}, "pod_term 1 weight"),
        ("pod", {"pod_term_kind": "love"}, "pod_term 0 kind"),
        ("pod", {"pod_term_rule": ["required", "maybe"]}, "pod_term 1 rule"),
        (
            "pod",
            {
                "pod_term_id": ["7", "3"],
                "pod_term_kind": ["podAntiAffinity", "podAffinity"],
                "pod_expression_of": ["3", "7", "3"],
                "pod_expression_key": ["a", "b", "c d"],
                "pod_expression_operator": ["Exists", "Exists", "Exists"],
            },
            "pod_expression 1 1 key",
        ),
        (
            "pod",
            {
                "node_term_id": ["0", "1", "2"],
                "node_term_rule": ["preferred", "required", "preferred"],
                "node_term_weight": ["1", "1", "2"],
                "node_expression_of": ["0", "1", "2"],
                "node_expression_key": ["a", "b", "c"],
                "node_expression_operator": ["Exists", "Gt", "In"],
                "node_expression_values": ["", "7", ""],
            },
            "node_expression 2 0 values",
        ),
        ("workload", {"name": "Not A Name"}, "name"),
        ("workload", {"workload": "Pod"}, "workload"),
        ("workload", {"replicas": "-1"}, "replicas"),
        ("workload", {"workload": "Job", "completions": "-1"}, "completions"),
        ("workload", {"workload": "Job", "parallelism": "-1"}, "parallelism"),
        ("workload", {"labels": "a b=c"}, "labels"),
        ("workload", {"cpu": "lots"}, "cpu"),
        ("workload", {"workload": "Job", "toleration_operator": "Equals"}, "toleration 0 operator"),
        ("workload", {"spread_maxSkew": "0"}, "spread 0 maxSkew"),
        ("priority-class", {"value": "2000000000"}, "value"),
        ("priority-class", {"value": "much"}, "value"),
        ("priority-class", {"preemption_policy": "Sometimes"}, "preemption_policy"),
        ("priority-class", {"name": "system-mine"}, "name"),
        ("budget", {"min_available": "some"}, "min_available"),
        ("budget", {"max_unavailable": "x%"}, "max_unavailable"),
        ("budget", {"min_available": "1", "max_unavailable": "1"}, "min_available"),
        ("budget", {"selector": "a b=c"}, "selector"),
        ("claim", {"storage": "much"}, "storage"),
        ("claim", {"storage": ""}, "storage"),
        ("claim", {"access_mode": "ReadTwice"}, "access_mode"),
        ("claim", {"storage_class": "No Class"}, "storage_class"),
        ("pod", {"device_claim_name": "gpu"}, "device_claim 0 name"),
        (
            "pod",
            {"device_claim_name": "gpu", "device_claim_resourceClaimName": "A_B"},
            "device_claim 0 resourceClaimName",
        ),
        (
            "workload",
            {"device_claim_name": "gpu", "device_claim_resourceClaimName": "A_B"},
            "device_claim 0 resourceClaimName",
        ),
        ("devices", {"node": ""}, "node"),
        ("devices", {"driver": "No Driver"}, "driver"),
        ("devices", {"device_name": "A_B"}, "device 0 name"),
        ("devices", {"device_attributes": "the model=t4"}, "device 0 attributes"),
        ("devices", {"device_capacity": "memory=much"}, "device 0 capacity"),
        ("device-class", {"name": "A_B"}, "name"),
        ("device-class", {"device_expression_expression": "device.driver"}, "device_expression 0 expression"),
        ("device-claim", {"device_request_deviceClassName": ""}, "device_request 0 deviceClassName"),
        ("device-claim", {"device_request_count": "-1"}, "device_request 0 count"),
        ("device-claim", {"device_request_expression": "device.driver"}, "device_request 0 expression"),
        (
            "device-claim",
            {"claim_kind": "ResourceClaimTemplate", "device_request_expression": "device.driver"},
            "device_request 0 expression",
        ),
        ("device-claim", {"match_attribute": "model"}, "match_attribute"),
    ],
)
def test_an_error_shows_at_the_field_it_came_from(visitor: Any, kind: str, fields: dict[str, Any], field: str) -> None:
    answer = visitor.post(f"add/{kind}/", **RIGHT[kind] | fields)
    assert answer.status_code == 422
    errors = errors_of(answer)
    assert list(errors) == [field]
    assert len(errors[field]) == len(set(errors[field]))
    assert visitor.log() == []


def test_the_preview_shows_the_yaml_and_changes_nothing(visitor: Any) -> None:
    answer = visitor.post("preview/pod/", **POD_FIELDS | {"replicas": "2"})
    assert answer.status_code == 200
    assert text_of(answer).count("kind: Pod") == 1, "the copies are equal"
    assert "2 objects, from web-1 to web-2." in text_of(answer)
    assert visitor.log() == []


def test_the_preview_reports_unreadable_input(visitor: Any) -> None:
    answer = visitor.post("preview/pod/", **POD_FIELDS | {"replicas": "two"})
    assert answer.status_code == 200
    assert "whole number" in text_of(answer)


def test_copies_are_numbered_after_the_existing_ones(visitor: Any) -> None:
    visitor.post("add/node/", **NODE_FIELDS | {"count": "3"})
    text = text_of(visitor.post("preview/node/", **NODE_FIELDS | {"count": "1000"}))
    assert "1000 objects, from a-4 to a-1003." in text


def test_the_preview_reports_what_the_api_server_would_refuse(visitor: Any) -> None:
    text = text_of(visitor.post("preview/node/", **NODE_FIELDS | {"cpu": "lots"}))
    assert "cpu: lots" in text
    assert text.count("CPU: quantities must match") == 1
    assert visitor.log() == []


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("pod", {"host_port": "70000"}, "Host port: "),
        (
            "pod",
            {"toleration_key": ["", "k"], "toleration_operator": ["Exists", "Equals"]},
            "Tolerations 2, operator: ",
        ),
        (
            "pod",
            {
                "node_term_id": "4",
                "node_expression_of": "4",
                "node_expression_key": "a b",
                "node_expression_operator": "Exists",
            },
            "Node affinity 1, Expression 1, key: ",
        ),
        ("budget", {"min_available": "1", "max_unavailable": "1"}, "minAvailable: "),
        ("node", {"count": "many"}, "How many: "),
    ],
)
def test_the_preview_names_the_labels_that_people_see(
    visitor: Any, kind: str, fields: dict[str, Any], message: str
) -> None:
    text = text_of(visitor.post(f"preview/{kind}/", **RIGHT[kind] | fields))
    errors = re.findall(r'class="err"><svg.*?</svg><span>(.*?)</span>', text)
    assert [error[: len(message)] for error in errors] == [message]


@pytest.mark.parametrize(
    ("wrong", "fields"),
    [
        ("99999999999", ("priority",)),
        ("99999999999", ("host_port",)),
        ("a lot", ("cpu",)),
        ("a.b/c=much", ("extended",)),
        ("99999999999999999999", ("toleration_tolerationSeconds", "toleration_key")),
        ("99999999999", ("spread_maxSkew", "spread_topologyKey")),
        ("99999999999", ("node_term_weight", "node_term_rule")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_a_form_can_clear_its_own_fields(visitor: Any, wrong: str, fields: tuple[str, ...]) -> None:
    also = dict.fromkeys(fields[1:], "preferred" if "node_term_rule" in fields else "zone")
    plain = text_of(visitor.post("preview/pod/", name="web", **{fields[0]: ""}, **also))
    written = _yaml(text_of(visitor.post("preview/pod/", name="web", **{fields[0]: wrong}, **also)))
    assert wrong.rpartition("=")[2] in written
    cleared = text_of(visitor.post("preview/pod/", name="web", yaml=written, **{fields[0]: ""}, **also))
    assert wrong.rpartition("=")[2] not in cleared
    assert yaml.safe_load(_yaml(cleared)) == yaml.safe_load(_yaml(plain))


def _yaml(answer: str) -> str:
    match = re.search(r"<template data-yaml>(.*?)</template>", answer, re.DOTALL)
    return unescape(match[1]) if match else ""


def test_the_preview_has_no_anchors(visitor: Any) -> None:
    text = text_of(visitor.post("preview/workload/", **RIGHT["workload"], labels="app=web", spread_maxSkew="1"))
    assert "name: web" in text
    assert text.count("app: web") == 3
    assert "&amp;id" not in text


@pytest.mark.parametrize(
    ("kind", "fields", "key", "parts"),
    [
        ("Deployment", {"replicas": "2"}, "default/web", ("replicas: 2", "app: web")),
        ("StatefulSet", {"replicas": "0"}, "default/web", ("replicas: 0", "serviceName: web")),
        ("DaemonSet", {"replicas": "2"}, "default/web", ("kind: DaemonSet",)),
        ("Job", {"completions": "4", "parallelism": "2"}, "default/web", ("completions: 4", "restartPolicy: Never")),
    ],
)
def test_the_workload_form_makes_a_workload(
    visitor: Any, kind: str, fields: dict[str, str], key: str, parts: tuple[str, ...]
) -> None:
    answer = visitor.post("add/workload/", **RIGHT["workload"] | {"workload": kind} | fields)
    assert answer.status_code == 204, text_of(answer)
    text = text_of(visitor.get(f"yaml/{kind}/", key=key))
    for part in parts:
        assert part in text
    again = visitor.post("add/workload/", **RIGHT["workload"] | {"workload": kind})
    group = "batch" if kind == "Job" else "apps"
    assert errors_of(again) == {"name": [f'{kind.lower()}s.{group} "web" already exists']}


def test_a_claim_from_one_form_is_the_volume_of_a_pod_from_another(visitor: Any) -> None:
    assert visitor.post("add/claim/", **RIGHT["claim"]).status_code == 204
    assert visitor.post("add/pod/", **POD_FIELDS, claims="data").status_code == 204
    assert "claimName: data" in text_of(visitor.get("yaml/Pod/", key="default/web"))


def test_a_priority_class_from_one_form_is_that_of_a_pod_from_another(visitor: Any) -> None:
    assert visitor.post("add/priority-class/", **RIGHT["priority-class"]).status_code == 204
    assert visitor.post("add/pod/", **POD_FIELDS, priority_class="high").status_code == 204
    assert "priority: 1000" in text_of(visitor.get("yaml/Pod/", key="default/web"))


def test_the_page_says_what_the_whole_clusters_are(visitor: Any) -> None:
    page = unescape(text_of(visitor.get()))
    for preset in CLUSTERS:
        assert f"<b>{preset.title}</b><small>{preset.says}</small>" in page


@pytest.mark.parametrize("path", ["add/secret/", "preview/secret/"])
def test_other_kinds_have_no_form(visitor: Any, path: str) -> None:
    assert visitor.post(path).status_code == 404


@pytest.mark.parametrize("path", ["check/", "apply/"])
def test_more_errors_than_anybody_mends_are_not_counted(visitor: Any, path: str) -> None:
    many = "---\n".join(TWO_NODES.replace("v1", "v9") for _ in range(600))
    text = text_of(visitor.post(path, manifests=many))
    assert text.count("data-line") == 200
    assert "More than 1000 things to fix" in text
    assert "Only the first 200 are listed." in text


def opened(html: str) -> list[str]:
    """Return the unfolded parts of the pod's form."""
    return re.findall(r'<details class="grp-d" open>\s*<summary>([^<]*)<', html)


def test_a_form_starts_empty_and_returns_with_its_choices(visitor: Any) -> None:
    page = text_of(visitor.get())
    assert page.count('<details class="grp-d"') == 2 * 6
    assert opened(page) == []
    assert 'name="unschedulable" value="1">' in page
    node = text_of(visitor.post("add/node/", **NODE_FIELDS | {"name": "Not A Name", "unschedulable": "1"}))
    assert 'name="unschedulable" value="1" checked>' in node
    refused = POD_FIELDS | {"name": "Not A Name", "spread_maxSkew": "1", "gates": "example.com/g"}
    assert opened(text_of(visitor.post("add/pod/", **refused))) == [
        "Topology spread constraints",
        "Namespace, image, host port, volumes, gates",
    ]
    tolerating = {"toleration_key": ["k"], "toleration_operator": ["Exists"]}
    parts = {"toleration_value": [""], "toleration_effect": [""]}
    named = {"name": "Not A Name", **tolerating, **parts}
    assert opened(text_of(visitor.post("add/pod/", **POD_FIELDS | named))) == ["Tolerations"]


def test_the_preview_shows_the_effect_in_this_cluster_and_changes_nothing(visitor: Any) -> None:
    visitor.post("add/node/", **NODE_FIELDS)
    fits = text_of(visitor.post("preview/pod/", **POD_FIELDS))
    assert "In this cluster, now" in fits
    assert "1 of 1 node fits: it would go to" in fits
    never = text_of(visitor.post("preview/pod/", **POD_FIELDS | {"cpu": "900"}))
    assert "would not be scheduled: 0/1 nodes are available: 1 Insufficient cpu." in never
    assert "would" not in text_of(visitor.post("preview/pod/", **POD_FIELDS | {"cpu": "lots"}))
    assert len(visitor.log()) == 1, "the node alone"
