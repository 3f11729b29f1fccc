"""The form for pods, and the fields that it shares with the form for workloads."""

from __future__ import annotations

from itertools import count

from django import forms

from sandbox.web.forms import manifests, shapes
from sandbox.web.forms.adding import AddForm, Places
from sandbox.web.forms.fields import Listed, Pairs, namespace, number, text
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.rows import Rows
from sandbox.web.presets.fields import PODS

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
    (r"spec\.resourceClaims(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "device_claims"),
    (r"spec\.containers.*claims(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "device_claims"),
    (r"spec\.schedulingGates", "gates"),
)


class PodFields(forms.Form):
    """The fields for a pod's spec."""

    namespace = namespace("forms.pod-namespace-hint")
    labels = Pairs("forms.labels", "forms.pod-labels-hint", "app=web")
    cpu = text("forms.cpu-request", "forms.cpu-request-hint", "500m")
    memory = text("forms.memory-request", "forms.memory-request-hint", "512Mi")
    extended = Pairs("forms.extended", "forms.pod-extended-hint", "nvidia.com/gpu=1")
    priority_class = text("forms.priority-class", "forms.priority-class-hint", example="high")
    priority = number("forms.priority", "forms.priority-hint", example="")
    node_selector = Pairs("forms.node-selector", "forms.node-selector-hint", "disk=ssd")
    tolerations = Rows("forms.tolerations", "forms.tolerations-hint", shapes.TOLERATION)
    spread = Rows("forms.spread", "forms.spread-hint", shapes.SPREAD)
    node_affinity = Rows("forms.node-affinity", "forms.node-affinity-hint", shapes.NODE_TERM)
    pod_affinity = Rows("forms.pod-affinity", "forms.pod-affinity-hint", shapes.POD_TERM)
    device_claims = Rows("forms.device-claims", "forms.device-claims-hint", shapes.DEVICE_CLAIM)
    host_port = number("forms.host-port", "forms.host-port-hint", example="8080")
    gates = Listed("forms.gates", "forms.gates-hint", "example.com/quota")
    image = text("forms.image", "forms.image-hint", example=manifests.IMAGE)
    claims = Listed("forms.volumes", "forms.volumes-hint", "data")


def copy_limits(spec: Manifest, now: Manifest) -> None:
    """Copy limits of extended resources to the requests of ``spec``, where the pod ``now`` has such requests.

    Kubernetes writes these requests itself, and they must equal the limits.
    """
    container = next(iter(now.get("containers") or ()), None) or {}
    requested = (container.get("resources") or {}).get("requests") or {}
    resources = spec["containers"][0].get("resources") or {}
    limits = resources.get("limits") or {}
    if limits:
        resources["requests"] = (resources.get("requests") or {}) | {
            name: amount for name, amount in limits.items() if name in requested
        }


def with_names(spec: Manifest, now: Manifest) -> Manifest:
    """Return a pod's spec with the names of the container and the volumes in ``now``, in which all types are right."""
    first = next(iter(now.get("containers") or ()), None) or {}
    container, *others = spec["containers"]
    named = {**spec, "containers": [container | ({"name": first["name"]} if first.get("name") else {}), *others]}
    return named | {"volumes": _volumes(spec["volumes"], now)} if "volumes" in spec else named


def _volumes(volumes: list[Manifest], now: Manifest) -> list[Manifest]:
    """Return volumes with names: that of the same claim in ``now``, else of a claim it replaces, else a free one."""
    existing = [(volume.get("name"), _claim(volume)) for volume in now.get("volumes") or () if volume]
    left = [(name, claim) for name, claim in existing if name and claim]
    names: dict[int, str] = {}
    for same in (True, False):
        for place, volume in enumerate(volumes):
            partner = next((one for one in left if not same or one[1] == _claim(volume)), None)
            if place not in names and partner:
                left.remove(partner)
                names[place] = partner[0]
    used = {name for name, _ in existing}
    free = (name for name in (f"volume-{number}" for number in count(1)) if name not in used)
    return [volume | {"name": names.get(place) or next(free)} for place, volume in enumerate(volumes)]


def _claim(volume: Manifest) -> str:
    return str((volume.get("persistentVolumeClaim") or {}).get("claimName") or "")


class PodForm(PodFields, AddForm):
    slug, short, title, template, kind = "pod", "p", "Pod", "pod_form", "Pod"
    filled_in = PODS
    copies_field = "replicas"
    make = staticmethod(manifests.pod)
    places = POD_PLACES

    name = text("forms.name", "forms.pod-name-hint", "web")
    replicas = number("forms.replicas", "forms.pod-replicas-hint", 1)

    def manifest_for(self, now: Manifest) -> Manifest:
        manifest = self.manifest()
        existing = now.get("spec") or {}
        copy_limits(manifest["spec"], existing)
        return manifest | {"spec": with_names(manifest["spec"], existing)}
