"""What the site's tests share: a sandbox, a visitor who edits and one who watches, and empty caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sandbox.changes import store
from sandbox.limits import ratelimit
from sandbox.pool import engines
from sandbox.pool.pool import Pool
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Database, Plan, Position
from sandbox.worker import rendering
from sandbox.worker.job import KINDS, READING, REPLAYING
from sandbox.worker.live import Live

POD = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "x"}]}}
NODE = {"apiVersion": "v1", "kind": "Node", "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}
JOB_SECONDS = 600
"""How long a job may take with ``pool``: one of the slow lane has a low priority, and gets little of a busy machine."""


@pytest.fixture(autouse=True)
def empty_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty the caches, as in a fresh process."""
    monkeypatch.setattr(ratelimit, "buckets", ratelimit.Buckets())
    monkeypatch.setattr(engines, "_engines", engines.Inside())
    monkeypatch.setattr(rendering, "cache", rendering.FragmentCache())


@pytest.fixture(autouse=True)
def every_panel_can_be_shown(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail the test if a panel cannot be drawn: on the page such a panel only shows a message."""
    yield
    assert [record.getMessage() for record in caplog.get_records("call") if "cannot be shown" in record.message] == []


@dataclass
class Visitor:
    """Somebody who has a sandbox's URL."""

    sandbox: Sandbox
    token: str
    client: Client

    def url(self, path: str = "") -> str:
        return f"/s/{self.sandbox.pk}/{self.token}/{path}"

    def get(self, path: str = "", **query: str) -> HttpResponse:
        return self.client.get(self.url(path), query)

    def post(self, path: str, **fields: Any) -> HttpResponse:
        return self.client.post(self.url(path), fields)

    def watching(self) -> Visitor:
        """Return a visitor with the view link."""
        return Visitor(self.sandbox, tokens.view_token(self.token), self.client)

    def row(self) -> Sandbox:
        return Sandbox.objects.get(pk=self.sandbox.pk)

    def log(self) -> list[str]:
        return list(self.sandbox.records.filter(branch=None).order_by("n").values_list("command", flat=True))


@pytest.fixture
def visitor(db: None) -> Visitor:
    sandbox, token = store.create("Test")
    return Visitor(sandbox, token, Client())


@pytest.fixture
def node() -> Callable[..., dict[str, Any]]:
    """Return a function that creates the command for nodes of these names."""

    def command(*names: str) -> dict[str, Any]:
        return {"kind": "apply", "manifests": [NODE | {"metadata": {"name": name}} for name in names]}

    return command


@pytest.fixture
def pod() -> Callable[..., dict[str, Any]]:
    """Return a function that creates the command for pods of these names."""

    def command(*names: str) -> dict[str, Any]:
        return {"kind": "apply", "manifests": [POD | {"metadata": {"name": name}} for name in names]}

    return command


@pytest.fixture(scope="module")
def real_pool() -> Iterator[Pool]:
    """Start one worker for all sandboxes, with room for two more."""
    pool = Pool(processes=1, long=2)
    yield pool
    pool.close()


@pytest.fixture
def pool(real_pool: Pool, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Pool:
    """Let the site use real workers, without hurry."""
    settings.COMMAND_SECONDS = JOB_SECONDS
    monkeypatch.setattr(engines, "_engines", real_pool)
    for kind in (READING, REPLAYING):
        monkeypatch.setitem(KINDS, kind, replace(KINDS[kind], seconds=JOB_SECONDS))
    return real_pool


@pytest.fixture
def on_worker() -> Callable[[str], AbstractContextManager[None]]:
    """``with on_worker("b"):`` uses the database as another process with its own live simulations does."""
    workers: dict[str, engines.Inside] = {}

    @contextmanager
    def switch(name: str) -> Iterator[None]:
        before, engines._engines = engines._engines, workers.setdefault(name, engines.Inside())
        yield
        engines._engines = before

    return switch


@pytest.fixture
def trace() -> Callable[[Sandbox], list[str]]:
    """Return a function that replays a sandbox's log and returns the whole trace."""

    def of(sandbox: Sandbox) -> list[str]:
        row = Sandbox.objects.get(pk=sandbox.pk)
        fresh = Live(Plan.of(row), Database())
        fresh.move_to(Position.of(row))
        return [repr(entry) for entry in fresh.simulation.recorder.entries]

    return of
