"""Each kind of expectation passes where it should, and explains its failures."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from scheduler_engine.metrics import render, samples
from scheduler_engine.scenario import ASSERTIONS, play, wrong_with
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from tests.installed import SCENARIOS

Manifest = dict[str, Any]
MESSAGE = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: "
    "0/2 nodes are available: 2 Preemption is not helpful for scheduling."
)
LATEST = "latest start of the most important victims"
PROTECTED = "Cannot evict pod as it would violate the pod's disruption budget."


def small() -> Simulation:
    """Two nodes in two zones: web-1 on n1, web-2 and db-1 on n2, big-1 nowhere, new-1 on n1, which it prefers."""
    objects = [
        make_node("n1").zone("a").obj(),
        make_node("n2").zone("b").obj(),
        make_pod("web-1").label("app", "web").node("n1").obj(),
        make_pod("web-2").label("app", "web").node("n2").obj(),
        make_pod("db-1").label("app", "db").node("n2").obj(),
        make_pod("big-1").label("app", "big").cpu("64").obj(),
        make_pod("new-1").label("app", "new").cpu("1").node_affinity(ZONE, ["a"], weight=50).obj(),
    ]
    simulation = Simulation()
    play(simulation, [{"kind": "apply", "manifests": objects}, {"kind": "run"}])
    return simulation


def resized() -> Simulation:
    """web-1 runs on n1 and requests more than it did."""
    simulation = Simulation()
    manifests = [make_node("n1").obj(), make_pod("web-1").cpu("1").obj()]
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "2"}}}]
    resize = {"kind": "patch", "object_kind": "Pod", "key": "default/web-1", "subresource": "resize"}
    changes = {"spec": {"containers": containers}}
    play(simulation, [{"kind": "apply", "manifests": manifests}, {"kind": "run"}, resize | {"changes": changes}])
    return simulation


def in_flight() -> Simulation:
    """web-1 was just popped."""
    simulation = Simulation()
    manifests = [make_node("n1").obj(), make_pod("web-1").obj()]
    play(simulation, [{"kind": "apply", "manifests": manifests}, {"kind": "stage"}])
    return simulation


def configured() -> Simulation:
    """The scheduler was configured again, with its defaults."""
    simulation = Simulation()
    play(simulation, [{"kind": "configure", "configuration": None}])
    return simulation


def renamed(*objects: Manifest, key: str, again: Manifest) -> Simulation:
    """A pod was deleted after its attempt, and another pod has its name."""
    simulation = Simulation(priority_numbers=True)
    delete = {"kind": "delete", "object_kind": "Pod", "key": key}
    steps = [{"kind": "apply", "manifests": [*objects]}, {"kind": "settle"}, delete]
    play(simulation, [*steps, {"kind": "apply", "manifests": [again]}, {"kind": "settle"}])
    return simulation


def namesake() -> Simulation:
    """Cycle 1 found no node for a pod web, cycle 2 bound another one."""
    web = make_pod("web")
    return renamed(make_node("n1").obj(), web.cpu("64").obj(), key="default/web", again=web.cpu("1").obj())


def gated_namesake() -> Simulation:
    """In cycle 1 a pod vip preempted low. Another pod vip is gated."""
    low = make_pod("low").cpu("4").node("n1").grace_period(300).obj()
    vip = make_pod("vip").priority(9).cpu("4")
    again = make_pod("vip").gate("wait").obj()
    return renamed(make_node("n1").obj(), low, vip.obj(), key="default/vip", again=again)


SIMULATIONS = {
    "configured": configured,
    "small": small,
    "in flight": in_flight,
    "resized": resized,
    "namesake": namesake,
    "gated namesake": gated_namesake,
}


@cache
def world(name: str) -> Simulation:
    """Return one of ``SIMULATIONS``, or a scenario played to its end; ``NAME:2`` plays two steps of it."""
    if name in SIMULATIONS:
        return SIMULATIONS[name]()
    slug, _, steps = name.partition(":")
    simulation = SCENARIOS[slug].open()
    play(simulation, SCENARIOS[slug].then[: int(steps) if steps else None])
    return simulation


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "a pod on its node": (
        "small",
        {"pod": "default/web-1", "node": "n1"},
        {"pod": "default/web-1", "node": "n2"},
        "default/web-1: expected n2, is on n1",
    ),
    "a pod on one of several nodes": (
        "small",
        {"pod": "default/web-1", "nodes": ["n1", "n2"]},
        {"pod": "default/web-1", "nodes": ["n2", "n3"]},
        "default/web-1: expected n2 or n3, is on n1",
    ),
    "a pod without a node": (
        "small",
        {"pod": "default/big-1", "pending": True},
        {"pod": "default/web-1", "pending": True},
        "default/web-1: expected no node, is on n1",
    ),
    "a pod with some node": (
        "small",
        {"pod": "default/web-1", "pending": False},
        {"pod": "default/big-1", "pending": False},
        "default/big-1: has no node, expected one",
    ),
    "a missing pod": (
        "small",
        {"pod": "default/web-1"},
        {"pod": "default/web-9", "pending": True},
        "default/web-9: does not exist",
    ),
    "a pod without a nomination": (
        "small",
        {"pod": "default/big-1", "pending": True, "nominated": ""},
        {"pod": "default/big-1", "nominated": "n1"},
        "default/big-1: nominated to no node, not n1",
    ),
    "a pod that runs": (
        "small",
        {"pod": "default/web-1", "phase": "Running"},
        {"pod": "default/web-1", "phase": "Failed"},
        "default/web-1: is Running, not Failed",
    ),
    "a pod that stays": (
        "small",
        {"pod": "default/web-1", "terminating": False},
        {"pod": "default/web-1", "terminating": True},
        "default/web-1: is not being deleted",
    ),
    "the message of a pod that fits nowhere": (
        "small",
        {"pod": "default/big-1", "message": MESSAGE},
        {"pod": "default/big-1", "message": "0/2 nodes are available"},
        f"default/big-1: message '{MESSAGE}', expected '0/2 nodes are available'",
    ),
    "the order of the nodes": (
        "small",
        {"nodeOrder": ["n1", "n2"]},
        {"nodeOrder": ["n2", "n1"]},
        "node order n1, n2, expected n2, n1",
    ),
    "a count per zone": (
        "small",
        {"count": {"selector": {"app": "web"}, "per": ZONE, "equals": {"a": 1, "b": 1, "c": 0}}},
        {"count": {"selector": {"app": "web"}, "per": ZONE, "equals": {"a": 2}}},
        "app=web per topology.kubernetes.io/zone: a=1, b=1, expected a=2",
    ),
    "a count in another namespace": (
        "small",
        {"count": {"selector": {"app": "web"}, "namespace": "kube-system", "per": ZONE, "equals": {}}},
        {"count": {"selector": {"app": "web"}, "namespace": "kube-system", "per": ZONE, "equals": {"a": 1}}},
        "none, expected a=1",
    ),
    "the skew per zone": (
        "small",
        {"skew": {"selector": {"app": "db"}, "per": ZONE, "equals": {"a": 0, "b": 1}, "atMost": 1}},
        {"skew": {"selector": {"app": "db"}, "per": ZONE, "equals": {"a": 0, "b": 0}}},
        "skew a=0, b=1, expected a=0, b=0",
    ),
    "the largest skew": (
        "small",
        {"skew": {"selector": {"app": "web"}, "per": ZONE, "atMost": 0}},
        {"skew": {"selector": {"app": "db"}, "per": ZONE, "atMost": 0}},
        "skew 1, expected at most 0 (a=0, b=1)",
    ),
    "a pod that is gone": (
        "small",
        {"gone": "default/web-9"},
        {"gone": "default/web-1"},
        "default/web-1: still exists",
    ),
    "pods on distinct nodes": (
        "small",
        {"distinctNodes": {"selector": {"app": "web"}}},
        {"distinctNodes": {"selector": {}}},
        "n1, n2: more than one of all pods",
    ),
    "a pod beside another": (
        "small",
        {"together": {"selector": {"app": "db"}, "beside": {"app": "web"}}},
        {"together": {"selector": {"app": "web"}, "beside": {"app": "db"}}},
        "default/web-1: n1 has none of app=db",
    ),
    "a pod in a lane of the queue": (
        "small",
        {"waits": "default/big-1", "in": "unschedulablePods", "attempts": 1, "plugins": ["NodeResourcesFit"]},
        {"waits": "default/big-1", "in": "activeQ"},
        "default/big-1: in unschedulablePods, expected in activeQ",
    ),
    "a pod in no lane": (
        "small",
        {"waits": "default/web-1", "in": "nowhere"},
        {"waits": "default/web-1", "in": "inFlight"},
        "default/web-1: in no queue, expected in flight",
    ),
    "a pod in flight": (
        "in flight",
        {"waits": "default/web-1", "in": "inFlight"},
        {"waits": "default/web-1", "in": "gated"},
        "default/web-1: in flight, expected in gated",
    ),
    "a pod that does not back off": (
        "small",
        {"waits": "default/big-1", "in": "unschedulablePods", "seconds": 0},
        {"waits": "default/big-1", "in": "unschedulablePods", "seconds": 8},
        "default/big-1: backs off for 0 s, expected 8 s",
    ),
    "the length of a backoff": (
        "queue-backoff-v1-34",
        {"waits": "default/big-1", "in": "backoffQ", "seconds": 4, "until": 24},
        {"waits": "default/big-1", "in": "backoffQ", "until": 28},
        "default/big-1: backs off until 24 s, expected 28 s",
    ),
    "how often a pod was tried": (
        "small",
        {"waits": "default/big-1", "in": "unschedulablePods", "attempts": 1},
        {"waits": "default/big-1", "in": "unschedulablePods", "attempts": 2},
        "default/big-1: attempts 1, expected 2",
    ),
    "the plugin that keeps a pod waiting": (
        "small",
        {"waits": "default/big-1", "in": "unschedulablePods", "plugins": ["NodeResourcesFit"]},
        {"waits": "default/big-1", "in": "unschedulablePods", "plugins": ["NodeName", "NodeAffinity"]},
        "default/big-1: refused by NodeResourcesFit, expected NodeAffinity, NodeName",
    ),
    "a node kept for a pod": (
        "victims-come-back:2",
        {"nomination": "default/vip-1", "node": "node-1"},
        {"nomination": "default/vip-1", "node": ""},
        "default/vip-1: nominated to node-1, expected nothing",
    ),
    "no node kept for a pod": (
        "small",
        {"nomination": "default/big-1", "node": ""},
        {"nomination": "default/big-1", "node": "n1"},
        "default/big-1: nominated to nothing, expected n1",
    ),
    "a node that refuses a pod": (
        "small",
        {
            "verdict": "default/big-1",
            "node": "n1",
            "plugin": "NodeResourcesFit",
            "reason": "Insufficient cpu",
            "reasons": ["Insufficient cpu"],
            "code": "UnschedulableAndUnresolvable",
        },
        {"verdict": "default/big-1", "node": "n1", "passes": True},
        "default/big-1 on n1: refused by NodeResourcesFit (Insufficient cpu), expected that it passes",
    ),
    "a node that another plugin refuses": (
        "small",
        {"verdict": "default/big-1", "node": "n2", "passes": False},
        {"verdict": "default/big-1", "node": "n2", "plugin": "NodeName"},
        "default/big-1 on n2: refused by NodeResourcesFit (Insufficient cpu), expected that NodeName refuses it",
    ),
    "a node that refuses for another reason": (
        "small",
        {"verdict": "default/big-1", "node": "n2", "reason": "Insufficient cpu"},
        {"verdict": "default/big-1", "node": "n2", "reason": "Insufficient memory"},
        "refused by NodeResourcesFit (Insufficient cpu), expected the reason 'Insufficient memory'",
    ),
    "a node that fits": (
        "small",
        {"verdict": "default/new-1", "node": "n2", "passes": True, "attempt": 1},
        {"verdict": "default/new-1", "node": "n2", "plugin": "NodeAffinity"},
        "default/new-1 on n2: passes, expected that NodeAffinity refuses it",
    ),
    "a node that was not visited": (
        "small",
        {"verdict": "default/new-1", "node": "n9", "visited": False},
        {"verdict": "default/new-1", "node": "n9", "passes": True},
        "default/new-1 on n9: attempt 1 did not check it, expected that it passes",
    ),
    "a node that was visited": (
        "small",
        {"verdict": "default/new-1", "node": "n1", "visited": True},
        {"verdict": "default/new-1", "node": "n1", "visited": False},
        "default/new-1 on n1: passes, expected not to be checked",
    ),
    "an attempt that was not made": (
        "small",
        {"verdict": "default/new-1", "node": "n1", "attempt": 1},
        {"verdict": "default/new-1", "node": "n1", "attempt": 2},
        "default/new-1: there is no attempt 2, only 1",
    ),
    "a cycle": (
        "small",
        {"verdict": "default/new-1", "node": "n1", "cycle": 2, "attempt": 1},
        {"verdict": "default/new-1", "node": "n1", "cycle": 7},
        "default/new-1: there is no attempt in cycle 7",
    ),
    "an attempt in another cycle": (
        "small",
        {"winner": "default/new-1", "cycle": 2},
        {"winner": "default/new-1", "cycle": 1, "attempt": 1},
        "default/new-1: there is no attempt 1 in cycle 1",
    ),
    "the scores of a cycle": (
        "small",
        {"score": "default/new-1", "node": "n1", "plugin": "NodeAffinity", "raw": 50, "cycle": 2},
        {"score": "default/new-1", "node": "n1", "plugin": "NodeAffinity", "raw": 50, "cycle": 1},
        "default/new-1: there is no attempt in cycle 1",
    ),
    "the attempt of a pod whose name another pod has now": (
        "namesake",
        {"failed": "default/web", "cycle": 1},
        {"failed": "default/web", "attempt": 1},
        "default/web: there are 2 attempts 1; add cycle, one of 1, 2",
    ),
    "the last attempt for the pod that has the name now": (
        "namesake",
        {"winner": "default/web", "node": "n1"},
        {"failed": "default/web"},
        "default/web: attempt 1 did not fail, it is bound on n1",
    ),
    "an attempt before another pod got the name": (
        "gated namesake",
        {"failed": "default/vip", "cycle": 1},
        {"failed": "default/vip"},
        "default/vip: no attempt was made",
    ),
    "victims of the pod that had the name before": (
        "gated namesake",
        {"victims": "default/vip", "are": ["default/low"], "cycle": 1},
        {"victims": "default/vip", "are": ["default/low"]},
        "default/vip: no attempt was made",
    ),
    "a pod without its namespace": (
        "small",
        {"failed": "default/big-1"},
        {"failed": "big-1"},
        "big-1: a pod is namespace/name, such as default/big-1",
    ),
    "a pod without an attempt": (
        "small",
        {"failed": "default/big-1"},
        {"failed": "default/web-1"},
        "default/web-1: no attempt was made",
    ),
    "the score of a plugin": (
        "small",
        {
            "score": "default/new-1",
            "node": "n1",
            "plugin": "NodeAffinity",
            "raw": 50,
            "normalized": 100,
            "weighted": 200,
        },
        {"score": "default/new-1", "node": "n1", "plugin": "NodeAffinity", "raw": 7},
        "default/new-1 on n1: NodeAffinity raw 50, expected 7",
    ),
    "the score of a plugin without one": (
        "small",
        {"score": "default/new-1", "node": "n2", "plugin": "NodeAffinity", "weighted": 0},
        {"score": "default/new-1", "node": "n2", "plugin": "NodeName", "raw": 0},
        "default/new-1 on n2: NodeName gave no score, but ",
    ),
    "a total": (
        "small",
        {"score": "default/new-1", "node": "n1", "total": 670},
        {"score": "default/new-1", "node": "n1", "total": 1},
        "default/new-1 on n1: total 670, expected 1",
    ),
    "the score of a pod that fits nowhere": (
        "small",
        {"score": "default/new-1", "node": "n2", "total": 468, "attempt": 1},
        {"score": "default/big-1", "node": "n2", "total": 468},
        "no scores in attempt 1, because it was refused by NodeResourcesFit (Insufficient cpu)",
    ),
    "the score of the only node that fits": (
        "victims-come-back",
        {"winner": "default/vip-1", "how": "only"},
        {"score": "default/vip-1", "node": "node-1", "total": 1},
        "default/vip-1 on node-1: no scores in attempt 2, because node-1 was chosen without a score: no other fits",
    ),
    "the winner and its margin": (
        "small",
        {"winner": "default/new-1", "node": "n1", "margin": 202, "how": "highest"},
        {"winner": "default/new-1", "node": "n2"},
        "default/new-1: the winner is n1, expected n2",
    ),
    "another margin": (
        "small",
        {"winner": "default/new-1", "margin": 202, "attempt": 1},
        {"winner": "default/new-1", "margin": 2},
        "default/new-1: n1 leads by 202, expected 2",
    ),
    "a draw": (
        "eviction-answers",
        {"winner": "default/db-2", "how": "draw", "among": ["node2", "node1"], "margin": 0},
        {"winner": "default/db-2", "among": ["node1"]},
        "default/db-2: drawn among node1, node2, expected node1",
    ),
    "a winner of an attempt that failed": (
        "small",
        {"winner": "default/new-1"},
        {"winner": "default/big-1"},
        "default/big-1: attempt 1 chose no node: unschedulable",
    ),
    "an attempt that failed": (
        "small",
        {"failed": "default/big-1", "outcome": "unschedulable", "message": MESSAGE},
        {"failed": "default/new-1"},
        "default/new-1: attempt 1 did not fail, it is bound on n1",
    ),
    "an attempt that failed in another way": (
        "preemption-every-rung",
        {"failed": "default/vip-1", "attempt": 1, "outcome": "nominated"},
        {"failed": "default/vip-1", "attempt": 1, "outcome": "error"},
        "default/vip-1: outcome nominated, expected error",
    ),
    "an attempt that failed with another message": (
        "small",
        {"failed": "default/big-1", "message": MESSAGE},
        {"failed": "default/big-1", "message": "no"},
        f"default/big-1: message '{MESSAGE}', expected 'no'",
    ),
    "the victims": (
        "preemption-every-rung",
        {"victims": "default/vip-1", "are": ["default/young-1"], "node": "node-young", "rung": LATEST},
        {"victims": "default/vip-1", "are": ["default/old-1"]},
        "default/vip-1: victims default/young-1, expected default/old-1",
    ),
    "the rung that decided": (
        "preemption-every-rung",
        {"victims": "default/vip-1", "rung": LATEST, "attempt": 1},
        {"victims": "default/vip-1", "rung": "fewest victims"},
        f"default/vip-1: decided by {LATEST}, expected fewest victims",
    ),
    "no victims": (
        "small",
        {"victims": "default/big-1", "are": [], "node": "", "rung": ""},
        {"victims": "default/new-1", "are": []},
        "default/new-1: attempt 1 looked for no victims, it is bound",
    ),
    "answers to evictions": (
        "eviction-answers",
        {"evictions": "default/db-1", "answers": [429, 200], "message": "", "cause": ""},
        {"evictions": "default/db-1", "answers": [200]},
        "default/db-1: answers 429, 200, expected 200",
    ),
    "the message of an eviction": (
        "eviction-answers",
        {"evictions": "default/db-0", "message": ""},
        {"evictions": "default/db-0", "message": PROTECTED},
        f"default/db-0: message nothing, expected {PROTECTED}",
    ),
    "fields of an object": (
        "small",
        {"object": "Pod default/web-1", "has": {"spec": {"nodeName": "n1", "priority": 0}}},
        {"object": "Pod default/web-1", "has": {"spec": {"nodeName": "n2"}}},
        'Pod default/web-1: spec.nodeName is "n1", expected "n2"',
    ),
    "a missing field": (
        "small",
        {"object": "Node n1", "has": {"spec": {"unschedulable": None}}},
        {"object": "Pod default/web-1", "has": {"spec": None}},
        "Pod default/web-1: spec is {",
    ),
    "an object that does not exist": (
        "small",
        {"object": "Node n1", "has": {}},
        {"object": "Pod default/web-9", "has": {}},
        "Pod default/web-9: does not exist",
    ),
    "requests of a node's pods": (
        "small",
        {"requested": "n1", "cpu": "1", "memory": "0"},
        {"requested": "n2", "cpu": "1", "memory": "0"},
        "n2: cpu=0, memory=0 requested, expected cpu=1, memory=0",
    ),
    "requests of pods without a node": (
        "small",
        {"requested": "n2", "cpu": "0", "memory": "0"},
        {"requested": "n9", "cpu": "0", "memory": "0"},
        "n9: does not exist",
    ),
    "requests of a pod": (
        "small",
        {"asks": "default/new-1", "cpu": "1", "memory": "0"},
        {"asks": "default/new-1", "cpu": "500m", "memory": "0"},
        "default/new-1: cpu=1, memory=0 requested, expected cpu=500m, memory=0",
    ),
    "requests of a missing pod": (
        "small",
        {"asks": "default/new-1", "cpu": "1000m", "memory": "0"},
        {"asks": "default/web-9", "cpu": "1", "memory": "0"},
        "default/web-9: does not exist",
    ),
    "an invalid amount": (
        "small",
        {"requested": "n2", "cpu": "0m", "memory": "0Gi"},
        {"requested": "n2", "cpu": "much", "memory": "0"},
        "n2: quantities must match the regular expression",
    ),
    "the one scheduler, which has no name": (
        "small",
        {"leader": ""},
        {"leader": ["kube-scheduler-1", "kube-scheduler-2"]},
        "nobody leads, expected kube-scheduler-1, kube-scheduler-2",
    ),
    "the leader": (
        "leader-killed",
        {"leader": "kube-scheduler-2", "transitions": 1},
        {"leader": "kube-scheduler-2", "transitions": 2},
        "1 transitions in the lock, expected 2",
    ),
    "lines of the trace in order": (
        "small",
        {"trace": ["big-1 popped, attempt 1", "inFlight → unschedulablePods"]},
        {"trace": ["inFlight → unschedulablePods", "big-1 popped, attempt 1"]},
        "'big-1 popped, attempt 1' has not happened after 'inFlight → unschedulablePods'",
    ),
    "events in order": (
        "preemption-every-rung",
        {
            "order": [
                {"added": "default/vip-1"},
                {"popped": "default/vip-1", "at": 60},
                {"preempted": "default/young-1"},
                {"nominated": "default/vip-1"},
                {"failed": "default/vip-1"},
                {"deleted": "default/young-1", "at": 90},
                {"bound": "default/vip-1"},
            ]
        },
        {"order": [{"bound": "default/vip-1"}, {"deleted": "default/young-1"}]},
        "deleted default/young-1 did not happen after bound default/vip-1: it happened at 90 s",
    ),
    "an event at another time": (
        "preemption-every-rung",
        {"order": [{"bound": "default/vip-1", "at": 90}]},
        {"order": [{"bound": "default/vip-1", "at": 60}]},
        "bound default/vip-1 at 60 s did not happen: it happened at 90 s",
    ),
    "an event that never occurred": (
        "leader-killed",
        {"order": [{"leads": "kube-scheduler-1"}, {"leads": "kube-scheduler-2"}]},
        {"order": [{"leads": "kube-scheduler-1"}, {"leads": "kube-scheduler-3"}]},
        "leads kube-scheduler-3 never happened",
    ),
    "an eviction among the events": (
        "eviction-answers",
        {"order": [{"evicted": "default/db-0"}, {"evicted": "default/db-1"}]},
        {"order": [{"evicted": "default/db-1"}, {"evicted": "default/db-0"}]},
        "evicted default/db-0 did not happen after evicted default/db-1",
    ),
    "a pod on a node with labels": (
        "small",
        {"pod": "default/web-1", "nodeLabels": {ZONE: "a"}},
        {"pod": "default/web-1", "nodeLabels": {ZONE: "b"}},
        f"default/web-1: is on n1, with {{'{ZONE}': 'a'}}, expected a node with {{'{ZONE}': 'b'}}",
    ),
    "a pod on no node with labels": (
        "small",
        {"pod": "default/web-1", "nodeLabels": {}},
        {"pod": "default/big-1", "nodeLabels": {ZONE: "b"}},
        f"default/big-1: is on no node, expected a node with {{'{ZONE}': 'b'}}",
    ),
    "domains that pods are in": (
        "small",
        {"spans": {"selector": {"app": "web"}, "per": ZONE, "atLeast": 2, "atMost": 2}},
        {"spans": {"selector": {"app": "web"}, "per": ZONE, "atLeast": 3}},
        "in 2 of them (a, b), expected at least 3",
    ),
    "fewer domains": (
        "small",
        {"spans": {"selector": {"app": "big"}, "per": ZONE, "atMost": 0}},
        {"spans": {"selector": {"app": "web"}, "per": ZONE, "atMost": 1}},
        "in 2 of them (a, b), expected at most 1",
    ),
    "an event that never occurred, by itself": (
        "small",
        {"never": "evicted"},
        {"never": "failed"},
        "default/big-1: failed at 0 s, expected never",
    ),
    "an event that never occurred for a pod": (
        "small",
        {"never": "failed", "of": "default/web-1"},
        {"never": "bound", "of": "default/new-1"},
        "default/new-1: bound at 0 s, expected never",
    ),
    "a pod that was resized": (
        "resized",
        {"order": [{"bound": "default/web-1"}, {"resized": "default/web-1"}]},
        {"never": "resized", "of": "default/web-1"},
        "default/web-1: resized at 0 s, expected never",
    ),
    "a scheduler that was configured": (
        "configured",
        {"never": "configured", "of": "kube-scheduler-2"},
        {"never": "configured"},
        "scheduler: configured at 0 s, expected never",
    ),
    "pods that were always ready": (
        "drain",
        {"ready": {"selector": {"app": "db"}, "atLeast": 2}},
        {"ready": {"selector": {"app": "db"}, "atLeast": 3}},
        "app=db: 2 ready at 0 s, expected 3 at all times",
    ),
    "pods that were never ready": (
        "small",
        {"ready": {"selector": {"app": "web"}, "atLeast": 2}},
        {"ready": {"selector": {"app": "web"}, "atLeast": 3}},
        "app=web: there were never 3 ready at once",
    ),
    "a metric": (
        "small",
        {"metric": "scheduler_schedule_attempts_total", "labels": {"result": "unschedulable"}, "equals": 1},
        {"metric": "scheduler_schedule_attempts_total", "labels": {"result": "unschedulable"}, "equals": 2},
        "scheduler_schedule_attempts_total {'result': 'unschedulable'}: 1, expected 2",
    ),
    "samples of a metric together": (
        "small",
        {"metric": "scheduler_schedule_attempts_total", "atLeast": 2, "atMost": 2},
        {"metric": "scheduler_schedule_attempts_total", "atLeast": 3},
        "scheduler_schedule_attempts_total: 2, expected at least 3",
    ),
    "a metric that grew": (
        "small",
        {"metric": "scheduler_pod_scheduling_attempts_count", "equals": 1},
        {"metric": "scheduler_pod_scheduling_attempts_count", "atMost": 0},
        "scheduler_pod_scheduling_attempts_count: 1, expected at most 0",
    ),
    "the simulated time": (
        "queue-backoff-v1-34",
        {"clock": 20},
        {"clock": 20.5},
        "clock: 20, expected 20.5",
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_a_true_expectation_passes(words: str) -> None:
    where, right, _, _ = CASES[words]
    assert wrong_with(world(where), right) == []


@pytest.mark.parametrize("words", CASES)
def test_a_false_expectation_reports_the_actual_value(words: str) -> None:
    where, _, wrong, said = CASES[words]
    (message,) = wrong_with(world(where), wrong)
    assert said in message


def test_every_kind_of_expectation_is_tried_both_ways() -> None:
    for side in (1, 2):
        assert {name for case in CASES.values() for name in case[side] if name in ASSERTIONS} == {*ASSERTIONS}


def test_every_modifier_of_an_expectation_is_tested() -> None:
    tried = {(name, key) for case in CASES.values() for name in case[1] if name in ASSERTIONS for key in case[1]}
    tried |= {(name, key) for case in CASES.values() for name in case[2] if name in ASSERTIONS for key in case[2]}
    assert {(name, key) for name, row in ASSERTIONS.items() for key in row.beside} - tried == set()


def test_no_expectation_has_the_name_of_a_modifier() -> None:
    assert not {*ASSERTIONS} & {key for row in ASSERTIONS.values() for key in row.beside}


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ({"colour": "blue"}, "unknown expectation 'colour'"),
        ({}, "unknown expectation ''"),
        ({"pod": "default/web-1", "nod": "n1"}, 'unknown field "nod" (did you mean "node"?)'),
        ({"pod": 3}, "Invalid value: 3: must be a text"),
        ({"waits": "default/web-1"}, "in: Required value"),
        ({"count": {"selector": {"app": "web"}, "per": ZONE}}, "equals: Required value"),
        ({"metric": "scheduler_pending_podz", "equals": 0}, 'did you mean "scheduler_pending_pods"?'),
        ({"trace": []}, "Required value: at least 1"),
    ],
)
def test_an_invalid_expectation_fails(expectation: dict[str, Any], said: str) -> None:
    (message,) = wrong_with(world("small"), expectation)
    assert said in message


def test_a_score_without_a_plugin_is_invalid() -> None:
    (message,) = wrong_with(world("small"), {"score": "default/new-1", "node": "n1", "raw": 3})
    assert message == "default/new-1 on n1: raw is the score of a plugin: name the plugin too"


def test_a_node_that_was_refused_before_the_filters_has_that_verdict() -> None:
    simulation = Simulation()
    lost = make_pod("lost").claim("nowhere").obj()
    play(simulation, [{"kind": "apply", "manifests": [make_node("n1").obj(), lost]}, {"kind": "run"}])
    assert wrong_with(simulation, {"verdict": "default/lost", "node": "n1", "plugin": "VolumeRestrictions"}) == []


def test_samples_equal_the_text() -> None:
    sample_lines = [line.rsplit(" ", 1) for line in render(world("small")).splitlines() if not line.startswith("#")]
    assert [(name.partition("{")[0], float(value)) for name, value in sample_lines] == [
        (name, float(value)) for name, _, value in samples(world("small"))
    ]
