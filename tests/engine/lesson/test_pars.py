"""Nothing is cheaper than par: known ways round a challenge fail its task or cost as much."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import Lesson, load_lesson, read_lesson
from scheduler_engine.lesson.costs import cost
from scheduler_engine.lesson.daily import PROBLEMS, daily, daily_text, name_of
from scheduler_engine.lesson.model import Task
from scheduler_engine.lesson.tasks import done
from scheduler_engine.scenario import FOLDER
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.executing import play
from scheduler_engine.simulation import Simulation

Step = dict[str, Any]
FILES = {path.stem[:2]: path for path in sorted((FOLDER.parent / "challenges").glob("*.yaml"))}
FIRST_SEED = 739_016
DAILIES = {kind.__name__: FIRST_SEED + (n - FIRST_SEED) % len(PROBLEMS) for n, kind in enumerate(PROBLEMS)}
"""Kind of a problem of the day → a seed that draws it (for spread, one with a node that is too small)."""
WAITS = (0, 15, 45, 400)
"""Seconds to pass before each look at the task."""


def wait(seconds: float) -> Step:
    return {"kind": "advance", "seconds": seconds}


def patch(kind: str, key: str, **changes: Any) -> Step:
    return {"kind": "patch", "object_kind": kind, "key": key, "changes": changes}


def unlabel(*pods: str, app: str | None = None) -> list[Step]:
    return [patch("Pod", f"default/{pod}", metadata={"labels": {"app": app}}) for pod in pods]


def finish(*pods: str, phase: str = "Succeeded") -> list[Step]:
    return [patch("Pod", f"default/{pod}", status={"phase": phase}) for pod in pods]


def delete(pod: str) -> Step:
    return {"kind": "delete", "object_kind": "Pod", "key": f"default/{pod}"}


def evict(pod: str) -> Step:
    return {"kind": "evict", "pod": f"default/{pod}"}


def resize(pod: str, **requests: str) -> Step:
    return resized(pod, {"requests": requests})


def empty(pod: str) -> Step:
    """Resize a pod to request nothing. Its limit keeps its quality of service class."""
    return resized(pod, {"requests": {"cpu": "0", "memory": "0"}, "limits": {"cpu": "8"}})


def resized(pod: str, resources: dict[str, Any]) -> Step:
    containers = [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": resources}]
    return patch("Pod", f"default/{pod}", spec={"containers": containers}) | {"subresource": "resize"}


def pod(name: str, app: str, node: str) -> Step:
    """Return a new pod without requests, on a node chosen by hand."""
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}}, "spec": spec}
    return {"kind": "apply", "manifests": [manifest]}


def without(*plugins: str) -> Step:
    """Return the configuration without some plugins."""
    disabled = [{"name": name} for name in plugins]
    return {
        "kind": "configure",
        "configuration": {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": {"multiPoint": {"disabled": disabled}}}],
        },
    }


CHEAPER: dict[str, tuple[str, list[Step]]] = {
    "nothing is scheduled: by waiting": ("01", [wait(700)]),
    "nothing is scheduled: by allowing any node": ("01", [without("TaintToleration", "NodeUnschedulable")]),
    "a zone: by writing two pods off": ("02", finish("web-2", "web-3")),
    "a zone: by other pods with the label": (
        "02",
        [*unlabel("web-2", "web-3"), pod("x-1", "web", "node-b1"), pod("x-2", "web", "node-b2")],
    ),
    "a zone: by deleting one pod": ("02", [delete("web-3")]),
    "the fewest nodes: by waiting": ("03", [wait(700)]),
    "a node is freed: by writing the pods off": (
        "04",
        [{"kind": "drain", "node": "node-a1"}, *finish("web-0", "web-1"), evict("web-0"), evict("web-1")],
    ),
    "a node is freed: by evicting pods that are already leaving": (
        "04",
        [{"kind": "cordon", "node": "node-a1"}, delete("web-0"), delete("web-1"), evict("web-0"), evict("web-1")],
    ),
    "the critical pod: by writing y-1 off as failed": ("05", finish("y-1", phase="Failed")),
    "the critical pod: by writing y-1 off as complete": ("05", finish("y-1")),
    "the critical pod: by shrinking y-1": ("05", [resize("y-1", cpu="1n")]),
    "the critical pod: by removing all requests of y-1": ("05", [empty("y-1")]),
    "the critical pod: by evicting y-1": ("05", [evict("y-1")]),
    "four replicas: by hiding two of them from the others": ("06", unlabel("db-0", "db-1")),
    "four replicas: by another application's name": ("06", unlabel("db-0", "db-1", app="old")),
    "four replicas: by allowing them to share": ("06", [without("InterPodAffinity", "TaintToleration")]),
    "a drain: by deleting the pod and evicting it on its way": ("07", [delete("db-0"), evict("db-0")]),
    "a drain: by hiding the pod from the budget": ("07", unlabel("db-0")),
    "a drain: by writing the pod off": ("07", [*finish("db-0"), evict("db-0")]),
    "they come back: by waiting": ("08", [wait(700)]),
    "they come back: by evicting it in time": ("08", [wait(2), evict("cache-0"), wait(3), evict("cache-0")]),
    "nobody's scheduler: by waiting": ("09", [wait(700)]),
    "a claim: by allowing any node": ("10", [without("VolumeBinding")]),
    "a claim: by allowing any zone": ("10", [without("VolumeBinding", "VolumeZone")]),
    "the blocked queue: by waiting": ("11", [wait(700)]),
    "web beside cache: by other pods with the label": (
        "12",
        [*unlabel("web-0", "web-1"), pod("x-1", "web", "node-a1"), pod("x-2", "web", "node-a1")],
    ),
    "web beside cache: by deleting one after the other": ("12", [delete("web-0"), wait(45), delete("web-1")]),
    "web beside cache: by writing them off": ("12", finish("web-0", "web-1")),
    "one change: by waiting": ("13", [wait(700)]),
    "one change: by allowing any node": ("13", [without("TaintToleration")]),
    "one change: by shrinking the pod": ("13", [resize("ledger-1", cpu="1")]),
    "one change: by writing the other pod off": ("13", finish("batch-1")),
}
"""Description → number of the challenge, and the steps to try."""


@cache
def opened(text: str) -> tuple[Lesson, Task, Simulation, int]:
    """Return a challenge at the start of its task, and how many commands its setup has."""
    lesson = load_lesson(FILES[text]) if text in FILES else read_lesson(text, name_of(0))
    simulation = lesson.scenario.open()
    setup = simulation.recorder.command
    for part in lesson.parts:
        if part.task is not None:
            return lesson, part.task, simulation, setup
        play(simulation, part.way)
    raise AssertionError(f"{lesson.slug} has no task")


def cheapest(text: str, steps: list[Step]) -> int | None:
    """Return the cost when the task is first done. None: it is never done, or a step is refused."""
    _, task, begun, setup = opened(text)
    simulation = copy.deepcopy(begun)
    try:
        play(simulation, steps)
    except Rejected:
        return None
    for seconds in WAITS:
        play(simulation, [wait(seconds)] if seconds else [])
        if done(RunView(simulation), task):
            return cost(simulation, setup).total
    return None


def is_no_cheaper(text: str, steps: list[Step]) -> None:
    par, price = opened(text)[0].par, cheapest(text, steps)
    assert par is not None
    assert price is None or price >= par, f"{price} is less than {par}"


@pytest.mark.parametrize("words", CHEAPER)
def test_no_way_round_a_challenge_is_cheaper_than_its_par(words: str) -> None:
    is_no_cheaper(*CHEAPER[words])


@pytest.mark.parametrize("number", FILES)
def test_no_challenge_is_done_for_less_by_pods_that_ask_for_nothing(number: str) -> None:
    for one in opened(number)[2].api.pods():
        is_no_cheaper(number, [empty(one.name)])


def test_each_challenge_has_its_ways_round() -> None:
    assert sorted({number for number, _ in CHEAPER.values()}) == sorted(FILES)


@pytest.mark.parametrize("number", FILES)
def test_the_par_of_a_challenge_is_the_price_of_its_first_way(number: str) -> None:
    lesson, task, _, _ = opened(number)
    assert cheapest(number, [dict(step) for step in task.right[0]]) == lesson.par


def ways_round(simulation: Simulation) -> list[list[Step]]:
    """Return the attempts at a problem of the day, over all its pods and nodes. Each costs less than most pars."""
    placed = [one for one in simulation.api.pods() if one.node_name]
    nodes = [node.name for node in simulation.api.list("Node")]
    owned = [one.name for one in placed]
    apps = sorted({one.labels.get("app", "") for one in placed})
    attempts = [[wait(700)], [without("InterPodAffinity", "TaintToleration")], [without("NodeResourcesFit")]]
    attempts += [[without("PodTopologySpread")], [without("NodeAffinity", "NodeUnschedulable")]]
    attempts += [[resize(one, cpu="1n", memory="1")] for one in owned] + [finish(one) for one in owned]
    attempts += [[empty(one)] for one in owned]
    attempts += [[*unlabel(one), resize(one, cpu="1n", memory="1")] for one in owned]
    attempts += [unlabel(*owned[:2]), unlabel(*owned[-2:])]
    attempts += [[delete(one), evict(one)] for one in owned[:2]]
    attempts += [[pod(f"x-{place}", app, nodes[-1]) for place in range(3)] for app in apps]
    attempts += [[*unlabel(*owned[-2:]), *(pod(f"x-{place}", app, nodes[-1]) for place in range(2))] for app in apps]
    return [*attempts, [step for one in owned for step in (delete(one), evict(one))]]


@pytest.mark.parametrize("kind", DAILIES)
def test_no_way_round_a_problem_of_the_day_is_cheaper_than_its_par(kind: str) -> None:
    text = daily_text(DAILIES[kind])
    for steps in ways_round(opened(text)[2]):
        is_no_cheaper(text, steps)


@pytest.mark.parametrize("seed", range(FIRST_SEED - 4, FIRST_SEED + len(PROBLEMS)))
def test_the_par_of_a_day_can_be_reached(seed: int) -> None:
    lesson = daily(seed)
    task = lesson.parts[0].task
    assert task is not None
    assert min(filter(None, (cheapest(daily_text(seed), [*way]) for way in task.right))) == lesson.par
