"""A priority set only as a number: refused in a sandbox, allowed if a file was written with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import copies, store
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Plan
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.testing import make_node, make_pod

NUMBER = make_pod("p").priority(5).cpu("1").obj()
WORDS = "the integer value of priority (5) must not be provided in pod spec"
FILE = f"""
title: Older than the rule
setup:
- apply: [{json.dumps(make_node("n1").obj())}]
then:
- apply: [{json.dumps(NUMBER)}]
"""


def test_a_number_is_refused_at_its_field(visitor: Any) -> None:
    fields = {"name": "p", "replicas": "1", "namespace": "default", "cpu": "1", "priority": "5"}
    answer = visitor.post("add/pod/", **fields)
    assert answer.status_code == 422
    place = answer.content.decode()
    field = place[place.index('data-field="priority"') :]
    assert WORDS in field[: field.index("data-field", 20)]
    answer = visitor.post("apply/", manifests=json.dumps(NUMBER))
    assert (answer.status_code, WORDS in answer.content.decode()) == (422, True)
    assert visitor.log() == []


def test_a_file_that_gives_numbers_is_opened_and_played_and_so_is_its_fork(client: Any, db: None) -> None:
    data = client.post("/api/v1/sandboxes", json.dumps({"file": FILE}), content_type="application/json").json()
    sandbox = Sandbox.objects.get(pk=data["id"])
    assert sandbox.priority_numbers
    command = {"kind": "apply", "manifests": [NUMBER]}
    store.execute(sandbox, command)
    log = client.get(f"{data['api']}/log").json()
    assert log["priority_numbers"]
    again = {name: log[name] for name in ("seed", "configuration", "queue_rules", "commands", "priority_numbers")}
    answer = client.post("/api/v1/sandboxes", json.dumps(again), content_type="application/json")
    assert answer.status_code == 201, answer.content
    strict = {**again, "priority_numbers": False}
    answer = client.post("/api/v1/sandboxes", json.dumps(strict), content_type="application/json")
    assert (answer.status_code, WORDS in answer.content.decode()) == (422, True)
    fork, _ = copies.fork(sandbox, None)
    assert Sandbox.objects.get(pk=fork).priority_numbers


def test_a_sandbox_from_before_the_rule_opens_unchanged(visitor: Any) -> None:
    plan = Plan.of(visitor.sandbox)
    assert not plan.priority_numbers
    with pytest.raises(Rejected):
        store.execute(visitor.sandbox, {"kind": "apply", "manifests": [NUMBER]})
    assert Sandbox._meta.get_field("priority_numbers").default, "existing rows get it"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"spec": {"containers": [], "priority": 5}}, True),
        ([{"apply": [{"spec": {"template": {"spec": {"containers": [], "priority": -1}}}}]}], True),
        ({"spec": {"containers": [], "priority": 0}}, False),
        ({"spec": {"containers": [], "priority": 5, "priorityClassName": "high"}}, False),
        ({"priority": 5}, False),
    ],
)
def test_files_that_give_priority_numbers(data: Any, expected: bool) -> None:
    assert gives_numbers(data) == expected
