"""The form for nodes."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError

from sandbox.web.forms import manifests, shapes
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, number, text, tick
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.rows import Rows
from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.fields import NODES
from scheduler_engine.api.simulated import amount_problem
from scheduler_engine.errors import FieldError


class NodeForm(AddForm):
    slug, short, title, template, kind = "node", "n", "Node", "node_form", "Node"
    filled_in, clusters = NODES, CLUSTERS
    copies_field = "count"
    make = staticmethod(manifests.node)
    places = (
        (r"metadata\.name", "name"),
        (r"metadata\.labels", "labels"),
        (r"(?:metadata|spec)\.taints(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "taints"),
        (r"status\.(capacity|allocatable)(\.|\[)cpu(\]|$)", "cpu"),
        (r"status\.(capacity|allocatable)(\.|\[)memory(\]|$)", "memory"),
        (r"status\.(capacity|allocatable)(\.|\[)pods(\]|$)", "pods"),
        (r"status\.(capacity|allocatable)", "extended"),
    )

    name = text("forms.name", "forms.node-name-hint", "node")
    count = number("forms.node-count", "forms.node-count-hint", 1)
    zone = text("forms.zone", "forms.zone-hint", example="eu-a")
    region = text("forms.region", "forms.region-hint", example="eu")
    cpu = text("forms.node-cpu", "forms.node-cpu-hint", "4")
    memory = text("forms.memory", "forms.node-memory-hint", "8Gi")
    pods = text("forms.node-pods", "forms.node-pods-hint", "110")
    extended = Pairs("forms.extended", "forms.node-extended-hint", "nvidia.com/gpu=4")
    imagefs = text("forms.imagefs", "forms.imagefs-hint", example="50Gi")
    labels = Pairs("forms.labels", "forms.node-labels-hint", "disk=ssd")
    taints = Rows("forms.taints", "forms.taints-hint", shapes.TAINT)
    unschedulable = tick("forms.cordoned", "forms.cordoned-hint")

    def clean_imagefs(self) -> str:
        """Check it here: the API server's error does not name the field."""
        text = str(self.cleaned_data["imagefs"])
        problem = amount_problem(text) if text else ""
        if problem:
            raise ValidationError(problem)
        return text

    def manifest_for(self, now: Manifest) -> Manifest:
        """Return the manifest. If the node has an allocatable, the form's amounts are that, too."""
        manifest = self.manifest()
        if (now.get("status") or {}).get("allocatable"):
            manifest["status"] = {**manifest["status"], "allocatable": manifest["status"]["capacity"]}
        return manifest

    def field_of(self, error: FieldError) -> tuple[str | None, str]:
        """Return the field of an error. Name, zone and region become labels, so the value shows which one is wrong."""
        field, spot = super().field_of(error)
        if field != "labels":
            return field, spot
        match = re.match(r'Invalid value: "(.*?)(-\d+)?":', error.message)
        values = {self.data.get(name, "").strip(): name for name in ("name", "region", "zone")}
        return (values.get(match[1], field) if match else field), ""
