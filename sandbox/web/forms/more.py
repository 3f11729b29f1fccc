"""The forms for other objects: priority classes, budgets, claims."""

from __future__ import annotations

from sandbox.web.forms import manifests
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, choice, namespace, number, text, tick
from sandbox.web.forms.reading import READERS
from sandbox.web.presets.fields import BUDGETS, CLAIMS, PRIORITY_CLASSES
from sandbox.words.say import say


class PriorityClassForm(AddForm):
    slug, short, title, template, kind = "priority-class", "pc", "PriorityClass", "plain_form", "PriorityClass"
    filled_in = PRIORITY_CLASSES
    make = staticmethod(manifests.priority_class)
    places = (
        (r"metadata\.name", "name"),
        (r"value", "value"),
        (r"preemptionPolicy", "preemption_policy"),
        (r"globalDefault|.*default", "global_default"),
        (r"description", "description"),
    )

    name = text("forms.name", "forms.class-name-hint", "high")
    value = number("forms.class-value", "forms.class-value-hint", 1000)
    preemption_policy = choice(
        "forms.preemption-policy",
        "forms.preemption-policy-hint",
        ("PreemptLowerPriority", "PreemptLowerPriority"),
        ("Never", "Never"),
    )
    description = text("forms.description", "forms.description-hint")
    global_default = tick("forms.global-default", "forms.global-default-hint")


class BudgetForm(AddForm):
    slug, short, title, template, kind = "budget", "bu", "PodDisruptionBudget", "plain_form", "PodDisruptionBudget"
    filled_in = BUDGETS
    make = staticmethod(manifests.budget)
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.name", "name"),
        (r"spec\.maxUnavailable", "max_unavailable"),
        (r"spec\.selector", "selector"),
        (r"spec", "min_available"),
    )

    name = text("forms.name", "forms.budget-name-hint", "web")
    namespace = namespace("forms.budget-namespace-hint")
    min_available = text("forms.min-available", "forms.min-available-hint", example="2")
    max_unavailable = text("forms.max-unavailable", "forms.max-unavailable-hint", "1")
    selector = Pairs("forms.selector", "forms.selector-hint", "app=web")


class ClaimForm(AddForm):
    slug, short, title, template, kind = "claim", "cl", "PersistentVolumeClaim", "plain_form", "PersistentVolumeClaim"
    filled_in = CLAIMS
    make = staticmethod(manifests.claim)
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.name", "name"),
        (r"spec\.resources", "storage"),
        (r"spec\.accessModes", "access_mode"),
        (r"spec\.storageClassName", "storage_class"),
        (r"spec\.volumeName", "volume"),
    )

    name = text("forms.name", "forms.claim-name-hint", "data")
    namespace = namespace("forms.claim-namespace-hint")
    storage = text("forms.storage", "forms.storage-hint", "10Gi")
    access_mode = choice(
        "forms.access-mode",
        "forms.access-mode-hint",
        ("ReadWriteOnce", "ReadWriteOnce"),
        ("ReadWriteOncePod", "ReadWriteOncePod"),
        ("ReadOnlyMany", "ReadOnlyMany"),
        ("ReadWriteMany", "ReadWriteMany"),
    )
    storage_class = text("forms.storage-class", "forms.storage-class-hint", example="standard")
    volume = text("forms.volume", "forms.volume-hint", example="pv-1")


class BareForm(AddForm):
    """The form for kinds without fields: only the YAML."""

    slug, short, title, template, kind = "bare", "ba", say("forms.object"), "bare_form", ""
    places = ()

    @property
    def has_too_many_rows(self) -> bool:
        """True if the kind has a form, but the object has too many rows for it."""
        return self.object is not None and self.object.kind in READERS
