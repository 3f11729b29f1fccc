"""The forms for what stands beside the pods: priority classes, budgets, claims."""

from __future__ import annotations

from typing import Any

from sandbox.web.forms import manifests
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, choice, namespace, number, text, tick
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.reading import READERS
from sandbox.web.presets import BUDGETS, CLAIMS, PRIORITY_CLASSES


class PriorityClassForm(AddForm):
    slug, short, title, template, kind = "priority-class", "pc", "PriorityClass", "plain_form", "PriorityClass"
    filled_in = PRIORITY_CLASSES
    places = (
        (r"metadata\.name", "name"),
        (r"value", "value"),
        (r"preemptionPolicy", "preemption_policy"),
        (r"globalDefault|.*default", "global_default"),
        (r"description", "description"),
    )

    name = text("Name", "Pods name it as their priority class.", "high")
    value = number("Value", "The priority of its pods: which are popped first, and which may evict others.", 1000)
    preemption_policy = choice(
        "Preemption policy",
        "Never: its pods are popped early, but evict nobody.",
        ("PreemptLowerPriority", "PreemptLowerPriority"),
        ("Never", "Never"),
    )
    description = text("Description", "When to use this class.")
    global_default = tick("Global default", "globalDefault: the class of pods that name none.")

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.priority_class(name, data)


class BudgetForm(AddForm):
    slug, short, title, template, kind = "budget", "bu", "PodDisruptionBudget", "plain_form", "PodDisruptionBudget"
    filled_in = BUDGETS
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.name", "name"),
        (r"spec\.maxUnavailable", "max_unavailable"),
        (r"spec\.selector", "selector"),
        (r"spec", "min_available"),
    )

    name = text("Name", "Usually that of the workload it protects.", "web")
    namespace = namespace("It counts the pods of this namespace.")
    min_available = text("minAvailable", "A number of pods, or a share such as 50%. Set this or the other.", hint="2")
    max_unavailable = text("maxUnavailable", "How many pods, or which share, may be missing at a time.", "1")
    selector = Pairs("Selector", "key=value: the labels of its pods. Empty selects all of the namespace.", "app=web")

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.budget(name, data)


class ClaimForm(AddForm):
    slug, short, title, template, kind = "claim", "cl", "PersistentVolumeClaim", "plain_form", "PersistentVolumeClaim"
    filled_in = CLAIMS
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.name", "name"),
        (r"spec\.resources", "storage"),
        (r"spec\.accessModes", "access_mode"),
        (r"spec\.storageClassName", "storage_class"),
        (r"spec\.volumeName", "volume"),
    )

    name = text("Name", "A pod of the namespace names it as a volume.", "data")
    namespace = namespace("Only pods of this namespace can use it.")
    storage = text("Storage", "How much, in Gi. A volume of at least this size is bound.", "10Gi")
    access_mode = choice(
        "Access mode",
        "ReadWriteOnce: one node; ReadWriteOncePod: one pod.",
        ("ReadWriteOnce", "ReadWriteOnce"),
        ("ReadWriteOncePod", "ReadWriteOncePod"),
        ("ReadOnlyMany", "ReadOnlyMany"),
        ("ReadWriteMany", "ReadWriteMany"),
    )
    storage_class = text("Storage class", "A StorageClass by name. Empty is the default class.", hint="standard")
    volume = text("Volume", "A PersistentVolume by name: the claim binds to no other.", hint="pv-1")

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.claim(name, data)


class BareForm(AddForm):
    """Of what has no form: its YAML alone."""

    slug, short, title, template, kind = "bare", "ba", "Object", "bare_form", ""
    places = ()

    @property
    def outgrown(self) -> bool:
        """Whether its kind has a form, but not for so many rows."""
        return self.object is not None and self.object.kind in READERS
