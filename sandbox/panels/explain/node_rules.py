"""NodeName, NodePorts and DynamicResources in words and numbers.

Source: upstream ``plugins/{nodename,nodeports,dynamicresources}``.
"""

from __future__ import annotations

from sandbox.panels.explain.model import UNRESOLVABLE, Case, Explanation, Line, names, passes, refuses
from sandbox.panels.model.used_ports import HostPort
from sandbox.panels.words.say import say
from scheduler_engine.framework.node_info import PodInfo

ANY_ADDRESS = "0.0.0.0"
WRONG_NAME = "node(s) didn't match the requested node name"
NO_PORT = "node(s) didn't have free ports for the requested pod ports"
NO_CLAIMS = "pod has resource claims, which this scheduler does not simulate"


def name_filter(case: Case) -> Explanation:
    wanted = case.pod.node_name
    if not wanted:
        line = Line("spec.nodeName", say("node-rules.name-not-set"), say("node-rules.any-node"))
        return passes(say("node-rules.no-name", pod=case.name), [line])
    same = wanted == case.node.name
    line = Line("spec.nodeName", f"{wanted} {'=' if same else '≠'} {case.node.name}")
    if same:
        return passes(say("node-rules.right-name", pod=case.name, node=wanted), [line])
    text = say("node-rules.wrong-name", pod=case.name, wanted=wanted, node=case.node.name)
    return refuses(text, [line], WRONG_NAME, code=UNRESOLVABLE)


def port_filter(case: Case) -> Explanation:
    lines, taken = [], []
    counted = case.ports
    for port in case.pod.host_ports:
        clashes = [(info, held) for info in case.here for held in _clashes(port, info)]
        holders = [f"{info.pod.key} ({_port(held)})" for info, held in clashes if held in counted]
        forgotten = [f"{info.pod.key} ({_port(held)})" for info, held in clashes if held not in counted]
        said = say("node-rules.port-taken", names=names(holders)) if holders else say("node-rules.port-free")
        if forgotten and not holders:
            said = say("node-rules.port-forgotten", names=names(forgotten))
        note = say("node-rules.every-address") if port[0] == ANY_ADDRESS else ""
        lines.append(Line(say("node-rules.port", port=_port(port)), said, note))
        if holders:
            taken.append(_port(port))
    if taken:
        node, pod = case.node.name, case.name
        text = say("node-rules.ports-taken", count=len(taken), ports=names(taken), node=node, pod=pod)
        return refuses(text, lines, NO_PORT)
    if not lines:
        return passes(say("node-rules.no-ports", pod=case.name))
    return passes(say("node-rules.ports-free", pod=case.name, node=case.node.name), lines)


def _port(port: HostPort) -> str:
    address, protocol, number = port
    return f"{protocol} {number}" if address == ANY_ADDRESS else f"{protocol} {address}:{number}"


def _clashes(port: HostPort, info: PodInfo) -> list[HostPort]:
    same = (held for held in info.pod.host_ports if held[1:] == port[1:])
    return [held for held in same if held[0] == port[0] or ANY_ADDRESS in (held[0], port[0])]


def claim_filter(case: Case) -> Explanation:
    claims = [str(item.get("name")) for item in case.pod.spec.get("resourceClaims") or ()]
    if not claims:
        line = Line("spec.resourceClaims", say("node-rules.no-claims"))
        return passes(say("node-rules.no-devices", pod=case.name), [line])
    line = Line("spec.resourceClaims", names(claims), say("node-rules.not-simulated"))
    text = say("node-rules.claims-devices", pod=case.name)
    return refuses(text, [line], NO_CLAIMS, code=UNRESOLVABLE)
