"""The form for nodes."""

from __future__ import annotations

import re
from typing import Any

from django.core.exceptions import ValidationError

from sandbox.web.forms import manifests, shapes
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.fields import Pairs, number, text, tick
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.rows import Rows
from sandbox.web.presets import CLUSTERS, NODES
from scheduler_engine.api.simulated import amount_problem
from scheduler_engine.errors import FieldError


class NodeForm(AddForm):
    slug, short, title, template, kind = "node", "n", "Node", "node_form", "Node"
    filled_in, clusters = NODES, CLUSTERS
    copies_field = "count"
    places = (
        (r"metadata\.name", "name"),
        (r"metadata\.labels", "labels"),
        (r"(?:metadata|spec)\.taints(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "taints"),
        (r"status\.(capacity|allocatable)(\.|\[)cpu(\]|$)", "cpu"),
        (r"status\.(capacity|allocatable)(\.|\[)memory(\]|$)", "memory"),
        (r"status\.(capacity|allocatable)(\.|\[)pods(\]|$)", "pods"),
        (r"status\.(capacity|allocatable)", "extended"),
    )

    name = text("Name", "For several nodes, the start of their names: node-1, node-2 …", "node")
    count = number("How many", "All identical, added one by one.", 1)
    zone = text("Zone", "The label topology.kubernetes.io/zone: used by spreading and the nodeTree.", hint="eu-a")
    region = text("Region", "The label topology.kubernetes.io/region; a zone belongs to one.", hint="eu")
    cpu = text("CPU", "What pods may request in total. 4 or 4000m means four cores.", "4")
    memory = text("Memory", "In Mi or Gi. What pods may request, not what they use.", "8Gi")
    pods = text("Pods", "How many pods the node takes, however small they are.", "110")
    extended = Pairs(
        "Extended resources", "name=quantity, separated by commas: devices, counted whole.", "nvidia.com/gpu=4"
    )
    imagefs = text(
        "Disk for images",
        "A separate disk for images and writable layers. Empty: they share the node's disk.",
        hint="50Gi",
    )
    labels = Pairs("Labels", "key=value, separated by commas. Selectors and affinity use them.", "disk=ssd")
    taints = Rows(
        "Taints",
        "A taint keeps away pods that do not tolerate it; PreferNoSchedule only lowers the node's score.",
        shapes.TAINT,
    )
    unschedulable = tick("Cordoned", "spec.unschedulable: no new pods; existing ones stay.")

    def clean_imagefs(self) -> str:
        """The API server refuses it as a whole, without the field."""
        written = str(self.cleaned_data["imagefs"])
        problem = amount_problem(written) if written else ""
        if problem:
            raise ValidationError(problem)
        return written

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.node(name, data)

    def made_for(self, now: Manifest) -> Manifest:
        """What pods may ask for is the allocatable, where a node says that apart from its capacity."""
        made = self.made()
        if (now.get("status") or {}).get("allocatable"):
            made["status"] = {**made["status"], "allocatable": made["status"]["capacity"]}
        return made

    def place_of(self, error: FieldError) -> tuple[str | None, str]:
        """As above; name, zone and region become labels, and of a wrong label Kubernetes tells only the value."""
        field, spot = super().place_of(error)
        if field != "labels":
            return field, spot
        told = re.match(r'Invalid value: "(.*?)(-\d+)?":', error.message)
        values = {self.data.get(name, "").strip(): name for name in ("name", "region", "zone")}
        return (values.get(told[1], field) if told else field), ""
