"""Filled-in forms of the Add drawer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.web.presets.devices import GPU_DRIVER, model_is
from sandbox.web.presets.preset import FilledIn
from sandbox.words.say import say
from scheduler_engine.api.topology import HOSTNAME, ZONE

GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
GPU_TOLERATION = {"toleration": [{"operator": "Equal", **GPU_TAINT}]}
SPREAD_OVER_ZONES = {"spread": [{"topologyKey": ZONE, "maxSkew": "1", "whenUnsatisfiable": "DoNotSchedule"}]}


def _anti_affinity(app: str) -> Mapping[str, Any]:
    """Return rows with a term that keeps pods of ``app`` off each other's nodes."""
    rows = [{"key": "app", "operator": "In", "values": app}]
    return {"pod_term": [{"kind": "podAntiAffinity", "rule": "required", "topologyKey": HOSTNAME, "rows": rows}]}


def _filled_in(title: str, **fields: Any) -> FilledIn:
    """Return the preset. ``title`` is a key of words."""
    return FilledIn(say(title), fields)


def _pods(title: str, name: str, replicas: str, cpu: str, memory: str, **more: Any) -> FilledIn:
    return _filled_in(title, name=name, replicas=replicas, cpu=cpu, memory=memory, **more)


NODES = (
    _filled_in("presets.three-equal-nodes", name="node", count="3", cpu="4", memory="8Gi", pods="110"),
    _filled_in("presets.small", name="small", count="1", cpu="2", memory="4Gi", pods="30"),
    _filled_in("presets.large", name="large", count="1", cpu="16", memory="64Gi", pods="110"),
    _filled_in(
        "presets.tainted-gpu-node",
        name="gpu",
        count="1",
        cpu="8",
        memory="32Gi",
        pods="110",
        extended="nvidia.com/gpu=4",
        rows={"taint": [GPU_TAINT]},
    ),
)
PODS = (
    _pods("presets.plain-pod", "web", "1", "500m", "512Mi"),
    _pods("presets.spread-over-zones", "web", "6", "500m", "512Mi", labels="app=web", rows=SPREAD_OVER_ZONES),
    _pods("presets.one-per-node", "cache", "3", "250m", "1Gi", labels="app=cache", rows=_anti_affinity("cache")),
    _pods(
        "presets.gpu-job",
        "train",
        "1",
        "2",
        "4Gi",
        labels="app=train",
        extended="nvidia.com/gpu=1",
        rows=GPU_TOLERATION,
    ),
    _pods(
        "presets.urgent", "payments", "1", "3", "2Gi", labels="app=payments", priority_class="system-cluster-critical"
    ),
    _pods("presets.gated", "migrate", "1", "250m", "256Mi", gates="example.com/quota"),
    _pods(
        "presets.claims-a-gpu",
        "train",
        "1",
        "1",
        "1Gi",
        labels="app=train",
        rows={"device_claim": [{"name": "gpu", "resourceClaimName": "", "resourceClaimTemplateName": "one-gpu"}]},
    ),
)
WORKLOADS = (
    _filled_in(
        "presets.deployment-over-zones",
        workload="Deployment",
        name="shop",
        replicas="6",
        cpu="250m",
        memory="256Mi",
        labels="app=shop",
        rows=SPREAD_OVER_ZONES,
    ),
    _filled_in(
        "presets.statefulset-one-per-node",
        workload="StatefulSet",
        name="db",
        replicas="3",
        cpu="500m",
        memory="1Gi",
        labels="app=db",
        rows=_anti_affinity("db"),
    ),
    _filled_in(
        "presets.daemonset-on-every-node",
        workload="DaemonSet",
        name="agent",
        cpu="100m",
        memory="128Mi",
        labels="app=agent",
        rows={"toleration": [{"operator": "Exists"}]},
    ),
    _filled_in(
        "presets.job-two-at-a-time",
        workload="Job",
        name="report",
        completions="6",
        parallelism="2",
        cpu="500m",
        memory="512Mi",
        labels="app=report",
    ),
)
PRIORITY_CLASSES = (
    _filled_in("presets.high", name="high", value="100000"),
    _filled_in("presets.patient", name="patient", value="50000", preemption_policy="Never"),
    _filled_in("presets.default-for-all", name="normal", value="1000", global_default="1"),
)
BUDGETS = (
    _filled_in("presets.one-at-a-time", name="web", min_available="", max_unavailable="1", selector="app=web"),
    _filled_in("presets.half-must-stay", name="web", min_available="50%", max_unavailable="", selector="app=web"),
)
CLAIMS = (
    _filled_in("presets.for-one-node", name="data", storage="10Gi", access_mode="ReadWriteOnce"),
    _filled_in("presets.shared", name="shared", storage="50Gi", access_mode="ReadWriteMany"),
)


def _gpus(model: str, memory: str, count: int) -> Mapping[str, Any]:
    """Return rows with equal GPUs."""
    about = {"attributes": f"model={model}", "capacity": f"memory={memory}"}
    return {"device": [{"name": f"gpu-{number}", **about} for number in range(count)]}


def _request(class_name: str, count: str = "1", expression: str = "") -> Mapping[str, Any]:
    """Return rows with one request."""
    row = {"name": "gpu", "deviceClassName": class_name, "count": count, "expression": expression}
    return {"device_request": [row]}


DEVICES = (
    _filled_in("presets.two-t4", name="node-1-gpus", driver=GPU_DRIVER, node="node-1", rows=_gpus("t4", "16Gi", 2)),
    _filled_in(
        "presets.four-a100", name="node-2-gpus", driver=GPU_DRIVER, node="node-2", rows=_gpus("a100", "40Gi", 4)
    ),
)
DEVICE_CLASSES = (
    _filled_in(
        "presets.gpus-of-a-driver",
        name="gpu",
        rows={"device_expression": [{"expression": f'device.driver == "{GPU_DRIVER}"'}]},
    ),
)
DEVICE_CLAIMS = (
    _filled_in("presets.one-gpu-each", claim_kind="ResourceClaimTemplate", name="one-gpu", rows=_request("gpu")),
    _filled_in(
        "presets.one-shared-t4",
        claim_kind="ResourceClaim",
        name="team-gpu",
        rows=_request("gpu", expression=model_is("t4")),
    ),
    _filled_in(
        "presets.two-of-one-model",
        claim_kind="ResourceClaim",
        name="pair",
        match_attribute=f"{GPU_DRIVER}/model",
        rows=_request("gpu", "2"),
    ),
)
