"""What extenders say about the candidates of preemption.

Source: upstream ``framework/preemption/preemption.go`` (callExtenders).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.extender import Extender, Victims
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.extender_calls import View
from scheduler_engine.framework.interface import Handle
from scheduler_engine.preemption.candidates import Candidate
from scheduler_engine.trace.events import ExtenderAsked


def ask_about_candidates(handle: Handle, pod: Pod, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that all interested extenders leave, with the victims that they name.

    Upstream keeps them in the order of a Go map; here it is that of ``candidates``. Raises ExtenderError.
    """
    known = {candidate.node: Victims(candidate.victims, candidate.pdb_violations) for candidate in candidates}
    for extender in handle.extenders:
        if not (extender.preempt_verb and extender.is_interested(pod)) or not known:
            continue
        try:
            known = _ask(handle, pod, extender, known)
        except ExtenderError as problem:
            _record(handle, pod, extender, known, {}, str(problem))
            if not extender.ignorable:
                raise
    order = [candidate.node for candidate in candidates]
    nodes = sorted(known, key=lambda node: (node not in order, order.index(node) if node in order else 0, node))
    return [Candidate(node, known[node].pods, known[node].violations) for node in nodes]


def _ask(handle: Handle, pod: Pod, extender: Extender, known: Mapping[str, Victims]) -> dict[str, Victims]:
    infos = handle.snapshot.list()
    view = View(pod, handle.snapshot.get, len(infos), handle.recorder.effort)
    answer = extender.preempt(view, known, {info.name: info for info in infos})
    empty = [node for node, victims in answer.items() if not victims.pods]
    if empty and not extender.ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
    left = {node: victims for node, victims in answer.items() if victims.pods}
    _record(handle, pod, extender, known, left, "")
    return left


def _record(
    handle: Handle, pod: Pod, extender: Extender, known: Mapping[str, Victims], left: Mapping[str, Victims], error: str
) -> None:
    victims = tuple((node, tuple(victim.key for victim in chosen.pods)) for node, chosen in left.items())
    asked = handle.cycle, pod.key, extender.name, "preempt", tuple(known), tuple(left)
    ignored = bool(error) and extender.ignorable
    handle.recorder.add(ExtenderAsked(*asked, victims=victims, error=error, ignored=ignored))
