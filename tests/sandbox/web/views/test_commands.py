from __future__ import annotations

import errno
import json
from typing import Any

import pytest
from django.db import OperationalError

from sandbox.changes import store
from sandbox.pool import engines

pytestmark = pytest.mark.django_db

LIMIT = "LimitPodHardAntiAffinityTopology"


@pytest.mark.parametrize(
    ("verb", "fields", "command"),
    [
        pytest.param("stage", {}, {"kind": "stage"}, id="one stage"),
        pytest.param("pod", {}, {"kind": "pod"}, id="to the end of the pod"),
        pytest.param("settle", {}, {"kind": "settle"}, id="settle"),
        pytest.param("run", {}, {"kind": "run"}, id="run until idle"),
        pytest.param("advance", {"seconds": "10"}, {"kind": "advance", "seconds": 10}, id="ten seconds"),
        pytest.param("advance", {"seconds": "0.5"}, {"kind": "advance", "seconds": 0.5}, id="half a second"),
        pytest.param(
            "admission", {"plugin": LIMIT, "enabled": "1"}, {"plugin": LIMIT, "enabled": True}, id="a plugin is on"
        ),
        pytest.param("admission", {"plugin": LIMIT}, {"plugin": LIMIT, "enabled": False}, id="a plugin is off"),
        pytest.param("advance", {"seconds": "1", "play": "1"}, {"seconds": 1, "play": True}, id="a tick of playing"),
    ],
)
def test_each_button_is_one_command(
    visitor: Any, pod: Any, verb: str, fields: dict[str, str], command: dict[str, Any]
) -> None:
    store.execute(visitor.sandbox, pod("web"))
    answer = visitor.post(f"do/{verb}/", who="Ada\n\x00", **fields)
    assert (answer.status_code, answer.content) == (204, b"")
    assert command.items() <= json.loads(visitor.log()[1]).items()
    assert visitor.sandbox.records.get(n=2).who == "Ada"


def test_back_forward_and_goto_move_the_head(visitor: Any) -> None:
    for _ in range(3):
        visitor.post("do/advance/", seconds="1")
    heads = []
    for verb, fields in (("back", {}), ("back", {}), ("forward", {}), ("goto", {"n": "0"}), ("goto", {"n": "3"})):
        assert visitor.post(f"do/{verb}/", **fields).status_code == 204
        heads.append(visitor.row().head)
    assert heads == [2, 1, 2, 0, 3]


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("advance", {}),
        ("advance", {"seconds": "soon"}),
        ("advance", {"seconds": "-1"}),
        ("advance", {"seconds": "0"}),
        ("advance", {"seconds": "nan"}),
        ("advance", {"seconds": "inf"}),
        ("advance", {"seconds": "1e300"}),
        ("goto", {}),
        ("goto", {"n": "-1"}),
    ],
)
def test_an_invalid_number_is_refused_and_changes_nothing(visitor: Any, verb: str, fields: dict[str, str]) -> None:
    answer = visitor.post(f"do/{verb}/", **fields)
    assert answer.status_code == 400
    assert "a number of at least" in answer.content.decode()
    assert visitor.log() == []


def test_more_time_than_one_command_may_take_is_refused(visitor: Any) -> None:
    answer = visitor.post("do/advance/", seconds="100000")
    assert answer.status_code == 422
    assert "86400" in answer.content.decode()
    assert visitor.log() == []


def test_another_admission_plugin_is_refused_and_back_takes_the_switch_back(visitor: Any) -> None:
    answer = visitor.post("do/admission/", plugin="NodeRestriction", enabled="1")
    assert (answer.status_code, visitor.log()) == (422, [])
    assert f"must be {LIMIT}" in answer.content.decode()
    visitor.post("do/admission/", plugin=LIMIT, enabled="1")
    assert f'id="admission-{LIMIT}" checked' in visitor.get("panel/configuration/").content.decode()
    assert f"Undone: switch on admission plugin {LIMIT}." in visitor.post("do/back/").content.decode()
    assert f'id="admission-{LIMIT}">' in visitor.get("panel/configuration/").content.decode()


def test_an_unknown_verb_is_not_found(visitor: Any) -> None:
    assert visitor.post("do/explode/").status_code == 404


def test_an_object_can_be_deleted(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a", "b"))
    assert visitor.post("delete/", kind="Node", key="a").status_code == 204
    assert visitor.get("yaml/Node/", key="a").status_code == 404
    assert visitor.get("yaml/Node/", key="b").status_code == 200


def test_the_propagation_policy_of_a_deletion_can_be_chosen(visitor: Any) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [owner]})
    assert visitor.post("delete/", kind="ReplicaSet", key="default/web", policy="Sideways").status_code == 422
    assert visitor.post("delete/", kind="ReplicaSet", key="default/web", policy="Orphan").status_code == 204
    assert json.loads(visitor.log()[-1])["propagation_policy"] == "Orphan"


