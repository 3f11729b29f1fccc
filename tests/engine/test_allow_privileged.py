"""Privileged containers are accepted, as in every kubeadm cluster, unless a simulation forbids them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

FORBIDDEN = "privileged: Forbidden: disallowed by cluster policy"


def agent() -> dict[str, Any]:
    """Return a pod as network plugins create it."""
    pod: dict[str, Any] = make_pod("agent").obj()
    host = {"hostNetwork": True, "hostPID": True, "hostIPC": True}
    pod["spec"] = {**pod["spec"], **host}
    pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return pod


def daemon_set() -> dict[str, Any]:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": agent()["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec}


@pytest.mark.parametrize("manifest", [agent(), daemon_set()], ids=["a pod", "a template"])
def test_a_privileged_container_is_accepted_unless_the_simulation_forbids_it(manifest: dict[str, Any]) -> None:
    node = make_node("n1").obj()
    simulation = Simulation()
    simulation.execute(commands.Apply((node, manifest)))
    simulation.execute(commands.Run())
    assert [pod.node_name for pod in simulation.api.pods()] == ["n1"]
    strict = Simulation(allow_privileged=False)
    with pytest.raises(Rejected, match=FORBIDDEN):
        strict.execute(commands.Apply((node, manifest)))
    assert strict.api.get("Node", "n1") is None


def test_a_privileged_pod_can_be_changed_where_it_was_accepted() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((agent(),)))
    simulation.execute(commands.Patch("Pod", "default/agent", {"metadata": {"labels": {"tier": "host"}}}))
    simulation.execute(commands.Apply(({**agent(), "metadata": {"name": "agent", "labels": {"a": "b"}}},)))
    pod = simulation.api.pod("default/agent")
    assert pod is not None
    assert pod.labels == {"tier": "host", "a": "b"}


def test_a_log_says_when_privileged_containers_were_refused_and_nothing_when_not() -> None:
    log = make_log(1, None, [commands.Apply((agent(),))])
    assert "allow_privileged" not in log
    assert replay(log).api.pod("default/agent") is not None
    strict = make_log(1, None, [commands.Apply((agent(),))], allow_privileged=False)
    assert strict["allow_privileged"] is False
    with pytest.raises(Rejected, match=FORBIDDEN):
        replay(strict)
    with pytest.raises(Rejected, match="allow_privileged: must be true or false"):
        replay({**log, "allow_privileged": "no"})


def test_a_log_from_before_the_setting_replays_the_same() -> None:
    """A log holds no refused commands, so both rules replay a log recorded under the stricter one alike."""
    steps = [commands.Apply((make_node("n1").obj(), make_pod("web").obj())), commands.Run()]
    assert trace_digest(replay(make_log(1, None, steps))) == trace_digest(
        replay(make_log(1, None, steps, allow_privileged=False))
    )


def test_going_over_budget_keeps_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(allow_privileged=False)
    monkeypatch.setattr("scheduler_engine.effort.MOST_ENTRIES", 5)
    with pytest.raises(Rejected, match="trace entries"):
        simulation.execute(commands.Apply(tuple(make_node(f"n{number}").obj() for number in range(9))))
    with pytest.raises(Rejected, match=FORBIDDEN):
        simulation.execute(commands.Apply((agent(),)))
