"""NodeName, NodePorts and DynamicResources in words and numbers.

Source: upstream ``plugins/{nodename,nodeports,dynamicresources}``.
"""

from __future__ import annotations

from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, names, passes, refuses
from scheduler_engine.framework.node_info import PodInfo

ANY_ADDRESS = "0.0.0.0"
WRONG_NAME = "node(s) didn't match the requested node name"
NO_PORT = "node(s) didn't have free ports for the requested pod ports"
NO_CLAIMS = "pod has resource claims, which this scheduler does not simulate"

HostPort = tuple[str, str, int]


def name_filter(case: Case) -> Explanation:
    wanted = case.pod.node_name
    if not wanted:
        line = Line("spec.nodeName", "not set", "any node will do")
        return passes(f"{case.name} does not ask for a node by name.", [line])
    same = wanted == case.node.name
    line = Line("spec.nodeName", f"{wanted} {'=' if same else '≠'} {case.node.name}")
    if same:
        return passes(f"{case.name} asks for {wanted} by name, and this is it.", [line])
    text = f"{case.name} may only run on {wanted}, which it names; this is {case.node.name}."
    return refuses(text, [line], WRONG_NAME, code=UNRESOLVABLE)


def port_filter(case: Case) -> Explanation:
    lines, taken = [], []
    for port in case.pod.host_ports:
        holders = [f"{info.pod.key} ({_port(held)})" for info in case.here for held in _clashes(port, info)]
        said = f"taken by {names(holders)}" if holders else "free"
        note = "no host IP given: it is taken on every address" if port[0] == ANY_ADDRESS else ""
        lines.append(Line(f"port {_port(port)}", said, note))
        if holders:
            taken.append(_port(port))
    if taken:
        is_taken = "is taken" if len(taken) == 1 else "are taken"
        text = f"{names(taken)} of {case.node.name}, which {case.name} needs, {is_taken}."
        return refuses(text, lines, NO_PORT)
    if not lines:
        return passes(f"{case.name} needs no port of the node itself.")
    return passes(f"Every host port that {case.name} needs is free on {case.node.name}.", lines)


def _port(port: HostPort) -> str:
    address, protocol, number = port
    return f"{protocol} {number}" if address == ANY_ADDRESS else f"{protocol} {address}:{number}"


def _clashes(port: HostPort, info: PodInfo) -> list[HostPort]:
    same = (held for held in info.pod.host_ports if held[1:] == port[1:])
    return [held for held in same if held[0] == port[0] or ANY_ADDRESS in (held[0], port[0])]


def claim_filter(case: Case) -> Explanation:
    claims = [str(item.get("name")) for item in case.pod.spec.get("resourceClaims") or ()]
    if not claims:
        return passes(f"{case.name} claims no devices.", [Line("spec.resourceClaims", "none")])
    line = Line("spec.resourceClaims", names(claims), "devices are not simulated")
    text = f"{case.name} claims devices, and this scheduler does not simulate them."
    return refuses(text, [line], NO_CLAIMS, code=UNRESOLVABLE)