def test_deleting_a_missing_object_is_refused(visitor: Any) -> None:
    answer = visitor.post("delete/", kind="Node", key="a")
    assert answer.status_code == 422
    assert "not found" in answer.content.decode()
    assert visitor.log() == []


def test_a_node_is_cordoned_and_uncordoned(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    assert visitor.post("cordon/", node="a", on="1").status_code == 204
    assert "unschedulable: true" in visitor.get("yaml/Node/", key="a").content.decode()
    assert visitor.post("cordon/", node="a", on="0").status_code == 204
    assert "unschedulable: true" not in visitor.get("yaml/Node/", key="a").content.decode()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param('{"kind":"delete","object_kind":"Node","key":"never-there"}', id="it is refused now"),
        pytest.param('{"kind":"conjure"}', id="the engine no longer knows it"),
        pytest.param('{"kind":', id="it cannot be read"),
    ],
)
def test_a_log_that_cannot_be_replayed_shows_its_last_state_and_the_way_back(
    visitor: Any, node: Any, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("first", "second", "third"):
        store.execute(visitor.sandbox, node(name))
    visitor.sandbox.records.filter(n=2).update(command=command)
    engines.started().close()  # As after a restart.
    page = visitor.get().content.decode()
    assert "cannot replay command 2" in page
    assert "Go back to command 1" in page
    assert "Go back to command" not in visitor.watching().get().content.decode()
    panel = visitor.get("panel/cluster/").content.decode()
    assert "first" in panel
    assert "second" not in panel
    refused = visitor.post("do/settle/")
    assert refused.status_code == 409
    assert "cannot be replayed to its end" in refused.content.decode()
    assert len(visitor.log()) == 3
    assert visitor.post("do/goto/", n="1").status_code == 204
    assert "cannot replay command" not in visitor.get().content.decode()
    assert visitor.post("do/settle/").status_code == 204
    assert len(visitor.log()) == 2
    assert "cannot be replayed" in caplog.text


def test_a_command_that_is_decided_differently_is_noticed_and_a_copy_goes_on(
    visitor: Any, node: Any, pod: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for command in (node("a"), pod("web"), {"kind": "settle"}, node("b")):
        store.execute(visitor.sandbox, command)
    record = visitor.sandbox.records.get(n=3)
    assert "default/web bound a" in record.mark
    visitor.sandbox.records.filter(n=3).update(mark=record.mark.replace("bound a", "bound b"))
    engines.started().close()  # As after a restart, with another version.
    page = visitor.get().content.decode()
    assert "decides command 3 differently than before" in page
    assert "Then: default/web bound b. Now: default/web bound a." in page
    assert "is decided differently" in caplog.text
    manifests = visitor.watching().get("export/manifests/")
    assert (manifests.status_code, b"nodeName" in manifests.content) == (200, False)
    assert visitor.post("do/settle/").status_code == 409
    address = visitor.post("fork/", anew="1").headers["HX-Redirect"]
    copy = visitor.client.get(address).content.decode()
    assert "differently than before" not in copy
    assert "default/web" in copy
    assert len(visitor.log()) == 4


def test_replays_find_what_was_decided_once(visitor: Any, node: Any, pod: Any) -> None:
    """Whatever the commands are: ticks that merge, several at once, some of them refused, one that ends early."""
    store.execute_all(visitor.sandbox, [node("a"), pod("web"), pod("other")])
    for command in ({"kind": "stage"}, *[{"kind": "advance", "seconds": 0.5, "play": True}] * 3, {"kind": "run"}):
        store.execute(visitor.sandbox, command)
    store.go_to(visitor.sandbox, lambda here: here.head - 1)
    cordon = {"kind": "cordon", "node": "never-there"}
    store.execute_all(visitor.row(), [cordon, {"kind": "settle"}, node("b")], refusals=["not found", "", ""])
    marks = list(visitor.sandbox.records.filter(branch=None).order_by("n").values_list("mark", flat=True))
    assert "" not in marks
    engines.started().close()
    assert visitor.get().status_code == 200
    assert visitor.post("do/settle/").status_code == 204


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        pytest.param(OperationalError("database is locked"), 503, "busy", id="a database that is too busy"),
        pytest.param(ZeroDivisionError("secret"), 500, "The error is logged", id="a bug"),
        pytest.param(OSError(errno.ENOSPC, "secret"), 507, "disk is full", id="a full disk"),
        pytest.param(OSError(errno.EBADF, "secret"), 500, "The error is logged", id="a broken file"),
    ],
)
def test_a_server_error_is_shown_in_the_page(
    visitor: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str
) -> None:
    def broken(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(store, "execute_all", broken)
    answer = visitor.post("do/settle/")
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert str(error) not in answer.content.decode()
