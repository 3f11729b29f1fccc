"""The lanes of pods that are in no queue: those of no scheduler, and those that finalizers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts.nobodys import lacks_scheduler, profile_names
from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say

MOST = 60
"""Cards on one page of a lane."""


def outside_queue(world: World, view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both lanes; they go through all pods together."""
    profiles = profile_names(world)
    nobodys: list[PodState] = []
    held: list[PodState] = []
    for pod in world.pods.values():
        if pod.state == "terminating" and pod.pod.finished:
            held.append(pod)
        elif lacks_scheduler(pod, profiles):
            nobodys.append(pod)
    return _of_nobody(nobodys, profiles, view), _held(held, view)


def _of_nobody(pods: list[PodState], profiles: tuple[str, ...], view: View) -> dict[str, Any]:
    """Return a lane of pods that are in no queue, because no profile has the name of their scheduler."""
    here = listed(list(profiles))

    def card_of(pod: PodState) -> dict[str, str]:
        scheduler = pod.pod.scheduler_name
        title = say("queues.nobodys-title", scheduler=scheduler, profiles=here)
        return {"title": title, "age": say("queues.in-no-queue"), "detail": say("queues.asks-for", scheduler=scheduler)}

    about = {"id": "nobody", "title": say("queues.nobodys"), "note": say("queues.nobodys-note")}
    return about | _outside(pods, view, "nobody", card_of)


def _held(pods: list[PodState], view: View) -> dict[str, Any]:
    """Return a lane of pods that ended, are on no node's card any more, and stay because of their finalizers."""

    def card_of(pod: PodState) -> dict[str, str]:
        names = listed(pod.pod.metadata.get("finalizers") or [], 2)
        return {"title": say("queues.held-title"), "age": say("queues.ended"), "detail": names}

    about = {"id": "held", "title": say("queues.held"), "note": say("queues.held-note")}
    return about | _outside(pods, view, "held", card_of)


def _outside(
    pods: list[PodState], view: View, lane: str, card_of: Callable[[PodState], dict[str, str]]
) -> dict[str, Any]:
    """Return a lane of pods that are in no queue. ``card_of`` returns what their cards say."""
    pages = pager(len(pods), view, f"queues.{lane}", MOST)
    cards = [
        {
            "lane": lane,
            "pod": pod.key,
            "name": short_name(pod.key),
            "app": pod.app,
            "priority": pod.pod.priority,
            "place": place,
            **card_of(pod),
        }
        for place, pod in on_page(list(enumerate(pods, 1)), pages)
    ]
    return {"source": lane, "count": len(pods), "cards": cards, "pages": pages}
