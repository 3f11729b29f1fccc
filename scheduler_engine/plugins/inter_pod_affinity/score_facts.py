"""Facts behind Score's number: whose preferences count in the node's domains, and for how many pods.

Source: seed 002 §3; upstream ``interpodaffinity/scoring.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler_engine.framework.facts import Fact, Facts, Keys, cut, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.plugins.inter_pod_affinity.facts import (
    Values,
    counted,
    every_namespace,
    leaving,
    own_term,
    term_value,
)
from scheduler_engine.plugins.inter_pod_affinity.scoring import DISLIKES, LIKES, THEIRS, ScoreState
from scheduler_engine.plugins.inter_pod_affinity.who import Who


def score_facts(
    state: ScoreState, node_info: NodeInfo, nodes: Sequence[NodeInfo], raw: Mapping[str, int], *, ignore_others: bool
) -> Facts:
    """Explain the score. ``nodes``: the snapshot's; ``ignore_others``: other pods' preferences do not count if the pod
    has none.
    """
    labels = node_info.node.labels if node_info.node is not None else {}
    names: Values = {"pod": Keys((state.pod.key,)), "node": node_info.name}
    who, score, normalized = state.who(nodes), state.score(labels), dict(raw)
    state.normalize(normalized)
    theirs = [*_theirs(state, who, labels, names)]
    shown = [*_own(state, who, labels, names), *theirs]
    shown += leaving(who, shown)
    for kind in (LIKES, DISLIKES):
        shown += every_namespace([term for wish, term, _ in state.preferred if wish == kind])
    if ignore_others and theirs:
        shown.append(fact("pod-affinity.others-count-too", **names))
    shown.append(fact("pod-affinity.raw" if score >= 0 else "pod-affinity.raw-below-0", raw=score))
    shown.append(_normalized(raw, score, normalized[node_info.name]))
    lowest, highest = min(raw.values()), max(raw.values())
    row = {lowest: "favours-least", highest: "favours-most"}.get(score, "favours-others-more")
    says = fact(f"pod-affinity.{'makes-no-difference' if lowest == highest else row}", **names)
    return Facts(says, tuple(shown), raw=score, normalized=normalized[node_info.name])


def _own(state: ScoreState, who: Who, labels: Mapping[str, str], names: Values) -> Iterator[Fact]:
    """Explain the pod's preferences: each term counts a pod once."""
    for kind in (LIKES, DISLIKES):
        wishes = [wish for wish in state.preferred if wish[0] == kind]
        for number, wish in enumerate(wishes, 1):
            _, term, weight = wish
            pods = Keys(dict.fromkeys(who.pods(wish, labels)))
            row = kind if pods else f"{kind}-nobody" if term.topology_key in labels else f"{kind}-no-label"
            means = own_term(term, number, len(wishes))
            values = {**counted(term, labels, pods, names, _keys(state)), **_share(pods, weight)}
            yield fact(f"pod-affinity.{row}", term=means, **values)


def _theirs(state: ScoreState, who: Who, labels: Mapping[str, str], names: Values) -> Iterator[Fact]:
    """Explain the preferences of pods in the node's domains for the incoming one; duplicates count twice."""
    for key in state.weights:
        for (kind, term, weight), pods in who.wishes(THEIRS, key, labels):
            values = {**counted(term, labels, pods, names, _keys(state)), **_share(pods, weight)}
            yield fact(f"pod-affinity.{kind}", term=term_value(term), **values)


def _keys(state: ScoreState) -> list[str]:
    return [*(term.topology_key for _, term, _ in state.preferred), *state.weights]


def _share(pods: Keys, weight: int) -> Values:
    return {"near": len(pods), "weight": weight, "share": len(pods) * weight}


def _normalized(raw: Mapping[str, int], score: int, normalized: int) -> Fact:
    lowest, highest = min(raw.values()), max(raw.values())
    row = "normalized" if lowest >= 0 else "normalized-from-below-0"
    if lowest == highest:
        row = "all-the-same"
    rest = 100 * (score - lowest) - normalized * (highest - lowest)
    (remark,) = cut(rest)
    if lowest < highest and rest == highest - lowest:  # 64-bit floats came out below the whole number.
        row += "-below"
    numbers: Values = {"raw": score, "lowest": lowest, "highest": highest, "normalized": normalized, "cut": remark}
    numbers |= {"whole": normalized + 1}
    return fact(f"pod-affinity.{row}", **numbers)
