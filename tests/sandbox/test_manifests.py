from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.http import QueryDict

from sandbox.forms import FORMS
from scheduler_engine.api.validation import validate

NODE = "name=a&cpu=4&memory=8Gi&pods=110"
POD = "name=web&cpu=500m&memory=1Gi&labels=app=web"
TERM = "requiredDuringSchedulingIgnoredDuringExecution"


def made(kind: str, query: str) -> list[dict[str, Any]]:
    form = FORMS[kind](QueryDict(query))
    assert form.is_valid(), form.errors
    return form.manifests()


@pytest.mark.parametrize(
    ("kind", "query", "part"),
    [
        pytest.param("node", NODE, "status: {capacity: {cpu: '4', memory: 8Gi, pods: '110'}}", id="capacity"),
        pytest.param("node", f"{NODE}&unschedulable=1", "spec: {unschedulable: true}", id="cordoned"),
        pytest.param(
            "node",
            f"{NODE}&taint_key=k&taint_value=&taint_effect=NoSchedule&taint_key=&taint_value=&taint_effect=NoSchedule",
            "spec: {taints: [{key: k, effect: NoSchedule}]}",
            id="a taint without a value; a row in which nobody typed is left out",
        ),
        pytest.param("pod", f"{POD}&priority=-5", "spec: {priority: -5}", id="a negative priority"),
        pytest.param(
            "pod", f"{POD}&node_selector=disk=ssd,gpu=", "spec: {nodeSelector: {disk: ssd, gpu: ''}}", id="no value"
        ),
        pytest.param(
            "pod",
            f"{POD}&toleration_key=&toleration_operator=Exists&toleration_value=&toleration_effect=",
            "spec: {tolerations: [{operator: Exists}]}",
            id="a toleration of everything",
        ),
        pytest.param(
            "pod",
            f"{POD}&spread_key=zone",
            "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
            "labelSelector: {matchLabels: {app: web}}}]}",
            id="spread over the pods with the same labels",
        ),
        pytest.param(
            "pod",
            f"{POD}&affinity_kind=node-required&affinity_key=disk&affinity_values=ssd, nvme",
            f"spec: {{affinity: {{nodeAffinity: {{{TERM}: {{nodeSelectorTerms: [{{matchExpressions: "
            "[{key: disk, operator: In, values: [ssd, nvme]}]}]}}}}",
            id="node affinity to one of several values",
        ),
        pytest.param(
            "pod",
            f"{POD}&affinity_kind=node-required&affinity_key=disk",
            f"spec: {{affinity: {{nodeAffinity: {{{TERM}: {{nodeSelectorTerms: [{{matchExpressions: "
            "[{key: disk, operator: Exists}]}]}}}}",
            id="node affinity to a label of any value",
        ),
        pytest.param(
            "pod",
            f"{POD}&affinity_kind=pod-affinity&affinity_key=app&affinity_values=db&affinity_topology=zone",
            f"spec: {{affinity: {{podAffinity: {{{TERM}: [{{labelSelector: {{matchExpressions: "
            "[{key: app, operator: In, values: [db]}]}, topologyKey: zone}]}}}",
            id="pod affinity",
        ),
        pytest.param(
            "pod", f"{POD}&affinity_kind=none&affinity_key=app", "{}", id="no affinity whatever else is filled in"
        ),
        pytest.param(
            "pod", f"{POD}&gates=a.b/c, d.e/f", "spec: {schedulingGates: [{name: a.b/c}, {name: d.e/f}]}", id="gates"
        ),
    ],
)
def test_a_form_makes_the_manifest_that_a_person_would_write(kind: str, query: str, part: str) -> None:
    (manifest,) = made(kind, query)
    wanted = yaml.safe_load(part)
    for section, fields in wanted.items():
        assert {name: manifest[section][name] for name in fields} == fields
    assert validate(manifest) == []


def test_what_was_left_empty_is_not_in_the_manifest() -> None:
    assert made("pod", "name=web") == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]},
        }
    ]


def test_a_nodes_name_is_also_its_hostname_label() -> None:
    assert [manifest["metadata"]["labels"] for manifest in made("node", f"{NODE}&count=2")] == [
        {"kubernetes.io/hostname": "a-1"},
        {"kubernetes.io/hostname": "a-2"},
    ]
