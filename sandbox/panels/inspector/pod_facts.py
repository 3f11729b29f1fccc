"""What a pod asks for, in a learner's words: (term, plain text, the precise form) per line."""

from __future__ import annotations

from typing import Any

from sandbox.panels.explain.taints import GIVEN_TO_ALL
from sandbox.panels.facts.owned import controlled_by
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import TITLES, cores, memory
from scheduler_engine.api.labels import Selector, selector_from


def facts(pod: PodState, world: World) -> list[dict[str, str]]:
    """``tab``: the decision panel that tells more."""
    owner = controlled_by(pod.pod, world)
    controlled = [{"term": "Controlled by", "text": owner, "tab": "workloads"}] if owner else []
    return [*controlled, *({"term": term, "text": text} for term, text in _asked(pod) if text)]


def _asked(pod: PodState) -> list[tuple[str, str]]:
    return [
        ("Asks for", asks(pod)),
        ("Overhead", ", ".join(f"{name} {value}" for name, value in (pod.pod.spec.get("overhead") or {}).items())),
        ("Wants", _wants(pod)),
        ("Prefers", _prefers(pod)),
        ("Spread", _spread(pod)),
        ("Near", _pods(pod, "podAffinity")),
        ("Keeps off", _pods(pod, "podAntiAffinity")),
        ("Tolerates", ", ".join(_toleration(item) for item in pod.pod.tolerations if item.key not in GIVEN_TO_ALL)),
        ("Ports", ", ".join(f"{port}/{protocol}" for _, protocol, port in pod.pod.host_ports)),
        ("Claims", ", ".join(pod.pod.claim_names)),
        ("Gates", ", ".join(pod.pod.scheduling_gates)),
        ("Policy", pod.pod.preemption_policy if pod.pod.preemption_policy != "PreemptLowerPriority" else ""),
        ("Scheduler", pod.pod.scheduler_name if pod.pod.scheduler_name != "default-scheduler" else ""),
        ("App", ", ".join(f"{key}={value}" for key, value in sorted(pod.pod.labels.items()))),
    ]


def asks(pod: PodState) -> str:
    parts = []
    for name, number in pod.requests.items():
        if name == "cpu":
            parts.append(f"{cores(number)} cpu" if number % 100 == 0 else f"{number}m cpu")
        elif name == "memory":
            parts.append(f"{memory(number)} memory")
        else:
            parts.append(f"{number if '/' in name else memory(number)} {TITLES.get(name, name)}")
    return ", ".join(parts) or "nothing: only a place"


def _wants(pod: PodState) -> str:
    parts = [f"{key}={value}" for key, value in (pod.pod.spec.get("nodeSelector") or {}).items()]
    required = (pod.pod.affinity.get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = [_term(term) for term in required.get("nodeSelectorTerms") or ()]
    if terms:
        parts.append(" or ".join(terms))
    return ", ".join(parts)


def _term(term: dict[str, Any]) -> str:
    listed = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
    return " and ".join(_expression(item) for item in listed) or "nothing (an empty term)"


def _expression(item: dict[str, Any]) -> str:
    key, operator, values = item.get("key", ""), item.get("operator", ""), item.get("values") or []
    if operator == "In" and len(values) == 1:
        return f"{key}={values[0]}"
    words = {"In": "in", "NotIn": "not in", "Exists": "is there", "DoesNotExist": "is not there", "Gt": ">", "Lt": "<"}
    shown = f" {', '.join(values)}" if values else ""
    return f"{key} {words.get(operator, operator)}{shown}"


def _prefers(pod: PodState) -> str:
    preferred = (pod.pod.affinity.get("nodeAffinity") or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    parts = [f"{_term(item.get('preference') or {})} ({item.get('weight', 0)})" for item in preferred]
    for kind, word in (("podAffinity", "near"), ("podAntiAffinity", "away from")):
        terms = (pod.pod.affinity.get(kind) or {}).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        parts += [f"{word} {_pod_term(item.get('podAffinityTerm') or {})} ({item.get('weight', 0)})" for item in terms]
    return ", ".join(parts)


def _pods(pod: PodState, kind: str) -> str:
    terms = (pod.pod.affinity.get(kind) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    return ", ".join(_pod_term(term) for term in terms)


def _pod_term(term: dict[str, Any]) -> str:
    return f"{_selector(selector_from(term.get('labelSelector')))} {_per(term.get('topologyKey', ''))}"


def _selector(selector: Selector) -> str:
    if selector.nothing:
        return "no pods"
    if selector.empty:
        return "all pods"
    return ", ".join(
        f"{item.key}={item.values[0]}" if item.operator == "In" and len(item.values) == 1 else str(item)
        for item in selector.requirements
    )


def _per(key: str) -> str:
    places = {
        "kubernetes.io/hostname": "node",
        "topology.kubernetes.io/zone": "zone",
        "topology.kubernetes.io/region": "region",
    }
    return f"per {places.get(key, key)}"


def _spread(pod: PodState) -> str:
    parts = []
    for item in pod.pod.topology_spread_constraints:
        soft = "" if item.get("whenUnsatisfiable") == "DoNotSchedule" else ", if possible"
        selector = _selector(selector_from(item.get("labelSelector")))
        parts.append(f"{selector} {_per(item.get('topologyKey', ''))}, maxSkew {item.get('maxSkew', 1)}{soft}")
    return "; ".join(parts)


def _toleration(item: Any) -> str:
    key = item.key or "every taint"
    value = f"={item.value}" if item.value else ""
    after = f" for {item.seconds} s" if item.seconds is not None else ""
    return f"{key}{value}{':' + item.effect if item.effect else ''}{after}"
