"""Workloads: what each one wants and has, where its pods run, its rollout; budgets, pod groups and priority classes."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.blocks import Block
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts.owned import Manifest, Owned, alike, condition, is_waiting, key_of, revision
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.workloads.classes import classes
from sandbox.panels.workloads.guards import budgets
from sandbox.panels.workloads.pod_groups import pod_groups
from sandbox.panels.workloads.rollout import (
    GROWING,
    RESTARTABLE,
    SCALABLE,
    conditions,
    desired,
    numbers,
    rollout,
    spec_of,
)
from sandbox.panels.workloads.spreading import where
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.api.objects import Pod
from scheduler_engine.trace import events as ev

PAGE = 20
"""Workloads, budgets, groups or classes on one page."""
MOST_PODS, PAGE_OF_PODS = 24, 240
"""Pods of one set, budget or group at first, and on a page."""
LONGEST_BASE = 58
"""Most characters of its owner's name with which a pod's name begins."""
OLD_SETS = 2
"""Old revisions without pods that get their own row."""
EVENTS = (
    *(ev.ObjectAdded, ev.ObjectModified, ev.ObjectDeleted, ev.CachePodChanged, ev.CacheNodeChanged),
    ev.PodGroupCounted,
)
"""Events that may change this panel."""


def same_while(world: World, view: View) -> object:
    return max((world.latest.get(kind, 0) for kind in EVENTS), default=0)


def stats(world: World, view: View) -> dict[str, Any]:
    owned, groups = Owned(world), alike(world)
    pages = pager(len(owned.workloads), view, "workloads", PAGE)
    rows = [_workload(world, owned, item, view) for item in on_page(owned.workloads, pages)]
    guards, guard_pages = budgets(world, groups, view, PAGE)
    gangs, group_pages = pod_groups(world, groups, view, PAGE)
    ranked, class_pages = classes(world, view, PAGE)
    return {
        "at": str(view.at or ""),
        "empty": not (owned.workloads or guards or gangs),
        "workloads": rows,
        "pages": pages,
        "budgets": [budget | _pods(view, f"b/{budget['key']}", pods, f"b:{budget['key']}:") for budget, pods in guards],
        "budget_pages": guard_pages,
        "groups": [row | _pods(view, f"g/{row['key']}", pods, f"g:{row['key']}:") for row, pods in gangs],
        "group_pages": group_pages,
        "classes": [row | _pods(view, f"c/{row['name']}", pods, f"c:{row['name']}:") for row, pods in ranked],
        "class_pages": class_pages,
    }


def _workload(world: World, owned: Owned, manifest: Manifest, view: View) -> dict[str, Any]:
    kind, sets = manifest["kind"], owned.sets_of(manifest)
    own = owned.pods_of(manifest)
    pods = [*own, *(pod for item in sets for pod in owned.pods_of(item))]
    creators = [item for item in sets if desired(item) or owned.pods_of(item)] if sets else [manifest]
    samples = [_sample(item, owned.pods_of(item)) for item in creators]
    newest = [pod for item in sets[:1] for pod in owned.pods_of(item)]
    app = next((pod.app for pod in pods), 0)
    current = [item for item in sets if desired(item) or owned.pods_of(item) or item is sets[0]]
    idle = [item for item in sets if item not in current]
    return {
        "kind": kind,
        "key": key_of(manifest),
        "name": short_name(key_of(manifest)),
        "app": app,
        "desired": desired(manifest),
        "scalable": kind in SCALABLE,
        "restartable": kind in RESTARTABLE,
        "growing": kind in GROWING,
        "leaving": bool(manifest["metadata"].get("deletionTimestamp")),
        "numbers": numbers(manifest),
        "conditions": conditions(manifest),
        "rollout": rollout(manifest, newest if sets else own),
        "where": where(world, samples, pods),
        "unplaced": sum(not pod.node and pod.state != "terminating" for pod in pods),
        "sets": [_set(owned, item, manifest, view) for item in [*current, *idle[:OLD_SETS]]],
        "older": listed([say("workloads.revision", number=revision(item)) for item in idle[OLD_SETS:]]),
        **_pods(view, f"{kind}/{key_of(manifest)}", own, "w:", f"{manifest['metadata']['name']}-"),
    }


def _sample(creator: Manifest, pods: list[PodState]) -> Pod:
    """Return a pod as this workload creates them."""
    alive = next((pod.pod for pod in reversed(pods) if not pod.pod.finished and pod.state != "terminating"), None)
    if alive is not None:
        return alive
    template = spec_of(creator).get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    metadata = {"namespace": key_of(creator).partition("/")[0], "labels": labels}
    return Pod({"kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}})


def _set(owned: Owned, manifest: Manifest, owner: Manifest, view: View) -> dict[str, Any]:
    name, number = manifest["metadata"]["name"], revision(manifest)
    template = (spec_of(manifest).get("template") or {}).get("spec") or {}
    images = [str(item.get("image")) for item in template.get("containers") or () if item.get("image")]
    return {
        "name": name,
        "revision": number,
        "newest": number == revision(owner),
        "images": ", ".join(images),
        "image": ", ".join(image.rpartition("/")[2] for image in images),
        "desired": desired(manifest),
        "numbers": numbers(manifest),
        "conditions": [item for item in conditions(manifest) if item["said"] == "no"],
        **_pods(view, f"ReplicaSet/{key_of(manifest)}", owned.pods_of(manifest), "w:", f"{name}-"),
    }


def _pods(view: View, list_name: str, pods: list[PodState], mark: str, prefix: str = "") -> dict[str, Any]:
    """Return the pods of a list: waiting ones first, finished ones last."""
    ordered = sorted(pods, key=lambda pod: (not is_waiting(pod), bool(pod.node), pod.pod.finished))
    pages = pager(len(ordered), view, f"workloads.{list_name}", PAGE_OF_PODS, few=MOST_PODS)
    return {"pods": [_block(pod, mark, prefix) for pod in on_page(ordered, pages)], "pod_pages": pages}


def _block(pod: PodState, mark: str, prefix: str) -> Block:
    """Return a block whose label is the end of the pod's name, with what keeps the pod from being ready."""
    word, name = condition(pod), short_name(pod.key)
    label = pod.pod.name.removeprefix(prefix[:LONGEST_BASE]) if prefix else name
    state = "gone" if pod.pod.finished else pod.state
    key = "workloads.pod-on-a-node" if pod.node else "workloads.pod"
    title = say(key, pod=name, node=pod.node, condition=word or say("workloads.ready"))
    return Block(pod.key, name, label, state, pod.app, None, word, title, mark + pod.key)
