"""Forms for a node and a pod. They read text; whether a value is right the API server says, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from sandbox import manifests
from sandbox.manifests import Manifest
from sandbox.presets import CLUSTERS, NODES, PODS, FilledIn
from sandbox.quotas import quotas
from scheduler_engine.errors import FieldError

Row = dict[str, str]
AFFINITY_KINDS = (
    ("none", "none"),
    ("node-required", "node must have"),
    ("pod-affinity", "near these pods"),
    ("pod-anti-affinity", "away from these pods"),
)
HOSTNAME, ZONE, REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


def _text(label: str, says: str, initial: str = "", hint: str = "", empty: str = "") -> forms.CharField:
    """One line of text; ``says`` stands below it, ``hint`` inside it while it is empty; ``empty`` is then meant."""
    widget = forms.TextInput({"placeholder": hint})
    return forms.CharField(
        required=False, label=label, help_text=says, initial=initial, widget=widget, empty_value=empty
    )


def _number(label: str, says: str, initial: int | None = None, hint: str = "") -> forms.IntegerField:
    widget = forms.TextInput({"placeholder": hint, "inputmode": "numeric"})
    return forms.IntegerField(required=False, label=label, help_text=says, initial=initial, widget=widget)


def _choice(label: str, says: str, *choices: tuple[str, str]) -> forms.CharField:
    """A list to choose from. What is sent all the same is judged by the API server."""
    widget = forms.Select(choices=choices)
    return forms.CharField(required=False, label=label, help_text=says, initial=choices[0][0], widget=widget)


class Pairs(forms.Field):
    """``key=value``, one on each line or parted by commas → dict."""

    def __init__(self, label: str, says: str, hint: str = "") -> None:
        widget = forms.TextInput({"placeholder": hint})
        super().__init__(required=False, label=label, help_text=says, initial="", widget=widget)

    def to_python(self, value: Any) -> dict[str, str]:
        pairs = (pair.partition("=") for pair in _listed(value or ""))
        return {key.strip(): text.strip() for key, _, text in pairs}


class Listed(forms.Field):
    """Values, one on each line or parted by commas → list."""

    def __init__(self, label: str, says: str, hint: str = "") -> None:
        widget = forms.TextInput({"placeholder": hint})
        super().__init__(required=False, label=label, help_text=says, initial="", widget=widget)

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

    def __init__(self, says: str, one: str, parts: tuple[str, ...], **unchanged: str) -> None:
        """``unchanged``: what a part holds before it is touched, other than nothing."""
        super().__init__(required=False, help_text=says, initial=list, widget=RowsWidget(one, parts))
        self.unchanged = unchanged

    def clean(self, value: list[Row]) -> list[Row]:
        return [row for row in value if any(text not in ("", self.unchanged.get(part)) for part, text in row.items())]


class AddForm(forms.Form):
    """What both forms share: names of several copies, and the way of errors back to their fields."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    copies_field: ClassVar[str]
    places: ClassVar[tuple[tuple[str, str], ...]]
    """(pattern at the start of Kubernetes' field path, or of the text if it names no field; field of the form)."""
    filled_in: ClassVar[tuple[FilledIn, ...]]
    """To start from."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        copies = self.fields[self.copies_field]
        copies.validators += [MinValueValidator(1), MaxValueValidator(quotas().copies)]

    def scope(self) -> str:
        """Where the valid form's objects will be, "" for a kind without namespaces."""
        return ""

    def manifests(self, names: Iterable[str] = ()) -> list[Manifest]:
        """The manifests the valid form stands for. Several copies are numbered, going on after those in ``names``."""
        data = self.cleaned_data
        copies = data[self.copies_field] or 1
        if copies == 1:
            return [self.make(data["name"], data)]
        first = self._highest(names, data["name"]) + 1
        return [self.make(f"{data['name']}-{first + i}" if data["name"] else "", data) for i in range(copies)]

    def taken(self, names: Iterable[str]) -> str:
        """Kubernetes' words if the name is in use, else ""."""
        data = self.cleaned_data
        name = data["name"]
        single = (data[self.copies_field] or 1) == 1
        return f'{self.plural} "{name}" already exists' if single and name in names else ""

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

    def _highest(self, names: Iterable[str], base: str) -> int:
        numbered = re.compile(re.escape(base) + r"-([0-9]{1,9})")
        found = map(numbered.fullmatch, names)
        return max((int(match[1]) for match in found if match), default=0)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        raise NotImplementedError


