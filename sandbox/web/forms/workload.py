"""The form for workloads. The fields of a pod are their template."""

from __future__ import annotations

import re
from dataclasses import replace

from django import forms

from sandbox.web.forms import manifests
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, number, text
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.pod import POD_PLACES, PodFields, copy_limits, with_names
from sandbox.web.presets.fields import WORKLOADS
from sandbox.words.say import say
from scheduler_engine.errors import FieldError


class WorkloadForm(PodFields, AddForm):
    slug, short, title, template, kind = "workload", "wl", say("forms.workload"), "workload_form", "Deployment"
    filled_in = WORKLOADS
    make = staticmethod(manifests.workload)
    places = (
        (r"spec\.replicas", "replicas"),
        (r"spec\.completions", "completions"),
        (r"spec\.parallelism", "parallelism"),
        (r"spec\.(selector|labels)", "labels"),
        (r"spec\.serviceName", "name"),
        *POD_PLACES,
    )

    workload = forms.ChoiceField(
        label=say("forms.kind"),
        help_text=say("forms.kind-hint"),
        choices=[(kind, kind) for kind in manifests.WORKLOADS],
        initial="Deployment",
    )
    name = text("forms.name", "forms.workload-name-hint", "web")
    replicas = number("forms.replicas", "forms.workload-replicas-hint", 3)
    completions = number("forms.completions", "forms.completions-hint", 6)
    parallelism = number("forms.parallelism", "forms.parallelism-hint", 2)
    labels = Pairs("forms.labels", "forms.workload-labels-hint", "app=web")

    def manifest_for(self, now: Manifest) -> Manifest:
        """Return the manifest, without the selector if the workload exists: Kubernetes forbids to change it."""
        manifest = self.manifest()
        spec, template = manifest["spec"], manifest["spec"]["template"]
        existing = ((now.get("spec") or {}).get("template") or {}).get("spec") or {}
        copy_limits(template["spec"], existing)
        spec = spec | {"template": template | {"spec": with_names(template["spec"], existing)}}
        fixed = ("selector",) if self.object else ()
        return manifest | {"spec": {name: value for name, value in spec.items() if name not in fixed}}

    def field_of(self, error: FieldError) -> tuple[str | None, str]:
        """Return the field of an error, also in the template. Without labels in the form, they come from the name."""
        field, spot = super().field_of(replace(error, path=re.sub(r"^spec\.template\.(?=\w)", "", error.path)))
        return ("name" if field == "labels" and not self.data.get("labels", "").strip() else field), spot
