"""A site asks no extenders: it refuses them, and neither it nor a worker opens a connection to one."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.pool.pool import Pool
from sandbox.storage.models import Sandbox
from scheduler_engine.errors import Rejected
from tests.engine.own_plugin import KIND

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def extender() -> Iterator[socket.socket]:
    """Listen as an extender would. ``accept`` raises BlockingIOError while nobody has connected."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def configuration_with(extender: socket.socket) -> dict[str, Any]:
    url = f"http://127.0.0.1:{extender.getsockname()[1]}"
    verbs = {"filterVerb": "filter", "prioritizeVerb": "rank", "preemptVerb": "preempt", "bindVerb": "bind"}
    return KIND | {"extenders": [{"urlPrefix": url, "weight": 1, **verbs}]}


def assert_refused_in(sandbox: Sandbox, configuration: dict[str, Any]) -> None:
    with pytest.raises(Rejected, match="this server asks no extenders"):
        store.execute(sandbox, {"kind": "configure", "configuration": configuration})
    store.execute(sandbox, {"kind": "run"})


def assert_nobody_came(extender: socket.socket) -> None:
    with pytest.raises(BlockingIOError):
        extender.accept()


def test_workers_refuse_extenders_and_connect_to_none(pool: Pool, extender: socket.socket, node: Any, pod: Any) -> None:
    sandbox, _ = store.create("Extended")
    store.execute(sandbox, node("n1", "n2"))
    store.execute(sandbox, pod("a"))
    assert_refused_in(sandbox, configuration_with(extender))
    assert_nobody_came(extender)


def test_the_site_itself_opens_no_connection(
    extender: socket.socket, node: Any, pod: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda own, address: connected.append(address))
    sandbox, _ = store.create("Extended")
    store.execute(sandbox, node("n1", "n2"))
    store.execute(sandbox, pod("a"))
    assert_refused_in(sandbox, configuration_with(extender))
    assert connected == []
    assert_nobody_came(extender)


def test_a_stored_configuration_with_extenders_is_not_played(
    extender: socket.socket, node: Any, on_worker: Callable[[str], AbstractContextManager[None]]
) -> None:
    sandbox, _ = store.create("Extended")
    sandbox.configuration = json.dumps(configuration_with(extender))
    sandbox.save()
    with on_worker("another"), pytest.raises(Rejected, match="asks no extenders"):
        store.execute(sandbox, node("n1"))
    assert_nobody_came(extender)
