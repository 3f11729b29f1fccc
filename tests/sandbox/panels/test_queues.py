"""The queue lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sandbox.panels import PANELS, View, World
from sandbox.panels.inspector.panel import stats as inspector
from sandbox.panels.queues.panel import stats
from sandbox.panels.queues.wakes import wakes
from sandbox.panels.timeline import stats as timeline
from scheduler_engine import commands
from scheduler_engine.framework.events import ActionType, ClusterEvent, spelled_out
from scheduler_engine.framework.events_registry import queueing_hint_map
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.engine.cluster import node, pod
from tests.installed import SCENARIOS
from tests.sandbox import traces
from tests.sandbox.scenarios import world_of


@pytest.fixture(name="lanes")
def create_lanes() -> dict[str, dict[str, Any]]:
    panel = stats(World.fold(traces.web_at_filter().entries), View())
    return {lane["id"]: lane for lane in panel["lanes"]}


def names(lane: dict[str, Any]) -> list[str]:
    return [card["name"] for card in lane["cards"]]


def test_active_pods_are_in_pop_order_by_priority_then_time(lanes: dict[str, dict[str, Any]]) -> None:
    assert names(lanes["activeQ"]) == ["payments-1", "api-5", "api-6", "batch-11", "batch-12"]
    assert [card["place"] for card in lanes["activeQ"]["cards"]] == [1, 2, 3, 4, 5]


def test_the_pod_in_question_is_marked_as_now(lanes: dict[str, dict[str, Any]]) -> None:
    assert [card["name"] for card in lanes["inFlight"]["cards"] if card["now"]] == ["web-4"]


def test_backing_off_pods_are_ordered_by_end_of_backoff_with_the_time_left(lanes: dict[str, dict[str, Any]]) -> None:
    assert names(lanes["backoffQ"]) == ["cart-5", "search-2", "batch-9"]
    cards = {card["name"]: card for card in lanes["backoffQ"]["cards"]}
    assert (cards["cart-5"]["age"], cards["cart-5"]["ring"]) == ("1.6 s of 2 s", 80)
    assert cards["cart-5"]["until"].endswith(": 1 s × 2¹; sooner if activeQ is empty")
    assert cards["search-2"]["detail"] == "nominated to node-a2"


def test_an_unschedulable_pod_shows_what_rejected_it_and_what_could_wake_it(lanes: dict[str, dict[str, Any]]) -> None:
    card = next(card for card in lanes["unschedulable"]["cards"] if card["name"] == "ml-2")
    assert card["by"] == ["NodeResourcesFit"]
    assert card["lead"] == "2×"


def woken(plugins: tuple[str, ...], profile: str = "default-scheduler", rules: str = "v1.34", **more: Any) -> list[str]:
    """Return what wakes a pod. The scheduler has two profiles, the second without NodeName."""
    without = {"schedulerName": "second", "plugins": {"multiPoint": {"disabled": [{"name": "NodeName"}]}}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    profiles = [{"schedulerName": "default-scheduler"}, without]
    simulation = Simulation(configuration={**head, "profiles": profiles}, queue_rules=rules)
    return wakes(World.fold(simulation.recorder.entries), profile, plugins, more.get("has_affinity", False))


def test_the_plugins_registrations_can_wake_a_pod() -> None:
    assert woken(("NodeResourcesFit",)) == [
        "Node/Add",
        "Pod/Delete",
        "Node/UpdateNodeTaint",
        "Pod/UpdatePodScaleDown",
        "Node/UpdateNodeAllocatable",
    ]
    assert woken(("NodeName", "NodePorts")) == ["Node/Add", "Pod/Delete", "Node/UpdateNodeTaint"]
    assert {"CSIDriver/Update", "CSIStorageCapacity/Add", "PVC/Update"} <= {*woken(("VolumeBinding",))}
    assert {"ResourceSlice/Update", "Pod/UpdatePodGeneratedResourceClaim"} <= {*woken(("DynamicResources",))}
    assert (woken(("NodeName",), "second"), woken(("NodeName",), "nobody")) == ([], [])
    assert woken(("NodeName",), rules="design-doc")[0] == "Node/*"
    assert woken(("NodeName",), rules="design-doc", has_affinity=True)[0] == "Pod/* it needs"


def test_every_plugin_that_may_refuse_a_pod_says_what_wakes_it() -> None:
    simulation = Simulation()
    configured = World.fold(simulation.recorder.entries).configured
    assert configured is not None
    [(_, registered)] = configured.registered
    hints = queueing_hint_map(simulation.scheduler.profiles["default-scheduler"].plugins.values())
    assert {plugin for plugin, _ in registered} == {hint.plugin for asked in hints.values() for hint in asked}
    assert all(events for _, events in registered)


@pytest.mark.parametrize(
    ("action", "names"),
    [
        (ActionType.ADD | ActionType.UPDATE_NODE_LABEL, ("Node/Add", "Node/UpdateNodeLabel")),
        (ActionType.UPDATE, ("Node/Update",)),
        (ActionType.ADD | ActionType.UPDATE, ("Node/Add", "Node/Update")),
        (ActionType.ALL, ("Node/All",)),
    ],
)
def test_a_registration_is_spelled_out(action: ActionType, names: tuple[str, ...]) -> None:
    assert spelled_out(ClusterEvent("example.com/Node", action)) == names


def test_a_gated_pod_names_its_gate(lanes: dict[str, dict[str, Any]]) -> None:
    assert lanes["gated"]["cards"][0]["detail"] == "gate example.com/quota"


def test_a_move_has_its_cause_on_it(lanes: dict[str, dict[str, Any]]) -> None:
    card = next(card for card in lanes["activeQ"]["cards"] if card["name"] == "api-6")
    assert card["moved"] == "from backoffQ, backoff over"
    assert card["title"].startswith("from backoffQ by BackoffComplete at 00:10")


def test_an_event_that_came_in_mid_cycle_is_noted_by_the_pod_in_flight() -> None:
    story = traces.Story()
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.say(ev.MoveRequested("NodeAdd", "n", 1, (key,), ()))
    flying = stats(World.fold(story.entries), View())["lanes"][0]
    assert flying["cards"][0]["detail"] == "noted NodeAdd n"


def test_an_empty_queue_has_five_empty_lanes() -> None:
    panel = stats(World(), View())
    assert [lane["count"] for lane in panel["lanes"]] == [0] * 5
    assert panel["pending"] == 0


def test_each_lane_has_separate_pages() -> None:
    story = traces.Story()
    for number in range(70):
        story.add_pod(traces.pod(f"p-{number}"))
    world = World.fold(story.entries)
    lane = stats(world, View())["lanes"][1]
    assert (lane["count"], len(lane["cards"]), lane["pages"].more) == (70, 60, 10)
    second = stats(world, View(pages=(("queues.activeQ", "2"), ("queues.backoffQ", "1"))))["lanes"][1]
    assert [(card["place"], card["name"]) for card in second["cards"]] == [(n + 1, f"p-{n}") for n in range(60, 70)]


def opened(slug: str, steps: int = 0) -> tuple[Simulation, dict[str, dict[str, Any]]]:
    """Return a scenario after its setup and the first ``steps`` of a visitor; pod's name → its card."""
    simulation = SCENARIOS[slug].open()
    play(simulation, SCENARIOS[slug].then[:steps])
    return simulation, cards_of(simulation)


