"""The scheduling queue of v1.34 against seed 000 and the real one: lanes, moves and order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.queue.scheduling_queue import QueueError
from scheduler_engine.trace.events import HintAnswered, MoveRequested, PodMoved
from tests.engine.queue_world import CLAIM_ADD, NODE_ADD, NODE_LABEL, NODE_TAINT, World, node, pod

# --- order -----------------------------------------------------------------------------------------------------------


def test_pods_are_popped_by_priority_then_by_time_then_as_they_came() -> None:
    world = World().add(pod("old"), pod("twin"), pod("high", 10)).at(1).add(pod("late"), pod("higher", 10))
    popped = [world.pop().pod.name for _ in range(5)]
    assert popped == ["high", "higher", "old", "twin", "late"]
    assert world.queue.pop() is None


def test_pop_clears_the_last_attempts_results() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").at(3).happens(NODE_ADD, node("n1"))
    assert list(world.queue.lanes()["activeQ"][0].unschedulable_plugins) == ["Picky"]
    info = world.pop()
    assert (info.attempts, info.unschedulable_plugins, info.unschedulable_count) == (2, {}, 1)


def test_updated_pod_is_sorted_again_in_place() -> None:
    world = World().add(pod("a"), pod("b")).at(5).update(pod("b", 7))
    first = world.queue.lanes()["activeQ"][0]
    assert (first.pod.name, first.timestamp_us) == ("b", 0)
    assert sum(world.queue.incoming_pods.values()) == 2


# --- backoff ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "ends_s"),
    [
        pytest.param(1, 1, id="The first backoff is the initial second"),
        pytest.param(2, 2, id="The second doubles it"),
        pytest.param(4, 8, id="The fourth is eight seconds"),
        pytest.param(5, 10, id="The fifth would be 16 seconds: the maximum is 10"),
        pytest.param(60, 10, id="It never exceeds the maximum"),
    ],
)
def test_backoff_doubles_up_to_the_maximum(failures: int, ends_s: int) -> None:
    world = World().add(pod("p"))
    info = world.pop()
    info.unschedulable_count = failures - 1
    world.fail(info, "Picky")
    assert world.queue.backoff_q.expiration_us(info) == ends_s * 1_000_000


def test_backoff_ends_at_a_whole_second_and_is_flushed_a_window_later() -> None:
    world = World().add(pod("p")).at(0.7)
    world.fail(world.pop(), "Picky").happens(NODE_ADD, node("n1"))
    assert world.lanes() == {"backoffQ": ["p"]}
    world.at(1.9).queue.flush_backoff_q_completed()
    assert world.lanes() == {"backoffQ": ["p"]}
    world.at(2).queue.flush_backoff_q_completed()
    assert world.lanes() == {"activeQ": ["p"]}


def test_errors_are_counted_separately_and_reset_once_a_plugin_rejects() -> None:
    world = World().add(pod("p"))
    info = world.pop()
    world.fail(info)
    assert (info.consecutive_errors_count, info.unschedulable_count) == (1, 0)
    world.at(5).queue.flush_backoff_q_completed()
    world.fail(world.pop(), "Picky")
    assert (info.consecutive_errors_count, info.unschedulable_count) == (0, 1)


def test_pod_that_failed_by_an_error_backs_off_in_a_separate_queue() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop())
    assert world.lanes() == {"errorBackoffQ": ["p"]}
    assert world.queue.pop() is None


def test_backoff_q_is_popped_when_active_q_is_empty_however_long_it_lasts() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").happens(NODE_ADD, node("n1"))
    assert world.pop().pod.name == "p"
    assert world.queue.incoming_pods["active", "PopFromBackoffQ"] == 1
    assert world.moves()[-1] == ("p", "backoffQ", "inFlight", "PopFromBackoffQ")


def test_backoff_q_is_ordered_by_window_then_by_priority() -> None:
    world = World().add(pod("slow", 9), pod("low", 1), pod("high", 5))
    slow, high, low = (world.pop() for _ in range(3))
    slow.unschedulable_count = 3
    world.at(0.1).fail(low, "Picky").at(0.9).fail(high, "Picky").fail(slow, "Picky").happens(NODE_ADD, node("n1"))
    assert world.lanes() == {"backoffQ": ["high", "low", "slow"]}


# --- effects of events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plugins", "pending", "event", "new", "lanes"),
    [
        pytest.param(("Picky",), (), NODE_ADD, "n1", {"backoffQ": ["p"]}, id="A wanted node: after the backoff"),
        pytest.param(("Picky",), (), NODE_ADD, "n2", {"unschedulablePods": ["p"]}, id="Another node: it stays"),
        pytest.param((), ("Patient",), CLAIM_ADD, "c", {"activeQ": ["p"]}, id="A pending plugin queues at once"),
        pytest.param(
            ("Picky",), ("Patient",), NODE_ADD, "n1", {"activeQ": ["p"]}, id="The pending plugin's Queue comes first"
        ),
        pytest.param(
            ("Picky",), ("Patient",), NODE_ADD, "n2", {"activeQ": ["p"]}, id="One Queue overrides the other's QueueSkip"
        ),
        pytest.param(
            ("Picky",), (), CLAIM_ADD, "c", {"unschedulablePods": ["p"]}, id="Plugins that did not reject are not asked"
        ),
        pytest.param(("Picky",), (), NODE_TAINT, "n1", {"backoffQ": ["p"]}, id="A hint that fails counts as Queue"),
        pytest.param(
            ("Picky",), (), NODE_LABEL, "n1", {"unschedulablePods": ["p"]}, id="No plugin registered for this event"
        ),
        pytest.param(
            ("Picky",), (), ClusterEvent("*", ActionType.ALL), "", {"backoffQ": ["p"]}, id="The wildcard moves any pod"
        ),
    ],
)
def test_event_moves_pods_that_it_may_help(
    plugins: tuple[str, ...], pending: tuple[str, ...], event: ClusterEvent, new: str, lanes: dict[str, list[str]]
) -> None:
    world = World().add(pod("p", wants="n1"))
    world.fail(world.pop(), *plugins, pending=pending).happens(event, node(new) if new else None)
    assert world.lanes() == lanes


def test_pod_whose_backoff_is_over_goes_straight_to_active_q() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").at(2).happens(NODE_ADD, node("n1"))
    assert world.lanes() == {"activeQ": ["p"]}
    assert world.queue.incoming_pods["active", "NodeAdd"] == 1


def test_only_pods_that_pass_the_pre_check_are_moved() -> None:
    world = World().add(pod("high", 9), pod("low", 1))
    for _ in range(2):
        world.fail(world.pop(), "Picky")
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n1"), lambda pod: pod.priority < 5)
    assert world.lanes() == {"backoffQ": ["low"], "unschedulablePods": ["high"]}


def test_every_interesting_event_is_a_move_request_of_this_cycle_even_if_nothing_moves() -> None:
    world = World().add(pod("p"))
    assert world.queue.move_request_cycle == -1
    world.fail(world.pop(), "Picky").happens(NODE_LABEL, node("n1"))
    assert world.queue.move_request_cycle == -1
    world.happens(CLAIM_ADD, node("c"))
    assert world.queue.move_request_cycle == 1


@pytest.mark.parametrize(
    ("age_s", "lane"),
    [
        pytest.param(300, "unschedulablePods", id="At exactly five minutes it stays"),
        pytest.param(300.000001, "activeQ", id="After more than five minutes it is tried again"),
    ],
)
def test_leftovers_are_flushed(age_s: float, lane: str) -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").at(age_s).queue.flush_unschedulable_pods_leftover()
    assert world.lanes() == {lane: ["p"]}


# --- in flight -------------------------------------------------------------------------------------------------------


def test_event_during_the_attempt_is_not_lost() -> None:
    """Seed 000: the failed pod goes to backoffQ instead of unschedulablePods."""
    world = World().add(pod("p", wants="n1"))
    info = world.pop()
    world.happens(NODE_ADD, node("n1")).fail(info, "Picky")
    assert world.lanes() == {"backoffQ": ["p"]}


@pytest.mark.parametrize(
    "before_or_unhelpful",
    [
        pytest.param(lambda world: world.happens(NODE_ADD, node("n2")), id="An event that does not help"),
        pytest.param(lambda world: world.happens(NODE_LABEL, node("n1")), id="An event without a registration"),
    ],
)
def test_other_events_during_the_attempt_change_nothing(before_or_unhelpful: Callable[[World], World]) -> None:
    world = World().add(pod("p", wants="n1")).happens(NODE_ADD, node("n1"))
    info = world.pop()
    before_or_unhelpful(world).fail(info, "Picky")
    assert world.lanes() == {"unschedulablePods": ["p"]}


def test_events_are_stored_until_no_pod_popped_before_them_is_in_flight() -> None:
    world = World().add(pod("a"), pod("b"))
    world.pop()
    world.happens(NODE_ADD, node("n1"))
    world.pop()
    world.happens(NODE_ADD, node("n2"))
    noted = world.queue.active_q.in_flight.entries
    world.queue.done("b")
    assert len(noted) == 3
    world.queue.done("a")
    assert not noted
    world.queue.done("a")


def test_update_of_a_pod_in_flight_is_noted_for_its_return() -> None:
    world = World().add(pod("p", gates=()))
    world.pop()
    world.update(pod("p", x="1"))
    assert [str(entry.event) for entry in world.queue.active_q.in_flight.events_since("p") or ()] == [
        "UnschedulablePodUpdatePodLabel"
    ]
    assert world.lanes() == {"inFlight": ["p"]}


def test_pod_of_a_uid_that_is_in_flight_already_is_discarded_at_pop() -> None:
    world = World().add(pod("p"))
    world.pop()
    world.add(pod("p"))
    assert world.queue.pop() is None
    assert world.lanes() == {"inFlight": ["p"]}
    assert world.moves()[-1] == ("p", "activeQ", "", "Discarded")


@pytest.mark.parametrize(
    ("come_back", "where"),
    [
        pytest.param((), "the active queue", id="In activeQ"),
        pytest.param(("Picky",), "unschedulable queue", id="In unschedulablePods"),
        pytest.param(("Picky", "n1"), "the backoff queue", id="In backoffQ"),
    ],
)
def test_pod_that_is_queued_again_already_is_refused(come_back: tuple[str, ...], where: str) -> None:
    world = World().add(pod("p", uid="first"))
    first = world.pop()
    world.add(pod("p", uid="second"))
    if come_back:
        world.fail(world.pop(), come_back[0])
    if come_back[1:]:
        world.happens(NODE_ADD, node(come_back[1]))
    with pytest.raises(QueueError, match=f"^Pod default/p is already present in {where}$"):
        world.fail(first, "Picky")
    assert "inFlight" not in world.lanes()


# --- gates -----------------------------------------------------------------------------------------------------------


def test_gated_pod_waits_until_its_last_gate_goes() -> None:
    world = World().add(pod("p", gates=("a", "b")))
    assert world.lanes() == {"gated": ["p"]}
    assert world.queue.pending_pods() == {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 1}
    world.update(pod("p", gates=("b",)))
    assert world.lanes() == {"gated": ["p"]}
    world.update(pod("p"))
    assert world.lanes() == {"activeQ": ["p"]}


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda world: world.happens(NODE_ADD, node("n1")), id="An event"),
        pytest.param(lambda world: world.at(9999).queue.flush_unschedulable_pods_leftover(), id="The timeout"),
        pytest.param(lambda world: world.happens(ClusterEvent("*", ActionType.ALL)), id="The wildcard"),
        pytest.param(lambda world: world.queue.activate([pod("p")]), id="Activation"),
    ],
)
def test_nothing_else_opens_a_gate(attempt: Callable[[World], object]) -> None:
    world = World().add(pod("p", gates=("a",)))
    attempt(world)
    assert world.lanes() == {"gated": ["p"]}


def test_pre_enqueue_is_asked_on_the_way_into_backoff_q_not_on_the_way_out() -> None:
    world = World().add(pod("in"), pod("out"))
    infos = [world.pop(), world.pop()]
    world.update(pod("in", gates=("a",)))
    infos[0].pod_info = PodInfo(world.store.pods["default/in"])
    world.fail(infos[0]).fail(infos[1])
    assert world.lanes() == {"gated": ["in"], "errorBackoffQ": ["out"]}
    world.update(pod("out", gates=("a",))).at(2).queue.flush_backoff_q_completed()
    assert world.lanes() == {"activeQ": ["out"], "gated": ["in"]}


class Asked:
    """Record PreEnqueue calls, and hold back pods of one label."""

    def __init__(self, name: str, asked: list[str]) -> None:
        self.name = name
        self.asked = asked

    def pre_enqueue(self, pod: Pod) -> Status | None:
        self.asked.append(self.name)
        return unresolvable("held") if pod.labels.get("held-by") == self.name else None


def test_plugin_that_held_the_pod_back_is_asked_first_next_time() -> None:
    asked: list[str] = []
    world = World()
    world.queue.pre_enqueue_plugins = {"default-scheduler": (Asked("A", asked), Asked("B", asked))}
    world.add(pod("p", **{"held-by": "B"}))
    world.queue.activate([pod("p")])
    assert asked == ["A", "B", "B"]


# --- activate, delete, update ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("helped", [pytest.param(False, id="unschedulable"), pytest.param(True, id="backing off")])
def test_activate_moves_a_waiting_pod_at_once(helped: bool) -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky")
    if helped:
        world.happens(NODE_ADD, node("n1"))
    world.queue.activate([pod("p")])
    assert world.lanes() == {"activeQ": ["p"]}
    assert world.queue.incoming_pods["active", "ForceActivate"] == 1
    assert world.queue.move_request_cycle == (1 if helped else -1)


def test_activation_of_a_pod_in_flight_takes_effect_when_it_comes_back() -> None:
    world = World().add(pod("p"), pod("q"))
    infos = [world.pop(), world.pop()]
    world.queue.activate([pod("p")])
    world.fail(infos[0], "Picky").fail(infos[1], "Picky")
    assert world.lanes() == {"backoffQ": ["p"], "unschedulablePods": ["q"]}


def test_deleted_pod_leaves_whatever_lane_it_is_in() -> None:
    world = World().add(pod("parked"), pod("backing"), pod("failed"))
    world.fail(world.pop(), "Picky").fail(world.pop(), "Picky", pending=["Patient"]).fail(world.pop())
    world.add(pod("active")).happens(CLAIM_ADD, node("c"))
    for name in ("parked", "backing", "failed", "active", "unknown"):
        world.queue.delete(pod(name))
        world.queue.check()
    assert world.lanes() == {}


def test_update_that_no_hint_calls_helpful_leaves_the_pod_where_it_is() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").update(pod("p", x="1"))
    assert world.lanes() == {"unschedulablePods": ["p"]}
    assert world.queue.unschedulable_pods.infos["default/p"].pod.labels == {"x": "1"}


# --- counters and trace ----------------------------------------------------------------------------------------------


def test_counters_carry_kubernetes_labels() -> None:
    world = World().add(pod("p"))
    world.fail(world.pop(), "Picky").happens(NODE_ADD, node("n1"))
    world.at(5).queue.flush_backoff_q_completed()
    assert world.queue.incoming_pods == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("backoff", "NodeAdd"): 1,
        ("active", "BackoffComplete"): 1,
    }


def test_trace_records_every_move_with_its_cause_and_the_deciding_hint() -> None:
    world = World().add(pod("p", 3, wants="n1"), pod("q", wants="n2"))
    world.fail(world.pop(), "Picky").fail(world.pop(), "Picky")
    before = len(world.events())
    world.at(0.5).happens(NODE_ADD, node("n1"))
    assert world.events()[before:] == [
        HintAnswered("default/p", "Picky", "NodeAdd", "n1", "Queue", "the node is wanted"),
        PodMoved(
            *(
                "default/p",
                "unschedulablePods",
                "backoffQ",
                "NodeAdd",
                "Picky",
                "Queue",
                3,
                1,
                0,
                1_000_000,
                ("Picky",),
            ),
            uid="p",
            flushed_us=2_000_000,
        ),
        HintAnswered("default/q", "Picky", "NodeAdd", "n1", "QueueSkip", "n2 is wanted"),
        MoveRequested("NodeAdd", "n1", 2, (), ("default/p",)),
    ]


def test_lean_trace_leaves_single_answers_out() -> None:
    world = World(full=False).add(pod("p"))
    world.fail(world.pop(), "Picky").happens(NODE_ADD, node("n1"))
    assert not any(isinstance(event, HintAnswered) for event in world.events())
    assert world.moves() == [
        ("p", "", "activeQ", "UnschedulablePodAdd"),
        ("p", "activeQ", "inFlight", "Pop"),
        ("p", "inFlight", "unschedulablePods", "ScheduleAttemptFailure"),
        ("p", "unschedulablePods", "backoffQ", "NodeAdd"),
    ]
