"""The shapes of an explanation of a pod, as ``scheduler_engine.answers.explained`` returns it."""

from __future__ import annotations

from typing import Any

from ninja import Field, Schema

from sandbox.words.say import say


class ExplainQuery(Schema):
    """``node``: also this node, if only the first ones are listed. By default the last attempt is explained."""

    pod: str = Field(min_length=1, description=say("api.pod"))
    node: str = ""
    attempt: int | None = Field(None, ge=1)
    cycle: int | None = Field(None, ge=1)
    at: str = Field("", description=say("api.moment"))


class Arithmetic(Schema):
    label: str
    formula: str
    note: str


class StatedFact(Schema):
    """What a plugin looked at. ``key`` says what it is, ``ok`` whether it speaks for the node, null = neither."""

    key: str
    values: dict[str, Any]
    ok: bool | None


class Why(Schema):
    """Why a plugin refused a node: in words, as arithmetic, and as facts. The first fact is the conclusion."""

    sentence: str
    arithmetic: list[Arithmetic]
    facts: list[StatedFact]


class Scored(Schema):
    """Points of a plugin: before and after normalizing, and multiplied by its weight."""

    raw: int
    normalized: int | None = None
    weighted: int | None = None


class NodeExplained(Schema):
    """``passes``: null = the attempt did not check the node. ``plugin``: the one that refused it, with its reasons."""

    node: str
    passes: bool | None
    plugin: str
    code: str
    reasons: list[str]
    why: Why | None
    scores: dict[str, Scored]
    total: int | None


class Refusals(Schema):
    """Nodes that one plugin refused for the same reasons. ``count``: how many; ``nodes`` names the first ones."""

    plugin: str
    code: str
    reasons: list[str]
    count: int
    nodes: list[str]


class Chosen(Schema):
    """``how``: the ``highest`` total, a ``draw`` or the ``first`` of those ``among`` which it was, or the ``only`` one.
    ``margin``: its lead over the next node, null = there was nothing to compare.
    """

    node: str
    how: str
    among: list[str]
    margin: int | None
    words: list[str]


class Preemption(Schema):
    """``nominated``: the node where ``victims`` make room, "" = none."""

    nominated: str
    victims: list[str]
    words: list[str]


class NodeCounts(Schema):
    nodes: int
    checked: int


class AttemptExplained(Schema):
    """An attempt. ``outcome``: ``bound``, ``unschedulable``, ``nominated``, ``error`` …, "" while it runs. ``message``
    is the scheduler's. ``nodes``: the first 100, those with the highest totals first.
    """

    number: int
    cycle: int
    replica: str
    pod_was_deleted: bool
    outcome: str
    message: str
    abandoned: str
    chosen: Chosen | None
    preemption: Preemption | None
    counts: NodeCounts
    refusals: list[Refusals]
    nodes: list[NodeExplained]


class Explained(Schema):
    """Why a pod is where it is. ``lane``: where it waits, as in the expectation ``waits``. ``attempts``: how many there
    were. ``why``: why there was none, else "". ``kubernetes``: the version whose rules the attempt followed.
    """

    pod: str
    kubernetes: str
    exists: bool
    node: str
    nominated: str
    lane: str
    attempts: int
    why: str
    attempt: AttemptExplained | None