def cards_of(simulation: Simulation) -> dict[str, dict[str, Any]]:
    return {card["name"]: card for lane in stats(world_of(simulation), View())["lanes"] for card in lane["cards"]}


def test_the_same_event_wakes_one_pod_and_not_the_other_and_the_hint_says_why() -> None:
    _, cards = opened("queue-one-event-two-hints", 1)
    assert cards["hungry-1"]["lane"] == "activeQ"
    assert cards["hungry-1"]["hint"] == (
        "NodeResourcesFit", "Queue", "NodeAdd node-hdd", "node-hdd was new and large enough",
    )  # fmt: skip
    assert cards["picky-1"]["lane"] == "unschedulable"
    assert cards["picky-1"]["hint"] == (
        "NodeAffinity", "QueueSkip", "NodeAdd node-hdd", "the pod's node selector or affinity did not match node-hdd",
    )  # fmt: skip


def test_a_card_names_the_command_that_moved_it_and_the_time_line_has_its_mark() -> None:
    simulation, cards = opened("queue-one-event-two-hints", 1)
    assert cards["hungry-1"]["command"] == 5
    assert cards["hungry-1"]["title"].endswith("command 5: apply Node node-hdd")
    marks = [item.commands for item in timeline(world_of(simulation), View())["items"] if item.kind == "command"]
    assert marks[-1] == "5"


