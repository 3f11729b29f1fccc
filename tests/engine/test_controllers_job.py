"""Jobs: parallelism, retries, and completion."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.simulated import DURATION
from scheduler_engine.apiserver.pod_index import JOB_INDEX
from scheduler_engine.controllers.job import JobController
from scheduler_engine.controllers.pod_state import is_active
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster, make_pod
from tests.engine import controllers as world

SECOND_US = 1_000_000


def active(simulation: Simulation) -> list[Pod]:
    return [pod for pod in world.pods(simulation, "j") if not pod.finished]


def finish(simulation: Simulation, phase: str = "Succeeded", number: int = 1) -> None:
    """End the oldest running pods."""
    for pod in active(simulation)[:number]:
        world.end(simulation, pod, phase)
    simulation.execute(commands.Settle())


def status(simulation: Simulation) -> dict[str, int]:
    """Return the status without zeros, times and conditions."""
    held = world.find(simulation, "Job", "j").status
    return {name: held[name] for name in ("active", "succeeded", "failed") if held.get(name)}


def conditions(simulation: Simulation) -> dict[str, tuple[str, str]]:
    held = world.find(simulation, "Job", "j").status.get("conditions") or []
    return {item["type"]: (item["status"], item["reason"]) for item in held}


def started(**spec: object) -> Simulation:
    """Return a Job whose pods run until a test ends them."""
    simulation = world.cluster(world.job("j", annotations={DURATION: "9999"}, **spec))
    simulation.execute(commands.Settle())
    return simulation


def test_parallelism_and_completions() -> None:
    simulation = started(completions=3, parallelism=2)
    assert status(simulation) == {"active": 2}
    finish(simulation)
    assert status(simulation) == {"active": 2, "succeeded": 1}
    finish(simulation)
    assert status(simulation) == {"active": 1, "succeeded": 2}
    assert conditions(simulation) == {}
    finish(simulation)
    assert status(simulation) == {"succeeded": 3}
    assert conditions(simulation) == {
        "SuccessCriteriaMet": ("True", "CompletionsReached"),
        "Complete": ("True", "CompletionsReached"),
    }
    assert world.events(simulation, "Job", "j")[-1] == "Completed: Job completed"
    assert len(world.pods(simulation, "j")) == 3


def test_left_alone_its_pods_complete() -> None:
    simulation = world.cluster(world.job("j", completions=3, parallelism=2))
    world.run(simulation)
    assert status(simulation) == {"succeeded": 3}
    assert "Complete" in conditions(simulation)
    assert [pod.phase for pod in world.pods(simulation, "j")] == ["Succeeded"] * 3


def test_its_pods_carry_its_name_and_uid() -> None:
    simulation = started(completions=1)
    (pod,) = active(simulation)
    uid = world.find(simulation, "Job", "j").uid
    assert pod.labels["batch.kubernetes.io/job-name"] == pod.labels["job-name"] == "j"
    assert pod.labels["batch.kubernetes.io/controller-uid"] == uid
    assert pod.name.startswith("j-")


def test_without_completions_one_success_ends_the_queue_of_work() -> None:
    simulation = started(parallelism=3)
    assert status(simulation) == {"active": 3}
    finish(simulation)
    assert status(simulation) == {"active": 2, "succeeded": 1}
    finish(simulation, number=2)
    assert "Complete" in conditions(simulation)


def test_after_a_failure_the_next_pod_waits_ten_seconds_then_twenty() -> None:
    simulation = started(completions=1)
    times = [simulation.now_us]
    for _ in range(3):
        finish(simulation, "Failed")
        assert active(simulation) == []
        while not active(simulation):
            world.advance(simulation, 1)
        times.append(simulation.now_us)
    assert [(later - earlier) // SECOND_US for earlier, later in pairwise(times)] == [10, 20, 40]


def test_a_success_ends_the_waiting() -> None:
    simulation = started(completions=2, parallelism=2)
    finish(simulation, "Failed")
    finish(simulation, "Succeeded")
    assert status(simulation) == {"active": 1, "succeeded": 1, "failed": 1}


def test_more_failures_than_the_limit_end_it_and_its_other_pods() -> None:
    simulation = started(completions=4, parallelism=2, backoffLimit=0)
    finish(simulation, "Failed")
    assert active(simulation) == []
    assert conditions(simulation) == {
        "FailureTarget": ("True", "BackoffLimitExceeded"),
        "Failed": ("True", "BackoffLimitExceeded"),
    }
    assert status(simulation) == {"failed": 2}
    text = "BackoffLimitExceeded: Job has reached the specified backoff limit"
    assert world.events(simulation, "Job", "j")[-1] == text
    world.advance(simulation, 900)
    assert active(simulation) == []


def test_a_deadline_ends_it() -> None:
    simulation = started(completions=1, activeDeadlineSeconds=30, cpu="64")
    world.advance(simulation, 29)
    assert conditions(simulation) == {}
    world.advance(simulation, 2)
    assert conditions(simulation)["Failed"] == ("True", "DeadlineExceeded")
    assert active(simulation) == []


def test_indexes_start_from_the_lowest_and_repeat_after_a_failure() -> None:
    simulation = started(completions=4, parallelism=2, completionMode="Indexed")
    key = "batch.kubernetes.io/job-completion-index"
    assert [pod.annotations[key] for pod in active(simulation)] == ["0", "1"]
    assert all(pod.name.startswith(f"j-{pod.labels[key]}-") for pod in active(simulation))
    finish(simulation)
    assert [pod.annotations[key] for pod in active(simulation)] == ["1", "2"]
    finish(simulation, "Failed")
    world.advance(simulation, 11)
    assert [pod.annotations[key] for pod in active(simulation)] == ["2", "1"]
    finish(simulation)
    assert world.find(simulation, "Job", "j").status["completedIndexes"] == "0,2"


def test_suspending_gives_up_the_pods_without_counting_them() -> None:
    simulation = started(completions=2, parallelism=2)
    world.apply(simulation, world.job("j", annotations={DURATION: "9999"}, completions=2, parallelism=2, suspend=True))
    assert active(simulation) == []
    assert status(simulation) == {}
    assert conditions(simulation) == {"Suspended": ("True", "JobSuspended")}
    world.apply(simulation, world.job("j", annotations={DURATION: "9999"}, completions=2, parallelism=2))
    assert status(simulation) == {"active": 2}
    assert conditions(simulation) == {"Suspended": ("False", "JobResumed")}


HELD = {DURATION: "9999"}


@pytest.mark.parametrize(("kubernetes", "forgets"), [("v1.34", False), ("v1.35", False), ("v1.36", True)])
def test_a_suspended_job_forgets_its_start_where_its_template_may_change(kubernetes: str, forgets: bool) -> None:
    """Elsewhere the deadline counts from the old start when the Job is resumed, and may be past."""
    world_of = Cluster(kubernetes=kubernetes).apply(world.job("j", annotations=HELD, activeDeadlineSeconds=30)).settle()
    simulation = world_of.simulation
    start = world.find(simulation, "Job", "j").status["startTime"]
    suspended = world.job("j", annotations=HELD, activeDeadlineSeconds=30, suspend=True)
    world.apply(simulation, suspended)
    assert world.find(simulation, "Job", "j").status.get("startTime") == (None if forgets else start)
    world.advance(simulation, 20)
    world.apply(simulation, world.job("j", annotations=HELD, activeDeadlineSeconds=30))
    resumed = world.find(simulation, "Job", "j").status["startTime"]
    assert resumed > start
    world.apply(simulation, suspended)
    world.advance(simulation, 60)
    assert conditions(simulation) == {"Suspended": ("True", "JobSuspended")}
    world.apply(simulation, world.job("j", annotations=HELD, activeDeadlineSeconds=30))
    ended = {"Failed": ("True", "DeadlineExceeded")}
    assert {name: held for name, held in conditions(simulation).items() if name == "Failed"} == (
        {} if forgets else ended
    )


def test_less_parallelism_gives_up_pods_without_counting_them() -> None:
    simulation = started(completions=5, parallelism=3)
    world.apply(simulation, world.job("j", annotations={DURATION: "9999"}, completions=5, parallelism=1))
    assert status(simulation) == {"active": 1}


def test_a_victim_of_preemption_counts_as_failed_and_is_replaced() -> None:
    simulation = world.cluster(world.job("j", annotations={DURATION: "9999"}, completions=1, cpu="3"), nodes=1)
    simulation.settle()
    world.apply(simulation, make_pod("vip").cpu("3").priority(1000).obj())
    simulation.settle()
    world.advance(simulation, 45)
    assert status(simulation) == {"active": 1, "failed": 1}
    assert [pod.node_name for pod in active(simulation)] == [""]


def test_a_deleted_job_takes_its_pods_along() -> None:
    simulation = started(completions=3, parallelism=2)
    finish(simulation)
    world.delete(simulation, "Job", "default/j")
    world.advance(simulation, 60)
    assert world.pods(simulation, gone=True) == []


@pytest.mark.parametrize("seed", range(6))
def test_the_lowest_free_indexes_are_those_of_a_scan(seed: int) -> None:
    pick = Random(seed)
    spec = {"parallelism": 6, "completions": 40, "completionMode": "Indexed", "backoffLimit": 1000}
    simulation = world.cluster(world.job("batch", **spec))
    [controller] = [item for item in simulation.controllers if isinstance(item, JobController)]
    for _ in range(30):
        pods = [pod for pod in world.pods(simulation) if is_active(pod)]
        pod, what = pick.choice(pods), pick.choice(["Succeeded", "Succeeded", "Failed", "deleted", "other index"])
        if what == "deleted":
            world.delete(simulation, "Pod", pod.key)
        elif what == "other index":
            annotations = {JOB_INDEX: str(pick.randrange(40))}
            simulation.execute(commands.Patch("Pod", pod.key, {"metadata": {"annotations": annotations}}))
        else:
            world.end(simulation, pod, what)
        world.advance(simulation, pick.choice([1, 700]) if what != "Succeeded" else 1)
        job = world.find(simulation, "Job", "batch")
        taken = [int(pod.annotations[JOB_INDEX]) for pod in world.pods(simulation) if is_active(pod)]
        done = [index for first, last in controller._done(job) for index in range(first, last + 1)]
        free = [str(index) for index in range(40) if index not in [*taken, *done]]
        assert [*controller._free_indexes(job, 5)] == free[:5]
        if not taken:
            return


@pytest.mark.parametrize(
    ("limit", "counts", "before", "fails"),
    [(6, [3, 3], [], True), (6, [3, 2], [], False), (2, [1], [1], True), (0, [0], [1], True), (3, [2], [], False)],
)
def test_restarts_of_all_containers_count_towards_the_limit(
    limit: int, counts: list[int], before: list[int], fails: bool
) -> None:
    """The pod restarts its containers itself."""
    job = world.job("j", backoffLimit=limit, parallelism=1, completions=1)
    spec = job["spec"]["template"]["spec"]
    spec["restartPolicy"] = "OnFailure"
    spec["containers"] = [{"name": f"c{number}", "image": "x"} for number in range(len(counts))]
    spec["initContainers"] = [{"name": f"i{number}", "image": "x"} for number in range(len(before))]
    job["spec"]["template"]["metadata"].setdefault("annotations", {})[DURATION] = "10000"
    simulation = world.cluster(job)
    simulation.execute(commands.Settle())
    (pod,) = simulation.api.pods()
    shared = {"image": "x", "imageID": "", "ready": True}
    status = {
        field: [{"name": f"{letter}{number}", **shared, "restartCount": count} for number, count in enumerate(listed)]
        for field, letter, listed in (("containerStatuses", "c", counts), ("initContainerStatuses", "i", before))
    }
    simulation.execute(commands.Patch("Pod", pod.key, {"status": status}))
    world.advance(simulation, 1)
    assert (world.find(simulation, "Job", "j").condition_status("Failed") == "True") == fails
