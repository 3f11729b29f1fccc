"""The panel workloads: progress, locations of pods, and what the budgets allow."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.workloads.panel import MOST_PODS, PAGE, same_while, stats
from sandbox.panels.workloads.rollout import conditions, numbers, rollout
from scheduler_engine import commands
from scheduler_engine.apiserver.lifecycle import POLICIES
from scheduler_engine.scenario import command_of
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_budget, make_node, make_pod
from scheduler_engine.trace.events import ObjectAdded
from tests.installed import SCENARIOS
from tests.sandbox.scenarios import panel_html, world_of
from tests.sandbox.traces import Story

ZONE = "topology.kubernetes.io/zone"
SHOP = "default/shop"
html = partial(panel_html, "workloads")


def workload(kind: str, name: str, pod_spec: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "main", "image": "registry.example/x:1", "resources": {"requests": {"cpu": "100m"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **(pod_spec or {})}}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": labels}}
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {**selector, "template": template, **spec},
    }


def spread(when: str = "DoNotSchedule", key: str = ZONE, app: str = "shop", **more: Any) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }


def cluster(*objects: dict[str, Any], zones: str = "abc") -> Simulation:
    simulation = Simulation()
    nodes = [make_node(f"node-{zone}").zone(zone).obj() for zone in zones]
    simulation.execute(commands.Apply((*nodes, *objects)))
    simulation.execute(commands.Run())
    simulation.execute(commands.Advance(5))
    return simulation


def rows(simulation: Simulation, *pages: tuple[str, str]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in stats(world_of(simulation), View(pages=pages))["workloads"]}


@pytest.fixture(scope="module")
def show() -> tuple[Simulation, list[dict[str, Any]]]:
    """Return the rolling update and scale-down, and the row of its Deployment after each step."""
    scenario = SCENARIOS["rolling-update-then-scale-down"]
    simulation, steps = Simulation(seed=scenario.seed), []
    for step in (*scenario.setup, *scenario.then):
        simulation.execute(commands.from_json(command_of(step)))
        steps += rows(simulation).values()
    return simulation, steps


def line_of(row: dict[str, Any]) -> tuple[dict[str, int], str, str]:
    (line,) = row["where"]
    return {item["name"]: item["count"] for item in line["domains"]}, line["said"], line["text"]


def test_a_scale_down_turns_the_skew_red_and_time_repairs_nothing(show: tuple[Simulation, list[Any]]) -> None:
    simulation, steps = show
    assert line_of(steps[2]) == ({"a": 2, "b": 2, "c": 2}, "yes", "skew 0 ≤ maxSkew 1")
    red = ({"a": 2, "b": 2, "c": 0}, "no", "skew 2 > maxSkew 1; running pods are not moved")
    assert line_of(steps[-1]) == red
    assert line_of(steps[-2]) == red
    text = html(world_of(simulation))
    assert 'class="w-line is-over" data-said="no"' in text
    assert "skew 2 &gt; maxSkew 1; running pods are not moved" in text


def test_a_rolling_update_is_shown_set_by_set(show: tuple[Simulation, list[Any]]) -> None:
    applied, done = show[1][3], show[1][4]
    assert applied["rollout"]["text"] == "rolling update: 3 of 6 updated"
    assert applied["rollout"]["waits"].startswith("waits for 3 pods, first shop-")
    assert applied["rollout"]["waits"].endswith(": Pending")
    assert applied["unplaced"] == 3
    assert [(item["revision"], item["newest"], item["desired"], item["image"]) for item in applied["sets"]] == [
        (2, True, 3, "pause:3.10"),
        (1, False, 5, "pause:3.9"),
    ]
    assert [pod.state for pod in applied["sets"][0]["pods"]].count("pending") == 3
    assert [pod.state for pod in applied["sets"][1]["pods"]].count("terminating") == 1
    assert done["rollout"] == {"said": "yes", "text": "all 6 pods are ready", "waits": ""}
    assert [(item["type"], item["reason"], item["said"]) for item in done["conditions"]] == [
        ("Progressing", "NewReplicaSetAvailable", "yes"),
        ("Available", "MinimumReplicasAvailable", "yes"),
    ]


def status(kind: str, spec: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "x"}, "spec": spec, "status": fields}


@pytest.mark.parametrize(
    ("manifest", "said", "text"),
    [
        pytest.param(
            status("Deployment", {"replicas": 6, "paused": True}),
            "wait",
            "paused: a changed template waits until spec.paused is false",
            id="a paused Deployment waits for a person",
        ),
        pytest.param(
            status("Deployment", {"replicas": 6}, replicas=8, updatedReplicas=2),
            "wait",
            "rolling update: 2 of 6 updated",
            id="a rolling update counts the updated pods",
        ),
        pytest.param(
            status("Deployment", {"replicas": 6}, replicas=7, updatedReplicas=6),
            "wait",
            "rolling update: all 6 updated, the last old pod has not left yet",
            id="a rolling update ends when the last old pod is gone",
        ),
        pytest.param(
            status("Deployment", {"replicas": 3, "strategy": {"type": "Recreate"}}, replicas=0, updatedReplicas=0),
            "wait",
            "recreate: 0 of 3 updated",
            id="Recreate has no pods between the old and the new ones",
        ),
        pytest.param(
            status("Deployment", {"replicas": 3}, replicas=1, updatedReplicas=1),
            "wait",
            "1 of 3 pods created",
            id="a Deployment whose pods are refused has too few",
        ),
        pytest.param(
            status("Deployment", {"replicas": 3}, replicas=3, updatedReplicas=3, availableReplicas=1),
            "wait",
            "1 of 3 available",
            id="a Deployment waits for its pods to be available",
        ),
        pytest.param(status("Deployment", {"replicas": 0}), "", "scaled to 0", id="no pod is wanted"),
        pytest.param(
            status(
                "StatefulSet",
                {"replicas": 4, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}},
                currentRevision="a",
                updateRevision="b",
                updatedReplicas=1,
            ),
            "wait",
            "rolling update, from the highest number down: 1 of 3 updated",
            id="a partition keeps the low numbers of a StatefulSet out of the update",
        ),
        pytest.param(
            status(
                "StatefulSet",
                {"replicas": 2, "updateStrategy": {"type": "OnDelete"}},
                currentRevision="a",
                updateRevision="b",
            ),
            "wait",
            "OnDelete: 0 of 2 updated; delete the others to update them",
            id="OnDelete waits for a person",
        ),
        pytest.param(
            status("StatefulSet", {"replicas": 3}, replicas=2, readyReplicas=1),
            "wait",
            "1 of 3 ready, one after the other",
            id="a StatefulSet creates one pod at a time",
        ),
        pytest.param(status("DaemonSet", {}), "", "no node needs it", id="a DaemonSet without a node wants nothing"),
        pytest.param(
            status("DaemonSet", {}, desiredNumberScheduled=3, updatedNumberScheduled=1),
            "wait",
            "rolling update: 1 of 3 nodes updated",
            id="a DaemonSet is updated node by node",
        ),
        pytest.param(
            status(
                "DaemonSet",
                {},
                desiredNumberScheduled=2,
                updatedNumberScheduled=2,
                numberReady=2,
                numberMisscheduled=1,
            ),
            "yes",
            "one on each of 2 nodes; 1 pod where none should run",
            id="a pod on a node no longer meant for it is reported",
        ),
        pytest.param(
            status("ReplicaSet", {"replicas": 3}, replicas=3, readyReplicas=2),
            "wait",
            "2 of 3 ready",
            id="a ReplicaSet waits for its pods to be ready",
        ),
        pytest.param(
            status("Job", {"completions": 4, "parallelism": 2}, active=2, succeeded=1, failed=1),
            "wait",
            "1 of 4 succeeded, 1 failed; at most 2 at a time",
            id="a Job counts its ended pods",
        ),
        pytest.param(
            status("Job", {"parallelism": 1}, succeeded=1, conditions=[{"type": "Complete", "status": "True"}]),
            "yes",
            "1 succeeded, 0 failed: complete",
            id="a Job without completions is complete when a pod succeeds",
        ),
        pytest.param(
            status("Job", {"completions": 1}, failed=7, conditions=[{"type": "Failed", "status": "True"}]),
            "",
            "0 of 1 succeeded, 7 failed: job failed",
            id="a Job that failed too often has failed",
        ),
    ],
)
def test_how_far_a_workload_is_in_words(manifest: dict[str, Any], said: str, text: str) -> None:
    assert rollout(manifest, ()) == {"said": said, "text": text, "waits": ""}


def test_a_number_below_the_wanted_one_is_marked_and_missing_fields_are_dashes() -> None:
    short = numbers(status("ReplicaSet", {"replicas": 3}, replicas=3, readyReplicas=1))
    assert [(item["text"], item["short"]) for item in short] == [
        ("3", False),
        ("–", False),
        ("1", True),
        ("0", True),
    ]


@pytest.mark.parametrize(
    ("kind", "state", "said"),
    [
        pytest.param("Available", "True", "yes", id="a wanted condition that holds is good"),
        pytest.param("Progressing", "False", "no", id="a wanted condition that fails is bad"),
        pytest.param("ReplicaFailure", "True", "no", id="an unwanted condition is bad"),
        pytest.param("Suspended", "True", "", id="suspended is neither"),
    ],
)
def test_a_condition_is_good_or_bad(kind: str, state: str, said: str) -> None:
    (item,) = conditions(status("Deployment", {}, conditions=[{"type": kind, "status": state, "reason": "R"}]))
    assert (item["type"], item["status"], item["said"]) == (kind, "" if state == "True" else state, said)


def test_every_kind_has_its_row_with_pods_and_the_buttons_that_it_can_have() -> None:
    simulation = cluster(
        workload("Deployment", "shop", replicas=1),
        workload("StatefulSet", "db", replicas=2, serviceName="db"),
        workload("DaemonSet", "agent"),
        workload("ReplicaSet", "bare", replicas=1),
        workload("Job", "pi", {"restartPolicy": "Never"}, completions=2),
    )
    table = rows(simulation)
    assert [(row["kind"], row["desired"], row["scalable"], row["restartable"]) for row in table.values()] == [
        ("Deployment", 1, True, True),
        ("StatefulSet", 2, True, True),
        ("DaemonSet", 3, False, True),
        ("ReplicaSet", 1, True, False),
        ("Job", 2, False, False),
    ]
    assert [pod.key for pod in table["db"]["pods"]][:2] == ["default/db-0", "default/db-1"]
    assert len(table["agent"]["pods"]) == 3
    assert all(pod.key.startswith("default/pi-") for pod in table["pi"]["pods"])
    assert table["pi"]["pods"]
    text = html(world_of(simulation))
    assert (text.count('id="w-less:'), text.count('id="w-restart:')) == (3, 3)


def test_pods_that_wait_come_first_and_say_why() -> None:
    simulation = cluster(workload("ReplicaSet", "shop", replicas=2), zones="a")
    big = workload("ReplicaSet", "big", replicas=4)
    big["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1500m"
    simulation.execute(commands.Apply((big,)))
    simulation.execute(commands.Run())
    simulation.execute(commands.Advance(5))
    row = rows(simulation)["big"]
    assert [pod.state == "pending" and pod.note == "Pending" for pod in row["pods"]] == [True, True, False, False]
    assert row["unplaced"] == 2
    assert row["rollout"]["text"] == "2 of 4 ready"
    assert row["rollout"]["waits"].startswith("waits for 2 pods, first big-")


def test_a_large_set_draws_some_pods_and_the_rest_when_somebody_asks() -> None:
    simulation = cluster(workload("ReplicaSet", "shop", replicas=MOST_PODS + 3))
    row = rows(simulation)["shop"]
    assert (len(row["pods"]), row["pod_pages"].more) == (MOST_PODS, 3)
    assert len(rows(simulation, ("workloads.ReplicaSet/default/shop", "1"))["shop"]["pods"]) == MOST_PODS + 3


def test_without_constraints_the_zones_are_counted_and_nothing_is_judged() -> None:
    (line,) = rows(cluster(workload("ReplicaSet", "shop", replicas=3)))["shop"]["where"]
    assert (line["key"], [item["count"] for item in line["domains"]], line["said"]) == ("zone", [1, 1, 1], "")


def test_without_zones_there_is_no_line() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), workload("ReplicaSet", "shop", replicas=1))))
    assert rows(simulation)["shop"]["where"] == []


OVER = "skew 3 > maxSkew 1; running pods are not moved"
TIED = {"nodeSelector": {ZONE: "a"}}


@pytest.mark.parametrize(
    ("constraint", "spec", "said", "text"),
    [
        pytest.param(spread(), {}, "no", OVER, id="too many pods in one zone is a fault"),
        pytest.param(
            spread("ScheduleAnyway"),
            {},
            "soft",
            "skew 3 > maxSkew 1; ScheduleAnyway only prefers a lower skew",
            id="a broken soft constraint is no fault",
        ),
        pytest.param(spread(maxSkew=5), {}, "yes", "skew 3 ≤ maxSkew 5", id="a large maxSkew holds"),
        pytest.param(spread(), TIED, "yes", "skew 0 ≤ maxSkew 1", id="zones that the pods cannot go to do not count"),
        pytest.param(
            spread(nodeAffinityPolicy="Ignore"), TIED, "no", OVER, id="they count when the policy ignores affinity"
        ),
        pytest.param(
            spread(minDomains=2), TIED, "no", OVER, id="with fewer domains than minDomains the fewest counts as 0"
        ),
    ],
)
def test_the_skew_counts_as_the_scheduler_counts(
    constraint: dict[str, Any], spec: dict[str, Any], said: str, text: str
) -> None:
    (row,) = stats(standing_in_zone_a(topologySpreadConstraints=[constraint], **spec), View())["workloads"]
    (line,) = row["where"]
    assert (line["said"], line["text"]) == (said, text)


def standing_in_zone_a(**spec: Any) -> World:
    """Return three pods of a ReplicaSet on the one node of zone a; b and c have a node each."""
    owner = workload("ReplicaSet", "shop", spec, replicas=3)
    pods = []
    for number in range(3):
        manifest = make_pod(f"shop-{number}").label("app", "shop").node("node-a").obj()
        pods.append({**manifest, "spec": {**manifest["spec"], **spec}})
    return world_of(cluster(*pods, owner))


def test_match_label_keys_count_each_revision_for_itself() -> None:
    both = {"topologySpreadConstraints": [spread(matchLabelKeys=["pod-template-hash"])]}
    simulation = cluster(workload("Deployment", "shop", both, replicas=3))
    again = workload("Deployment", "shop", {**both, "terminationGracePeriodSeconds": 5}, replicas=3)
    simulation.execute(commands.Apply((again,)))
    lines = rows(simulation)["shop"]["where"]
    assert len(lines) == 2
    assert len({line["key"] for line in lines}) == 2
    assert [line["key"] for line in lines] == [f"zone ({line['selector']})" for line in lines]
    assert len({line["selector"] for line in lines}) == 2
    assert all("pod-template-hash" in line["selector"] for line in lines)


@pytest.mark.parametrize(
    ("constraints", "keys"),
    [
        pytest.param(
            [spread(), spread("ScheduleAnyway")],
            ["zone (constraint 1)", "zone (constraint 2)"],
            id="equal selectors are numbered",
        ),
        pytest.param(
            [spread("ScheduleAnyway"), spread()],
            ["zone (constraint 2)", "zone (constraint 1)"],
            id="the number is the place in the manifest",
        ),
        pytest.param(
            [spread(), {**spread("ScheduleAnyway"), "labelSelector": {"matchLabels": {"app": "db"}}}],
            ["zone (app=shop)", "zone (app=db)"],
            id="different selectors are named",
        ),
    ],
)
def test_constraints_with_the_same_key_do_not_read_alike(constraints: list[dict[str, Any]], keys: list[str]) -> None:
    (row,) = stats(standing_in_zone_a(topologySpreadConstraints=constraints), View())["workloads"]
    assert [line["key"] for line in row["where"]] == keys


def test_many_domains_are_one_sentence() -> None:
    per_node = {"topologySpreadConstraints": [spread(key="kubernetes.io/hostname")]}
    (line,) = rows(cluster(workload("ReplicaSet", "shop", per_node, replicas=2), zones="abcdefghij"))["shop"]["where"]
    assert line["domains"] == []
    assert line["many"].startswith("10 nodes: 0 in node-")
    assert line["many"].endswith(" and 1 more")
    assert line["text"] == "skew 1 ≤ maxSkew 1"


def test_a_budget_shows_its_allowed_disruptions_and_selected_pods() -> None:
    simulation = cluster(
        workload("ReplicaSet", "shop", replicas=3), make_budget("shop", {"app": "shop"}, minAvailable=2)
    )
    (budget,) = stats(world_of(simulation), View())["budgets"]
    shown = {name: budget[name] for name in ("rule", "selector", "allowed", "healthy", "needed", "expected", "said")}
    assert shown == {
        "rule": "minAvailable 2",
        "selector": "app=shop",
        "allowed": 1,
        "healthy": 3,
        "needed": 2,
        "expected": 3,
        "said": "yes",
    }
    assert len(budget["pods"]) == 3
    simulation.execute(commands.Scale("ReplicaSet", SHOP, 2))
    (budget,) = stats(world_of(simulation), View())["budgets"]
    assert (budget["allowed"], budget["said"], budget["reason"]) == (0, "no", "InsufficientPods")


def test_many_workloads_come_in_pages() -> None:
    simulation = Simulation()
    many = [workload("ReplicaSet", f"r{number}", replicas=0) for number in range(PAGE + 2)]
    simulation.execute(commands.Apply(tuple(many)))
    first, second = (stats(world_of(simulation), View(pages=(("workloads", page),))) for page in ("1", "9"))
    assert (len(first["workloads"]), first["pages"].page) == (PAGE, 1)
    assert ([row["name"] for row in second["workloads"]], second["pages"].page) == ([f"r{PAGE}", f"r{PAGE + 1}"], 2)


def test_revisions_with_0_pods_are_shortened() -> None:
    simulation = cluster(workload("Deployment", "shop", replicas=1))
    for seconds in range(1, 6):
        simulation.execute(
            commands.Apply((workload("Deployment", "shop", {"terminationGracePeriodSeconds": seconds}, replicas=1),))
        )
        simulation.execute(commands.Run())
        simulation.execute(commands.Advance(40))
    row = rows(simulation)["shop"]
    assert [item["revision"] for item in row["sets"]] == [6, 5, 4]
    assert row["older"] == "revision 3, revision 2 and revision 1"


def test_the_panel_is_drawn_again_only_when_an_object_changes() -> None:
    simulation = cluster(workload("ReplicaSet", "shop", replicas=1))
    before = same_while(world_of(simulation), View())
    simulation.execute(commands.Advance(60))
    assert same_while(world_of(simulation), View()) == before
    simulation.execute(commands.Scale("ReplicaSet", SHOP, 2))
    assert same_while(world_of(simulation), View()) != before


def test_a_watcher_sees_numbers_and_no_buttons() -> None:
    world = world_of(cluster(workload("Deployment", "shop", replicas=2), make_budget("shop", {"app": "shop"})))
    assert "hx-post" in html(world)
    assert "hx-post" not in html(world, can_edit=False)
    assert "data-form" not in html(World(), can_edit=False)


def test_an_owner_is_deleted_in_one_of_three_ways_and_only_once() -> None:
    simulation = cluster(workload("Deployment", "shop", replicas=1))
    ways = [f'"policy": "{policy}"' for policy in POLICIES]
    assert [way in html(world_of(simulation)) for way in ways] == [True] * 3
    simulation.execute(commands.Delete("Deployment", SHOP, "Foreground"))
    shown = html(world_of(simulation))
    assert "being deleted" in shown
    assert [way in shown for way in ways] == [False] * 3


def test_an_empty_panel_says_what_to_do() -> None:
    text = html(World())
    assert "No workloads yet." in text
    assert 'data-form="workload"' in text


def test_names_are_escaped() -> None:
    story = Story()
    bold = workload("Deployment", "<b>bold")
    bold["metadata"]["uid"] = "1"
    bold["status"] = {"conditions": [{"type": "Available", "status": "False", "message": "<b>bold"}]}
    owner = [{"kind": "Deployment", "name": "<b>bold", "uid": "1", "controller": True}]
    owned = {"metadata": {"name": "<b>bold-1", "namespace": "default", "ownerReferences": owner}, "spec": {}}
    story.say(ObjectAdded("Deployment", "default/<b>bold", bold), ObjectAdded("Pod", "default/<b>bold-1", owned))
    text = html(World.fold(story.entries))
    assert text.count("&lt;b&gt;bold") > 5
    assert "<b>bold" not in text.replace('<b title="&lt;b&gt;bold">', "")


def test_the_inspector_names_the_controller_of_a_pod_and_links_to_it() -> None:
    world = world_of(cluster(workload("Deployment", "shop", replicas=1)))
    (key,) = world.pods
    (name,) = (key.rpartition("/")[2] for key in world.objects["ReplicaSet"])
    data = inspector(world, View(pod=key))
    assert data["facts"][0] == {
        "term": "Controlled by",
        "text": f"ReplicaSet {name} of Deployment shop",
        "tab": "workloads",
    }
    assert 'data-goto-tab="workloads"' in panel_html("inspector", world, pod=key)


def test_pods_of_a_workload_with_a_long_name_differ_by_the_end_of_theirs() -> None:
    name = "a-name-of-sixty-letters-that-nobody-would-give-to-a-workload"
    template = {"metadata": {"labels": {"app": "long"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "long"}}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}
    simulation = Simulation()
    simulation.execute(commands.from_json({"kind": "apply", "manifests": [manifest]}))
    labels = [pod.label for pod in rows(simulation)[name]["pods"]]
    assert len(labels) == 2
    assert all(re.fullmatch(r"[a-z0-9]{5}", label) for label in labels)