def test_the_inspector_links_a_move_to_the_cycle_or_the_command_that_set_it_off() -> None:
    simulation = SCENARIOS["queue-affinity-wakes-a-pod"].open()
    play(simulation, SCENARIOS["queue-affinity-wakes-a-pod"].then)
    moves = inspector(world_of(simulation), View(pod="default/web-1"))["moves"][::-1]
    listed = [(move["source"], move["target"], move["origin"]["text"]) for move in moves]
    assert listed[0] == ("outside", "activeQ", "command 2: apply Pod web-1")
    assert listed[3] == ("unschedulablePods", "backoffQ", "in cycle 3 of cache-1")
    assert moves[3]["cause"] == "AssignedPodAdd cache-1"
    assert moves[3]["hint"] == "InterPodAffinity answered Queue to AssignedPodAdd cache-1"


def test_a_pod_in_flight_names_the_node_that_came_in_mid_cycle() -> None:
    _, cards = opened("queue-node-arrives-in-mid-cycle")
    assert cards["big-1"]["detail"] == "noted NodeAdd node-large"


def test_a_hints_answer_about_an_event_in_flight_is_on_the_card_after_the_failure() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), pod("big", "9", 0))))
    for _ in range(4):
        simulation.execute(commands.Stage())
    simulation.execute(commands.Apply((node("n2"),)))
    assert cards_of(simulation)["big"]["detail"] == "noted NodeAdd n2"
    simulation.execute(commands.PodCycle())
    card = cards_of(simulation)["big"]
    assert (card["lane"], card["hint"][:3]) == ("unschedulable", ("NodeResourcesFit", "QueueSkip", "NodeAdd n2"))
    simulation.execute(commands.Advance(340))
    simulation.execute(commands.Settle())
    assert "hint" not in cards_of(simulation)["big"], "the next attempt starts fresh"


def test_by_the_design_document_no_plugin_decides_what_wakes_a_pod() -> None:
    simulation = Simulation(queue_rules="design-doc")
    simulation.execute(commands.Apply((node("n1"), pod("big", "9", 0))))
    for _ in range(4):
        simulation.execute(commands.Stage())
    assert cards_of(simulation)["big"]["detail"] == "no move request since its Pop"
    simulation.execute(commands.Apply((node("n2"),)))
    assert cards_of(simulation)["big"]["detail"] == "NodeAdd n2: if it fails now, it goes to backoffQ"
    simulation.execute(commands.PodCycle())
    assert cards_of(simulation)["big"]["lane"] == "backoffQ"
    simulation.execute(commands.Advance(60))
    card = cards_of(simulation)["big"]
    assert (card["lane"], card["wakes"]) == ("unschedulable", ["Node/*", "Pod/Delete", "5 more"])
    lanes = {lane["id"]: lane for lane in stats(world_of(simulation), View())["lanes"]}
    assert lanes["unschedulable"]["note"] == "until the next event"


def test_by_the_design_document_a_backoff_of_the_same_second_ends_when_it_ends() -> None:
    simulation = Simulation(queue_rules="design-doc")
    simulation.execute(commands.Apply((node("n1"), pod("early", "9", 0))))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Advance(0.25))
    simulation.execute(commands.Apply((pod("late", "9", 100),)))
    simulation.execute(commands.Settle())
    simulation.execute(commands.Apply((node("n2"),)))
    lanes = {lane["id"]: lane for lane in stats(world_of(simulation), View())["lanes"]}
    assert names(lanes["backoffQ"]) == ["early", "late"]
    assert names(lanes["backoffQ"]) == [info.pod.name for info in simulation.scheduler.queue.lanes()["backoffQ"]]


@pytest.mark.parametrize(("lasts_us", "text"), [(300_000, "0.3 s of 0.3 s"), (1, "0 s of 0 s"), (0, "0 s of 0 s")])
def test_a_backoff_of_less_than_half_a_second_is_shown(lasts_us: int, text: str) -> None:
    world = World.fold(traces.web_at_filter().entries)
    entries = traces.web_at_filter().entries
    entry = next(
        one for one in reversed(entries) if isinstance(one.event, ev.PodMoved) and one.event.target == "backoffQ"
    )
    until = world.clock_us + lasts_us
    assert isinstance(entry.event, ev.PodMoved)
    moved = replace(entry.event, timestamp_us=world.clock_us, backoff_until_us=until)
    world.apply(replace(entry, n=len(entries) + 1, event=moved))
    lane = next(lane for lane in stats(world, View())["lanes"] if lane["id"] == "backoffQ")
    card = next(card for card in lane["cards"] if card["name"] == moved.pod.partition("/")[2])
    assert card["age"].startswith(text)


def test_by_the_design_document_a_pod_with_affinity_waits_for_pods_that_it_needs() -> None:
    simulation = Simulation(queue_rules="design-doc")
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    needs = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    simulation.execute(commands.Apply((node("n1"), pod("web", "1", 0, affinity=needs))))
    simulation.execute(commands.Settle())
    assert cards_of(simulation)["web"]["wakes"][0] == "Pod/* it needs"


