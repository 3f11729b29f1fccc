"""A sentence for every field that matters for scheduling: the forms' where they tell the same, else ``fields.yaml``."""

from __future__ import annotations

from pathlib import Path

import yaml

from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.more import BudgetForm, ClaimForm, PriorityClassForm
from sandbox.web.forms.node import NodeForm
from sandbox.web.forms.pod import PodForm
from sandbox.words.say import say


def _told(form: type[AddForm], field: str) -> str:
    return str(form.base_fields[field].help_text)


TOLD_ELSEWHERE: dict[str, str] = {
    "Affinity.nodeAffinity": _told(PodForm, "node_affinity"),
    "ContainerPort.hostPort": _told(PodForm, "host_port"),
    "KubeSchedulerConfiguration.percentageOfNodesToScore": say("glossary.percentage"),
    "NodeSpec.taints": _told(NodeForm, "taints"),
    "PersistentVolumeClaimSpec.accessModes": _told(ClaimForm, "access_mode"),
    "PersistentVolumeClaimSpec.storageClassName": _told(ClaimForm, "storage_class"),
    "PersistentVolumeClaimSpec.volumeName": _told(ClaimForm, "volume"),
    "PodDisruptionBudgetSpec.maxUnavailable": _told(BudgetForm, "max_unavailable"),
    "PodDisruptionBudgetSpec.minAvailable": _told(BudgetForm, "min_available"),
    "PodSpec.nodeSelector": _told(PodForm, "node_selector"),
    "PodSpec.priority": _told(PodForm, "priority"),
    "PodSpec.priorityClassName": _told(PodForm, "priority_class"),
    "PodSpec.schedulingGates": _told(PodForm, "gates"),
    "PodSpec.tolerations": _told(PodForm, "tolerations"),
    "PriorityClass.description": _told(PriorityClassForm, "description"),
    "PriorityClass.globalDefault": _told(PriorityClassForm, "global_default"),
    "PriorityClass.preemptionPolicy": _told(PriorityClassForm, "preemption_policy"),
    "PriorityClass.value": _told(PriorityClassForm, "value"),
}

_WRITTEN: dict[str, str] = yaml.load((Path(__file__).parent / "fields.yaml").read_text(), yaml.BaseLoader)

HELP: dict[str, str] = _WRITTEN | TOLD_ELSEWHERE
"""``Type.field``, or the name of a kind → what it is for."""
