"""Where pods are, and the objects in the API server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.pod_resources import Resource, pod_resource
from scheduler_engine.api.quantity import NANO, Quantity, canonical, parse_quantity
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.expectations.vocabulary import (
    LABELS,
    NODE,
    POD,
    Assertion,
    differs,
    pods,
    shown,
)
from scheduler_engine.shapes import Anything, Data, Fields, Flag, ListOf, MapOf, Number, Shape, Text
from scheduler_engine.timeline import SECOND_US

NAMESPACE = Text("The namespace of the pods. Default: default.")
PHASES = ("Pending", "Running", "Succeeded", "Failed")


def _pod(run: RunView, expectation: Data) -> list[str]:
    key = expectation["pod"]
    pod = run.simulation.api.pod(key)
    if pod is None:
        return [f"{key}: does not exist"]
    allowed = [""] if expectation.get("pending") else expectation.get("nodes", [expectation.get("node", pod.node_name)])
    failures: list[str] = []
    if expectation.get("pending") is False and not pod.node_name:
        failures.append(f"{key}: has no node, expected one")
    if pod.node_name not in allowed:
        wanted = " or ".join(allowed) if allowed != [""] else "no node"
        failures.append(f"{key}: expected {wanted}, is on {pod.node_name or 'no node'}")
    if "nodeLabels" in expectation:
        node = run.simulation.api.get("Node", pod.node_name)
        wanted = expectation["nodeLabels"]
        labels = {name: node.labels.get(name) for name in wanted} if node is not None else {}
        if labels != wanted:
            said = f"is on {pod.node_name}, with {labels}" if pod.node_name else "is on no node"
            failures.append(f"{key}: {said}, expected a node with {wanted}")
    if "nominated" in expectation and pod.nominated_node_name != expectation["nominated"]:
        wanted = expectation["nominated"] or "no node"
        failures.append(f"{key}: nominated to {pod.nominated_node_name or 'no node'}, not {wanted}")
    if "phase" in expectation and pod.phase != expectation["phase"]:
        failures.append(f"{key}: is {pod.phase}, not {expectation['phase']}")
    if "terminating" in expectation and pod.terminating != expectation["terminating"]:
        failures.append(f"{key}: is {'' if pod.terminating else 'not '}being deleted")
    if "message" in expectation:
        message = (pod.condition("PodScheduled") or {}).get("message", "")
        if message != expectation["message"]:
            failures.append(f"{key}: message {message!r}, expected {expectation['message']!r}")
    return failures


def _gone(run: RunView, expectation: Data) -> list[str]:
    key = expectation["gone"]
    return [] if run.simulation.api.pod(key) is None else [f"{key}: still exists"]


def _node_order(run: RunView, expectation: Data) -> list[str]:
    order = [info.name for info in run.simulation.scheduler.snapshot.list()]
    return differs("node order", order, expectation["nodeOrder"])


def _domains(run: RunView, wanted: Data) -> dict[str, int]:
    """Return value of the node label ``per`` → matching pods on nodes that have it; 0 if none."""
    nodes = {
        node.name: node.labels[wanted["per"]]
        for node in run.simulation.api.list("Node")
        if wanted["per"] in node.labels
    }
    counts = dict.fromkeys(nodes.values(), 0)
    for pod in pods(run, wanted["selector"], wanted.get("namespace", "default")):
        if pod.node_name in nodes:
            counts[nodes[pod.node_name]] += 1
    return counts


def _pods(selector: Mapping[str, str]) -> str:
    return shown(selector) if selector else "all pods"


def _count(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["count"]
    counts: dict[str, int] = {}
    for pod in pods(run, wanted["selector"], wanted.get("namespace", "default")):
        node = run.simulation.api.get("Node", pod.node_name)
        if node is not None:
            domain = node.labels.get(wanted["per"], "")
            counts[domain] = counts.get(domain, 0) + 1
    if counts == {key: number for key, number in wanted["equals"].items() if number}:
        return []
    return [f"{_pods(wanted['selector'])} per {wanted['per']}: {shown(counts)}, expected {shown(wanted['equals'])}"]


def _skew(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["skew"]
    domains = _domains(run, wanted)
    least = min(domains.values(), default=0)
    skews = {domain: number - least for domain, number in domains.items()}
    said = f"{_pods(wanted['selector'])} per {wanted['per']}:"
    failures: list[str] = []
    if "equals" in wanted:
        failures += differs(f"{said} skew", skews, wanted["equals"])
    largest = max(skews.values(), default=0)
    if "atMost" in wanted and largest > wanted["atMost"]:
        failures.append(f"{said} skew {largest}, expected at most {wanted['atMost']} ({shown(domains)})")
    return failures


def _spans(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["spans"]
    used = [domain for domain, number in _domains(run, wanted).items() if number]
    least, most = wanted.get("atLeast", 0), wanted.get("atMost", len(used))
    if least <= len(used) <= most:
        return []
    bounds = [
        f"at {word} {wanted[name]}" for word, name in (("least", "atLeast"), ("most", "atMost")) if name in wanted
    ]
    said = f"{_pods(wanted['selector'])} per {wanted['per']}:"
    return [f"{said} in {len(used)} of them ({', '.join(used) or 'none'}), expected {' and '.join(bounds)}"]


def _distinct_nodes(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["distinctNodes"]
    matching = pods(run, wanted["selector"], wanted.get("namespace", "default"))
    nodes = [pod.node_name for pod in matching if pod.node_name]
    shared = sorted({name for name in nodes if nodes.count(name) > 1})
    return [f"{', '.join(shared)}: more than one of {_pods(wanted['selector'])}"] if shared else []


def _together(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["together"]
    namespace = wanted.get("namespace", "default")
    hosts = {pod.node_name: pod.name for pod in pods(run, wanted["beside"], namespace) if pod.node_name}
    return [
        f"{pod.key}: {pod.node_name or 'no node'} has none of {_pods(wanted['beside'])}"
        for pod in pods(run, wanted["selector"], namespace)
        if pod.node_name not in hosts
    ]


def _object(run: RunView, expectation: Data) -> list[str]:
    kind, _, key = str(expectation["object"]).partition(" ")
    item = run.simulation.api.get(kind, key)
    if item is None:
        return [f"{kind} {key}: does not exist"]
    return [f"{kind} {key}: {problem}" for problem in _differences(item.manifest, expectation["has"], "")]


def _differences(held: Any, wanted: Any, path: str) -> list[str]:
    if isinstance(wanted, Mapping) and isinstance(held, (Mapping, type(None))):
        held = held or {}
        named = ((f"{path}.{name}".lstrip("."), name) for name in wanted)
        return [problem for inside, name in named for problem in _differences(held.get(name), wanted[name], inside)]
    return [] if held == wanted else [f"{path} is {_value(held)}, expected {_value(wanted)}"]


def _value(value: Any) -> str:
    """Return a value of a manifest, as JSON."""
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _requested(run: RunView, expectation: Data) -> list[str]:
    info = run.simulation.scheduler.cache.nodes.get(expectation["requested"])
    return _amounts(expectation["requested"], info.requested if info is not None else None, expectation)


def _asks(run: RunView, expectation: Data) -> list[str]:
    pod = run.simulation.api.pod(expectation["asks"])
    return _amounts(expectation["asks"], pod_resource(pod).request if pod is not None else None, expectation)


def _amounts(name: str, held: Resource | None, expectation: Data) -> list[str]:
    if held is None:
        return [f"{name}: does not exist"]
    try:
        wanted = (parse_quantity(expectation["cpu"]).milli_value(), parse_quantity(expectation["memory"]).value())
    except ValueError as problem:
        return [f"{name}: {problem}"]
    amounts = (held.milli_cpu, held.memory)
    return [] if amounts == wanted else [f"{name}: {_requests(*amounts)} requested, expected {_requests(*wanted)}"]


def _requests(milli_cpu: int, memory: int) -> str:
    cpu = canonical(Quantity(milli_cpu * NANO // 1000, "DecimalSI"))
    return shown({"cpu": cpu, "memory": canonical(Quantity(memory * NANO, "BinarySI"))})


def _clock(run: RunView, expectation: Data) -> list[str]:
    return differs("clock:", run.simulation.now_us / SECOND_US, expectation["clock"])


SELECTED: dict[str, Shape] = {"selector": LABELS, "namespace": NAMESPACE}
PER = Text("A node label. Nodes with the same value form one domain.")
PER_DOMAIN = MapOf(Number(whole=True, least=0))

ASSERTIONS = {
    "pod": Assertion(
        _pod,
        "The node and the state of a pod.",
        POD,
        {
            "node": NODE,
            "nodes": ListOf(NODE, "The pod is on one of these nodes."),
            "nodeLabels": MapOf(Text(), "Labels that the pod's node has."),
            "pending": Flag("true: the pod has no node. false: it has one."),
            "nominated": Text('The status.nominatedNodeName of the pod. "" means none.'),
            "phase": Text(values=PHASES),
            "terminating": Flag("true: the pod is being deleted."),
            "message": Text("The exact message of the PodScheduled condition."),
        },
    ),
    "gone": Assertion(_gone, "The pod does not exist.", POD),
    "nodeOrder": Assertion(_node_order, "The order of the nodes in the scheduler's snapshot.", ListOf(NODE)),
    "count": Assertion(
        _count,
        "The number of matching pods in each domain. You may leave out domains without any.",
        Fields({**SELECTED, "per": PER, "equals": PER_DOMAIN}, ("selector", "per", "equals")),
    ),
    "skew": Assertion(
        _skew,
        "The skew: how many more matching pods a domain has than the one with the fewest. Empty domains count too.",
        Fields(
            {**SELECTED, "per": PER, "equals": PER_DOMAIN, "atMost": Number(whole=True, least=0)},
            ("selector", "per"),
            some=("equals", "atMost"),
        ),
    ),
    "spans": Assertion(
        _spans,
        "The number of domains with matching pods.",
        Fields(
            {**SELECTED, "per": PER, "atLeast": Number(whole=True, least=0), "atMost": Number(whole=True, least=0)},
            ("selector", "per"),
            some=("atLeast", "atMost"),
        ),
    ),
    "distinctNodes": Assertion(_distinct_nodes, "No two matching pods share a node.", Fields(SELECTED, ("selector",))),
    "together": Assertion(
        _together,
        "Every pod that matches selector shares its node with a pod that matches beside.",
        Fields({**SELECTED, "beside": LABELS}, ("selector", "beside")),
    ),
    "object": Assertion(
        _object,
        "The stored object has these fields. null means that a field is missing.",
        Text("The kind and the key, such as Pod default/web, or Node n1."),
        {"has": MapOf(Anything())},
        ("has",),
    ),
    "requested": Assertion(
        _requested,
        "The sum of the requests of the pods on a node, as the scheduler counts them.",
        NODE,
        {"cpu": Text("A quantity."), "memory": Text("A quantity.")},
        ("cpu", "memory"),
    ),
    "asks": Assertion(
        _asks,
        "The requests of a pod, as the scheduler counts them.",
        POD,
        {"cpu": Text("A quantity."), "memory": Text("A quantity.")},
        ("cpu", "memory"),
    ),
    "clock": Assertion(_clock, "The simulated time.", Number("Simulated seconds since the start.", least=0)),
}
