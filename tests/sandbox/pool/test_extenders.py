"""A site connects to no extender: it refuses real ones, and expressions answer for simulated ones."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.view import View
from sandbox.pool.pool import Pool
from sandbox.storage.models import Sandbox
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import load_scenario, run
from scheduler_engine.scenario.playing import END
from scheduler_engine.testing import make_node, make_pod
from tests.engine.own_plugin import KIND
from tests.engine.simulated_extender import URL, answering
from tests.sandbox.inside import fragments, live

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


ANSWERS = {"filter": "pods.size() < 1", "message": "the rack is full", "prioritize": "10 - pods.size()", "bind": "true"}


def step_through(visitor: Any, times: int) -> str:
    """Let stages run, and return the filter table with its explanation as a browser gets it."""
    for _ in range(times):
        store.execute(visitor.row(), {"kind": "stage"})
    return shown(visitor)


def shown(visitor: Any) -> str:
    return str(fragments(visitor.row(), View(node="n1", plugin="Extender"), ["filter"])["filter"].html)


def test_a_sandbox_with_a_simulated_extender_is_stepped_rewound_and_exported(
    visitor: Any, on_worker: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connected: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda own, address: connected.append(address))
    objects = [make_node("n1").obj(), make_node("n2").obj(), make_pod("old").node("n1").obj(), make_pod("web").obj()]
    store.execute(visitor.row(), {"kind": "configure", "configuration": answering(**ANSWERS)})
    store.execute(visitor.row(), {"kind": "apply", "manifests": objects})
    first = step_through(visitor, 4)
    assert "n1 is refused for web: the rack is full." in first
    assert f"<code>{URL}</code>" in first
    store.execute(visitor.row(), {"kind": "delete", "object_kind": "Pod", "key": "default/old"})
    store.execute(visitor.row(), {"kind": "run"})
    store.go_to(visitor.sandbox, lambda _: 6)
    assert shown(visitor) == first
    with on_worker("another"):
        assert shown(visitor) == first
    # The other way forward: the extender sees the pods of the new present.
    store.go_to(visitor.sandbox, lambda _: 1)
    store.execute(visitor.row(), {"kind": "apply", "manifests": [*objects[:2], objects[3]]})
    assert "n1 is refused" not in step_through(visitor, 4)
    store.execute(visitor.row(), {"kind": "run"})
    path = tmp_path / "exported.scenario.yaml"
    path.write_text(visitor.get("export/scenario/", expect="verdicts").content.decode())
    *_, end = run(load_scenario(path))
    assert (end.path, end.failures) == (END, ())
    here = live(visitor.row()).simulation
    assert [entry.event for entry in end.simulation.recorder.entries] == [
        entry.event for entry in here.recorder.entries
    ]
    assert connected == []
