"""Eviction requests and their answers, drains, and evictions planned by taints."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.evictions.panel import PAGE, stats
from sandbox.panels.facts.budgets import KIND, Budgets
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.engine.controllers import cluster, replica_set
from tests.sandbox import traces
from tests.sandbox.scenarios import advance, delete, drain, evict, panel_html, taint, world_after, world_of

markup = partial(panel_html, "evictions")

VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def panel(world: World, **view: Any) -> dict[str, Any]:
    return stats(world, View(**view))


def outcome_of(request: dict[str, Any]) -> tuple[str, str, str]:
    return request["pod"].removeprefix("default/"), request["answer"], request["at"]


# --- requests ---


def test_an_allowed_eviction_shows_how_far_the_pod_has_gone() -> None:
    (request,) = panel(world_after("eviction-answers", evict("db-0"), advance(12)))["requests"]
    assert outcome_of(request) == ("db-0", "200 OK", "00:00.0")
    assert [(step["state"], step["at"], step.get("left", "")) for step in request["steps"]] == [
        ("done", "00:00.0", ""),
        ("done", "00:00.0", ""),
        ("now", "", "18 s"),
        ("next", "00:30.0", ""),
    ]
    assert request["steps"][0]["text"] == "deletion timestamp, grace period 30 s"
    assert request["steps"][2]["ring"] == 60
    (request,) = panel(world_after("eviction-answers", evict("db-0"), advance(31)))["requests"]
    assert [step["state"] for step in request["steps"]] == ["done"] * 4
    assert request["steps"][3]["at"] == "00:30.0"


def test_a_refusal_shows_message_cause_budget_and_what_to_wait_for() -> None:
    world = world_after("eviction-answers", evict("db-0"), advance(1), evict("db-1"))
    world.people = {6: "Ada"}
    refused, allowed = panel(world)["requests"]
    assert (outcome_of(refused), outcome_of(allowed)) == (
        ("db-1", "429 Too Many Requests", "00:01.0"),
        ("db-0", "200 OK", "00:00.0"),
    )
    assert refused["message"] == VIOLATES
    assert refused["cause"] == "The disruption budget db needs 2 healthy pods and has 2 currently"
    assert refused["live"] == "db now: 2 healthy, 2 needed, none may be evicted"
    assert refused["ways"] == ["Wait: db-0 is still terminating."]
    assert refused["again"]
    assert not refused["stuck"]


def test_a_leaving_pod_without_a_replacement_is_not_waited_for() -> None:
    smaller = {"kind": "scale", "object_kind": "StatefulSet", "key": "default/db", "replicas": 2}
    world = world_after("eviction-answers", evict("db-2"), smaller, evict("db-1"))
    (refused, _) = panel(world)["requests"]
    assert refused["ways"] == [
        "Fix the budget: db needs 2 healthy of 2 pods, so it never allows an eviction. "
        "Lower minAvailable, raise maxUnavailable, or add a replica."
    ]


def test_a_leaving_pod_that_was_replaced_at_once_is_not_waited_for() -> None:
    simulation = cluster(replica_set("web", 2, annotations={"sandbox/start-delay": "60"}))
    simulation.execute(commands.Advance(70))
    budget = make_budget("web", {"app": "web"}, minAvailable=1)
    simulation.execute(commands.Apply((budget,)))
    first, second = sorted(simulation.api.pods(), key=lambda pod: pod.name)
    simulation.execute(commands.Evict(first.key))
    simulation.execute(commands.Evict(second.key))
    (refused, _) = panel(world_of(simulation))["requests"]
    (new,) = [pod.name for pod in simulation.api.pods() if pod.uid not in (first.uid, second.uid)]
    assert refused["ways"] == [f"Check the application: {new} is not ready, and web counts 1 healthy."]


def test_the_same_refusal_again_counts_instead_of_filling_the_list() -> None:
    world = world_after("eviction-answers", evict("db-0"), evict("db-1"), advance(4), evict("db-1"))
    refused = panel(world)["requests"][0]
    assert (refused["times"], refused["since"], refused["at"]) == (2, "00:00.0", "00:04.0")


def test_a_refusal_that_was_followed_by_an_allowance_says_so() -> None:
    world = world_after("eviction-answers", evict("db-0"), evict("db-1"), advance(31), evict("db-1"))
    allowed, refused, _ = panel(world)["requests"]
    assert allowed["code"] == 200
    assert refused["after"] == "A later request was allowed at 00:31.0."
    assert (refused["again"], refused["ways"]) == (False, [])


def test_two_budgets_are_a_misconfiguration_with_a_way_out_for_each() -> None:
    (request,) = panel(world_after("eviction-two-budgets", evict("db-0")))["requests"]
    assert (request["answer"], request["message"], request["cause"]) == ("500 Internal Server Error", SEVERAL, "")
    assert request["budgets"] == ["db", "forgotten"]
    assert [label for label, _, _ in request["deletes"]] == [
        "Delete budget db",
        "Delete budget forgotten",
        "Delete db-0 without the Eviction API",
    ]
    world = world_after("eviction-two-budgets", evict("db-0"), delete("PodDisruptionBudget", "forgotten"))
    (request,) = panel(world)["requests"]
    assert request["ways"] == ["Ask again: db now allows evicting 2 pods."]


def test_a_stuck_eviction_is_marked_with_what_would_resolve_it() -> None:
    at_first = panel(world_after("eviction-stuck", advance(4)))
    assert at_first["stuck_count"] == 0
    shown = panel(world_after("eviction-stuck", advance(10)))
    assert shown["stuck_count"] == 2
    stuck = next(request for request in shown["requests"] if request["pod"] == "default/db-0")
    assert (stuck["stuck"], stuck["times"], stuck["node"]) == (True, 3, "node1")
    assert stuck["ways"] == [
        "Check the application: db-1 is not ready, and db counts 1 healthy.",
        "Fix the budget: db needs 2 healthy of 2 pods, so it never allows an eviction. Lower minAvailable, raise "
        "maxUnavailable, or add a replica.",
    ]
    assert stuck["deletes"] == [("Delete db-0 without the Eviction API", "Pod", "default/db-0")]
    unhealthy = next(request for request in shown["requests"] if request["pod"] == "default/db-1")
    assert unhealthy["ways"][-1].startswith("db-1 itself is not ready. With unhealthyPodEvictionPolicy AlwaysAllow")


def test_a_drain_that_waits_for_a_pod_to_end_is_not_stuck() -> None:
    assert panel(world_after("drain", drain("node1"), advance(20)))["stuck_count"] == 0


def test_deleting_the_pod_resolves_a_stuck_eviction() -> None:
    world = world_after("eviction-stuck", advance(10), delete("Pod", "db-0"), advance(31))
    late, request = [item for item in panel(world)["requests"] if item["pod"] == "default/db-0"]
    assert (request["stuck"], request["again"]) == (False, False)
    assert request["after"] == (
        "Deleted without the Eviction API. Asked again at 00:15.0, when no budget counted it any longer."
    )
    assert late["steps"][0]["text"] == "it was already being deleted: no budget is checked"


def test_a_pod_that_never_ran_goes_at_once_and_no_budget_is_asked() -> None:
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits"}, "spec": {"containers": containers}}
    world = world_after("eviction-answers", {"kind": "apply", "manifests": [manifest]}, evict("waits"))
    (request,) = panel(world)["requests"]
    assert [step["text"] for step in request["steps"]] == ["it had not started: deleted at once"]


# --- drains ---


def test_a_drain_shows_refused_leaving_and_staying_pods_and_its_next_try() -> None:
    world = world_after("drain", drain("node1"), advance(12))
    (row,) = panel(world)["drains"]
    assert (row["state"], row["left"], row["ring"]) == ("1 pod refused", "asks again in 3 s", 60)
    named = {item["title"]: [pod["name"].partition("-")[0] for pod in item["pods"]] for item in row["lists"]}
    assert named == {"Refused": ["db"], "Terminating": ["db"], "Stay": ["agent"]}
    assert (row["evicted"], row["rounds"], row["over"]) == (1, "3 rounds", False)


def test_a_drain_is_over_when_only_pods_of_daemon_sets_are_left() -> None:
    world = world_after("drain", drain("node1"), advance(36))
    (row,) = panel(world)["drains"]
    assert (row["state"], row["left"]) == ("waits for 1 pod to end", "24 s")
    (row,) = panel(world_after("drain", drain("node1"), advance(72)))["drains"]
    assert (row["state"], row["over"], row["ended"], row["cordoned"]) == ("finished", True, "01:00.0", True)
    assert row["evicted"] == 2


def test_a_failed_drain_shows_kubectls_message_and_offers_the_flag_that_helps() -> None:
    (row,) = panel(world_after("drain", drain("node1", ignore_daemonsets=False, force=True)))["drains"]
    assert (row["state"], row["over"], row["cordoned"], row["evicted"]) == ("failed", True, True, 0)
    failure = row["failure"]
    start = 'error: unable to drain node "node1" due to error: cannot delete DaemonSet-managed Pods (use --ignore-'
    assert failure["error"].startswith(start)
    assert failure["ways"] == ["--ignore-daemonsets: leave DaemonSet pods where they are."]
    assert failure["again"] == ["force", "ignore_daemonsets"]
    assert failure["label"] == "Drain again with --force --ignore-daemonsets"


def test_a_drain_shows_kubectls_warning() -> None:
    (row,) = panel(world_after("drain", drain("node1")))["drains"]
    assert row["warning"].startswith("Warning: ignoring DaemonSet-managed Pods: default/agent-")
    assert row["failure"] is None


def test_a_drain_that_a_500_fails_points_to_the_requests() -> None:
    world = world_after("eviction-two-budgets", drain("node1", force=True), advance(60))
    (row,) = panel(world)["drains"]
    assert (row["state"], row["rounds"]) == ("failed", "1 round")
    assert "error when evicting pods/&#34;db-0&#34; -n &#34;default&#34;" in markup(world)
    assert row["failure"]["ways"] == ["The refused requests say why. Resolve that, then drain again."]
    assert row["failure"]["label"] == "Drain again with --force --ignore-daemonsets"


def test_a_drain_that_is_stopped_and_restarted_is_one_row() -> None:
    stopped = world_after("drain", drain("node1"), advance(6), drain("node1", on=False))
    (row,) = panel(stopped)["drains"]
    assert (row["state"], row["cordoned"]) == ("stopped", False)
    again = world_after("drain", drain("node1"), advance(6), drain("node1", on=False), drain("node1"))
    (row,) = panel(again)["drains"]
    assert (row["state"], row["started"]) == ("1 pod refused", "00:06.0")


# --- taints ---


def test_a_taint_plans_evictions_that_count_down_on_the_simulated_clock() -> None:
    world = world_after("toleration-seconds", taint("NoExecute"), advance(20))
    shown = panel(world)
    assert shown["plan_counts"] == "1 planned, 1 evicted"
    planned, evicted = shown["plans"]
    assert (planned["pod"], planned["state"], planned["text"]) == (
        "default/stays-an-hour",
        "planned",
        "must leave in 59 min 40 s",
    )
    assert (planned["taint"], planned["tolerated"], planned["at"]) == (
        "key1=value1:NoExecute",
        "tolerationSeconds 3600",
        "60:00.0",
    )
    assert (evicted["pod"], evicted["text"], evicted["tolerated"]) == (
        "default/no-toleration",
        "evicted at once",
        "not tolerated",
    )
    (evicted, _) = panel(world_after("toleration-seconds", taint("NoExecute"), advance(3640)))["plans"]
    assert (evicted["pod"], evicted["text"]) == ("default/stays-an-hour", "evicted after 60 min")


def test_a_plan_is_cancelled_when_the_taint_goes_in_time_and_new_when_it_comes_back() -> None:
    world = world_after("taint-removed-in-time", advance(1800), taint(), advance(100), taint("NoExecute"))
    planned, cancelled = panel(world)["plans"]
    assert (planned["state"], planned["at"], planned["text"]) == ("planned", "91:40.0", "must leave in 60 min")
    assert (cancelled["state"], cancelled["at"]) == ("cancelled", "30:00.0")
    assert cancelled["text"] == "cancelled 30 min early: the taint was removed in time"


@pytest.mark.parametrize(
    ("seconds", "wait", "why", "then"),
    [
        pytest.param(None, 10, "slow:NoExecute evicts it at once", "evicted at once", id="by an untolerated taint"),
        pytest.param(
            20, 0, "slow:NoExecute lets it stay 20 s", "must leave in 20 s", id="by a shorter limit in the same instant"
        ),
    ],
)
def test_a_plan_that_a_second_taint_ends_says_so(seconds: int | None, wait: float, why: str, then: str) -> None:
    pod = make_pod("p").node("n1").toleration("broken", None, "NoExecute", 60)
    if seconds:
        pod.toleration("slow", None, "NoExecute", seconds)
    simulation = Simulation()
    for command in (
        commands.Apply((make_node("n1").obj(), pod.obj())),
        commands.Taint("n1", "broken", "NoExecute"),
        commands.Settle() if not wait else commands.Advance(wait),
        commands.Taint("n1", "slow", "NoExecute"),
        commands.Settle(),
    ):
        simulation.execute(command)
    world = World.fold(simulation.recorder.entries)
    now, before = panel(world)["plans"]
    assert (now["taint"], now["text"]) == ("slow:NoExecute", then)
    assert before["state"] == "cancelled"
    assert before["text"].endswith(why)


def test_a_planned_pod_that_is_deleted_before_has_overtaken_its_plan() -> None:
    world = world_after("taint-removed-in-time", advance(60), delete("Pod", "stays-an-hour"), advance(31))
    (plan,) = panel(world)["plans"]
    assert plan["state"] == "left earlier"
    assert plan["text"] == "the pod left for another reason, 58 min 30 s early"


def test_the_node_that_is_not_ready_drives_its_pods_away_but_not_those_of_the_daemon_set() -> None:
    not_ready = {"kind": "node-condition", "node": "node1", "type": "Ready", "status": "False"}
    plans = panel(world_after("node-not-ready", not_ready, advance(10)))["plans"]
    assert {plan["pod"].partition("-")[0] for plan in plans} == {"default/web"}
    assert {(plan["taint"], plan["text"]) for plan in plans} == {
        ("node.kubernetes.io/not-ready:NoExecute", "must leave in 4 min 50 s")
    }


# --- the whole panel ---


def test_evictions_and_removals_by_kubelets_are_listed_too() -> None:
    def layer(amount: str) -> dict[str, Any]:
        return {"kind": "usage", "pod": "default/writer", "writable_layer": amount}

    freed = world_after("two-disks", advance(10), layer("10Gi"), advance(10))
    assert not panel(freed)["empty"]
    assert (panel(freed)["evicted_count"], len(panel(freed)["deeds"])) == (0, 2)
    evicted = world_after("two-disks", advance(10), layer("19Gi"), advance(10))
    assert panel(evicted)["evicted_count"] == 1
    newest = panel(evicted)["deeds"][0]
    assert (newest["title"], newest["node"], newest["number"]) == ("writer", "node1", 3)
    shown = markup(evicted)
    assert "Nothing has been evicted." not in shown
    assert "imagefs.available, 1 s to end" in shown
    assert "That freed 8Gi, which was not enough." in shown


def test_an_empty_panel_explains_evictions_and_offers_the_selected_object() -> None:
    world = world_after("eviction-answers")
    assert panel(world)["empty"]
    html = markup(world, pod="default/db-0")
    assert "Nothing has been evicted." in html
    assert "Evict db-0" in html
    assert "Drain node1" in markup(world, node="node1")
    assert "hx-post" not in markup(world, can_edit=False, node="node1")


@pytest.mark.parametrize("slug", ["eviction-stuck", "eviction-two-budgets", "drain", "toleration-seconds"])
def test_a_watcher_sees_everything_and_no_buttons(slug: str) -> None:
    steps = {
        "eviction-stuck": [advance(20)],
        "eviction-two-budgets": [evict("db-0")],
        "drain": [drain("node1")],
        "toleration-seconds": [taint("NoExecute")],
    }
    world = world_after(slug, *steps[slug])
    assert "hx-post" not in markup(world, can_edit=False)
    if slug != "toleration-seconds":
        assert "hx-post" in markup(world)


def test_long_lists_are_paged() -> None:
    story = traces.Story()
    story.add_node(traces.node("n1"))
    for number in range(PAGE + 5):
        key = story.add_pod(traces.pod(f"web-{number}", on="n1"))
        story.say(ev.EvictionAnswered(key, 429, VIOLATES, "", ("default/web",), "n1"))
    world = World.fold(story.entries)
    first, second = panel(world), panel(world, pages=(("evictions.requests", "2"),))
    assert (len(first["requests"]), len(second["requests"]), first["request_pages"].pages) == (PAGE, 5, 2)
    assert first["requests"][0]["pod"] == f"default/web-{PAGE + 4}"
    assert "51–55 of 55" in markup(world, pages=(("evictions.requests", "2"),))


@pytest.mark.parametrize(
    ("conditions", "unready"),
    [
        pytest.param([{"type": "Ready", "status": "True"}], [], id="a ready pod counts as healthy"),
        pytest.param([{"type": "Ready", "status": "False"}], ["web-0"], id="an unready pod does not"),
    ],
)
def test_a_budget_names_the_pods_that_its_controller_does_not_count(
    conditions: list[dict[str, str]], unready: list[str]
) -> None:
    story = traces.Story()
    story.add_node(traces.node("n1"))
    story.add_pod(traces.pod("web-0", on="n1") | {"status": {"phase": "Running", "conditions": conditions}})
    story.say(ev.ObjectAdded(KIND, "default/web", make_budget("web", {"app": "web"})))
    (budget,) = Budgets(World.fold(story.entries)).named(["default/web"])
    assert [pod.key for pod in budget.pods] == ["default/web-0"]
    assert budget.unready == unready


def test_names_are_escaped() -> None:
    story = traces.Story()
    story.add_node(traces.node("<b>n</b>"))
    story.say(ev.DrainChanged("<b>n</b>", "waiting", ("default/<i>p</i>",), (), 5_000_000))
    story.say(ev.EvictionAnswered("default/<i>p</i>", 429, "<u>no</u>", "", (), "<b>n</b>"))
    html = markup(World.fold(story.entries))
    assert "<b>n</b>" not in html
    assert "<i>p</i>" not in html
    assert "<u>no</u>" not in html