def test_a_pod_that_failed_by_an_error_has_a_separate_lane() -> None:
    simulation, _ = opened("bind-fails")
    simulation.execute(commands.PodCycle())
    lanes = [lane["id"] for lane in stats(world_of(simulation), View())["lanes"]]
    assert lanes.index("errorBackoffQ") == lanes.index("backoffQ") + 1
    assert cards_of(simulation)["web-1"]["error"]
    assert cards_of(simulation)["web-1"]["title"].startswith("from binding by ScheduleAttemptFailure")


def test_pods_whose_error_backoff_ends_together_are_in_the_order_in_which_they_came() -> None:
    """Priority does not count there, unlike in backoffQ."""
    simulation = Simulation(priority_numbers=True)
    simulation.execute(commands.Apply((node("n1"),)))
    for name, priority in (("low", 0), ("high", 500)):
        simulation.execute(commands.Fault("VolumeBinding", "reserve", "error"))
        simulation.execute(commands.Apply((pod(name, "1", priority),)))
        simulation.execute(commands.PodCycle())
    lanes = stats(world_of(simulation), View())["lanes"]
    shown = [queued["pod"] for lane in lanes if lane["id"] == "errorBackoffQ" for queued in lane["cards"]]
    assert shown == [info.pod.key for info in simulation.scheduler.queue.lanes()["errorBackoffQ"]]
    assert shown == ["default/low", "default/high"]


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("bind", [("inFlight", "binding"), ("binding", "errorBackoffQ")]),
        ("preBind", [("inFlight", "binding"), ("binding", "errorBackoffQ")]),
        ("reserve", [("inFlight", "errorBackoffQ")]),
    ],
)
def test_a_pod_that_fails_by_an_error_is_not_said_to_leave_first(point: str, expected: list[tuple[str, str]]) -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"),)))
    simulation.execute(commands.Fault("DefaultBinder" if point == "bind" else "VolumeBinding", point, "error"))
    simulation.execute(commands.Apply((pod("web", "1", 0),)))
    simulation.execute(commands.PodCycle())
    world = world_of(simulation)
    moves = PANELS["inspector"].stats(world, View(pod="default/web"))["moves"][::-1]
    assert [(move["source"], move["target"]) for move in moves][2:] == expected
    _, move = world.moved[-1]
    assert (move.pod, move.target) == ("default/web", "errorBackoffQ")


def test_a_pod_that_is_bound_has_left_for_its_binding() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1"), pod("web", "1", 0))))
    simulation.execute(commands.PodCycle())
    moves = PANELS["inspector"].stats(world_of(simulation), View(pod="default/web"))["moves"]
    assert (moves[0]["source"], moves[0]["target"]) == ("inFlight", "binding")


@pytest.mark.parametrize(
    ("rules", "lane", "failed", "shown", "formula"),
    [
        pytest.param(
            "v1.34", "errorBackoffQ", 3, ("2 s of 2 s", 5), ": 1 s × 2⁰, and the rest of that second", id="whole"
        ),
        pytest.param(
            "v1.34", "errorBackoffQ", 3.4, ("1.6 s of 1.6 s", 5), ": 1 s × 2⁰, and the rest of that second", id="early"
        ),
        pytest.param(
            "v1.34", "errorBackoffQ", 3.9, ("1.1 s of 1.1 s", 5), ": 1 s × 2⁰, and the rest of that second", id="late"
        ),
        pytest.param("design-doc", "backoffQ", 3, ("2 s of 2 s", 5), ": 1 s × 2¹", id="by the design document"),
        pytest.param(
            "design-doc",
            "backoffQ",
            3.4,
            ("2.6 s of 2.6 s", 6),
            ": 1 s × 2¹, and the rest of that second",
            id="between two flushes",
        ),
    ],
)
def test_a_pod_leaves_its_backoff_when_its_card_says(
    rules: str, lane: str, failed: float, shown: tuple[str, int], formula: str
) -> None:
    simulation = Simulation(queue_rules=rules)
    simulation.execute(commands.Apply((node("n1"),)))
    simulation.execute(commands.Advance(failed))
    simulation.execute(commands.Fault("DefaultBinder", "bind", "error"))
    simulation.execute(commands.Apply((pod("web", "1", 0),)))
    simulation.execute(commands.Settle())
    card, leaves = cards_of(simulation)["web"], shown[1]
    assert (card["lane"], card["age"]) == (lane, shown[0])
    assert card["until"] == f"until 00:0{leaves}.0{formula}"
    simulation.execute(commands.Advance(leaves - failed - 0.1))
    assert cards_of(simulation)["web"]["age"].startswith("0.1 s of")
    simulation.execute(commands.Advance(0.1))
    assert world_of(simulation).moves["default/web"][-1].at_us == leaves * 1_000_000
    (moved,) = [move for move in world_of(simulation).moves["default/web"] if move.came.cause == "BackoffComplete"]
    assert moved.at_us == leaves * 1_000_000


