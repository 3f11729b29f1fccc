"""What a pod requests, requires and prefers, in a learner's words."""

from __future__ import annotations

from functools import reduce
from typing import Any

from sandbox.panels.facts.owned import controlled_by
from sandbox.panels.facts.pod_groups import of_pod
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.words.amounts import TITLES, cores, memory
from sandbox.words.say import say
from scheduler_engine.api.labels import Selector, selector_from
from scheduler_engine.api.taints import GREATER, LESS, TOLERATED_BY_ADMISSION

SIGNS = {LESS: " < ", GREATER: " > "}
"""Operator of a toleration → the sign between key and value; others have =."""
EXPRESSIONS = {
    "In": "inspector.in",
    "NotIn": "inspector.not-in",
    "Exists": "inspector.exists",
    "DoesNotExist": "inspector.does-not-exist",
    "Gt": "inspector.greater",
    "Lt": "inspector.less",
}
DOMAINS = {
    "kubernetes.io/hostname": "inspector.per-node",
    "topology.kubernetes.io/zone": "inspector.per-zone",
    "topology.kubernetes.io/region": "inspector.per-region",
}


def facts(pod: PodState, world: World) -> list[dict[str, str]]:
    """Return rows of ``term`` and ``text``; ``tab``: the tab that shows more."""
    owner = controlled_by(pod.pod, world)
    controlled = [{"term": say("inspector.controlled-by"), "text": owner, "tab": "workloads"}] if owner else []
    group = of_pod(world, pod.pod)
    grouped = [{"term": say("inspector.pod-group"), "text": group, "tab": "workloads"}] if group else []
    return [*controlled, *grouped, *({"term": say(term), "text": text} for term, text in _requirements(pod) if text)]


def _requirements(pod: PodState) -> list[tuple[str, str]]:
    overhead = (f"{name} {value}" for name, value in (pod.pod.spec.get("overhead") or {}).items())
    tolerated = (_toleration(item) for item in pod.pod.tolerations if item.key not in TOLERATED_BY_ADMISSION)
    return [
        ("inspector.asks-for", requested(pod)),
        ("inspector.overhead", ", ".join(overhead)),
        ("inspector.wants", _wants(pod)),
        ("inspector.prefers", _prefers(pod)),
        ("inspector.spread", _spread(pod)),
        ("inspector.near", _pods(pod, "podAffinity")),
        ("inspector.keeps-off", _pods(pod, "podAntiAffinity")),
        ("inspector.tolerates", ", ".join(tolerated)),
        ("inspector.ports", ", ".join(f"{port}/{protocol}" for _, protocol, port in pod.pod.host_ports)),
        ("inspector.claims", ", ".join(pod.pod.claim_names)),
        ("inspector.gates", ", ".join(pod.pod.scheduling_gates)),
        ("inspector.policy", pod.pod.preemption_policy if pod.pod.preemption_policy != "PreemptLowerPriority" else ""),
        ("inspector.scheduler", pod.pod.scheduler_name if pod.pod.scheduler_name != "default-scheduler" else ""),
        ("inspector.app", ", ".join(f"{key}={value}" for key, value in sorted(pod.pod.labels.items()))),
    ]


def requested(pod: PodState) -> str:
    parts = []
    for name, number in pod.requests.items():
        if name == "cpu":
            parts.append(say("inspector.cpu", amount=cores(number) if number % 100 == 0 else f"{number}m"))
        elif name == "memory":
            parts.append(say("inspector.memory", amount=memory(number)))
        else:
            parts.append(f"{number if '/' in name else memory(number)} {TITLES.get(name, name)}")
    return ", ".join(parts) or say("inspector.asks-for-nothing")


def _wants(pod: PodState) -> str:
    parts = [f"{key}={value}" for key, value in (pod.pod.spec.get("nodeSelector") or {}).items()]
    required = (pod.pod.affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [_term(term) for term in required.get("nodeSelectorTerms") or ()]
    if terms:
        parts.append(_chained("inspector.either", terms))
    return ", ".join(parts)


def _term(term: dict[str, Any]) -> str:
    expressions = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
    parts = [_expression(item) for item in expressions] or [say("inspector.empty-term")]
    return _chained("inspector.both", parts)


def _chained(key: str, parts: list[str]) -> str:
    """Join parts as ``a or b or c``, by a row with the places ``first`` and ``second``."""
    return reduce(lambda first, second: say(key, first=first, second=second), parts)


def _expression(item: dict[str, Any]) -> str:
    key, operator, values = item.get("key", ""), item.get("operator", ""), item.get("values") or []
    if operator == "In" and len(values) == 1:
        return f"{key}={values[0]}"
    return say(EXPRESSIONS[operator], label=key, values=", ".join(values))


def _prefers(pod: PodState) -> str:
    preferred = (pod.pod.affinity.get("nodeAffinity") or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    parts = [f"{_term(item.get('preference') or {})} ({item.get('weight', 0)})" for item in preferred]
    for kind, key in (("podAffinity", "inspector.prefers-near"), ("podAntiAffinity", "inspector.prefers-away")):
        terms = (pod.pod.affinity.get(kind) or {}).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        parts += [
            say(key, pods=_pod_term(item.get("podAffinityTerm") or {}), weight=item.get("weight", 0)) for item in terms
        ]
    return ", ".join(parts)


def _pods(pod: PodState, kind: str) -> str:
    terms = (pod.pod.affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return ", ".join(_pod_term(term) for term in terms)


def _pod_term(term: dict[str, Any]) -> str:
    pods, key = _selector(selector_from(term.get("labelSelector"))), term.get("topologyKey", "")
    where = _namespaces(term)
    pods = say("inspector.in-namespaces", pods=pods, where=where) if where else pods
    return say(DOMAINS[key], pods=pods) if key in DOMAINS else say("inspector.per-key", pods=pods, key=key)


def _namespaces(term: dict[str, Any]) -> str:
    """Return the namespaces of an affinity term in words, "" if it means that of its own pod."""
    chosen = selector_from(term.get("namespaceSelector"))
    if chosen.empty:
        return say("inspector.any-namespace")
    named = term.get("namespaces") or []
    parts = [say("inspector.namespaces", count=len(named), names=", ".join(named))] if named else []
    if not chosen.nothing:
        parts.append(say("inspector.namespaces-with", labels=_selector(chosen)))
    return _chained("inspector.either", parts) if parts else ""


def _selector(selector: Selector) -> str:
    if selector.nothing:
        return say("inspector.no-pods")
    if selector.empty:
        return say("inspector.all-pods")
    return ", ".join(
        f"{item.key}={item.values[0]}" if item.operator == "In" and len(item.values) == 1 else str(item)
        for item in selector.requirements
    )


def _spread(pod: PodState) -> str:
    parts = []
    for item in pod.pod.topology_spread_constraints:
        hard = item.get("whenUnsatisfiable") == "DoNotSchedule"
        key = "inspector.spread-always" if hard else "inspector.spread-if-possible"
        parts.append(say(key, pods=_pod_term(item), skew=item.get("maxSkew", 1)))
    return "; ".join(parts)


def _toleration(item: Any) -> str:
    value = f"{SIGNS.get(item.operator, '=')}{item.value}" if item.value else ""
    taint = f"{item.key or say('inspector.every-taint')}{value}{':' + item.effect if item.effect else ''}"
    return taint if item.seconds is None else say("inspector.tolerated-for", taint=taint, seconds=item.seconds)
