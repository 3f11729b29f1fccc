"""The world of the tables of authority: a room with people in it, their sandboxes, and everybody's links."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sandbox.changes import expectations, store, study
from sandbox.changes.opening import read_lesson
from sandbox.server.pruning import prune, prune_rooms
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.workshop import assistants, files, inquiries, people, questions, sources
from sandbox.workshop import room as rooms
from sandbox.workshop.lessons import LessonFile, save_lesson
from sandbox.workshop.models import Participant, Workshop
from scheduler_engine.testing import Builder, make_node, make_pod

FAR_AHEAD = datetime(2100, 1, 1, tzinfo=UTC)
"""When the assistant was last seen: so that no request has to store it."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
STEPS = "scheduling-gates"
"""A scenario with steps to take. It has node-1, open-1, and gated-1, which waits for its gate to be removed."""
LESSON = """\
kind: Lesson
title: "A pod and a node"
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: node-2}, status: {capacity: {cpu: "1", memory: 8Gi, pods: "9"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "2"}}}]}
parts:
- text: "Who passes?"
  figure:
    change: [{name: cpu, say: CPU of the node, values: ["1", "2"]}]
    setup:
    - apply: [{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {capacity: {cpu: $cpu}}}]
    then: [settle: {}]
  predict: {passes: default/web}
  do:
  - stage: {}
  - stage: {}
  - stage: {}
  - stage: {}
  say: "to the end of Filter"
- text: "Now you."
  task: "Bring web to its node."
  check:
  - say: web is on node-1.
    holds: [{pod: default/web, node: node-1}]
  hints: [Press a button.]
  right: [[pod: {}]]
  wrong:
  - do: [stage: {}]
    says: web is on node-1
"""
ROOM = f"""\
apiVersion: scheduler-sandbox/v1
kind: Workshop
begin: {{scenario: {STEPS}}}
questions:
- {{ask: "Which node?", choices: [node-1, node-2], right: [node-1]}}
"""
DEPLOYMENT = Builder("apps/v1", "Deployment", "app", "default").spec(
    replicas=1,
    selector={"matchLabels": {"app": "app"}},
    template={"metadata": {"labels": {"app": "app"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}},
)
HELD = make_pod("held").metadata(finalizers=["example.com/hold"]).cpu("100m")
COMMANDS: tuple[dict[str, Any], ...] = (
    {"kind": "apply", "manifests": [make_node("node-2").capacity(cpu="2", pods="9").obj(), DEPLOYMENT.obj()]},
    {"kind": "apply", "manifests": [HELD.obj()]},
    {"kind": "fault", "plugin": "NodeName", "point": "permit", "answer": "wait", "seconds": 60},
    {"kind": "pod"},
)
"""What happened in Ada's sandbox: open-1 waits in Permit, and the others in the queue."""
ASIDE = {"kind": "advance", "seconds": 1}, {"kind": "cordon", "node": "node-2", "on": True}
"""Two commands, of which the second replaces the first. So there is a branch."""


@dataclass
class Desk:
    """A participant, the sandbox in front of them, and its links."""

    row: Participant
    token: str
    sandbox: Sandbox
    owner: str
    watcher: str
    helper: str
    """The key with which the trainer may help."""
    former: str
    """A key that the participant has taken back."""


@dataclass
class World:
    """``ids`` has the keys of rows that requests name."""

    room: Workshop
    trainer: str
    foreign: str
    """The token of another room's trainer."""
    closed: tuple[Workshop, str, str]
    """A closed room, its trainer's token and that of a participant."""
    pruned_room: tuple[Workshop, str]
    removed: str
    left: str
    newcomer: str
    """Tokens of a participant who was removed, one who left, and one who has no sandbox yet."""
    desks: dict[str, Desk]
    pruned: tuple[Sandbox, str]
    ids: dict[str, str]

    @property
    def assistant(self) -> str:
        return tokens.assistant_token(self.trainer, 1)

    @property
    def revoked(self) -> str:
        return tokens.assistant_token(self.trainer, 2)

    @property
    def projector(self) -> str:
        return tokens.view_token(self.trainer)


def create() -> World:
    """Create everybody and everything."""
    file = files.read(ROOM)
    room, trainer = rooms.open_room(file.source, "Room", file.plan)
    lesson = save_lesson(room, LessonFile(LESSON, read_lesson(LESSON)))
    desks = {
        "cluster": new_desk(room, "Ada", sources.scenario(STEPS)),
        "lesson": new_desk(room, "Bea", sources.of_lesson(lesson)),
        "task": new_desk(room, "Gil", sources.of_lesson(lesson)),
        "replicas": new_desk(room, "Cem", sources.scenario(STEPS)),
    }
    cluster = desks["cluster"].sandbox
    for command in COMMANDS:
        store.execute(cluster, command)
    store.execute(cluster, ASIDE[0])
    store.go_to(cluster, lambda position: position.head - 1)
    store.execute(cluster, ASIDE[1])
    expectation = expectations.expect(cluster, "placement", {"pod": "default/held"}, None)
    store.execute(cluster, {"kind": "advance", "seconds": 2})
    store.go_to(cluster, lambda position: position.head - 1)
    store.execute(desks["replicas"].sandbox, {"kind": "replicas", "count": 3, "leader_elect": True})
    study.turn_to(desks["task"].sandbox, 1)
    # The steps of the part before were done for Gil. Before Filter there is something to predict.
    store.go_to(desks["task"].sandbox, lambda position: position.head - 4)
    store.execute(desks["task"].sandbox, {"kind": "stage"})
    for one in desks.values():
        one.sandbox.refresh_from_db()
    for _ in range(2):
        assistants.make(room, trainer)
    assistants.revoke(room, 2)
    room.assistants.update(seen=FAR_AHEAD)
    for name in ("cluster", "lesson", "task", "replicas"):
        desks[name].row.refresh_from_db()
        desks[name].helper = desks[name].row.key
    rooms.raise_hand(desks["replicas"].row, True)
    questions.answer(questions.ask(room, "Why there?", []), desks["cluster"].row, ["because"])
    inquiry = inquiries.inquire(desks["lesson"].row, "Why not elsewhere?")
    questions.ask(room, "Which queue?", ["activeQ", "backoffQ"], ["activeQ"])
    removed, removed_token = people.join(room, "Dan")
    people.remove(removed)
    leaver, left = people.join(room, "Eve")
    people.leave(leaver)
    _, newcomer = people.join(room, "Fay")
    _, foreign = rooms.open_room(sources.BLANK, "Another room")
    pruned = store.create("Old")
    old, old_token = rooms.open_room(sources.BLANK, "Old room")
    Sandbox.objects.filter(pk=pruned[0].pk).update(last_used=LONG_AGO)
    Workshop.objects.filter(pk=old.pk).update(last_used=LONG_AGO)
    assert (prune(30), prune_rooms(30)) == (1, 1)
    ids = {
        "{branch}": str(cluster.branches.get().pk),
        "{expectation}": str(expectation.pk),
        "{person}": str(desks["cluster"].row.pk),
        "{hand}": str(desks["replicas"].row.pk),
        "{inquiry}": str(inquiry.pk),
        "{code}": room.code,
        "{workbench}": f"/s/{cluster.pk}/{desks['cluster'].watcher}/",
    }
    return World(
        room, trainer, foreign, closed_room(), (old, old_token), removed_token, left, newcomer, desks, pruned, ids
    )


def closed_room() -> tuple[Workshop, str, str]:
    room, trainer = rooms.open_room(sources.BLANK, "Closed room")
    _, participant = people.join(room, "Ada")
    questions.ask(room, "Which queue?", ["activeQ", "backoffQ"], ["activeQ"])
    rooms.close(room)
    room.refresh_from_db()
    return room, trainer, participant


def new_desk(room: Workshop, name: str, source: sources.Source) -> Desk:
    """Return a new participant with a sandbox of a source, who has twice let the trainer help and once stopped it."""
    row, token = people.join(room, name)
    rooms.send(room, source, [row])
    seat = rooms.take_seat(room, row, token)
    assert seat.sandbox is not None
    rooms.allow_help(row, token, True)
    former = row.key
    rooms.allow_help(row, token, True)
    owner = tokens.seat_token(token, seat.number)
    return Desk(row, token, seat.sandbox, owner, seat.view_token, row.key, former)
