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
    NAMESPACE,
    NODE,
    POD,
    QUANTITY,
    Assertion,
    differs,
    pods,
    shown,
)
from scheduler_engine.shapes import Anything, Data, Fields, Flag, ListOf, MapOf, Number, Shape, Text
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.words import say

PHASES = ("Pending", "Running", "Succeeded", "Failed")


def _pod(run: RunView, expectation: Data) -> list[str]:
    key = expectation["pod"]
    pod = run.simulation.api.pod(key)
    if pod is None:
        return [say("failures.does-not-exist", name=key)]
    allowed = [""] if expectation.get("pending") else expectation.get("nodes", [expectation.get("node", pod.node_name)])
    failures: list[str] = []
    if expectation.get("pending") is False and not pod.node_name:
        failures.append(say("failures.has-no-node", pod=key))
    if pod.node_name not in allowed:
        wanted = say("types.or").join(allowed) if allowed != [""] else say("failures.no-node")
        failures.append(say("failures.other-node", pod=key, wanted=wanted, actual=_node(pod.node_name)))
    if "nodeLabels" in expectation:
        node = run.simulation.api.get("Node", pod.node_name)
        wanted = expectation["nodeLabels"]
        labels = {name: node.labels.get(name) for name in wanted} if node is not None else {}
        if labels != wanted:
            row = "failures.other-labels" if pod.node_name else "failures.no-labels"
            failures.append(say(row, pod=key, node=pod.node_name, labels=labels, wanted=wanted))
    if "nominated" in expectation and pod.nominated_node_name != expectation["nominated"]:
        actual, wanted = _node(pod.nominated_node_name), _node(expectation["nominated"])
        failures.append(say("failures.other-nomination", pod=key, actual=actual, wanted=wanted))
    if "phase" in expectation and pod.phase != expectation["phase"]:
        failures.append(say("failures.other-phase", pod=key, actual=pod.phase, wanted=expectation["phase"]))
    if "terminating" in expectation and pod.terminating != expectation["terminating"]:
        failures.append(say("failures.deleting" if pod.terminating else "failures.not-deleting", pod=key))
    if "message" in expectation:
        message = (pod.condition("PodScheduled") or {}).get("message", "")
        if message != expectation["message"]:
            failures.append(say("failures.other-message", pod=key, actual=message, wanted=expectation["message"]))
    return failures


def _node(name: str) -> str:
    """Return the name, or ``no node``."""
    return name or say("failures.no-node")


def _gone(run: RunView, expectation: Data) -> list[str]:
    key = expectation["gone"]
    return [] if run.simulation.api.pod(key) is None else [say("failures.still-exists", pod=key)]


def _node_order(run: RunView, expectation: Data) -> list[str]:
    order = [info.name for info in run.simulation.scheduler.snapshot.list()]
    return differs(say("failures.node-order"), order, expectation["nodeOrder"])


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
    return shown(selector) if selector else say("failures.all-pods")


def _per(wanted: Data) -> str:
    return say("failures.per", pods=_pods(wanted["selector"]), label=wanted["per"])


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
    return differs(_per(wanted), counts, wanted["equals"])


