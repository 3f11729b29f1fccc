"""Containers with their own restart policy: whether their pod ends when they have done their work."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.testing.cluster import Cluster

Data = dict[str, Any]


def rules(operator: str, *codes: int) -> Data:
    rule = {"action": "Restart", "exitCodes": {"operator": operator, "values": [*codes]}}
    return {"restartPolicy": "Never", "restartPolicyRules": [rule]}


@pytest.mark.parametrize(
    ("policy", "containers", "phase"),
    [
        pytest.param("Always", [{}], "Running", id="the pod's policy restarts it"),
        pytest.param("Always", [{"restartPolicy": "Never"}], "Succeeded", id="its own policy does not"),
        pytest.param("Always", [{"restartPolicy": "Never"}, {}], "Running", id="another container is restarted"),
        pytest.param("Never", [{"restartPolicy": "Always"}], "Running", id="its own policy restarts it"),
        pytest.param("Never", [{"restartPolicy": "OnFailure"}], "Succeeded", id="only after a failure"),
        pytest.param("Never", [rules("In", 42)], "Succeeded", id="only after another exit code"),
        pytest.param("Never", [rules("In", 0, 42)], "Running", id="after this exit code"),
        pytest.param("Never", [rules("NotIn", 42)], "Running", id="after all other exit codes"),
        pytest.param("Never", [rules("NotIn", 0)], "Succeeded", id="after all exit codes but this one"),
    ],
)
def test_a_pod_ends_unless_a_container_starts_again(policy: str, containers: list[Data], phase: str) -> None:
    listed = [{"name": f"c{number}", "image": "i", **item} for number, item in enumerate(containers)]
    pod = make_pod("p").annotation("sandbox/duration", "5").spec(restartPolicy=policy, containers=listed)
    cluster = Cluster(kubernetes="v1.35").apply(make_node("n1"), pod).settle().advance(60).settle()
    assert cluster.pod("p").phase == phase
