"""A sentence for every field that matters for scheduling: from the forms, else from the table ``fields``."""

from __future__ import annotations

from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.more import BudgetForm, ClaimForm, PriorityClassForm
from sandbox.web.forms.node import NodeForm
from sandbox.web.forms.pod import PodForm
from sandbox.words.say import rows, say


def _hint(form: type[AddForm], field: str) -> str:
    return str(form.base_fields[field].help_text)


FROM_FORMS: dict[str, str] = {
    "Affinity.nodeAffinity": _hint(PodForm, "node_affinity"),
    "ContainerPort.hostPort": _hint(PodForm, "host_port"),
    "KubeSchedulerConfiguration.percentageOfNodesToScore": say("glossary.percentage"),
    "NodeSpec.taints": _hint(NodeForm, "taints"),
    "PersistentVolumeClaimSpec.accessModes": _hint(ClaimForm, "access_mode"),
    "PersistentVolumeClaimSpec.storageClassName": _hint(ClaimForm, "storage_class"),
    "PersistentVolumeClaimSpec.volumeName": _hint(ClaimForm, "volume"),
    "PodDisruptionBudgetSpec.maxUnavailable": _hint(BudgetForm, "max_unavailable"),
    "PodDisruptionBudgetSpec.minAvailable": _hint(BudgetForm, "min_available"),
    "PodSpec.nodeSelector": _hint(PodForm, "node_selector"),
    "PodSpec.priority": _hint(PodForm, "priority"),
    "PodSpec.priorityClassName": _hint(PodForm, "priority_class"),
    "PodSpec.schedulingGates": _hint(PodForm, "gates"),
    "PodSpec.tolerations": _hint(PodForm, "tolerations"),
    "PriorityClass.description": _hint(PriorityClassForm, "description"),
    "PriorityClass.globalDefault": _hint(PriorityClassForm, "global_default"),
    "PriorityClass.preemptionPolicy": _hint(PriorityClassForm, "preemption_policy"),
    "PriorityClass.value": _hint(PriorityClassForm, "value"),
}

HELP: dict[str, str] = {key.removeprefix("fields."): str(row) for key, row in rows("fields").items()} | FROM_FORMS
"""``Type.field``, or the name of a kind → its description."""
