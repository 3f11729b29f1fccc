"""One sentence for what a person did, from the command and its result.

Each function returns the ``Parts`` of a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from sandbox.panels.facts.faulty import pending_fault
from sandbox.panels.facts.nobodys import pods_without_scheduler
from sandbox.panels.model.applied import Applied
from sandbox.panels.model.world import World
from sandbox.words.amounts import left, short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import around, say
from scheduler_engine import commands
from scheduler_engine.apiserver.lifecycle import ORPHAN
from scheduler_engine.trace import events as ev

Parts = tuple[str, str, str, str, str]
"""(before, kind, key, after, next): the sentence is ``before``, the name of the object as a button, and ``after``.

``kind`` (``pod`` or ``node``) and ``key`` name the object, "" if there is none; ``next`` says what comes next.
"""
MOST_PATHS = 3
MOST_CHANGED = 2
"""Most objects whose changes are listed."""
DELETED = {
    (False, False): "happenings.deleted",
    (False, True): "happenings.deleted-without-owned",
    (True, False): "happenings.deleted-after-owned",
    (True, True): "happenings.deleted-later-without-owned",
}
"""(the object still exists, what it owned stays) → key."""
BUTTONS = {"Pod": "pod", "Node": "node"}
"""Kinds that have a button in the sentence."""
APPLIED = {
    ("Node", "added"): "happenings.node-joined",
    ("Node", "changed"): "happenings.changed",
    ("Node", "unchanged"): "happenings.unchanged",
    ("Pod", "added"): "happenings.pod-came",
    ("Pod", "changed"): "happenings.changed",
    ("Pod", "unchanged"): "happenings.unchanged",
}
"""(kind, result) → key of the sentence on a single object with a button."""
OTHERS_APPLIED = {
    "added": "happenings.object-came",
    "changed": "happenings.object-changed",
    "unchanged": "happenings.object-unchanged",
}
ALL_ADDED = {"Node": ("node", "happenings.nodes-joined"), "Pod": ("pod", "happenings.pods-came")}
"""Kind → (the thing to count, key of the sentence if all applied objects are new and of this kind)."""


def applied(world: World, item: Applied) -> Parts:
    if len(item.objects) != 1:
        return "", "", "", _several(item), ""
    ((kind, key), result), *_ = item.objects.items()
    row = APPLIED.get((kind, result))
    paths = _paths(item.changes.get((kind, key), []))
    if row is None:
        return "", "", "", say(OTHERS_APPLIED[result], kind=kind, name=short_name(key), paths=paths), ""
    before, after = around(row, "it", paths=paths)
    return before, BUTTONS[kind], key, after, ""


def _paths(changes: list[str]) -> str:
    text = ", ".join(changes[:MOST_PATHS]) or "status"
    more = len(changes) - MOST_PATHS
    return say("happenings.and-more", paths=text, count=more) if more > 0 else text


def _several(item: Applied) -> str:
    results = set(item.objects.values())
    kinds = Counter(kind for kind, _ in item.objects)
    if results == {"added"} and len(kinds) == 1 and (kind := next(iter(kinds))) in ALL_ADDED:
        thing, row = ALL_ADDED[kind]
        return say(row, things=plural(len(item.objects), thing))
    kinds_text = listed([say("happenings.of-kind", kind=kind, count=number) for kind, number in kinds.items()], 6)
    sentences = [say("happenings.applied", objects=kinds_text)]
    changed = [
        say("happenings.one-changed", name=short_name(key), paths=_paths(item.changes.get((kind, key), [])))
        for (kind, key), result in item.objects.items()
        if result == "changed"
    ]
    if changed:
        sentences.append(say("happenings.applied-changed", objects=listed(changed, MOST_CHANGED)))
    if unchanged := list(item.objects.values()).count("unchanged"):
        sentences.append(say("happenings.applied-unchanged", count=unchanged))
    return " ".join(sentences)


def commanded(world: World, event: ev.CommandGiven) -> Parts:
    return COMMANDS[type(event.command)](world, event.command)


def _about(row: str, kind: str, key: str, **places: Any) -> Parts:
    """Return a sentence about an object, whose name is a button if its kind has one."""
    if kind not in BUTTONS:
        return "", "", "", say(row, it=f"{kind} {short_name(key)}", **places), ""
    before, after = around(row, "it", **places)
    return before, BUTTONS[kind], key, after, ""


def _on_node(row: str, node: str, **places: Any) -> Parts:
    before, after = around(row, "node", **places)
    return before, "node", node, after, ""


def _on_pod(row: str, pod: str, **places: Any) -> Parts:
    before, after = around(row, "pod", **places)
    return before, "pod", pod, after, ""


def _cordon(world: World, command: commands.Cordon) -> Parts:
    return _on_node("happenings.cordoned" if command.on else "happenings.uncordoned", command.node)


def _taint(world: World, command: commands.Taint) -> Parts:
    row = "happenings.tainted" if command.on else "happenings.untainted"
    return _on_node(row, command.node, taint=command.taint)


def _patch(world: World, command: commands.Patch) -> Parts:
    row = "happenings.resized" if command.subresource == "resize" else "happenings.edited"
    return _about(row, command.object_kind, command.key, paths=command.paths)


def _replaced(world: World, command: commands.Replace) -> Parts:
    return _about("happenings.replaced", command.object_kind, command.key)


def _restarted(world: World, command: commands.RolloutRestart) -> Parts:
    return "", "", "", say("happenings.restarted", kind=command.object_kind, name=short_name(command.key)), ""


def _advanced(world: World, command: commands.Advance) -> Parts:
    seconds = f"{command.seconds:g}"
    stuck = len(world.lane("unschedulablePods"))
    others = pods_without_scheduler(world)
    if not world.queue and others:
        text = say("happenings.time-passed-for-others", seconds=seconds, count=len(others))
    elif not world.queue:
        text = say("happenings.time-passed-for-nobody", seconds=seconds)
    elif stuck and not world.requeuing.checked:
        text = say("happenings.time-passed-for-waiting", seconds=seconds, count=stuck)
    else:
        text = say("happenings.time-passed", seconds=seconds)
    return "", "", "", text, ""


def _condition(world: World, command: commands.NodeCondition) -> Parts:
    node = command.node
    before, after = around("happenings.node-has-condition", "node", condition=command.condition)
    taints = [taint.text for taint in world.nodes[node].node.taints] if node in world.nodes else []
    has = say("happenings.has-taints", taints=listed(taints)) if taints else say("happenings.has-no-taints")
    return before, "node", node, f"{after} {has}", ""


def _nothing_to_stop(world: World, command: commands.Drain) -> Parts:
    """Say that no drain runs there. If one runs, its own entries say that it stopped."""
    return _on_node("happenings.nothing-to-stop", command.node)


def _uses(world: World, command: commands.Usage) -> Parts:
    amounts = command.amounts.replace("ephemeral storage", say("usage.storage"))
    if command.node:
        return _on_node("happenings.system-uses", command.node, amounts=amounts)
    return _on_pod("happenings.pod-uses", command.pod, amounts=amounts)


def _scaled(world: World, command: commands.Scale) -> Parts:
    """Return the result of scaling so far."""
    status = world.objects.get(command.object_kind, {}).get(command.key, {}).get("status") or {}
    text = say(
        "happenings.scaled",
        kind=command.object_kind,
        name=short_name(command.key),
        pods=plural(command.replicas, "pod"),
        there=status.get("replicas") or 0,
        ready=status.get("readyReplicas") or 0,
    )
    return "", "", "", text, ""


def _deleted(world: World, command: commands.Delete) -> Parts:
    """Return the result of a deletion. Budgets do not limit it, but a pod may take its time."""
    kind, key = command.object_kind, command.key
    if kind == "Pod":
        return _pod_deleted(world, key)
    still_there = kind != "Node" and key in world.objects.get(kind, {})
    text = say(DELETED[still_there, command.propagation_policy == ORPHAN], kind=kind, name=short_name(key))
    return "", "", "", text, ""


def _pod_deleted(world: World, key: str) -> Parts:
    # A controller may have created the next pod of that name at once.
    last = world.evictions.happened
    pod = world.pod_at(key, last.n) if last is not None else None
    if pod is None:
        return _on_pod("happenings.pod-was-deleted", key)
    return _on_pod("happenings.pod-is-deleted", key, left=left(pod.left_us(world.clock_us)))


def _configured(world: World, command: commands.Configure) -> Parts:
    return "", "", "", say("happenings.configured"), ""


def _fault(world: World, command: commands.Fault) -> Parts:
    """Return the fault if it has not happened yet, else what the command breaks."""
    newest = next(reversed(world.faults.values()), None)
    what = pending_fault(newest) if newest is not None else command.failing
    return "", "", "", say("happenings.breaks", what=what), ""


def _allowed(world: World, command: commands.Allow) -> Parts:
    return _on_pod("happenings.allowed", command.pod)


def _expiry(world: World, command: commands.AssumedTtl) -> Parts:
    row = "happenings.expire" if command.seconds else "happenings.never-expire"
    return "", "", "", say(row, seconds=f"{command.seconds:g}"), ""


def _admission(world: World, command: commands.Admission) -> Parts:
    row = "happenings.admission-on" if command.enabled else "happenings.admission-off"
    return "", "", "", say(row, plugin=command.plugin), ""


def _kubelet(world: World, command: commands.KubeletConfigure) -> Parts:
    return _on_node("happenings.kubelet-configured", command.node)


COMMANDS: dict[type[commands.Command], Callable[[World, Any], Parts]] = {
    commands.Scale: _scaled,
    commands.Delete: _deleted,
    commands.Usage: _uses,
    commands.Drain: _nothing_to_stop,
    commands.NodeCondition: _condition,
    commands.Cordon: _cordon,
    commands.Taint: _taint,
    commands.Patch: _patch,
    commands.Replace: _replaced,
    commands.Configure: _configured,
    commands.Fault: _fault,
    commands.Allow: _allowed,
    commands.AssumedTtl: _expiry,
    commands.Admission: _admission,
    commands.KubeletConfigure: _kubelet,
    commands.RolloutRestart: _restarted,
    commands.Advance: _advanced,
}
