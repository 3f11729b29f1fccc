"""A sandbox and another run of it side by side, from the moment before they differ."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sandbox.changes import store
from sandbox.storage import branches
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Plan, log_of
from sandbox.words.say import say
from sandbox.worker import simulations
from scheduler_engine.answers.comparing import compare
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.web.views.test_differences import PACKING, SETTLE, apply, configure

pytestmark = pytest.mark.django_db


@pytest.fixture
def many(visitor: Any) -> Any:
    """Return a visitor with two settled batches of pods; between them, the configuration is changed to packing."""
    nodes = [make_node(name).capacity(cpu="8", memory="8Gi", pods="30") for name in ("n1", "n2", "n3")]
    for command in (
        apply(*nodes, *(make_pod(f"a-{number}").cpu("500m") for number in range(4))),
        SETTLE,
        configure(PACKING),
        apply(*(make_pod(f"b-{number}").cpu(f"{number + 1}00m") for number in range(6))),
        SETTLE,
        {"kind": "advance", "seconds": 5},
    ):
        store.execute(visitor.sandbox, command)
    return visitor


def opened(visitor: Any, **fields: str) -> list[Sandbox]:
    """Return the two new sandboxes, the visitor's own run first."""
    answer = visitor.post("differences/in-step/", **fields)
    assert answer.status_code == 302
    query = parse_qs(urlsplit(answer.url).query)
    assert visitor.client.get(answer.url).status_code == 200
    return [Sandbox.objects.get(pk=query[side][0].split("/")[2]) for side in ("left", "right")]


def played(sandbox: Sandbox, *more: dict[str, Any]) -> Simulation:
    """Return the simulation of a sandbox after its log, and after more commands."""
    simulation = simulations.new_simulation(Plan.of(sandbox))
    texts = log_of(sandbox.pk).order_by("n").values_list("command", flat=True)
    for text in [*texts, *map(json.dumps, more)]:
        simulations.execute(simulation, text)
    return simulation


@pytest.mark.parametrize(
    "query", [{"configuration": "default"}, {"configuration": "before"}, *({"seed": str(seed)} for seed in range(3))]
)
def test_both_runs_are_equal_until_the_next_attempt(many: Any, query: dict[str, str]) -> None:
    left, right = opened(many, **query)
    assert compare(played(left), played(right)).parting is None
    assert left.title == many.sandbox.title
    assert right.title.startswith(f"{many.sandbox.title}: the same commands")
    step = {"kind": "pod"}
    parting = compare(played(left, step), played(right, step)).parting
    assert (parting is None) == ([row.command for row in log_of(left.pk).order_by("n")] == many.log())


def test_runs_that_do_not_differ_are_whole(many: Any) -> None:
    left, right = opened(many, seed=str(many.sandbox.seed))
    assert [row.command for row in log_of(left.pk).order_by("n")] == many.log()
    assert [row.command for row in log_of(right.pk).order_by("n")] == many.log()


def test_a_branch_ends_where_the_runs_part(many: Any) -> None:
    store.go_to(many.sandbox, lambda position: 3)
    store.execute(many.sandbox, apply(make_pod("c-1").cpu("7")))
    store.execute(many.sandbox, SETTLE)
    key = branches.branches_of(many.sandbox)[0].key
    left, right = opened(many, branch=str(key))
    assert compare(played(left), played(right)).parting is None
    assert {pod.key for pod in played(left).api.pods()} - {pod.key for pod in played(right).api.pods()} == {
        "default/c-1"
    }
    assert played(right).api.pod("default/b-0") is not None


def test_an_earlier_moment_ends_both_runs(many: Any) -> None:
    left, right = opened(many, at="2.9999", configuration="default")
    for sandbox in (left, right):
        assert {pod.key for pod in played(sandbox).api.pods()} == {f"default/a-{number}" for number in range(4)}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({}, 400, id="nothing"),
        pytest.param({"seed": "x"}, 400, id="no number"),
        pytest.param({"branch": "999"}, 404, id="no such branch"),
        pytest.param({"cycle": "1", "node": "n1"}, 422, id="a pod bound elsewhere"),
    ],
)
def test_what_is_no_other_run_creates_nothing(many: Any, fields: dict[str, str], status: int) -> None:
    assert many.post("differences/in-step/", **fields).status_code == status
    assert Sandbox.objects.count() == 1


def test_the_page_of_differences_leads_there_for_those_who_edit(many: Any) -> None:
    html = many.get("differences/", seed="5").content.decode()
    form = re.findall(r'<form[^>]*action="in-step/">(.*?)</form>', html, re.DOTALL)[0]
    assert re.findall(r'name="(\w+)" value="(\w+)"', form) == [("seed", "5")]
    assert say("differences.in-step") in form
    assert "in-step/" not in many.get("differences/", cycle="1", node="n1").content.decode()
    assert "in-step/" not in many.watching().get("differences/", seed="5").content.decode()
    assert many.watching().post("differences/in-step/", seed="5").status_code == 403
