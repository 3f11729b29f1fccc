"""Pods as blocks, which ``templates/fragments/pod.html`` draws."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.panels.model.state import PodState
from sandbox.words.amounts import short_name
from sandbox.words.say import say


class Block(NamedTuple):
    """A pod: ``app`` colours its left edge and tint, ``state`` its border; ``note`` is beside its label.

    ``ident``: the id of its button, "" = it is not a button. ``priority`` is None if it is not shown.
    """

    key: str
    name: str
    label: str
    state: str
    app: int
    priority: int | None
    note: str
    title: str
    ident: str


def block(pod: PodState, mark: str = "p", *, state: str = "", note: str = "") -> Block:
    """Return a block. ``mark`` begins the button's id, '' = no button."""
    state = state or pod.state
    name, priority = short_name(pod.key), pod.pod.priority
    key = "blocks.pod" if state == "bound" else "blocks.pod-in-a-state"
    title = say(key, pod=name, priority=priority, state=state)
    return Block(pod.key, name, name, state, pod.app, priority, note, title, f"{mark}:{pod.key}" if mark else "")


def gone_block(key: str) -> Block:
    """Return the block of a pod that no longer exists."""
    name = short_name(key)
    return Block(key, name, name, "gone", 0, None, "", say("blocks.gone", pod=name), "")
