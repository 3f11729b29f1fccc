"""One sentence for what a person did, from the line that sums the command up and from what became of it.

Each teller gives (before, kind, key, after, next): see ``happenings``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sandbox.panels.facts.faulty import what_comes
from sandbox.panels.facts.nobodys import nobodys
from sandbox.panels.model.applied import Applied
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import SECOND, left, short_name
from sandbox.panels.words.phrases import listed, plural
from sandbox.panels.words.say import around, say
from scheduler_engine.trace import events as ev

Told = tuple[str, str, str, str, str]
SYSTEM = "the system on "
MOST_PATHS = 3
MOST_CHANGED = 2
"""Of many objects, so many are told with what changed."""
DELETED = {
    (False, False): "happenings.deleted",
    (False, True): "happenings.deleted-without-owned",
    (True, False): "happenings.deleted-after-owned",
    (True, True): "happenings.deleted-later-without-owned",
}
"""Whether the object is still there, and whether what it owned stays."""
BUTTONS = {"Pod": "pod", "Node": "node"}
"""Kinds that a button in the sentence leads to."""
APPLIED = {
    ("Node", "added"): "happenings.node-joined",
    ("Node", "changed"): "happenings.changed",
    ("Node", "unchanged"): "happenings.unchanged",
    ("Pod", "added"): "happenings.pod-came",
    ("Pod", "changed"): "happenings.changed",
    ("Pod", "unchanged"): "happenings.unchanged",
}
"""(kind, what became of it) → what is said of a single object with a button of its own."""
OTHERS_APPLIED = {
    "added": "happenings.object-came",
    "changed": "happenings.object-changed",
    "unchanged": "happenings.object-unchanged",
}
ALL_ADDED = {"Node": ("node", "happenings.nodes-joined"), "Pod": ("pod", "happenings.pods-came")}
"""Kind → the thing to count, and the sentence where all that was applied is new and of this kind."""


def applied(world: World, item: Applied) -> Told:
    if len(item.objects) != 1:
        return "", "", "", _several(item), ""
    ((kind, key), became), *_ = item.objects.items()
    row = APPLIED.get((kind, became))
    paths = _paths(item.changes.get((kind, key), []))
    if row is None:
        return "", "", "", say(OTHERS_APPLIED[became], kind=kind, name=short_name(key), paths=paths), ""
    before, after = around(row, "it", paths=paths)
    return before, BUTTONS[kind], key, after, ""


def _paths(changes: list[str]) -> str:
    shown = ", ".join(changes[:MOST_PATHS]) or "status"
    more = len(changes) - MOST_PATHS
    return say("happenings.and-more", paths=shown, count=more) if more > 0 else shown


def _several(item: Applied) -> str:
    found = set(item.objects.values())
    kinds = Counter(kind for kind, _ in item.objects)
    if found == {"added"} and len(kinds) == 1 and (kind := next(iter(kinds))) in ALL_ADDED:
        thing, row = ALL_ADDED[kind]
        return say(row, things=plural(len(item.objects), thing))
    counted = listed([say("happenings.of-kind", kind=kind, count=number) for kind, number in kinds.items()], 6)
    sentences = [say("happenings.applied", objects=counted)]
    changed = [
        say("happenings.one-changed", name=short_name(key), paths=_paths(item.changes.get((kind, key), [])))
        for (kind, key), became in item.objects.items()
        if became == "changed"
    ]
    if changed:
        sentences.append(say("happenings.applied-changed", objects=listed(changed, MOST_CHANGED)))
    if unchanged := list(item.objects.values()).count("unchanged"):
        sentences.append(say("happenings.applied-unchanged", count=unchanged))
    return " ".join(sentences)


def commanded(world: World, given: ev.CommandGiven) -> Told:
    return COMMANDS[given.kind](world, given)


def _cordon(world: World, given: ev.CommandGiven) -> Told:
    verb, _, node = given.summary.partition(" ")
    before, after = around(CORDONS[verb], "node")
    return before, "node", node, after, ""


def _taint(world: World, given: ev.CommandGiven) -> Told:
    """``taint node1 key=value:NoSchedule`` or ``untaint node1 key:NoSchedule``."""
    verb, node, taint = given.summary.split(" ", 2)
    before, after = around(TAINTS[verb], "node", taint=taint)
    return before, "node", node, after, ""


def _patch(world: World, given: ev.CommandGiven) -> Told:
    """``edit Node node1: metadata.labels.a=b`` or ``resize Pod default/web: spec.containers``."""
    what, _, paths = given.summary.partition(": ")
    verb, kind, key = what.split(" ")
    row = "happenings.resized" if verb == "resize" else "happenings.edited"
    if kind not in BUTTONS:
        return "", "", "", say(row, it=f"{kind} {short_name(key)}", paths=paths), ""
    before, after = around(row, "it", paths=paths)
    return before, BUTTONS[kind], key, after, ""


def _replaced(world: World, given: ev.CommandGiven) -> Told:
    """``replace Pod default/web``"""
    _, kind, key = given.summary.split(" ")
    if kind not in BUTTONS:
        return "", "", "", say("happenings.replaced", it=f"{kind} {short_name(key)}"), ""
    before, after = around("happenings.replaced", "it")
    return before, BUTTONS[kind], key, after, ""


def _restarted(world: World, given: ev.CommandGiven) -> Told:
    _, kind, key = given.summary.split(" ")
    return "", "", "", say("happenings.restarted", kind=kind, name=short_name(key)), ""


def _advanced(world: World, given: ev.CommandGiven) -> Told:
    """``advance 3 s`` or ``advance 3 s, ended early``."""
    _, seconds, *_ = given.summary.split(" ")
    stuck = len(world.lane("unschedulablePods"))
    others = nobodys(world)
    if not world.queue and others:
        text = say("happenings.time-passed-for-others", seconds=seconds, count=len(others))
    elif not world.queue:
        text = say("happenings.time-passed-for-nobody", seconds=seconds)
    elif stuck and not world.requeuing.looked:
        text = say("happenings.time-passed-for-waiting", seconds=seconds, count=stuck)
    else:
        text = say("happenings.time-passed", seconds=seconds)
    return "", "", "", text, ""


def _condition(world: World, given: ev.CommandGiven) -> Told:
    """``node1: Ready is False``."""
    node, _, condition = given.summary.partition(": ")
    before, after = around("happenings.node-has-condition", "node", condition=condition)
    taints = [taint.text for taint in world.nodes[node].node.taints] if node in world.nodes else []
    has = say("happenings.has-taints", taints=listed(taints)) if taints else say("happenings.has-no-taints")
    return before, "node", node, f"{after} {has}", ""


def _nothing_to_stop(world: World, given: ev.CommandGiven) -> Told:
    """``stop draining node1``, where no drain runs; of one that does, its own events tell."""
    before, after = around("happenings.nothing-to-stop", "node")
    return before, "node", given.summary.rpartition(" ")[2], after, ""


def _uses(world: World, given: ev.CommandGiven) -> Told:
    """``default/web-1 uses cpu 2`` or ``the system on node1 uses memory 1Gi``."""
    who, _, amounts = given.summary.partition(" uses ")
    amounts = amounts.replace("ephemeral storage", say("usage.storage"))
    if who.startswith(SYSTEM):
        before, after = around("happenings.system-uses", "node", amounts=amounts)
        return before, "node", who.removeprefix(SYSTEM), after, ""
    before, after = around("happenings.pod-uses", "pod", amounts=amounts)
    return before, "pod", who, after, ""


def _scaled(world: World, given: ev.CommandGiven) -> Told:
    """``scale Deployment default/web to 4`` and what came of it so far."""
    _, kind, key, _, number = given.summary.split(" ")
    status = world.objects.get(kind, {}).get(key, {}).get("status") or {}
    text = say(
        "happenings.scaled",
        kind=kind,
        name=short_name(key),
        pods=plural(int(number), "pod"),
        there=status.get("replicas") or 0,
        ready=status.get("readyReplicas") or 0,
    )
    return "", "", "", text, ""


def _deleted(world: World, given: ev.CommandGiven) -> Told:
    """``delete Pod default/web (Foreground)``: no budget has a say, but a pod may take its time."""
    _, kind, key, *how = given.summary.split(" ")
    if kind == "Pod":
        return _pod_deleted(world, key)
    there = kind != "Node" and key in world.objects.get(kind, {})
    text = say(DELETED[there, how == ["(Orphan)"]], kind=kind, name=short_name(key))
    return "", "", "", text, ""


def _pod_deleted(world: World, key: str) -> Told:
    pod = world.pods.get(key)
    if pod is None:
        before, after = around("happenings.pod-was-deleted", "pod")
    else:
        before, after = around("happenings.pod-is-deleted", "pod", left=left(pod.left_us(world.clock_us)))
    return before, "pod", key, after, ""


def _configured(world: World, given: ev.CommandGiven) -> Told:
    return "", "", "", say("happenings.configured"), ""


def _fault(world: World, given: ev.CommandGiven) -> Told:
    """``fault: DefaultBinder at bind answers error``, and what of it has not happened yet."""
    newest = next(reversed(world.faults.values()), None)
    what = what_comes(newest) if newest is not None else given.summary.partition(": ")[2]
    return "", "", "", say("happenings.breaks", what=what), ""


def _allowed(world: World, given: ev.CommandGiven) -> Told:
    """``allow default/web``"""
    before, after = around("happenings.allowed", "pod")
    return before, "pod", given.summary.partition(" ")[2], after, ""


def _expiry(world: World, given: ev.CommandGiven) -> Told:
    seconds = f"{world.assumed_ttl_us / SECOND:g}"
    row = "happenings.expire" if world.assumed_ttl_us else "happenings.never-expire"
    return "", "", "", say(row, seconds=seconds), ""


def _admission(world: World, given: ev.CommandGiven) -> Told:
    """``switch on admission plugin LimitPodHardAntiAffinityTopology``"""
    plugin = given.summary.rpartition(" ")[2]
    row = "happenings.admission-on" if plugin in world.admission_plugins else "happenings.admission-off"
    return "", "", "", say(row, plugin=plugin), ""


def _kubelet(world: World, given: ev.CommandGiven) -> Told:
    """``configure the kubelet on node1``"""
    before, after = around("happenings.kubelet-configured", "node")
    return before, "node", given.summary.rpartition(" ")[2], after, ""


CORDONS = {"cordon": "happenings.cordoned", "uncordon": "happenings.uncordoned"}
TAINTS = {"taint": "happenings.tainted", "untaint": "happenings.untainted"}
COMMANDS: dict[str, Callable[[World, ev.CommandGiven], Told]] = {
    "scale": _scaled,
    "delete": _deleted,
    "usage": _uses,
    "drain": _nothing_to_stop,
    "node-condition": _condition,
    "cordon": _cordon,
    "taint": _taint,
    "patch": _patch,
    "replace": _replaced,
    "configure": _configured,
    "fault": _fault,
    "allow": _allowed,
    "assumed-ttl": _expiry,
    "admission": _admission,
    "kubelet": _kubelet,
    "rollout-restart": _restarted,
    "advance": _advanced,
}