class NodeForm(AddForm):
    kind, plural = "Node", "nodes"
    filled_in, clusters = NODES, CLUSTERS
    copies_field = "count"
    places = (
        (r"metadata\.name", "name"),
        (r"metadata\.labels", "labels"),
        (r"(metadata|spec)\.taints", "taints"),
        (r"status\.(capacity|allocatable).*cpu", "cpu"),
        (r"status\.(capacity|allocatable).*memory", "memory"),
        (r"status\.(capacity|allocatable).*pods", "pods"),
    )

    name = _text("Name", "With several nodes it is the start of their names: node-1, node-2 …", "node")
    count = _number("How many", "All alike, one after the other.", 1)
    zone = _text("Zone", "The label topology.kubernetes.io/zone: spreading and the nodeTree go by it.", hint="eu-a")
    region = _text("Region", "The label topology.kubernetes.io/region; a zone belongs to one.", hint="eu")
    cpu = _text("CPU", "What pods may ask for in all. 4 or 4000m are four cores.", "4")
    memory = _text("Memory", "In Mi or Gi. What pods may ask for, not what they use.", "8Gi")
    pods = _text("Pods", "How many pods the node takes, however small they are.", "110")
    labels = Pairs("Labels", "key=value, parted by commas. Selectors and affinity look at them.", "disk=ssd")
    taints = Rows(
        "A taint keeps away pods that do not tolerate it; PreferNoSchedule only makes the node worth less.",
        "taint",
        ("key", "value", "effect"),
        effect="NoSchedule",
    )
    unschedulable = forms.BooleanField(required=False, help_text="spec.unschedulable: no new pods, those there stay.")

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


class PodForm(AddForm):
    kind, plural = "Pod", "pods"
    filled_in = PODS
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

    name = _text("Name", "With several pods it is the start of their names: web-1, web-2 …", "web")
    replicas = _number("Replicas", "How many pods. Each is scheduled by itself, one after the other.", 1)
    namespace = _text(
        "Namespace",
        "Pods of other namespaces do not count for spreading and affinity.",
        initial="default",
        empty="default",
    )
    labels = Pairs("Labels", "key=value. Spreading and affinity of other pods look at them.", "app=web")
    cpu = _text("CPU request", "What the scheduler counts. 1000m is one core; real use plays no part.", "500m")
    memory = _text("Memory request", "Must fit beside what is already requested on the node.", "512Mi")
    priority = _number("Priority", "Who is popped first, and who may evict whom. Empty is 0.", hint="0")
    priority_class = _text("Priority class", "A PriorityClass by name, instead of a number.", hint="high")
    node_selector = Pairs("Node selector", "Only nodes with all of these labels are considered.", "disk=ssd")
    tolerations = Rows(
        "Lets the pod onto nodes with this taint. It does not draw it there.",
        "toleration",
        ("key", "operator", "value", "effect"),
        operator="Equal",
    )
    spread_key = _choice(
        "Over",
        "Counts the pods with the same labels per value of this node label.",
        ("", "no constraint"),
        (ZONE, "zones"),
        (HOSTNAME, "nodes"),
        (REGION, "regions"),
    )
    spread_max_skew = _number("Max skew", "Fullest minus emptiest may differ by this much.", 1, "1")
    spread_when = _choice(
        "If it cannot be kept",
        "DoNotSchedule filters nodes out; ScheduleAnyway only lowers their score.",
        ("DoNotSchedule", "DoNotSchedule"),
        ("ScheduleAnyway", "ScheduleAnyway"),
    )
    affinity_kind = forms.ChoiceField(
        required=False,
        label="Kind",
        help_text="Near or away from other pods, or only certain nodes.",
        choices=AFFINITY_KINDS,
        initial="none",
    )
    affinity_key = _text("Label key", "Of the node, or of the other pods.", hint="app")
    affinity_values = Listed("Values", "One is enough; parted by commas.", "web")
    affinity_topology = _choice(
        "Per",
        "What counts as near: the same node, zone or region.",
        (HOSTNAME, "node"),
        (ZONE, "zone"),
        (REGION, "region"),
    )
    host_port = _number("Host port", "Only one pod per node can have it.", hint="8080")
    gates = Listed(
        "Scheduling gates", "The pod stays out of the queue until its gates are removed.", "example.com/quota"
    )

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.pod(name, data)

    def scope(self) -> str:
        return str(self.cleaned_data["namespace"])


FORMS: dict[str, type[AddForm]] = {"node": NodeForm, "pod": PodForm}


def _listed(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,\n]", text) if part.strip()]
