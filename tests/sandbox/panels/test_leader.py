"""The panel leader: replicas, their view of the leader, the lock, and the leases over time."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from sandbox.panels import PANELS, View, World
from sandbox.panels.drawing.shapes import Text
from sandbox.panels.leader.leases import gaps, overlaps
from sandbox.panels.leader.panel import STEPS, alarm, stats
from sandbox.words.say import say
from scheduler_engine import commands
from scheduler_engine.scenario import FOLDER, Scenario, load_scenario, play
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from tests.sandbox import traces
from tests.sandbox.scenarios import panel_html
from tests.sandbox.traces import SECOND

ONE, TWO = "kube-scheduler-1", "kube-scheduler-2"


class Election(traces.Story):
    """A story of two replicas, the first of which leads at 00:00."""

    def __init__(self) -> None:
        super().__init__()
        self.command("replicas", "2 replicas")
        durations = (15 * SECOND, 10 * SECOND, 2 * SECOND)
        self.say(ev.ReplicasConfigured((ONE, TWO), True, "leases", "kube-system/kube-scheduler", *durations, True))
        for name in (ONE, TWO):
            self.change(name, "acquiring", "started")
        self.take(ONE, "created", 0)

    def change(self, name: str, state: str, why: str, **more: Any) -> None:
        about = {"schedules": state == "leading", "paused": False, "reachable": True, "rate": "1"}
        about |= {"own_us": self.recorder.now_us, **more}
        self.say(ev.ReplicaChanged(name, state, why, **about))

    def take(self, name: str, outcome: str, transitions: int, since: float | None = None) -> None:
        """Add a try after which ``name`` holds the lock. Unless the outcome is renewed, it begins to lead."""
        now = self.recorder.now_us
        acquired = now if since is None else round(since * SECOND)
        self.say(ev.LockChanged(name, name, 15, acquired, now, transitions))
        self.say(ev.ElectorTried(name, outcome, "", name, now + 15 * SECOND))
        if outcome != "renewed":
            self.change(name, "leading", "became leader")

    def find_held(self, name: str, holder: str, until: float) -> None:
        message = f"lock is held by {holder} and has not yet expired"
        self.say(ev.ElectorTried(name, "held", message, holder, round(until * SECOND)))

    def world(self) -> World:
        world = World.fold(self.entries)
        world.clock_us = self.recorder.now_us
        return world

    def stats(self) -> dict[str, Any]:
        return stats(self.world(), View())

    def row(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = next(row for row in self.stats()["rows"] if row["name"] == name)
        return result


def takeover() -> Election:
    """Kill the first replica at 00:05. The second takes over at 00:21."""
    story = Election()
    story.at(2).take(ONE, "renewed", 0, since=0)
    story.at(3).find_held(TWO, ONE, 18)
    story.at(5).change(ONE, "stopped", "killed")
    story.at(21).take(TWO, "acquired", 1)
    return story


def two_leaders() -> Election:
    """Pause the first replica from 00:05 to 00:30. The second takes over at 00:21."""
    story = Election()
    story.at(5).change(ONE, "leading", "paused", paused=True)
    story.at(21).take(TWO, "acquired", 1)
    story.at(30).change(ONE, "leading", "resumed")
    return story


def html(story: traces.Story, can_edit: bool = True) -> str:
    return panel_html("leader", World.fold(story.entries), can_edit)


@pytest.mark.parametrize("can_edit", [True, False])
def test_without_replicas_the_panel_offers_three(can_edit: bool) -> None:
    story = traces.Story()
    assert stats(World.fold(story.entries), View())["empty"]
    assert ("Run 3 replicas with leader election" in html(story, can_edit)) == can_edit


def test_one_plain_scheduler_has_no_election() -> None:
    story = traces.Story()
    story.say(ev.ReplicasConfigured((ONE,), False, "", "", 0, 0, 0, False))
    story.say(ev.ReplicaChanged(ONE, "leading", "started", True, False, True, 0, "1"))
    assert stats(World.fold(story.entries), View())["empty"]


@pytest.mark.parametrize(
    ("story", "name", "says", "holder", "believes"),
    [
        pytest.param(Election(), ONE, "leads", True, "it leads, lease for 15 s more", id="the leader"),
        pytest.param(Election(), TWO, "waits for the lock", False, "nobody leads", id="a replica that has not tried"),
        pytest.param(takeover(), ONE, "stopped", False, "", id="a killed replica believes nothing"),
        pytest.param(takeover(), TWO, "leads", True, "it leads, lease for 15 s more", id="the successor leads"),
        pytest.param(two_leaders(), ONE, "believes it leads", False, "its own lease has ended", id="a replaced leader"),
    ],
)
def test_a_replica_says_what_it_is_and_what_it_believes(
    story: Election, name: str, says: str, holder: bool, believes: str
) -> None:
    row = story.row(name)
    assert (row["says"], row["holder"], row["believes"]) == (says, holder, believes)


def test_a_candidate_names_the_lease_it_waits_for() -> None:
    story = Election()
    story.at(3).find_held(TWO, ONE, 18)
    story.at(8)
    row = story.row(TWO)
    assert row["believes"] == f"{ONE} leads, lease for 10 s more"
    assert row["tried"] == {
        "text": "lock was held",
        "at": "00:03.0",
        "message": f"lock is held by {ONE} and has not yet expired",
        "outcome": "held",
        "steps": [],
    }


def elected(*steps: commands.Command) -> World:
    simulation = Simulation()
    for command in (commands.Replicas(2), *steps):
        simulation.execute(command)
    world = World.fold(simulation.recorder.entries)
    world.clock_us = simulation.now_us
    return world


def steps(world: World, place: int) -> list[str]:
    """Return the first words of each step of a replica's last try."""
    return [step.partition(":")[0] for step in stats(world, View())["rows"][place]["tried"]["steps"]]


