"""Clusters with Coscheduling: its configuration, groups, and pods in them."""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.pod_groups import LABEL
from scheduler_engine.config.schema import API_VERSION, KIND
from scheduler_engine.testing import make_pod
from scheduler_engine.testing.builders import Data, PodBuilder


def coscheduling(**args: int) -> Data:
    """Return the configuration that users of scheduler-plugins write, with these arguments."""
    plugins = {
        "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
        "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
    }
    profile = {"plugins": plugins, "pluginConfig": [{"name": "Coscheduling", "args": args}]}
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}


def make_group(name: str, min_member: int, **spec: Any) -> Data:
    metadata = {"name": name, "namespace": "default"}
    head = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": metadata}
    return {**head, "spec": {"minMember": min_member, **spec}}


def member(group: str, number: int, cpu: str = "1") -> PodBuilder:
    return make_pod(f"{group}-{number}").cpu(cpu).label(LABEL, group)
