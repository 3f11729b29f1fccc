"""Pods as blocks: what ``templates/fragments/pod.html`` draws."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.panels.model.state import PodState
from sandbox.words.amounts import short_name
from sandbox.words.say import say


class Block(NamedTuple):
    """A pod: left edge and tint = ``app``, the border tells its ``state``, ``note`` stands beside its label.

    ``ident``: the id of its button; without one it is no button. ``priority`` is None where it is not shown.
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
    """``mark`` begins the button's id, '' = no button."""
    state = state or pod.state
    name, priority = short_name(pod.key), pod.pod.priority
    key = "blocks.pod" if state == "bound" else "blocks.pod-in-a-state"
    title = say(key, pod=name, priority=priority, state=state)
    return Block(pod.key, name, name, state, pod.app, priority, note, title, f"{mark}:{pod.key}" if mark else "")


def gone_block(key: str) -> Block:
    """A pod that is no longer there."""
    name = short_name(key)
    return Block(key, name, name, "gone", 0, None, "", say("blocks.gone", pod=name), "")