FIRST, SECOND_STEP, THIRD = "1. Get or create the record", "2. Check identity and time", "3. Update the record"


def test_a_try_has_three_steps() -> None:
    tries = [entry.event for entry in elected().entries if isinstance(entry.event, ev.ElectorTried)]
    assert tries[0].steps == (("create", "done"),)
    assert steps(elected(), 0) == ["Fast path"]
    assert steps(elected(commands.Advance(5)), 1) == [FIRST, SECOND_STEP]
    killed = elected(commands.Advance(5), commands.Replica(ONE, "kill"), commands.Advance(19))
    assert steps(killed, 1) in ([FIRST, SECOND_STEP, THIRD], ["Fast path"])
    cut = elected(commands.Advance(5), commands.Replica(ONE, "partition"), commands.Advance(4))
    data = stats(cut, View())["rows"][0]["tried"]["steps"]
    assert data == [say(STEPS["fast path", "failed"]), say(STEPS["get", "failed"])]
    released = elected(commands.Advance(5), commands.Replica(ONE, "release"))
    assert stats(released, View())["rows"][0]["tried"]["steps"] == [say(STEPS["release", "done"])]


def test_every_step_that_an_elector_may_take_has_words() -> None:
    outcomes = {"judge": ("held", "ended", "free", "own")}
    wanted = {
        (step, how)
        for step in ("fast path", "get", "create", "judge", "update", "release")
        for how in outcomes.get(step, ("done", "failed"))
    }
    assert STEPS.keys() == wanted


def test_the_time_without_a_leader_is_a_lane_with_its_length() -> None:
    assert gaps(elected(commands.Advance(30)).election, 30 * SECOND) == []
    world = elected(commands.Advance(5), commands.Replica(ONE, "kill"), commands.Advance(40))
    [(start, end)] = gaps(world.election, world.clock_us)
    assert start == 5 * SECOND
    assert 13 * SECOND <= end - start <= 22 * SECOND
    line = stats(world, View())["line"]
    assert "ls-gap" in [shape.classes for shape in line["gaps"]]
    assert line["gaps_say"].startswith("00:05.0 to ")
    nobody = elected(commands.Replica(ONE, "kill"), commands.Replica(TWO, "kill"), commands.Advance(8))
    assert gaps(nobody.election, nobody.clock_us) == [(0, 8 * SECOND)]
    alone = elected(commands.Replicas(2, leader_elect=False), commands.Advance(8))
    assert gaps(alone.election, alone.clock_us) == []


def test_a_lock_of_older_versions_is_called_so() -> None:
    assert "supports only Leases" not in panel_html("leader", elected())
    assert "supports only Leases" in panel_html("leader", elected(commands.Replicas(2, lock="endpoints")))


def test_why_a_replica_stopped_stays_to_be_read_whatever_happens_to_its_host() -> None:
    story = takeover()
    story.at(25).change(ONE, "stopped", "its clock was set forward by 600 s", own_us=625 * SECOND)
    assert story.row(ONE)["ended"] == "It was killed."


