"""Random histories of pods that claim devices, whose API objects change between any two stages of a cycle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from scheduler_engine import commands
from scheduler_engine.testing import ZONE, make_node, make_pod

Data = dict[str, Any]

DRIVER = "gpu.example.com"
NODES = tuple(f"n{number}" for number in range(1, 6))
CLAIMS = tuple(f"claim-{number}" for number in range(6))
TEMPLATES = ("one", "two", "listed")
CLASSES = ("any", "big", "broken", "gone")
PODS = tuple(f"pod-{number}" for number in range(10))
EXPRESSIONS = (
    f'device.attributes["{DRIVER}"].model == "a"',
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("16Gi")) >= 0',
    f'device.driver == "{DRIVER}"',
    f'"numa" in device.attributes["{DRIVER}"]',
    f'device.attributes["{DRIVER}"].numa == 1',
)


def _of(kind: str, name: str, spec: Data, **metadata: Any) -> Data:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def _selectors(*expressions: str) -> list[Data]:
    return [{"cel": {"expression": text}} for text in expressions]


def _node(pick: Random) -> Data:
    return make_node(pick.choice(NODES)).capacity(cpu="4", pods="20").zone(pick.choice("ab")).obj()


def _class(pick: Random) -> Data:
    name = pick.choice(CLASSES[:3])
    expressions = {"any": (), "big": EXPRESSIONS[1:2], "broken": (f'device.attributes["{DRIVER}"].none == 1',)}
    return _of("DeviceClass", name, {"selectors": _selectors(*expressions[name])})


def _device(pick: Random, number: int) -> Data:
    attributes: Data = {"model": {"string": pick.choice("ab")}}
    if pick.random() < 0.7:
        attributes["numa"] = {"int": pick.randint(0, 1)}
    return {
        "name": f"gpu-{number}",
        "attributes": attributes,
        "capacity": {"memory": {"value": pick.choice(["8Gi", "16Gi", "40Gi"])}},
    }


def _slice(pick: Random) -> Data:
    name = pick.choice([*NODES, "shared"])
    zone = {"key": ZONE, "operator": "In", "values": [pick.choice("ab")]}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
    place: Data = (
        pick.choice([{"allNodes": True}, {"nodeSelector": selector}]) if name == "shared" else {"nodeName": name}
    )
    pool = {"name": name, "generation": pick.choice([1, 1, 2]), "resourceSliceCount": pick.choice([1, 1, 1, 1, 2])}
    devices = [_device(pick, number) for number in range(pick.randint(1, 3))]
    return _of("ResourceSlice", f"{name}-gpus", {"driver": DRIVER, "pool": pool, "devices": devices, **place})


def _wanted(pick: Random) -> Data:
    wanted: Data = {"deviceClassName": pick.choice(["any", "any", "any", "big", "big", pick.choice(CLASSES)])}
    if pick.random() < 0.4:
        wanted["selectors"] = _selectors(*pick.sample(EXPRESSIONS, pick.randint(1, 2)))
    if pick.random() < 0.15:
        return {**wanted, "allocationMode": "All"}
    return {**wanted, "count": pick.choice([1, 1, 1, 2])}


def _devices(pick: Random) -> Data:
    requests: list[Data] = []
    for number in range(pick.choice([1, 1, 1, 2])):
        if pick.random() < 0.4:
            listed = [{"name": f"s{index}", **_wanted(pick)} for index in range(pick.randint(1, 3))]
            requests.append({"name": f"r{number}", "firstAvailable": listed})
        else:
            requests.append({"name": f"r{number}", "exactly": _wanted(pick)})
    devices: Data = {"requests": requests}
    if pick.random() < 0.2:
        devices["constraints"] = [{"requests": [], "matchAttribute": f"{DRIVER}/numa"}]
    return {"devices": devices}


def _claim(pick: Random) -> Data:
    return _of("ResourceClaim", pick.choice(CLAIMS), _devices(pick), namespace="default")


def _template(pick: Random) -> Data:
    return _of("ResourceClaimTemplate", pick.choice(TEMPLATES), {"spec": _devices(pick)}, namespace="default")


def _pod(pick: Random) -> Data:
    builder = make_pod(pick.choice(PODS)).cpu(pick.choice(["100m", "1", "3"])).priority(pick.randint(0, 2))
    entries: list[Data] = [
        {"name": f"c{number}", "resourceClaimName": pick.choice(CLAIMS)}
        if pick.random() < 0.5
        else {"name": f"c{number}", "resourceClaimTemplateName": pick.choice(TEMPLATES)}
        for number in range(pick.choice([0, 1, 1, 1, 2]))
    ]
    return builder.spec(resourceClaims=entries).obj()


MADE: tuple[Callable[[Random], Data], ...] = (_node, _class, _slice, _slice, _claim, _template)
KINDS: dict[str, tuple[str, ...]] = {
    "Node": NODES,
    "DeviceClass": CLASSES[:3],
    "ResourceSlice": tuple(f"{name}-gpus" for name in (*NODES, "shared")),
    "ResourceClaim": tuple(f"default/{name}" for name in CLAIMS),
    "Pod": tuple(f"default/{name}" for name in PODS),
}


def _changed(pick: Random) -> commands.Command:
    """Change, create or delete an object."""
    what = pick.randint(0, 9)
    if what < 5:
        return commands.Apply((pick.choice(MADE)(pick),))
    if what < 8:
        kind = pick.choice([*KINDS])
        return commands.Delete(kind, pick.choice(KINDS[kind]))
    return commands.Patch("Node", pick.choice(NODES), {"metadata": {"labels": {ZONE: pick.choice(["a", "b", None])}}})


def devices(seed: int) -> list[commands.Command]:
    """Return the commands for nodes and devices, then pods and changes between their stages."""
    pick = Random(seed)
    steps: list[commands.Command] = []
    for made, number in ((_node, 8), (_class, 6), (_slice, 10), (_claim, 8), (_template, 5)):
        steps += [commands.Apply((made(pick),)) for _ in range(number)]
    for _ in range(pick.randint(6, 12)):
        steps.append(commands.Apply((_pod(pick),)))
        for _ in range(pick.randint(0, 2)):
            steps += [commands.Stage()] * pick.randint(0, 5)
            steps.append(_changed(pick))
        steps.append(pick.choice([commands.Run(20), commands.PodCycle(), commands.Advance(seconds=2.0)]))
    return [*steps, commands.Advance(seconds=40.0), commands.Run(20)]
