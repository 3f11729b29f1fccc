"""Whole clusters as manifests."""

from __future__ import annotations

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
FULL = [document for zone in ZONES for document in _full(zone)]
CLUSTERS: tuple[Preset, ...] = (
    _preset("three-zones", say("presets.three-zones"), say("presets.three-zones-about"), THREE_ZONES),
    _preset("mixed", say("presets.mixed"), say("presets.mixed-about"), MIXED),
    _preset("uneven", say("presets.uneven"), say("presets.uneven-about"), UNEVEN),
    _preset("gpu", say("presets.gpu"), say("presets.gpu-about"), GPU),
    _preset("full", say("presets.full"), say("presets.full-about"), FULL),
)