def test_a_ring_counts_down_on_the_simulated_clock() -> None:
    simulation, cards = opened("queue-backoff-design-doc", 1)
    assert (cards["big-1"]["age"], cards["big-1"]["ring"]) == ("8 s of 8 s", 100)
    assert cards["big-1"]["until"].endswith(": 1 s × 2³")
    simulation.execute(commands.Advance(2, play=True))
    card = cards_of(simulation)["big-1"]
    assert (card["age"], card["ring"]) == ("6 s of 8 s", 75)


@pytest.mark.parametrize(
    ("slug", "rules", "age", "words"),
    [
        pytest.param(
            "queue-backoff-design-doc", "design-doc", "8 s of 8 s", "1 s × 2^attempts", id="the design document: 8 s"
        ),
        pytest.param(
            "queue-backoff-v1-34", "v1.34", "5 s of 5 s", "1 s × 2^(failures − 1)", id="v1.34: 4 s and a rest"
        ),
    ],
)
def test_the_head_names_the_rules_and_what_they_do_to_a_third_failure(
    slug: str, rules: str, age: str, words: str
) -> None:
    simulation, cards = opened(slug, 1)
    panel = stats(world_of(simulation), View())
    assert (panel["rules"], cards["big-1"]["age"]) == (rules, age)
    assert words in panel["rules_say"]


def test_a_fourth_failure_by_the_design_document_meets_the_maximum() -> None:
    simulation, _ = opened("queue-backoff-design-doc")
    simulation.execute(commands.Advance(9))
    simulation.execute(commands.Delete("Pod", "default/filler-4"))
    assert cards_of(simulation)["big-1"]["age"] == "9 s of 10 s"
    assert cards_of(simulation)["big-1"]["until"].endswith(": 10 s, the most")


def test_a_move_within_a_lane_keeps_the_cause_that_brought_the_pod_there() -> None:
    story = traces.Story()
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.move(key, "inFlight", "errorBackoffQ", "ScheduleAttemptFailure", backoff_until_us=2_000_000)
    story.move(key, "errorBackoffQ", "errorBackoffQ", "UnschedulablePodUpdate", backoff_until_us=2_000_000)
    lanes = {lane["id"]: lane for lane in stats(World.fold(story.entries), View())["lanes"]}
    assert lanes["errorBackoffQ"]["cards"][0]["title"].startswith("from inFlight by ScheduleAttemptFailure")


def test_a_change_within_a_lane_is_not_a_move_and_keeps_the_wakings() -> None:
    story = traces.Story()
    key = story.add_pod(traces.pod("p-1"))
    story.pop(key)
    story.move(key, "inFlight", "unschedulablePods", "ScheduleAttemptFailure")
    story.move(key, "unschedulablePods", "backoffQ", "NodeAdd", backoff_until_us=2_000_000)
    story.move(key, "backoffQ", "backoffQ", "UnschedulablePodUpdate", backoff_until_us=2_000_000)
    world = World.fold(story.entries)
    assert [queued.came.target for queued in world.moves[key]][-2:] == ["unschedulablePods", "backoffQ"]
    assert world.requeuing.woken[key].queued.came.cause == "NodeAdd"


class Counted(dict[str, Any]):
    """A dict that counts how often somebody goes through it."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return super().__iter__()

    def values(self) -> Any:
        self.walks += 1
        return super().values()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


def test_one_picture_goes_once_through_all_pods_and_once_through_the_queue() -> None:
    simulation = Simulation()
    nobodys = make_pod("lost").spec(schedulerName="none")
    pods = [make_pod(f"web-{number}").cpu("64").obj() for number in range(3)]
    simulation.execute(commands.Apply((make_node("n1").obj(), nobodys.obj(), *pods)))
    simulation.execute(commands.Settle())
    world = world_of(simulation)
    expected = stats(world, View())
    world.pods, world.scheduler.queue = Counted(world.pods), Counted(world.scheduler.queue)
    assert stats(world, View()) == expected
    assert expected["pending"] == 4
    assert (world.pods.walks, world.scheduler.queue.walks) == (1, 1)
