"""One sentence for what a person did, from the command and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

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
from scheduler_engine.versions import gates_text, release_of


class Parts(NamedTuple):
    """A sentence: ``before``, the name of an object as a button, and ``after``; ``next`` says what comes next.

    ``kind`` (``pod`` or ``node``) and ``key`` name the object, "" if there is none.
    """

    before: str
    kind: str
    key: str
    after: str
    next: str = ""

    def plus(self, sentence: str) -> Parts:
        """Return the parts with another sentence after them."""
        return self._replace(after=f"{self.after} {sentence}")


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
CORDONS = {True: "happenings.cordoned", False: "happenings.uncordoned"}
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


def without_button(text: str) -> Parts:
    return Parts("", "", "", text)


def on(kind: str, row: str, key: str, /, **places: Any) -> Parts:
    """Return a sentence whose place ``{pod}`` or ``{node}``, as ``kind`` says, is the button of the object ``key``."""
    before, after = around(row, kind, **places)
    return Parts(before, kind, key, after)


def applied(world: World, item: Applied) -> Parts:
    if len(item.objects) != 1:
        return without_button(_several(item))
    ((kind, key), result), *_ = item.objects.items()
    row = APPLIED.get((kind, result))
    paths = _paths(item.changes.get((kind, key), []))
    if row is None:
        return without_button(say(OTHERS_APPLIED[result], kind=kind, name=short_name(key), paths=paths))
    return _about(row, kind, key, paths=paths)


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
        return without_button(say(row, it=f"{kind} {short_name(key)}", **places))
    before, after = around(row, "it", **places)
    return Parts(before, BUTTONS[kind], key, after)


def _taint(world: World, command: commands.Taint) -> Parts:
    row = "happenings.tainted" if command.on else "happenings.untainted"
    return on("node", row, command.node, taint=command.taint)


def _patch(world: World, command: commands.Patch) -> Parts:
    row = "happenings.resized" if command.subresource == "resize" else "happenings.edited"
    return _about(row, command.object_kind, command.key, paths=command.paths)


def _restarted(world: World, command: commands.RolloutRestart) -> Parts:
    return without_button(say("happenings.restarted", kind=command.object_kind, name=short_name(command.key)))


def _advanced(world: World, command: commands.Advance) -> Parts:
    stuck, others = len(world.lane("unschedulablePods")), len(pods_without_scheduler(world))
    if not world.queue:
        row = "happenings.time-passed-for-others" if others else "happenings.time-passed-for-nobody"
    else:
        waits = stuck and not world.requeuing.checked
        row = "happenings.time-passed-for-waiting" if waits else "happenings.time-passed"
    return without_button(say(row, seconds=f"{command.seconds:g}", count=stuck if world.queue else others))


def _condition(world: World, command: commands.NodeCondition) -> Parts:
    node = command.node
    taints = [taint.text for taint in world.nodes[node].node.taints] if node in world.nodes else []
    has = say("happenings.has-taints", taints=listed(taints)) if taints else say("happenings.has-no-taints")
    return on("node", "happenings.node-has-condition", node, condition=command.condition).plus(has)


def _uses(world: World, command: commands.Usage) -> Parts:
    amounts = command.amounts.replace("ephemeral storage", say("usage.storage"))
    if command.node:
        return on("node", "happenings.system-uses", command.node, amounts=amounts)
    return on("pod", "happenings.pod-uses", command.pod, amounts=amounts)


def _scaled(world: World, command: commands.Scale) -> Parts:
    """Return the result of scaling so far."""
    kind, key, pods = command.object_kind, command.key, plural(command.replicas, "pod")
    status = world.objects.get(kind, {}).get(key, {}).get("status") or {}
    numbers = {"there": status.get("replicas") or 0, "ready": status.get("readyReplicas") or 0}
    return without_button(say("happenings.scaled", kind=kind, name=short_name(key), pods=pods, **numbers))


def _deleted(world: World, command: commands.Delete) -> Parts:
    """Return the result of a deletion. Budgets do not limit it, but a pod may take its time."""
    kind, key = command.object_kind, command.key
    if kind == "Pod":
        # A controller may have created the next pod of that name at once.
        last = world.evictions.happened
        pod = world.pod_at(key, last.n) if last is not None else None
        if pod is None:
            return on("pod", "happenings.pod-was-deleted", key)
        return on("pod", "happenings.pod-is-deleted", key, left=left(pod.left_us(world.clock_us)))
    still_there = kind != "Node" and key in world.objects.get(kind, {})
    row = DELETED[still_there, command.propagation_policy == ORPHAN]
    return without_button(say(row, kind=kind, name=short_name(key)))


def _fault(world: World, command: commands.Fault) -> Parts:
    """Return the fault if it has not happened yet, else what the command breaks."""
    newest = next(reversed(world.faults.values()), None)
    what = pending_fault(newest) if newest is not None else command.failing
    return without_button(say("happenings.breaks", what=what))


def _expiry(world: World, command: commands.AssumedTtl) -> Parts:
    row = "happenings.expire" if command.seconds else "happenings.never-expire"
    return without_button(say(row, seconds=f"{command.seconds:g}"))


def _admission(world: World, command: commands.Admission) -> Parts:
    row = "happenings.admission-on" if command.enabled else "happenings.admission-off"
    return without_button(say(row, plugin=command.plugin))


def _kubernetes(world: World, command: commands.Kubernetes) -> Parts:
    version, gates = release_of(command.version), gates_text(command.feature_gates or {})
    parts = without_button(say("happenings.follows", version=version))
    if gates:
        parts = without_button(say("happenings.follows-with-gates", version=version, gates=gates))
    is_paused = world.cycle is not None and not world.cycle.outcome
    return parts.plus(say("happenings.cycle-keeps-its-rules")) if is_paused else parts


COMMANDS: dict[type[commands.Command], Callable[[World, Any], Parts]] = {
    commands.Scale: _scaled,
    commands.Delete: _deleted,
    commands.Usage: _uses,
    # If a drain runs, its own entries say that it stopped.
    commands.Drain: lambda _, command: on("node", "happenings.nothing-to-stop", command.node),
    commands.NodeCondition: _condition,
    commands.Cordon: lambda _, command: on("node", CORDONS[command.on], command.node),
    commands.Taint: _taint,
    commands.Patch: _patch,
    commands.Replace: lambda _, command: _about("happenings.replaced", command.object_kind, command.key),
    commands.Configure: lambda _, __: without_button(say("happenings.configured")),
    commands.Kubernetes: _kubernetes,
    commands.Fault: _fault,
    commands.Allow: lambda _, command: on("pod", "happenings.allowed", command.pod),
    commands.AssumedTtl: _expiry,
    commands.Admission: _admission,
    commands.KubeletConfigure: lambda _, command: on("node", "happenings.kubelet-configured", command.node),
    commands.RolloutRestart: _restarted,
    commands.Advance: _advanced,
}