def _skew(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["skew"]
    domains = _domains(run, wanted)
    least = min(domains.values(), default=0)
    skews = {domain: number - least for domain, number in domains.items()}
    failures: list[str] = []
    if "equals" in wanted:
        failures += differs(f"{_per(wanted)} skew", skews, wanted["equals"])
    largest = max(skews.values(), default=0)
    if "atMost" in wanted and largest > wanted["atMost"]:
        most, counts = wanted["atMost"], shown(domains)
        failures.append(say("failures.skew", what=_per(wanted), actual=largest, most=most, counts=counts))
    return failures


def _spans(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["spans"]
    used = [domain for domain, number in _domains(run, wanted).items() if number]
    least, most = wanted.get("atLeast", 0), wanted.get("atMost", len(used))
    if least <= len(used) <= most:
        return []
    rows = {"atLeast": "value-errors.least", "atMost": "value-errors.most"}
    bounds = say("value-errors.and").join(say(row, bound=wanted[name]) for name, row in rows.items() if name in wanted)
    domains = ", ".join(used) or say("failures.none")
    return [say("failures.spans", what=_per(wanted), number=len(used), domains=domains, wanted=bounds)]


def _distinct_nodes(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["distinctNodes"]
    matching = pods(run, wanted["selector"], wanted.get("namespace", "default"))
    nodes = [pod.node_name for pod in matching if pod.node_name]
    shared = sorted({name for name in nodes if nodes.count(name) > 1})
    return [say("failures.shared", nodes=", ".join(shared), pods=_pods(wanted["selector"]))] if shared else []


def _together(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["together"]
    namespace = wanted.get("namespace", "default")
    hosts = {pod.node_name: pod.name for pod in pods(run, wanted["beside"], namespace) if pod.node_name}
    return [
        say("failures.apart", pod=pod.key, node=_node(pod.node_name), pods=_pods(wanted["beside"]))
        for pod in pods(run, wanted["selector"], namespace)
        if pod.node_name not in hosts
    ]


def _object(run: RunView, expectation: Data) -> list[str]:
    kind, _, key = str(expectation["object"]).partition(" ")
    item = run.simulation.api.get(kind, key)
    if item is None:
        return [say("failures.does-not-exist", name=f"{kind} {key}")]
    return [f"{kind} {key}: {problem}" for problem in _differences(item.manifest, expectation["has"], "")]


def _differences(held: Any, wanted: Any, path: str) -> list[str]:
    if isinstance(wanted, Mapping) and isinstance(held, (Mapping, type(None))):
        held = held or {}
        named = ((f"{path}.{name}".lstrip("."), name) for name in wanted)
        return [problem for inside, name in named for problem in _differences(held.get(name), wanted[name], inside)]
    if held == wanted:
        return []
    return [say("failures.other-field", path=path, actual=_value(held), wanted=_value(wanted))]


def _value(value: Any) -> str:
    """Return a value of a manifest, as JSON."""
    return say("failures.not-set") if value is None else json.dumps(value, ensure_ascii=False)


def _requested(run: RunView, expectation: Data) -> list[str]:
    info = run.simulation.scheduler.cache.nodes.get(expectation["requested"])
    return _amounts(expectation["requested"], info.requested if info is not None else None, expectation)


def _asks(run: RunView, expectation: Data) -> list[str]:
    pod = run.simulation.api.pod(expectation["asks"])
    return _amounts(expectation["asks"], pod_resource(pod).request if pod is not None else None, expectation)


def _amounts(name: str, held: Resource | None, expectation: Data) -> list[str]:
    if held is None:
        return [say("failures.does-not-exist", name=name)]
    try:
        wanted = (parse_quantity(expectation["cpu"]).milli_value(), parse_quantity(expectation["memory"]).value())
    except ValueError as problem:
        return [f"{name}: {problem}"]
    amounts = (held.milli_cpu, held.memory)
    if amounts == wanted:
        return []
    return [say("failures.requested", name=name, actual=_requests(*amounts), wanted=_requests(*wanted))]


def _requests(milli_cpu: int, memory: int) -> str:
    cpu = canonical(Quantity(milli_cpu * NANO // 1000, "DecimalSI"))
    return shown({"cpu": cpu, "memory": canonical(Quantity(memory * NANO, "BinarySI"))})


def _clock(run: RunView, expectation: Data) -> list[str]:
    return differs("clock:", run.simulation.now_us / SECOND_US, expectation["clock"])


SELECTED: dict[str, Shape] = {"selector": LABELS, "namespace": NAMESPACE}
PER = Text(say("expectation-keys.domain-label"))
PER_DOMAIN = MapOf(Number(whole=True, least=0))

ASSERTIONS = {
    "pod": Assertion(
        _pod,
        say("expectation-keys.pod"),
        POD,
        {
            "node": NODE,
            "nodes": ListOf(NODE, say("expectation-keys.pod-nodes")),
            "nodeLabels": MapOf(Text(), say("expectation-keys.pod-labels")),
            "pending": Flag(say("expectation-keys.pod-pending")),
            "nominated": Text(say("expectation-keys.pod-nominated")),
            "phase": Text(values=PHASES),
            "terminating": Flag(say("expectation-keys.pod-terminating")),
            "message": Text(say("expectation-keys.pod-message")),
        },
    ),
    "gone": Assertion(_gone, say("expectation-keys.gone"), POD),
    "nodeOrder": Assertion(_node_order, say("expectation-keys.node-order"), ListOf(NODE)),
    "count": Assertion(
        _count,
        say("expectation-keys.count"),
        Fields({**SELECTED, "per": PER, "equals": PER_DOMAIN}, ("selector", "per", "equals")),
    ),
    "skew": Assertion(
        _skew,
        say("expectation-keys.skew"),
        Fields(
            {**SELECTED, "per": PER, "equals": PER_DOMAIN, "atMost": Number(whole=True, least=0)},
            ("selector", "per"),
            some=("equals", "atMost"),
        ),
    ),
    "spans": Assertion(
        _spans,
        say("expectation-keys.spans"),
        Fields(
            {**SELECTED, "per": PER, "atLeast": Number(whole=True, least=0), "atMost": Number(whole=True, least=0)},
            ("selector", "per"),
            some=("atLeast", "atMost"),
        ),
    ),
    "distinctNodes": Assertion(
        _distinct_nodes, say("expectation-keys.distinct-nodes"), Fields(SELECTED, ("selector",))
    ),
    "together": Assertion(
        _together,
        say("expectation-keys.together"),
        Fields({**SELECTED, "beside": LABELS}, ("selector", "beside")),
    ),
    "object": Assertion(
        _object,
        say("expectation-keys.object"),
        Text(say("expectation-keys.object-key")),
        {"has": MapOf(Anything())},
        ("has",),
    ),
    "requested": Assertion(
        _requested,
        say("expectation-keys.requested"),
        NODE,
        {"cpu": QUANTITY, "memory": QUANTITY},
        ("cpu", "memory"),
    ),
    "asks": Assertion(
        _asks,
        say("expectation-keys.asks"),
        POD,
        {"cpu": QUANTITY, "memory": QUANTITY},
        ("cpu", "memory"),
    ),
    "clock": Assertion(_clock, say("expectation-keys.clock"), Number(say("expectation-keys.clock-seconds"), least=0)),
}
