"""Events and their order: lines of the trace, happenings, answers of the Eviction API, the leader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.commands import Patch
from scheduler_engine.scenario.attempts import FAILED, RunView
from scheduler_engine.scenario.expectations.vocabulary import LABELS, POD, WHOLE, Assertion, differs, shown
from scheduler_engine.shapes import Data, Either, Fields, ListOf, Number, Text
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line

OBJECT_EVENTS = (ev.ObjectAdded, ev.ObjectModified, ev.ObjectDeleted)
READY = ("Ready", "True")
TAINT_EVICTION, MARKING = "TaintManagerEviction", "Marking for deletion"
"""Reason and message of the event that the taint eviction controller records when it deletes a pod."""


def _trace(run: RunView, expectation: Data) -> list[str]:
    lines = (line(entry.event) for entry in run.simulation.recorder.entries)
    wanted = expectation["trace"]
    missing = next((place for place, text in enumerate(wanted) if not any(text in said for said in lines)), None)
    if missing is None:
        return []
    after = f" after {wanted[missing - 1]!r}" if missing else ""
    return [f"{wanted[missing]!r} has not happened{after}"]


def _if(holds: bool, *names: str) -> tuple[str, ...]:
    return names if holds else ()


def _evicted(event: ev.Event) -> tuple[str, ...]:
    if isinstance(event, ev.EventRecorded):
        marked = event.reason == TAINT_EVICTION and event.message.startswith(MARKING)
        return _if(marked, event.regarding)
    if isinstance(event, ev.EvictionAnswered):
        return _if(event.code == 200, event.pod)
    return (event.pod,) if isinstance(event, ev.PodEvicted) else ()


HAPPENINGS: dict[str, tuple[str, Callable[[Any], tuple[str, ...]]]] = {
    "added": (
        "A pod is created.",
        lambda e: _if(isinstance(e, ev.ObjectAdded) and e.kind == "Pod", getattr(e, "key", "")),
    ),
    "popped": (
        "The scheduler starts an attempt to place a pod.",
        lambda e: (e.pod,) if isinstance(e, ev.CycleStarted) else (),
    ),
    "failed": (
        "An attempt to place a pod fails.",
        lambda e: (e.pod,) if isinstance(e, ev.CycleFinished) and e.outcome in FAILED else (),
    ),
    "bound": (
        "A pod is bound.",
        lambda e: (e.pod,) if isinstance(e, ev.CycleFinished) and e.outcome == "bound" else (),
    ),
    "nominated": (
        "A pod is nominated to a node.",
        lambda e: (e.pod,) if isinstance(e, ev.NominationChanged) and e.node else (),
    ),
    "preempted": (
        "A pod is the victim of a preemption.",
        lambda e: e.victims if isinstance(e, ev.PostFilterRan) else (),
    ),
    "evicted": (
        "A pod is evicted, because of node pressure, a taint, or the Eviction API.",
        _evicted,
    ),
    "deleted": (
        "A pod is gone.",
        lambda e: (e.key,) if isinstance(e, ev.ObjectDeleted) and e.kind == "Pod" else (),
    ),
    "resized": (
        "The requests of a pod are changed in place.",
        lambda e: (
            (e.command.key,)
            if isinstance(e, ev.CommandGiven) and isinstance(e.command, Patch) and e.command.subresource == "resize"
            else ()
        ),
    ),
    "configured": (
        "The scheduler gets another configuration.",
        lambda e: _if(isinstance(e, ev.CommandGiven) and e.kind == "configure", "scheduler"),
    ),
    "leads": (
        "A replica of the scheduler becomes the leader.",
        lambda e: (e.replica,) if isinstance(e, ev.ReplicaChanged) and e.state == "leading" else (),
    ),
}
"""Happening → (its description, event → the names it concerns)."""


def _order(run: RunView, expectation: Data) -> list[str]:
    entries = iter(run.simulation.recorder.entries)
    for number, wanted in enumerate(expectation["order"]):
        name = next(key for key in wanted if key != "at")
        about, at = wanted[name], wanted.get("at")
        if not any(_is(entry, name, about, at) for entry in entries):
            when = f" at {at:g} s" if at is not None else ""
            others = [f"{moment / SECOND_US:g} s" for moment in _moments(run, name, about)]
            if not others:
                return [f"{_said(wanted)} never happened"]
            after = "" if number == 0 else f" after {_said(expectation['order'][number - 1])}"
            return [f"{_said(wanted)}{when} did not happen{after}: it happened at {', '.join(others)}"]
    return []


def _never(run: RunView, expectation: Data) -> list[str]:
    name, about = expectation["never"], expectation.get("of")
    for entry in run.simulation.recorder.entries:
        keys = [key for key in HAPPENINGS[name][1](entry.event) if about in (None, key)]
        if keys:
            return [f"{', '.join(keys)}: {name} at {entry.at_us / SECOND_US:g} s, expected never"]
    return []


def _ready(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["ready"]
    least, namespace = wanted["atLeast"], wanted.get("namespace", "default")
    matches = selector_from({"matchLabels": dict(wanted["selector"])}).matches
    ready: dict[str, bool] = {}
    reached = False
    for entry in run.simulation.recorder.entries:
        event = entry.event
        if not isinstance(event, OBJECT_EVENTS) or event.kind != "Pod" or not event.key.startswith(f"{namespace}/"):
            continue
        if isinstance(event, ev.ObjectDeleted):
            ready.pop(event.key, None)
        else:
            metadata = event.manifest["metadata"]
            counts = matches(metadata.get("labels") or {}) and not metadata.get("deletionTimestamp")
            ready[event.key] = counts and READY in _conditions(event.manifest)
        count = sum(ready.values())
        reached = reached or count >= least
        if reached and count < least:
            at = f"{entry.at_us / SECOND_US:g} s"
            return [f"{shown(wanted['selector'])}: {count} ready at {at}, expected {least} at all times"]
    return [] if reached else [f"{shown(wanted['selector'])}: there were never {least} ready at once"]


def _conditions(manifest: Data) -> list[tuple[str, str]]:
    """Return type and status of each condition."""
    return [
        (item.get("type", ""), item.get("status", ""))
        for item in (manifest.get("status") or {}).get("conditions") or ()
    ]


def _said(item: Data) -> str:
    return " ".join(f"{name} {about}" for name, about in item.items() if name != "at")


def _is(entry: ev.Entry, name: str, about: str, at: float | None) -> bool:
    return about in HAPPENINGS[name][1](entry.event) and at in (None, entry.at_us / SECOND_US)


def _moments(run: RunView, name: str, about: str) -> Iterator[int]:
    return (entry.at_us for entry in run.simulation.recorder.entries if _is(entry, name, about, None))


def _evictions(run: RunView, expectation: Data) -> list[str]:
    key = expectation["evictions"]
    answers = run.evictions.get(key, [])
    failures: list[str] = []
    if "answers" in expectation:
        failures += differs(f"{key}: answers", [event.code for event in answers], expectation["answers"])
    for name in ("message", "cause"):
        if name in expectation:
            last = getattr(answers[-1], name) if answers else ""
            failures += differs(f"{key}: {name}", last, expectation[name])
    return failures


def _leader(run: RunView, expectation: Data) -> list[str]:
    wanted = expectation["leader"]
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    leaders = [replica.name for replica in run.simulation.replicas.leaders()]
    failures = [] if leaders == names else [f"{', '.join(leaders) or 'nobody'} leads, expected {', '.join(names)}"]
    if "transitions" in expectation:
        written = (entry.event for entry in reversed(run.simulation.recorder.entries))
        transitions = next((event.leader_transitions for event in written if isinstance(event, ev.LockChanged)), None)
        if transitions != expectation["transitions"]:
            failures.append(f"{transitions} transitions in the lock, expected {expectation['transitions']}")
    return failures


HAPPENING = Fields(
    {**{name: Text(about) for name, (about, _) in HAPPENINGS.items()}, "at": Number("Simulated seconds.", least=0)},
    about="One event, and the object that it concerns.",
    some=tuple(HAPPENINGS),
    single=True,
)
ASSERTIONS = {
    "trace": Assertion(
        _trace, "Lines of the trace contain these texts, in this order.", ListOf(Text(), fewest=1), quotes=True
    ),
    "order": Assertion(_order, "These events have happened in this order.", ListOf(HAPPENING, fewest=1), quotes=True),
    "never": Assertion(
        _never,
        "This event has never happened.",
        Text("An event, as in order.", tuple(HAPPENINGS)),
        {"of": Text("The object that it concerns. Default: any object.")},
    ),
    "ready": Assertion(
        _ready,
        "Since atLeast matching pods were ready for the first time, there have never been fewer.",
        Fields(
            {
                "selector": LABELS,
                "namespace": Text("The namespace of the pods. Default: default."),
                "atLeast": Number(whole=True, least=1),
            },
            ("selector", "atLeast"),
        ),
    ),
    "evictions": Assertion(
        _evictions,
        "The answers of the Eviction API to requests to evict a pod.",
        POD,
        {
            "answers": ListOf(WHOLE, "All answers, in order: 200, 429 or 500."),
            "message": Text("The message of the last answer."),
            "cause": Text("The cause of the last answer."),
        },
        some=("answers", "message", "cause"),
    ),
    "leader": Assertion(
        _leader,
        'The replica of the scheduler that leads; a list when several do; "" is the one scheduler without a name.',
        Either((Text(), ListOf(Text())), "must be a name, or a list of names"),
        {"transitions": WHOLE},
    ),
}
