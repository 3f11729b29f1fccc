"""Forms for a node and a pod. They read text; whether a value is right the API server says, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from sandbox import manifests
from sandbox.manifests import Manifest
from sandbox.panels.world import World
from sandbox.quotas import quotas
from scheduler_engine.errors import FieldError

Row = dict[str, str]
AFFINITY_KINDS = ("none", "node-required", "pod-affinity", "pod-anti-affinity")


class Pairs(forms.Field):
    """``key=value``, one on each line or parted by commas → dict."""

    def to_python(self, value: Any) -> dict[str, str]:
        pairs = (pair.partition("=") for pair in _listed(value or ""))
        return {key.strip(): text.strip() for key, _, text in pairs}


class Listed(forms.Field):
    """Values, one on each line or parted by commas → list."""

    def to_python(self, value: Any) -> list[str]:
        return _listed(value or "")


class RowsWidget(forms.Widget):
    """Reads the repeated inputs ``<one>_<part>`` as rows."""

    def __init__(self, one: str, parts: tuple[str, ...]) -> None:
        super().__init__()
        self.one, self.parts = one, parts

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Row]:
        columns = [data.getlist(f"{self.one}_{part}") for part in self.parts]
        height = max(map(len, columns))
        cells = [[text.strip() for text in column] + [""] * (height - len(column)) for column in columns]
        return [dict(zip(self.parts, row, strict=True)) for row in zip(*cells, strict=True)]


class Rows(forms.Field):
    """A group of inputs that repeats, such as a taint → list of dicts. Rows in which nobody typed are left out."""

    def __init__(self, one: str, parts: tuple[str, ...], **unchanged: str) -> None:
        """``unchanged``: what a part holds before it is touched, other than nothing."""
        super().__init__(required=False, initial=list, widget=RowsWidget(one, parts))
        self.unchanged = unchanged

    def clean(self, value: list[Row]) -> list[Row]:
        return [row for row in value if any(text not in ("", self.unchanged.get(part)) for part, text in row.items())]


class AddForm(forms.Form):
    """What both forms share: names of several copies, and the way of errors back to their fields."""

    plural: ClassVar[str]
    copies_field: ClassVar[str]
    places: ClassVar[tuple[tuple[str, str], ...]]
    """(pattern at the start of Kubernetes' field path, or of the text if it names no field; field of the form)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        copies = self.fields[self.copies_field]
        copies.validators += [MinValueValidator(1), MaxValueValidator(quotas().copies)]

    def manifests(self, world: World | None = None) -> list[Manifest]:
        """The manifests the valid form stands for. Several copies are numbered, going on after those of ``world``."""
        data = self.cleaned_data
        copies = data[self.copies_field] or 1
        if copies == 1:
            return [self.make(data["name"], data)]
        first = self._highest(world, data) + 1
        return [self.make(f"{data['name']}-{first + i}" if data["name"] else "", data) for i in range(copies)]

    def taken(self, world: World) -> str:
        """Kubernetes' words if the name is in use, else ""."""
        data = self.cleaned_data
        name = data["name"]
        single = (data[self.copies_field] or 1) == 1
        return f'{self.plural} "{name}" already exists' if single and name in self._names(world, data) else ""

    def add_engine_errors(self, errors: Iterable[FieldError]) -> None:
        """Show each error at the field it came from; copies of an object repeat theirs, which is said once."""
        said: set[tuple[str | None, str]] = set()
        for error in errors:
            field = self.field_of(error)
            text = error.message if field else str(error)
            if (field, text) not in said:
                said.add((field, text))
                self.add_error(field, text)

    def field_of(self, error: FieldError) -> str | None:
        """The field of the form that ``error`` comes from, None when it is none in particular."""
        place = error.path or error.message
        return next((name for pattern, name in self.places if re.match(pattern, place)), None)

    def _highest(self, world: World | None, data: dict[str, Any]) -> int:
        numbered = re.compile(re.escape(data["name"]) + r"-([0-9]{1,9})")
        found = [numbered.fullmatch(name) for name in self._names(world, data)] if world else []
        return max((int(match[1]) for match in found if match), default=0)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        raise NotImplementedError

    def _names(self, world: World, data: dict[str, Any]) -> list[str]:
        raise NotImplementedError


class NodeForm(AddForm):
    plural = "nodes"
    copies_field = "count"
    places = (
        (r"metadata\.name", "name"),
        (r"metadata\.labels", "labels"),
        (r"(metadata|spec)\.taints", "taints"),
        (r"status\.(capacity|allocatable).*cpu", "cpu"),
        (r"status\.(capacity|allocatable).*memory", "memory"),
        (r"status\.(capacity|allocatable).*pods", "pods"),
    )

    name = forms.CharField(required=False, initial="node-1")
    count = forms.IntegerField(required=False, initial=1)
    zone = forms.CharField(required=False)
    region = forms.CharField(required=False)
    cpu = forms.CharField(required=False, initial="4")
    memory = forms.CharField(required=False, initial="8Gi")
    pods = forms.CharField(required=False, initial="110")
    labels = Pairs(required=False)
    taints = Rows("taint", ("key", "value", "effect"), effect="NoSchedule")
    unschedulable = forms.BooleanField(required=False)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.node(name, data)

    def field_of(self, error: FieldError) -> str | None:
        """As above; name, zone and region become labels, and of a wrong label Kubernetes tells only the value."""
        field = super().field_of(error)
        if field != "labels":
            return field
        told = re.match(r'Invalid value: "(.*?)(-\d+)?":', error.message)
        values = {self.data.get(name, "").strip(): name for name in ("name", "region", "zone")}
        return values.get(told[1], field) if told else field

    def _names(self, world: World, data: dict[str, Any]) -> list[str]:
        return list(world.nodes)


class PodForm(AddForm):
    plural = "pods"
    copies_field = "replicas"
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.labels", "labels"),
        (r"metadata\.name", "name"),
        (r"spec\.containers.*(requests|limits).*cpu", "cpu"),
        (r"spec\.containers.*(requests|limits).*memory", "memory"),
        (r"spec\.containers.*ports", "host_port"),
        (r"spec\.priorityClassName|.*no PriorityClass", "priority_class"),
        (r"spec\.priority", "priority"),
        (r"spec\.nodeSelector", "node_selector"),
        (r"spec\.tolerations", "tolerations"),
        (r"spec\.topologySpreadConstraints.*maxSkew", "spread_max_skew"),
        (r"spec\.topologySpreadConstraints.*whenUnsatisfiable", "spread_when"),
        (r"spec\.topologySpreadConstraints", "spread_key"),
        (r"spec\.affinity.*topologyKey", "affinity_topology"),
        (r"spec\.affinity.*values", "affinity_values"),
        (r"spec\.affinity", "affinity_key"),
        (r"spec\.schedulingGates", "gates"),
    )

    name = forms.CharField(required=False, initial="web")
    replicas = forms.IntegerField(required=False, initial=1)
    namespace = forms.CharField(required=False, initial="default", empty_value="default")
    labels = Pairs(required=False)
    cpu = forms.CharField(required=False, initial="500m")
    memory = forms.CharField(required=False, initial="512Mi")
    priority = forms.IntegerField(required=False)
    priority_class = forms.CharField(required=False)
    node_selector = Pairs(required=False)
    tolerations = Rows("toleration", ("key", "operator", "value", "effect"), operator="Equal")
    spread_key = forms.CharField(required=False)
    spread_max_skew = forms.IntegerField(required=False, initial=1)
    spread_when = forms.CharField(required=False)
    affinity_kind = forms.ChoiceField(required=False, choices=[(kind, kind) for kind in AFFINITY_KINDS])
    affinity_key = forms.CharField(required=False)
    affinity_values = Listed(required=False)
    affinity_topology = forms.CharField(required=False)
    host_port = forms.IntegerField(required=False)
    gates = Listed(required=False)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.pod(name, data)

    def _names(self, world: World, data: dict[str, Any]) -> list[str]:
        start = f"{data['namespace']}/"
        return [key.removeprefix(start) for key in world.pods if key.startswith(start)]


FORMS: dict[str, type[AddForm]] = {"node": NodeForm, "pod": PodForm}


def _listed(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]
