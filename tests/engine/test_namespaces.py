"""Deleted namespaces: their objects are deleted, no new ones are accepted, and some never finish."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from tests.engine import controllers as world


def namespace(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


def shop(*more: dict[str, Any], **metadata: Any) -> Simulation:
    simulation = Simulation()
    pod = make_pod("web", "shop").grace_period(30).obj()
    budget = make_budget("guard", {"app": "web"}, "shop", minAvailable=1)
    simulation.execute(commands.Apply((make_node("n1").obj(), namespace("shop", **metadata), pod, budget, *more)))
    simulation.execute(commands.Settle())
    return simulation


def there(simulation: Simulation) -> list[str]:
    return sorted(item.key for item in simulation.api.content_of("shop"))


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_may_not_be_deleted(name: str) -> None:
    with pytest.raises(Rejected, match=f'namespaces "{name}" is forbidden: this namespace may not be deleted'):
        Simulation().execute(commands.Delete("Namespace", name))


def test_the_objects_are_deleted_and_then_the_namespace() -> None:
    simulation = shop()
    simulation.execute(commands.Delete("Namespace", "shop"))
    held = simulation.api.get("Namespace", "shop")
    assert held is not None
    assert (held.terminating, held.status["phase"], there(simulation)) == (True, "Terminating", ["shop/web"])
    with pytest.raises(Rejected) as refusal:
        simulation.execute(commands.Apply((make_pod("late", "shop").obj(),)))
    assert str(refusal.value).endswith(
        'pods "late" is forbidden: unable to create new content in namespace shop because it is being terminated'
    )
    simulation.execute(commands.Delete("Namespace", "shop"))
    simulation.execute(commands.Advance(30))
    assert (simulation.api.get("Namespace", "shop"), there(simulation)) == (None, [])
    log = make_log(42, None, simulation.history.commands if simulation.history else [])
    assert trace_digest(replay(log)) == trace_digest(simulation)


def test_owners_make_nothing_more_in_it() -> None:
    owner = world.deployment("web", 3)
    owner["metadata"]["namespace"] = "shop"
    simulation = shop(owner)
    simulation.execute(commands.Delete("Namespace", "shop"))
    simulation.execute(commands.Advance(60))
    assert (simulation.api.get("Namespace", "shop"), there(simulation)) == (None, [])


def test_it_waits_for_finalizers_in_it_and_for_its_own() -> None:
    keeper = make_pod("keeper", "shop").metadata(finalizers=["x.io/a"]).grace_period(0).obj()
    simulation = shop(keeper, finalizers=["x.io/b"])
    simulation.execute(commands.Delete("Namespace", "shop"))
    simulation.execute(commands.Advance(60))
    assert there(simulation) == ["shop/keeper"]
    simulation.execute(commands.Patch("Pod", "shop/keeper", {"metadata": {"finalizers": None}}))
    assert (there(simulation), simulation.api.get("Namespace", "shop") is None) == ([], False)
    simulation.execute(commands.Patch("Namespace", "shop", {"metadata": {"finalizers": None}}))
    assert simulation.api.get("Namespace", "shop") is None


def test_an_empty_one_goes_at_once() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((namespace("empty"),)))
    simulation.execute(commands.Delete("Namespace", "empty"))
    assert simulation.api.get("Namespace", "empty") is None
