"""PodGroups of Coscheduling: how many of a group's pods had a node when the plugin last counted them."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.pod_groups import POD_GROUP, group_of, min_member


def count(world: World, key: str) -> str:
    """Return ``2 of 3``, as the plugin counted last; "" if it has not counted yet."""
    counted = world.groups.get(key)
    return "" if counted is None else say("groups.count", assigned=counted.assigned, needed=counted.min_member)


def of_waiting(world: World, cycle: Cycle) -> str:
    """Return the count of the group whose pods a pod on Permit waits for, "" if it waits for something else."""
    if cycle.counted is None:
        return ""
    return say("groups.of-waiting", group=short_name(cycle.counted.group), count=count(world, cycle.counted.group))


def of_pod(world: World, pod: Pod) -> str:
    """Return the pod's group and its count, "" without a group."""
    key = group_of(pod)
    if not key:
        return ""
    manifest, name = world.objects.get(POD_GROUP, {}).get(key), short_name(key)
    if manifest is None:
        return say("groups.does-not-exist", group=name)
    if counted := count(world, key):
        return say("groups.counted", group=name, count=counted)
    return say("groups.not-counted", group=name, needed=min_member(KubeObject(manifest)))
