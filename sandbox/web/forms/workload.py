"""The form for workloads: a pod's fields as their template."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from django import forms

from sandbox.web.forms import manifests
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, number, text
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.pod import POD_PLACES, PodFields, named_as, requested_too
from sandbox.web.presets import WORKLOADS
from scheduler_engine.errors import FieldError


class WorkloadForm(PodFields, AddForm):
    slug, short, title, template, kind = "workload", "wl", "Workload", "workload_form", "Deployment"
    filled_in = WORKLOADS
    places = (
        (r"spec\.replicas", "replicas"),
        (r"spec\.completions", "completions"),
        (r"spec\.parallelism", "parallelism"),
        (r"spec\.(selector|labels)", "labels"),
        (r"spec\.serviceName", "name"),
        *POD_PLACES,
    )

    workload = forms.ChoiceField(
        label="Kind",
        help_text="Its controller creates the pods and replaces missing ones.",
        choices=[(kind, kind) for kind in manifests.WORKLOADS],
        initial="Deployment",
    )
    name = text("Name", "The start of its pods' names.", "web")
    replicas = number("Replicas", "How many pods there should be.", 3)
    completions = number("Completions", "How many pods must run to their end.", 6)
    parallelism = number("Parallelism", "How many of them run at a time.", 2)
    labels = Pairs("Labels", "key=value, of its pods; the selector is the same. Empty is app=name.", "app=web")

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.workload(name, data)

    def made_for(self, now: Manifest) -> Manifest:
        """The selector of a workload that is there stays: Kubernetes does not change it."""
        made = self.made()
        spec, template = made["spec"], made["spec"]["template"]
        held = ((now.get("spec") or {}).get("template") or {}).get("spec") or {}
        requested_too(template["spec"], held)
        spec = spec | {"template": template | {"spec": named_as(template["spec"], held)}}
        return made | {"spec": _without(spec, "selector") if self.object else spec}

    def place_of(self, error: FieldError) -> tuple[str | None, str]:
        """As above, in the template too. Where no labels are given, they come from the name."""
        field, spot = super().place_of(replace(error, path=re.sub(r"^spec\.template\.(?=\w)", "", error.path)))
        return ("name" if field == "labels" and not self.data.get("labels", "").strip() else field), spot


def _without(spec: Manifest, name: str) -> Manifest:
    return {key: value for key, value in spec.items() if key != name}
