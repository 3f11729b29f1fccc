from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.http import QueryDict

from sandbox.web.forms import FORMS
from scheduler_engine.api.validation import validate

NODE = "name=a&cpu=4&memory=8Gi&pods=110"
POD = "name=web&cpu=500m&memory=1Gi&labels=app=web"
TERM = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERENCE = "preferredDuringSchedulingIgnoredDuringExecution"


def manifests_from(kind: str, query: str) -> list[dict[str, Any]]:
    form = FORMS[kind](QueryDict(query))
    assert form.is_valid(), form.errors
    return [form.manifest()]


@pytest.mark.parametrize(
    ("kind", "query", "part"),
    [
        pytest.param("node", NODE, "status: {capacity: {cpu: '4', memory: 8Gi, pods: '110'}}", id="capacity"),
        pytest.param("node", f"{NODE}&unschedulable=1", "spec: {unschedulable: true}", id="cordoned"),
        pytest.param(
            "node",
            f"{NODE}&taint_key=k&taint_value=&taint_effect=NoSchedule&taint_key=&taint_value=&taint_effect=NoSchedule",
            "spec: {taints: [{key: k, effect: NoSchedule}]}",
            id="a taint without a value; an empty row is left out",
        ),
        pytest.param("priority-class", "name=a&value=0", "{metadata: {name: a}}", id="a class of value 0"),
        pytest.param(
            "budget",
            "name=a&max_unavailable=50%",
            "spec: {maxUnavailable: 50%, selector: {}}",
            id="a budget for all pods of its namespace",
        ),
        pytest.param(
            "budget",
            "name=a&min_available=0&selector=app=web",
            "spec: {minAvailable: 0, selector: {matchLabels: {app: web}}}",
            id="a budget without a minimum",
        ),
        pytest.param(
            "claim",
            "name=a&storage=1Gi&access_mode=ReadWriteOnce&storage_class=fast&volume=pv",
            "spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeName: pv, "
            "resources: {requests: {storage: 1Gi}}}",
            id="a claim",
        ),
        pytest.param(
            "devices",
            "name=a&node=n&driver=d&device_name=g&device_attributes=model=t4, cores=8, ecc=false"
            "&device_capacity=memory=1Gi",
            "spec: {driver: d, nodeName: n, pool: {name: n, generation: 1, resourceSliceCount: 1}, devices: [{name: g, "
            "attributes: {model: {string: t4}, cores: {int: 8}, ecc: {bool: false}}, "
            "capacity: {memory: {value: 1Gi}}}]}",
            id="a slice of devices",
        ),
        pytest.param(
            "device-class",
            "name=a&device_expression_expression=true&device_expression_expression=",
            "spec: {selectors: [{cel: {expression: 'true'}}]}",
            id="a class of devices",
        ),
        pytest.param(
            "device-class",
            "name=a&device_expression_expression=true // all%0D%0A%26%26 true",
            r'spec: {selectors: [{cel: {expression: "true // all\n&& true"}}]}',
            id="an expression of two lines",
        ),
        pytest.param("device-class", "name=a", "spec: {}", id="a class of all devices"),
        pytest.param(
            "device-claim",
            "claim_kind=ResourceClaim&name=a&device_request_name=r&device_request_deviceClassName=c"
            "&device_request_count=2&device_request_expression=true&match_attribute=d/model",
            "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, selectors: [{cel: {expression: "
            "'true'}}], count: 2}}], constraints: [{matchAttribute: d/model}]}}",
            id="a claim for two devices of one model",
        ),
        pytest.param(
            "device-claim",
            "claim_kind=ResourceClaimTemplate&name=a&device_request_name=r&device_request_deviceClassName=c",
            "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, count: 1}}]}}}",
            id="a template of claims",
        ),
        pytest.param(
            "pod",
            f"{POD}&device_claim_name=gpu&device_claim_resourceClaimName=&device_claim_resourceClaimTemplateName=t",
            "spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: t}], containers: [{name: main, image: "
            "'registry.k8s.io/pause:3.10', resources: {requests: {cpu: 500m, memory: 1Gi}, claims: [{name: gpu}]}}]}",
            id="a claim for a device",
        ),
        pytest.param(
            "workload",
            "workload=Deployment&name=shop&replicas=0",
            "spec: {replicas: 0, selector: {matchLabels: {app: shop}}, template: {metadata: {labels: {app: shop}}, "
            "spec: {containers: [{name: main, image: 'registry.k8s.io/pause:3.10'}]}}}",
            id="a workload with labels from its name",
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
            f"{POD}&toleration_key=k&toleration_effect=NoExecute&toleration_tolerationSeconds=0",
            "spec: {tolerations: [{key: k, operator: Equal, effect: NoExecute, tolerationSeconds: 0}]}",
            id="a toleration for 0 seconds",
        ),
        pytest.param(
            "pod",
            f"{POD}&extended=nvidia.com/gpu=2",
            "spec: {containers: [{name: main, image: 'registry.k8s.io/pause:3.10', resources: {requests: "
            "{cpu: 500m, memory: 1Gi}, limits: {nvidia.com/gpu: '2'}}}]}",
            id="devices",
        ),
        pytest.param(
            "node",
            f"{NODE}&extended=nvidia.com/gpu=2",
            "status: {capacity: {cpu: '4', memory: 8Gi, pods: '110', nvidia.com/gpu: '2'}}",
            id="a node with devices",
        ),
        pytest.param(
            "node",
            f"{NODE}&imagefs=20Gi",
            "metadata: {annotations: {sandbox/imagefs: 20Gi}}",
            id="a node with a separate disk for images",
        ),
        pytest.param(
            "pod",
            f"{POD}&claims=data, logs",
            "spec: {volumes: [{name: volume-1, persistentVolumeClaim: {claimName: data}}, "
            "{name: volume-2, persistentVolumeClaim: {claimName: logs}}]}",
            id="volumes",
        ),
        pytest.param(
            "pod",
            f"{POD}&spread_topologyKey=zone",
            "spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
            "labelSelector: {matchLabels: {app: web}}}]}",
            id="spread over the pods with the same labels",
        ),
        pytest.param(
            "pod",
            f"{POD}&spread_topologyKey=zone&spread_topologyKey=rack&spread_maxSkew=2&spread_maxSkew=3"
            "&spread_whenUnsatisfiable=DoNotSchedule&spread_whenUnsatisfiable=ScheduleAnyway&spread_minDomains=4"
            "&spread_minDomains=&spread_labelSelector=&spread_labelSelector=app=db,tier=1&spread_matchLabelKeys="
            "&spread_matchLabelKeys=a, b&spread_nodeAffinityPolicy=Ignore&spread_nodeAffinityPolicy="
            "&spread_nodeTaintsPolicy=&spread_nodeTaintsPolicy=Honor",
            "spec: {topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
            "minDomains: 4, nodeAffinityPolicy: Ignore, labelSelector: {matchLabels: {app: web}}}, {maxSkew: 3, "
            "topologyKey: rack, whenUnsatisfiable: ScheduleAnyway, nodeTaintsPolicy: Honor, matchLabelKeys: [a, b], "
            "labelSelector: {matchLabels: {app: db, tier: '1'}}}]}",
            id="two constraints with every field",
        ),
        pytest.param(
            "pod",
            f"{POD}&node_term_id=0&node_expression_of=0&node_expression_key=disk&node_expression_values=ssd, nvme",
            f"spec: {{affinity: {{nodeAffinity: {{{TERM}: {{nodeSelectorTerms: [{{matchExpressions: "
            "[{key: disk, operator: In, values: [ssd, nvme]}]}]}}}}",
            id="node affinity to one of several values",
        ),
        pytest.param(
            "pod",
            f"{POD}&node_term_id=0&node_term_id=5&node_term_id=9&node_term_rule=required&node_term_rule=preferred"
            "&node_term_rule=required&node_term_weight=1&node_term_weight=30&node_term_weight=1&node_expression_of=9"
            "&node_expression_of=0&node_expression_of=0&node_expression_of=5&node_expression_key=a"
            "&node_expression_key=b&node_expression_key=c&node_expression_key=d&node_expression_operator=Exists"
            "&node_expression_operator=Gt&node_expression_operator=DoesNotExist&node_expression_operator=NotIn"
            "&node_expression_values=&node_expression_values=3&node_expression_values=&node_expression_values=x",
            f"spec: {{affinity: {{nodeAffinity: {{{TERM}: {{nodeSelectorTerms: [{{matchExpressions: "
            "[{key: b, operator: Gt, values: ['3']}, {key: c, operator: DoesNotExist}]}, "
            f"{{matchExpressions: [{{key: a, operator: Exists}}]}}]}}, {PREFERENCE}: [{{weight: 30, preference: "
            "{matchExpressions: [{key: d, operator: NotIn, values: [x]}]}}]}}}",
            id="terms, required and preferred, of several expressions",
        ),
        pytest.param(
            "pod",
            f"{POD}&node_term_id=0&node_expression_of=0&node_expression_key=",
            "{}",
            id="no node affinity from an empty term",
        ),
        pytest.param(
            "pod",
            f"{POD}&pod_term_id=0&pod_term_kind=podAffinity&pod_term_topologyKey=zone&pod_expression_of=0"
            "&pod_expression_key=app&pod_expression_values=db",
            f"spec: {{affinity: {{podAffinity: {{{TERM}: [{{labelSelector: {{matchExpressions: "
            "[{key: app, operator: In, values: [db]}]}, topologyKey: zone}]}}}",
            id="pod affinity",
        ),
        pytest.param(
            "pod",
            f"{POD}&pod_term_id=0&pod_term_id=1&pod_term_kind=podAntiAffinity&pod_term_kind=podAffinity"
            "&pod_term_rule=required&pod_term_rule=preferred&pod_term_weight=&pod_term_weight=5&pod_term_namespaces="
            "&pod_term_namespaces=a, b&pod_term_matchLabelKeys=x&pod_term_matchLabelKeys="
            "&pod_term_mismatchLabelKeys=&pod_term_mismatchLabelKeys=y",
            f"spec: {{affinity: {{podAntiAffinity: {{{TERM}: [{{labelSelector: {{matchLabels: {{app: web}}}}, "
            f"matchLabelKeys: [x], topologyKey: kubernetes.io/hostname}}]}}, podAffinity: {{{PREFERENCE}: "
            "[{weight: 5, podAffinityTerm: {labelSelector: {matchLabels: {app: web}}, namespaces: [a, b], "
            "mismatchLabelKeys: [y], topologyKey: kubernetes.io/hostname}}]}}}",
            id="anti-affinity to pods with the same labels, preferred affinity to them elsewhere",
        ),
        pytest.param(
            "pod", f"{POD}&gates=a.b/c, d.e/f", "spec: {schedulingGates: [{name: a.b/c}, {name: d.e/f}]}", id="gates"
        ),
    ],
)
def test_a_form_makes_the_manifest_that_a_person_would_write(kind: str, query: str, part: str) -> None:
    (manifest,) = manifests_from(kind, query)
    wanted = yaml.safe_load(part)
    for section, fields in wanted.items():
        assert {name: manifest[section][name] for name in fields} == fields
    assert validate(manifest) == []


def test_an_empty_field_is_not_in_the_manifest() -> None:
    assert manifests_from("pod", "name=web") == [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]},
        }
    ]


@pytest.mark.parametrize("query", ["name=a", "name=a&device_expression_expression=true"])
def test_the_spec_of_a_class_comes_last(query: str) -> None:
    assert [*manifests_from("device-class", query)[0]] == ["apiVersion", "kind", "metadata", "spec"]
