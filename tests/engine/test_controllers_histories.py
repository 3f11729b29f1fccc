"""Random histories with workloads: the controllers keep all invariants, and agree with the API server."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.commands import Command
from scheduler_engine.controllers.replicaset import ReplicaSetController
from scheduler_engine.testing import make_budget
from tests.engine import controllers as world
from tests.engine.controllers import daemon_set, deployment, job, replica_set, stateful_set
from tests.engine.histories import EXAMPLES
from tests.engine.test_invariants import Machine

Manifest = dict[str, Any]

SPECS: dict[str, Manifest] = {
    "plain": {},
    "tolerant": {"tolerations": [{"operator": "Exists"}]},
    "short grace period": {"terminationGracePeriodSeconds": 0},
    "important": {"priority": 100},
    "of a class that may be missing": {"priorityClassName": "high"},
}
TEMPLATES = st.fixed_dictionaries(
    {
        "image": st.sampled_from(["registry.example/app:1", "registry.example/app:2"]),
        "cpu": st.sampled_from(["500m", "1", "3"]),
        "pod": st.sampled_from(sorted(SPECS)).map(SPECS.__getitem__),
    }
)
REPLICAS = st.integers(0, 5)
STRATEGIES: list[Manifest] = [
    {"type": "Recreate"},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}},
]
WORKLOADS: st.SearchStrategy[Manifest] = st.one_of(
    st.builds(
        lambda replicas, template, strategy, wait: deployment(
            "web", replicas, **template, strategy=strategy, minReadySeconds=wait
        ),
        REPLICAS,
        TEMPLATES,
        st.sampled_from(STRATEGIES),
        st.sampled_from([0, 0, 5]),
    ),
    st.builds(lambda replicas, template: replica_set("api", replicas, **template), REPLICAS, TEMPLATES),
    st.builds(
        lambda replicas, template, policy: stateful_set("db", replicas, **template, podManagementPolicy=policy),
        REPLICAS,
        TEMPLATES,
        st.sampled_from(["OrderedReady", "Parallel"]),
    ),
    st.builds(lambda template: daemon_set("agent", **template), TEMPLATES),
    st.builds(
        lambda completions, parallelism, template: job(
            "batch", **template, completions=completions, parallelism=parallelism, backoffLimit=2
        ),
        st.integers(1, 3),
        st.integers(0, 3),
        TEMPLATES,
    ),
    st.just(make_budget("half", {"app": "web"}, maxUnavailable="50%")),
)
SCALED = st.sampled_from(
    [
        ("Deployment", "default/web"),
        ("ReplicaSet", "default/api"),
        ("StatefulSet", "default/db"),
        ("Job", "default/batch"),
    ]
)


class Workloads(Machine):
    """The other histories' commands, and workloads."""

    @rule(first=WORKLOADS, steps=st.integers(0, 9))
    def apply_a_workload(self, first: Manifest, steps: int) -> None:
        self.execute(commands.Apply((first,)))
        self.step(commands.Stage(), steps)

    @rule(scaled=SCALED, replicas=st.integers(-1, 6))
    def scale(self, scaled: tuple[str, str], replicas: int) -> None:
        self.execute(commands.Scale(*scaled, replicas))

    @rule(command=st.builds(commands.Advance, st.sampled_from([11, 61])))
    def wait(self, command: Command) -> None:
        self.execute(command)

    def owned(self, uid: str) -> list[Pod]:
        owners = [(pod, pod.controller_ref) for pod in world.pods(self.simulation, gone=True)]
        return [pod for pod, reference in owners if reference is not None and reference["uid"] == uid]

    def refused(self) -> dict[str, str]:
        """Return replica sets whose pods the API server refused."""
        controllers = self.simulation.controllers
        return next(item for item in controllers if isinstance(item, ReplicaSetController)).last_messages

    @invariant()
    def a_replica_set_has_the_pods_that_it_wants(self) -> None:
        """A replica set that is being deleted creates no pods."""
        for item in self.simulation.api.list("ReplicaSet"):
            active = [pod for pod in self.owned(item.uid) if not pod.finished and not pod.terminating]
            wanted, refused = item.spec["replicas"], item.key in self.refused()
            assert item.terminating or len(active) == wanted or (refused and len(active) < wanted)
            assert item.status["replicas"] == len(active)

    @invariant()
    def a_rollout_never_has_more_pods_than_maxsurge_allows(self) -> None:
        for item in self.simulation.api.list("Deployment"):
            sets = [
                other
                for other in self.simulation.api.list("ReplicaSet")
                if (other.controller_ref or {}).get("uid") == item.uid
            ]
            total = sum(other.spec["replicas"] for other in sets)
            surge = (item.spec["strategy"].get("rollingUpdate") or {}).get("maxSurge", 0)
            most = item.spec["replicas"] + (-(-item.spec["replicas"] // 2) if surge else 0)
            assert total <= max(most, item.spec["replicas"])

    @invariant()
    def nobody_is_left_without_the_owner(self) -> None:
        uids = {item.uid for held in self.simulation.api.objects.values() for item in held.values()}
        for pod in world.pods(self.simulation, gone=True):
            for reference in pod.metadata.get("ownerReferences") or ():
                assert reference["uid"] in uids or pod.terminating

    @invariant()
    def no_node_has_two_daemon_pods(self) -> None:
        """Of two pods that it has adopted, one may still be terminating."""
        for item in self.simulation.api.list("DaemonSet"):
            staying = [pod for pod in self.owned(item.uid) if not pod.finished and not pod.terminating]
            nodes = [pod.node_name for pod in staying if pod.node_name]
            assert len(nodes) == len(set(nodes))


Workloads.TestCase.settings = settings(
    parent=Machine.TestCase.settings,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestWorkloads = Workloads.TestCase
