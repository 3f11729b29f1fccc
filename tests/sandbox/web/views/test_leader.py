"""Replicas of the scheduler: the form, and the actions on one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.view import View
from tests.sandbox.inside import fragments

pytestmark = pytest.mark.django_db

FORM = {
    "form": "1",
    "count": "2",
    "leader_elect": "1",
    "lock": "configmaps",
    "lease_duration": "30s",
    "renew_deadline": "20s",
    "retry_period": "4s",
    "release": "1",
}
ONE = "kube-scheduler-1"


def panel(visitor: Any, name: str = "leader", **view: Any) -> str:
    return str(fragments(visitor.row(), View(**view), [name], True)[name].html)


def last(visitor: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(visitor.log()[-1])
    return data


def test_three_replicas_are_one_press_away(visitor: Any) -> None:
    assert "Run 3 replicas" in panel(visitor)
    assert visitor.post("replicas/", count="3", leader_elect="1").status_code == 204
    assert {"kind": "replicas", "count": 3, "leader_elect": True}.items() <= last(visitor).items()
    assert panel(visitor).count('id="replica-') == 3


def test_the_form_becomes_a_command_and_closes_the_dialog(visitor: Any) -> None:
    answer = visitor.post("replicas/", **FORM)
    assert (answer.status_code, answer.headers["HX-Trigger"]) == (204, "replicas-set")
    wanted = {"count": 2, "lock": "configmaps", "lease_duration": "30s", "release_on_cancel": True}
    assert wanted.items() <= last(visitor).items()
    assert "ConfigMap kube-system/kube-scheduler" in panel(visitor)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param(
            {"lease_duration": "10s", "renew_deadline": "10s"},
            "leaseDuration must be greater than renewDeadline",
            id="a lease that is not longer than the deadline",
        ),
        pytest.param(
            {"renew_deadline": "2s"},
            "renewDeadline must be greater than retryPeriod*JitterFactor",
            id="a deadline that leaves no time for a second try",
        ),
        pytest.param({"lease_duration": "soon"}, "invalid duration", id="no duration at all"),
        pytest.param({"count": "many"}, "must be a number", id="an invalid number of replicas"),
        pytest.param({"count": "9"}, "count", id="too many replicas"),
        pytest.param({"lock": "etcd"}, "lock", id="an unknown lock"),
    ],
)
def test_a_wrong_form_says_so_and_keeps_what_was_typed(visitor: Any, fields: dict[str, str], words: str) -> None:
    answer = visitor.post("replicas/", **(FORM | fields))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert words in html.replace("&#39;", "'")
    assert 'id="form-replicas"' in html
    assert f'value="{fields.get("lease_duration", "30s")}"' in html
    assert visitor.log() == []


def test_without_an_election_no_durations_are_required(visitor: Any) -> None:
    without = {name: value for name, value in FORM.items() if name != "leader_elect"} | {"lease_duration": "nonsense"}
    assert visitor.post("replicas/", **without).status_code == 204
    assert "every replica schedules" in panel(visitor)


def test_the_form_starts_with_the_present_values(visitor: Any) -> None:
    assert 'value="15s"' in visitor.get("replicas-form/").content.decode()
    visitor.post("replicas/", **FORM)
    html = visitor.get("replicas-form/").content.decode()
    assert 'value="30s"' in html
    assert '<option value="configmaps" selected>' in html
    assert "<option selected>2</option>" in html


@pytest.mark.parametrize(
    ("fields", "command", "shown"),
    [
        pytest.param({"action": "kill"}, {"action": "kill"}, "killed", id="kill"),
        pytest.param({"action": "release"}, {"action": "release"}, "It was asked to stop.", id="stop"),
        pytest.param({"action": "pause"}, {"action": "pause"}, "Resume", id="pause"),
        pytest.param({"action": "partition"}, {"action": "partition"}, "Heal", id="partition"),
        pytest.param(
            {"action": "skew", "minutes": "10", "way": "ahead"}, {"seconds": 600}, "10 min fast", id="a clock ahead"
        ),
        pytest.param(
            {"action": "skew", "minutes": "0.5", "way": "back"}, {"seconds": -30}, "30 s slow", id="a clock behind"
        ),
        pytest.param({"action": "rate", "rate": "1.1"}, {"rate": "1.1"}, "runs ×1.1", id="a clock that gains"),
    ],
)
def test_an_action_on_a_replica_is_one_command(
    visitor: Any, fields: dict[str, str], command: dict[str, Any], shown: str
) -> None:
    visitor.post("replicas/", count="3", leader_elect="1")
    assert visitor.post("replica/", replica=ONE, **fields).status_code == 204
    assert ({"kind": "replica", "replica": ONE} | command).items() <= last(visitor).items()
    assert shown in panel(visitor)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"replica": ONE, "action": "resume"}, id="resume of a running replica"),
        pytest.param({"replica": ONE, "action": "restart"}, id="restart of a running replica"),
        pytest.param({"replica": "nobody", "action": "kill"}, id="an unknown replica"),
        pytest.param({"replica": ONE, "action": "explode"}, id="an unknown action"),
        pytest.param({"replica": ONE, "action": "skew", "minutes": "x"}, id="an invalid number of minutes"),
        pytest.param({"replica": ONE, "action": "rate", "rate": "0"}, id="a stopped clock"),
        pytest.param({}, id="empty"),
    ],
)
def test_an_impossible_action_is_a_notice_and_not_a_command(visitor: Any, fields: dict[str, str]) -> None:
    visitor.post("replicas/", count="3", leader_elect="1")
    answer = visitor.post("replica/", **fields)
    assert answer.status_code == 422
    assert "data-notice" in answer.content.decode()
    assert len(visitor.log()) == 1


def test_a_watcher_sees_replicas_but_no_buttons(visitor: Any) -> None:
    visitor.post("replicas/", count="3", leader_elect="1")
    watcher = visitor.watching()
    html = watcher.get("panel/leader/").content.decode()
    assert 'id="replica-1"' in html
    assert "hx-post" not in html
    assert watcher.post("replica/", replica=ONE, action="kill").status_code == 403
    assert watcher.post("replicas/", **FORM).status_code == 403


def test_two_browsers_may_look_at_different_replicas(visitor: Any, node: Any, pod: Any) -> None:
    store.execute(visitor.sandbox, node("n1"))
    visitor.post("replicas/", count="2")
    store.execute(visitor.sandbox, pod("web"))
    visitor.post("do/stage/")
    lanes = {name: panel(visitor, "queues", replica=name) for name in (ONE, "kube-scheduler-2", "")}
    assert ['data-lane="inFlight"' in html for html in lanes.values()] == [True, False, True]
    assert ['data-lane="activeQ"' in html for html in lanes.values()] == [False, True, False]
    assert f'data-replica="{ONE}"' in lanes[""]


def test_going_back_brings_the_one_scheduler_back(visitor: Any) -> None:
    visitor.post("replicas/", count="2")
    assert "every replica schedules" in panel(visitor)
    visitor.post("do/back/")
    assert "One scheduler, no election" in panel(visitor)