@pytest.mark.parametrize(
    ("own", "rate", "shows", "off", "runs"),
    [
        pytest.param(10, "1", "00:20.0", "", "", id="a correct clock has no note"),
        pytest.param(610, "1", "10:20.0", "10 min fast", "", id="ten minutes ahead"),
        pytest.param(-590, "1", "−09:40.0", "10 min slow", "", id="ten minutes behind, before the start"),
        pytest.param(10, "11/10", "00:21.0", "1 s fast", "runs ×1.1", id="a clock that gains"),
        pytest.param(105, "1/2", "01:50.0", "01:30 min fast", "runs ×0.5", id="a clock that loses"),
    ],
)
def test_a_replicas_own_clock_is_shown_beside_the_true_one(
    own: int, rate: str, shows: str, off: str, runs: str
) -> None:
    story = Election()
    story.at(10).change(TWO, "acquiring", "its clock was set", own_us=own * SECOND, rate=rate)
    story.at(20)
    row = story.row(TWO)
    assert (row["clock"], row["off"], row["rate"]) == (shows, off, runs)


def test_the_record_in_the_lock_is_shown_field_by_field() -> None:
    story = takeover()
    story.at(25).take(TWO, "renewed", 1, since=21)
    lock = story.stats()["lock"]
    assert (lock["kind"], lock["key"]) == ("Lease", "kube-system/kube-scheduler")
    assert {row["name"]: row["value"] for row in lock["rows"]} == {
        "holderIdentity": TWO,
        "leaseDurationSeconds": "15",
        "acquireTime": "00:21.0",
        "renewTime": "00:25.0",
        "leaderTransitions": "1",
    }


@pytest.mark.parametrize(
    ("story", "sentence"),
    [
        pytest.param(
            Election(), f"{ONE} finds no lock, creates it and leads; leaderTransitions is 0.", id="the first leader"
        ),
        pytest.param(
            takeover(),
            f"{TWO} has seen no renewal by {ONE} for 15 s on its own clock and takes over; leaderTransitions is 1.",
            id="a takeover after the lease has ended",
        ),
        pytest.param(
            two_leaders(),
            f"{ONE} resumes, unaware of the time that has passed.",
            id="a leader that resumes",
        ),
    ],
)
def test_the_latest_event_is_a_sentence_here_and_above(story: Election, sentence: str) -> None:
    world = story.world()
    assert stats(world, View())["log"][0]["text"] == sentence
    assert PANELS["sentence"].stats(world, View())["text"] == sentence


def test_a_released_lock_is_taken_without_waiting() -> None:
    story = Election()
    story.at(4).say(ev.LockChanged(ONE, "", 1, 4 * SECOND, 4 * SECOND, 0))
    story.say(ev.ElectorTried(ONE, "released", "", "", None))
    story.change(ONE, "stopped", "asked to stop")
    story.at(5).take(TWO, "acquired", 1)
    texts = [item["text"] for item in story.stats()["log"]]
    assert texts[0] == f"{TWO} finds the lock free and leads; leaderTransitions is 1."
    assert texts[2].startswith(f"{ONE} releases the lock: whoever tries next leads")
    lease = story.world().election.replicas[ONE].leases[-1]
    assert (lease.start_us, lease.end_us) == (0, 4 * SECOND)


def test_no_replica_schedules_between_two_leaders_and_the_queue_says_so() -> None:
    story = Election()
    story.add_node(traces.node("n"))
    story.at(5).change(ONE, "stopped", "killed")
    queues = PANELS["queues"].stats(story.world(), View())
    assert queues["nobody"].startswith(f"No replica leads: the lock still names {ONE}.")
    assert queues["pending"] == 0
    story.change(TWO, "stopped", "killed")
    assert PANELS["queues"].stats(story.world(), View())["nobody"].startswith("Every replica has stopped")


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        pytest.param(20, "", id="one leader gives no alarm"),
        pytest.param(
            25,
            f"{ONE} is paused and does not know that {TWO} leads: when it resumes, it schedules until its renew "
            "deadline.",
            id="a paused leader is reported before it does harm",
        ),
        pytest.param(
            30,
            f"{ONE} and {TWO} both schedule: leases do not fence. The API server refuses the second bind of a pod.",
            id="two leaders that work",
        ),
    ],
)
def test_two_leaders_are_an_alarm(at: int, sentence: str) -> None:
    entries = [entry for entry in two_leaders().entries if entry.at_us <= at * SECOND]
    assert alarm(World.fold(entries).election) == sentence


def test_the_time_of_two_leaders_is_one_stretch_though_one_of_them_changed_meanwhile() -> None:
    story = two_leaders()
    story.at(40).change(ONE, "stopped", "Leaderelection lost")
    story.at(50)
    assert overlaps(story.world().election, 50 * SECOND) == [(21 * SECOND, 40 * SECOND)]


