"""A room, its trainer, and people in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sandbox.changes import store
from sandbox.storage.models import Sandbox
from sandbox.workshop import people, sources
from sandbox.workshop import room as rooms
from sandbox.workshop.models import Participant, Seat, Workshop

SMALL, CROWDED = "node-selector", "three-zones-one-gpu-pool"


@dataclass
class Person:
    """Somebody with the link of a page of a room: the trainer, who has no row, or a participant."""

    room: Workshop
    token: str
    row: Participant | None = None
    client: Client = field(default_factory=Client)

    def url(self, path: str = "") -> str:
        return f"/w/{self.room.pk}/{self.token}/{path}"

    def get(self, path: str = "") -> HttpResponse:
        return self.client.get(self.url(path))

    def post(self, path: str, **fields: Any) -> HttpResponse:
        return self.client.post(self.url(path), fields)

    def seat(self) -> Seat:
        return rooms.current(self.row, self.room)

    def sit(self) -> Sandbox:
        """Take the seat. Return its sandbox."""
        assert self.post("take/").status_code == 204
        sandbox = self.seat().sandbox
        assert sandbox is not None
        return sandbox

    def now(self) -> Participant:
        assert self.row is not None
        return Participant.objects.get(pk=self.row.pk)


@pytest.fixture
def trainer(db: None) -> Person:
    room, token = rooms.open_room(sources.scenario(SMALL))
    return Person(room, token)


@pytest.fixture
def crowded(db: None) -> Person:
    """Return a trainer in whose sandbox the next pod gets no node without preemption."""
    room, token = rooms.open_room(sources.scenario(CROWDED))
    return Person(room, token)


@pytest.fixture
def joined(trainer: Person) -> Callable[..., Person]:
    """Return a function that creates a participant by name, in the trainer's room or another one."""

    def join(name: str, room: Workshop = trainer.room) -> Person:
        row, token = people.join(room, name)
        return Person(room, token, row)

    return join


@pytest.fixture
def step() -> Callable[..., None]:
    """Return a function that makes a step in a sandbox."""

    def make(sandbox: Sandbox, kind: str = "pod") -> None:
        store.execute(sandbox, {"kind": kind})

    return make
