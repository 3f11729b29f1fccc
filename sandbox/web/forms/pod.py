"""The form for pods, and the fields that it shares with the template of a workload."""

from __future__ import annotations

from itertools import count
from typing import Any

from django import forms

from sandbox.web.forms import manifests, shapes
from sandbox.web.forms.adding import AddForm, Places
from sandbox.web.forms.fields import Listed, Pairs, namespace, number, text
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.rows import Rows
from sandbox.web.presets import PODS

POD_PLACES: Places = (
    (r"metadata\.namespace|namespaces ", "namespace"),
    (r"metadata\.labels", "labels"),
    (r"metadata\.name", "name"),
    (r"spec\.containers.*(requests|limits)(\.|\[)cpu(\]|$)", "cpu"),
    (r"spec\.containers.*(requests|limits)(\.|\[)memory(\]|$)", "memory"),
    (r"spec\.containers.*(requests|limits)", "extended"),
    (r"spec\.containers.*ports", "host_port"),
    (r"spec\.containers.*image", "image"),
    (r"spec\.priorityClassName|.*no PriorityClass", "priority_class"),
    (r"spec\.priority|.*the integer value of priority", "priority"),
    (r"spec\.nodeSelector", "node_selector"),
    (r"spec\.tolerations(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "tolerations"),
    (r"spec\.topologySpreadConstraints(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "spread"),
    (
        r"spec\.affinity\.nodeAffinity(\.(?P<rule>required|preferred)\w+(\.nodeSelectorTerms)?"
        r"(\[(?P<row>\d+)\](\.preference)?(\.matchExpressions\[(?P<inner>\d+)\])?(\.(?P<cell>\w+))?)?)?",
        "node_affinity",
    ),
    (r"spec\.affinity\..*\.matchLabels\b", "labels"),
    (
        r"spec\.affinity(\.(?P<kind>podAffinity|podAntiAffinity)\.(?P<rule>required|preferred)\w+"
        r"(\[(?P<row>\d+)\](\.podAffinityTerm)?(\.labelSelector)?"
        r"(\.matchExpressions\[(?P<inner>\d+)\])?(\.(?P<cell>\w+))?)?)?",
        "pod_affinity",
    ),
    (r"spec\.schedulingGates", "gates"),
)


class PodFields(forms.Form):
    """All that a pod's spec is made of."""

    namespace = namespace("Pods of other namespaces do not count for spreading and affinity.")
    labels = Pairs("Labels", "key=value. Spreading and affinity of other pods use them.", "app=web")
    cpu = text("CPU request", "What the scheduler counts. 1000m is one core; actual use does not count.", "500m")
    memory = text("Memory request", "Must fit beside what is already requested on the node.", "512Mi")
    extended = Pairs("Extended resources", "name=quantity. Only nodes with that many free fit.", "nvidia.com/gpu=1")
    priority_class = text(
        "Priority class",
        "A PriorityClass by name. Its number decides which pods are popped first, and which may evict others. Empty "
        "means the default class; without one, the priority is 0.",
        hint="high",
    )
    priority = number("Priority", "Comes from the class. Any other number is refused.", hint="")
    node_selector = Pairs("Node selector", "Only nodes with all of these labels are considered.", "disk=ssd")
    tolerations = Rows(
        "Tolerations",
        "Each lets the pod onto nodes with this taint. It does not attract the pod. With NoExecute, tolerationSeconds "
        "is how long the pod stays on a node that gets the taint later.",
        shapes.TOLERATION,
    )
    spread = Rows(
        "Topology spread constraints",
        "Each counts, per value of a node label, the pods with the labels in labelSelector (key=value, separated by "
        "commas); the fullest and the emptiest may differ by maxSkew. All DoNotSchedule constraints must be met.",
        shapes.SPREAD,
    )
    node_affinity = Rows(
        "Node affinity",
        "Required terms are ORed: a node that meets one of them is enough. A preferred term adds its weight to the "
        "score of the nodes that meet it. The expressions of one term are ANDed.",
        shapes.NODE_TERM,
    )
    pod_affinity = Rows(
        "Pod affinity",
        "Each term is near (podAffinity) or away from (podAntiAffinity) other pods, where nodes with the same value of "
        "topologyKey count as one place. All required terms must be met; a preferred one adds its weight to the score.",
        shapes.POD_TERM,
    )
    host_port = number("Host port", "Only one pod per node can have it.", hint="8080")
    gates = Listed(
        "Scheduling gates", "The pod stays out of the queue until its gates are removed.", "example.com/quota"
    )
    image = text("Image", "Nodes that already have it score higher (ImageLocality).", hint=manifests.IMAGE)
    claims = Listed("Volumes", "PersistentVolumeClaims of the namespace by name, separated by commas.", "data")


def requested_too(spec: Manifest, now: Manifest) -> None:
    """Extended resources are requests too, where the pod that the form's is laid over names them so.

    Kubernetes writes them there itself, and the two must be equal.
    """
    held = next(iter(now.get("containers") or ()), None) or {}
    asked = (held.get("resources") or {}).get("requests") or {}
    resources = spec["containers"][0].get("resources") or {}
    limits = resources.get("limits") or {}
    if limits:
        resources["requests"] = (resources.get("requests") or {}) | {
            name: amount for name, amount in limits.items() if name in asked
        }


def named_as(spec: Manifest, now: Manifest) -> Manifest:
    """A pod's spec with the names that its container and its claims have in ``now``, which is well typed."""
    first = next(iter(now.get("containers") or ()), None) or {}
    container, *others = spec["containers"]
    named = {**spec, "containers": [container | ({"name": first["name"]} if first.get("name") else {}), *others]}
    return named | {"volumes": _volumes(spec["volumes"], now)} if "volumes" in spec else named


def _volumes(made: list[Manifest], now: Manifest) -> list[Manifest]:
    """A claim keeps its volume's name, another one in its place takes it over; else it is one that is free."""
    held = [(volume.get("name"), _claim(volume)) for volume in now.get("volumes") or () if volume]
    left = [(name, claim) for name, claim in held if name and claim]
    names: dict[int, str] = {}
    for same in (True, False):
        for place, volume in enumerate(made):
            found = next((one for one in left if not same or one[1] == _claim(volume)), None)
            if place not in names and found:
                left.remove(found)
                names[place] = found[0]
    taken = {name for name, _ in held}
    free = (name for name in (f"volume-{number}" for number in count(1)) if name not in taken)
    return [volume | {"name": names.get(place) or next(free)} for place, volume in enumerate(made)]


def _claim(volume: Manifest) -> str:
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName") or "")


class PodForm(PodFields, AddForm):
    slug, short, title, template, kind = "pod", "p", "Pod", "pod_form", "Pod"
    filled_in = PODS
    copies_field = "replicas"
    places = POD_PLACES

    name = text("Name", "For several pods, the start of their names: web-1, web-2 …", "web")
    replicas = number("Replicas", "How many pods. They are scheduled one by one.", 1)

    def make(self, name: str, data: dict[str, Any]) -> Manifest:
        return manifests.pod(name, data)

    def made_for(self, now: Manifest) -> Manifest:
        made = self.made()
        held = now.get("spec") or {}
        requested_too(made["spec"], held)
        return made | {"spec": named_as(made["spec"], held)}
