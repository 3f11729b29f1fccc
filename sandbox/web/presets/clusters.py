"""Whole clusters as manifests."""

from __future__ import annotations

from sandbox.web.presets import devices
from sandbox.web.presets.preset import Preset
from sandbox.words.say import say

ZONES = ("eu-a", "eu-b", "eu-c")
TAINTS = """\
spec:
  taints:
  - {key: dedicated, value: gpu, effect: NoSchedule}
"""
GPUS = ', nvidia.com/gpu: "4"'


def _node(name: str, zone: str, cpu: int = 4, memory: str = "8Gi", taints: str = "", devices: str = "") -> str:
    return f"""\
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels:
    kubernetes.io/hostname: {name}
    topology.kubernetes.io/zone: {zone}
{taints}status:
  capacity: {{cpu: "{cpu}", memory: {memory}, pods: "110"{devices}}}
"""


def _pod(name: str, cpu: str, memory: str, node: str) -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{app: busy}}
spec:
  nodeName: {node}
  containers:
  - name: main
    image: registry.example/busy:1
    resources:
      requests: {{cpu: {cpu}, memory: {memory}}}
"""


def _letter(zone: str) -> str:
    return zone.rpartition("-")[2]


def _full(zone: str) -> list[str]:
    letter = _letter(zone)
    node = f"node-{letter}1"
    pods = (("1", "2", "4Gi"), ("2", "1500m", "3Gi"))
    return [_node(node, zone), *(_pod(f"busy-{letter}{number}", cpu, memory, node) for number, cpu, memory in pods)]


def _preset(slug: str, title: str, says: str, documents: list[str]) -> Preset:
    return Preset(slug, title, says, "---\n".join(documents))


THREE_ZONES = [_node(f"node-{_letter(zone)}{number}", zone) for zone in ZONES for number in (1, 2)]
MIXED = [
    document
    for place, zone in enumerate(ZONES, 1)
    for document in (
        _node(f"small-{_letter(zone)}", zone, 2, "4Gi"),
        _node(f"large-{_letter(zone)}", zone, 8 * place, f"{16 * place}Gi"),
    )
]
UNEVEN = [
    _node(f"node-{_letter(zone)}{number}", zone, cpu, f"{2 * cpu}Gi")
    for zone, many, cpu in zip(ZONES, (4, 2, 1), (4, 8, 2), strict=True)
    for number in range(1, many + 1)
]
GPU = [
    *(_node(f"node-{_letter(zone)}1", zone) for zone in ZONES),
    *(_node(f"gpu-{_letter(zone)}1", zone, 8, "32Gi", TAINTS, GPUS) for zone in ZONES[:2]),
]
TWO_GPU_MODELS = [
    _node("node-a1", "eu-a"),
    _node("old-b1", "eu-b", 8, "32Gi"),
    _node("new-c1", "eu-c", 8, "32Gi"),
    devices.device_class("gpu", devices.GPU_DRIVER),
    devices.slice_of("old-b1", devices.GPU_DRIVER, devices.gpus("t4", "16Gi", 2)),
    devices.slice_of("new-c1", devices.GPU_DRIVER, devices.gpus("a100", "40Gi", 2)),
    devices.claim_template("only-a100", ("a100",)),
    devices.claim_template("a100-or-t4", ("a100", "t4")),
    *(devices.claiming_pod(f"train-{n}", "2", "gpu", "resourceClaimTemplateName: only-a100") for n in (1, 2)),
    *(devices.claiming_pod(f"report-{n}", "1", "gpu", "resourceClaimTemplateName: a100-or-t4") for n in (1, 2, 3)),
]
SHARED_NIC = [
    *(_node(f"node-{_letter(zone)}1", zone) for zone in ZONES),
    devices.device_class("nic", devices.NIC_DRIVER),
    *(devices.slice_of(f"node-{letter}1", devices.NIC_DRIVER, ["{name: nic-0}"]) for letter in "ab"),
    devices.claim("uplink", "nic"),
    *(devices.claiming_pod(f"router-{n}", "1500m", "nic", "resourceClaimName: uplink") for n in (1, 2, 3)),
]
FULL = [document for zone in ZONES for document in _full(zone)]
CLUSTERS: tuple[Preset, ...] = (
    _preset("three-zones", say("presets.three-zones"), say("presets.three-zones-about"), THREE_ZONES),
    _preset("mixed", say("presets.mixed"), say("presets.mixed-about"), MIXED),
    _preset("uneven", say("presets.uneven"), say("presets.uneven-about"), UNEVEN),
    _preset("gpu", say("presets.gpu"), say("presets.gpu-about"), GPU),
    _preset("two-gpu-models", say("presets.two-gpu-models"), say("presets.two-gpu-models-about"), TWO_GPU_MODELS),
    _preset("shared-nic", say("presets.shared-nic"), say("presets.shared-nic-about"), SHARED_NIC),
    _preset("full", say("presets.full"), say("presets.full-about"), FULL),
)