def test_without_an_election_all_schedule_and_there_is_no_lock() -> None:
    story = traces.Story()
    story.say(ev.ReplicasConfigured((ONE, TWO), False, "", "", 0, 0, 0, False))
    for name in (ONE, TWO):
        story.say(ev.ReplicaChanged(name, "leading", "started", True, False, True, 0, "1"))
    panel = stats(World.fold(story.entries), View())
    assert [row["says"] for row in panel["rows"]] == ["schedules", "schedules"]
    assert panel["lock"] is None
    assert panel["alarm"].startswith(f"{ONE} and {TWO} all schedule, because no leader is elected")
    assert not panel["line"]["doubled"]


# --- the timeline ---------------------------------------------------------------------------------------------------


def test_a_lane_has_a_text_for_its_drawing() -> None:
    story = two_leaders()
    story.at(35)
    lanes = story.stats()["line"]["lanes"]
    assert lanes[0]["says"].endswith("00:00.0 to 00:05.0 leads; 00:05.0 to 00:30.0 leads, paused; 00:30.0 to now leads")
    assert lanes[1]["says"] == "00:00.0 to 00:21.0 waits for the lock; 00:21.0 to now leads"


@pytest.mark.parametrize(
    ("lane", "sign", "count"),
    [
        pytest.param(0, "ls-still", 1, id="its pause is hatched"),
        pytest.param(0, "ls-both", 1, id="two leaders are marked in the lane of the first"),
        pytest.param(1, "ls-both", 1, id="and in that of the second"),
        pytest.param(1, "ls-f", 1, id="a takeover has its flag"),
        pytest.param(1, "ls-ahead", 1, id="a valid lease extends into the future"),
        pytest.param(0, "ls-ahead", 0, id="one that has ended does not"),
    ],
)
def test_a_lane_draws_what_happened(lane: int, sign: str, count: int) -> None:
    story = two_leaders()
    story.at(31)
    assert [shape.classes for shape in story.stats()["line"]["lanes"][lane]["shapes"]].count(sign) == count


def test_only_the_last_two_minutes_are_drawn_and_many_tries_become_few_marks() -> None:
    story = Election()
    for tenth in range(1, 4000):
        story.at(tenth / 10).take(ONE, "renewed", 0, since=0)
    line = story.stats()["line"]
    assert [shape.text for shape in line["axis"] if isinstance(shape, Text)] == ["05:00", "05:30", "06:00", "06:30"]
    ticks = [shape for shape in line["lanes"][0]["shapes"] if shape.classes.startswith("ls-t ")]
    assert 20 < len(ticks) <= 200
    assert any(tick.title.endswith("more") for tick in ticks)


def test_a_failed_try_is_not_hidden_by_those_beside_it() -> None:
    story = Election()
    for tenth in range(1, 1200):
        story.at(tenth / 10)
        if tenth == 600:
            story.say(ev.ElectorTried(ONE, "failed", "connection refused", ONE, 61 * SECOND))
        else:
            story.take(ONE, "renewed", 0, since=0)
    assert "ls-t is-failed" in [shape.classes for shape in story.stats()["line"]["lanes"][0]["shapes"]]


# --- with the engine -------------------------------------------------------------------------------------------------


def scenario(number: int) -> Scenario:
    (path,) = FOLDER.glob(f"{number}-*.yaml")
    return load_scenario(path)


@pytest.mark.parametrize("number", [93, 94, 95, 96, 97])
def test_every_panel_of_every_scheduler_can_be_shown_at_every_step(number: int) -> None:
    story = scenario(number)
    simulation, world, folded = story.open(), World(), 0
    for step in story.then:
        play(simulation, [step])
        for entry in simulation.recorder.entries[folded:]:
            world.apply(entry)
        folded, world.clock_us = len(simulation.recorder.entries), simulation.now_us
        for replica in [*world.schedulers, ""]:
            world.look_at(replica)
            for panel in PANELS.values():
                data = panel.stats(world, View(replica=replica))
                assert f'id="panel-{panel.id}"' in render_to_string(f"panels/{panel.id}.html", data)
    whole = World.fold(simulation.recorder.entries)
    for replica in world.schedulers:
        world.look_at(replica)
        whole.look_at(replica)
        assert (world.queue, world.pods_on, world.cycle) == (whole.queue, whole.pods_on, whole.cycle)


def test_the_loser_of_two_binds_says_who_was_faster() -> None:
    story = scenario(96)
    simulation, said = story.open(), []
    play(simulation, story.then[:-2])
    for _ in range(30):
        play(simulation, [{"kind": "stage"}])
        panel = PANELS["sentence"].stats(World.fold(simulation.recorder.entries), View())
        said.append((panel["replica"], panel["text"]))
    (by, text), *_ = [pair for pair in said if "already assigned" in pair[1]]
    assert by == TWO
    assert 'Operation cannot be fulfilled on pods/binding "web-1": pod web-1 is already assigned to node' in text
    assert text.endswith(f"{ONE} was faster.")
