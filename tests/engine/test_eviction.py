"""The Eviction API's answers."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from scheduler_engine.trace.events import EvictionAnswered

Manifest = dict[str, Any]
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
APP = {"app": "db"}


def db(number: int, healthy: bool = True, node: str = "n1") -> Manifest:
    builder = make_pod(f"db-{number}").label("app", "db").node(node).grace_period(10)
    return builder.obj() if healthy else builder.annotation("sandbox/ready", "false").obj()


def budget(name: str = "b", **spec: Any) -> Manifest:
    return make_budget(name, APP, **spec)


def cluster(*manifests: Manifest) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_node("n2").obj(), *manifests)))
    simulation.execute(commands.Settle())
    return simulation


def answers(simulation: Simulation) -> list[EvictionAnswered]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, EvictionAnswered)]


@pytest.mark.parametrize(
    ("manifests", "code", "message", "cause"),
    [
        ((db(0),), 200, "", ""),
        ((db(0), make_budget("b", {"app": "web"}, minAvailable=1)), 200, "", ""),
        ((db(0), db(1), budget(minAvailable=1)), 200, "", ""),
        (
            (db(0), budget(minAvailable=1)),
            429,
            VIOLATES,
            "The disruption budget b needs 1 healthy pods and has 1 currently",
        ),
        ((db(0), db(1), budget(minAvailable=1), budget("c", minAvailable=1)), 500, SEVERAL, ""),
        ((db(0, healthy=False), db(1), budget(minAvailable=1)), 200, "", ""),
        (
            (db(0, healthy=False), budget(minAvailable=1)),
            429,
            VIOLATES,
            "The disruption budget b needs 1 healthy pods and has 0 currently",
        ),
        (
            (db(0, healthy=False), budget(minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")),
            200,
            "",
            "",
        ),
    ],
    ids=[
        "no budget allows",
        "a budget for other pods allows",
        "a budget with a disruption left allows",
        "a budget without one refuses",
        "two budgets are too many",
        "an unready pod is evicted if its budget is healthy without it",
        "an unready pod stays if its budget is not healthy",
        "an unready pod is always evicted if its budget's policy says so",
    ],
)
def test_what_the_api_server_answers(manifests: tuple[Manifest, ...], code: int, message: str, cause: str) -> None:
    simulation = cluster(*manifests)
    simulation.execute(commands.Evict("default/db-0"))
    (answer,) = answers(simulation)
    assert (answer.code, answer.message, answer.cause) == (code, message, cause)
    pod = simulation.api.pod("default/db-0")
    assert pod is not None
    assert pod.terminating == (code == 200)


def test_an_evicted_pod_is_marked_and_its_budget_is_charged() -> None:
    simulation = cluster(db(0), db(1), budget(minAvailable=1))
    simulation.execute(commands.Evict("default/db-0"))
    pod = simulation.api.pod("default/db-0")
    assert pod is not None
    condition = next(item for item in pod.conditions if item["type"] == "DisruptionTarget")
    assert (condition["reason"], condition["message"]) == ("EvictionByEvictionAPI", "Eviction API: evicting")
    simulation.execute(commands.Evict("default/db-1"))
    assert [answer.code for answer in answers(simulation)] == [200, 429]
    simulation.execute(commands.Advance(11))
    assert simulation.api.pod("default/db-0") is None


@pytest.mark.parametrize("state", ["finished", "terminating", "waiting for a node"])
def test_a_pod_that_does_not_serve_goes_whatever_its_budget_says(state: str) -> None:
    manifest = db(0)
    if state == "finished":
        manifest["status"] = {"phase": "Succeeded"}
    if state == "waiting for a node":
        manifest = make_pod("db-0").label("app", "db").cpu("64").obj()
    simulation = cluster(manifest, budget(minAvailable=1))
    if state == "terminating":
        simulation.execute(commands.Delete("Pod", "default/db-0"))
    simulation.execute(commands.Evict("default/db-0"))
    assert [answer.code for answer in answers(simulation)] == [200]
    simulation.execute(commands.Advance(11))
    assert simulation.api.pod("default/db-0") is None


def test_evicting_a_pod_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Rejected, match='pods "nobody" not found'):
        cluster().execute(commands.Evict("default/nobody"))
