"""Events and their order: lines of the trace, happenings, answers of the Eviction API, the leader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.commands import Patch
from scheduler_engine.scenario.attempts import FAILED, RunView
from scheduler_engine.scenario.expectations.vocabulary import LABELS, NAMESPACE, POD, WHOLE, Assertion, differs, shown
from scheduler_engine.shapes import Data, Either, Fields, ListOf, Number, Text
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import line
from scheduler_engine.words import say

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
    after = say("failures.after", what=repr(wanted[missing - 1])) if missing else ""
    return [say("failures.not-in-trace", text=wanted[missing]) + after]


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
        say("expectation-keys.event-added"),
        lambda e: _if(isinstance(e, ev.ObjectAdded) and e.kind == "Pod", getattr(e, "key", "")),
    ),
    "popped": (
        say("expectation-keys.event-popped"),
        lambda e: (e.pod,) if isinstance(e, ev.CycleStarted) else (),
    ),
    "failed": (
        say("expectation-keys.event-failed"),
        lambda e: (e.pod,) if isinstance(e, ev.CycleFinished) and e.outcome in FAILED else (),
    ),
    "bound": (
        say("expectation-keys.event-bound"),
        lambda e: (e.pod,) if isinstance(e, ev.CycleFinished) and e.outcome == "bound" else (),
    ),
    "nominated": (
        say("expectation-keys.event-nominated"),
        lambda e: (e.pod,) if isinstance(e, ev.NominationChanged) and e.node else (),
    ),
    "preempted": (
        say("expectation-keys.event-preempted"),
        lambda e: e.victims if isinstance(e, ev.PostFilterRan) else (),
    ),
    "evicted": (
        say("expectation-keys.event-evicted"),
        _evicted,
    ),
    "deleted": (
        say("expectation-keys.event-deleted"),
        lambda e: (e.key,) if isinstance(e, ev.ObjectDeleted) and e.kind == "Pod" else (),
    ),
    "resized": (
        say("expectation-keys.event-resized"),
        lambda e: (
            (e.command.key,)
            if isinstance(e, ev.CommandGiven) and isinstance(e.command, Patch) and e.command.subresource == "resize"
            else ()
        ),
    ),
    "configured": (
        say("expectation-keys.event-configured"),
        lambda e: _if(isinstance(e, ev.CommandGiven) and e.kind == "configure", "scheduler"),
    ),
    "leads": (
        say("expectation-keys.event-leads"),
        lambda e: (e.replica,) if isinstance(e, ev.ReplicaChanged) and e.state == "leading" else (),
    ),
}
"""Happening → (its description, event → the names it concerns)."""


def _missing(run: RunView, expectation: Data) -> int | None:
    """Return the place of the first happening of an order that is missing, None if all happened."""
    entries = iter(run.simulation.recorder.entries)
    for number, wanted in enumerate(expectation["order"]):
        name = _name(wanted)
        if not any(_is(entry, name, wanted[name], wanted.get("at")) for entry in entries):
            return number
    return None


def _order(run: RunView, expectation: Data) -> list[str]:
    number = _missing(run, expectation)
    if number is None:
        return []
    wanted = expectation["order"][number]
    name, at = _name(wanted), wanted.get("at")
    when = say("failures.at", seconds=at) if at is not None else ""
    others = [f"{moment / SECOND_US:g} s" for moment in _moments(run, name, wanted[name])]
    if not others:
        return [say("failures.never-happened", what=_said(wanted))]
    after = "" if number == 0 else say("failures.after", what=_said(expectation["order"][number - 1]))
    what, moments = f"{_said(wanted)}{when}", ", ".join(others)
    return [say("failures.did-not-happen", what=what, after=after, moments=moments)]


def _order_plainly(run: RunView, expectation: Data) -> str:
    """Return which happening of an order is missing, and what came before it."""
    number = _missing(run, expectation)
    if number is None or "at" in expectation["order"][number]:
        return say("questions.not-yet")
    missing = _plain(expectation["order"][number])
    if number == 0:
        return say("questions.not-this-yet", missing=missing)
    return say("questions.not-since-then", done=_plain(expectation["order"][number - 1]), missing=missing)


def _plain(item: Data) -> str:
    name = _name(item)
    return say(f"happened.{name}", name=item[name].rpartition("/")[2])


def _name(item: Data) -> str:
    return next(key for key in item if key != "at")


def _trace_plainly(run: RunView, expectation: Data) -> str:
    return say("questions.not-yet")


def _never(run: RunView, expectation: Data) -> list[str]:
    name, about = expectation["never"], expectation.get("of")
    for entry in run.simulation.recorder.entries:
        keys = [key for key in HAPPENINGS[name][1](entry.event) if about in (None, key)]
        if keys:
            seconds = entry.at_us / SECOND_US
            return [say("failures.happened", names=", ".join(keys), event=name, seconds=seconds)]
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
            seconds = entry.at_us / SECOND_US
            pods = shown(wanted["selector"])
            return [say("failures.fewer-ready", pods=pods, number=count, seconds=seconds, least=least)]
    return [] if reached else [say("failures.never-ready", pods=shown(wanted["selector"]), least=least)]


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
    failures: list[str] = []
    if leaders != names:
        leading = ", ".join(leaders) or say("failures.nobody")
        failures.append(say("failures.leads", leaders=leading, wanted=", ".join(names)))
    if "transitions" in expectation:
        written = (entry.event for entry in reversed(run.simulation.recorder.entries))
        transitions = next((event.leader_transitions for event in written if isinstance(event, ev.LockChanged)), None)
        if transitions != expectation["transitions"]:
            wanted = expectation["transitions"]
            failures.append(say("failures.transitions", number=transitions, wanted=wanted))
    return failures


HAPPENING = Fields(
    {
        **{name: Text(about) for name, (about, _) in HAPPENINGS.items()},
        "at": Number(say("expectation-keys.event-at"), least=0),
    },
    about=say("expectation-keys.event"),
    some=tuple(HAPPENINGS),
    single=True,
)
ASSERTIONS = {
    "trace": Assertion(_trace, say("expectation-keys.trace"), ListOf(Text(), fewest=1), plainly=_trace_plainly),
    "order": Assertion(_order, say("expectation-keys.order"), ListOf(HAPPENING, fewest=1), plainly=_order_plainly),
    "never": Assertion(
        _never,
        say("expectation-keys.never"),
        Text(say("expectation-keys.never-event"), tuple(HAPPENINGS)),
        {"of": Text(say("expectation-keys.never-of"))},
    ),
    "ready": Assertion(
        _ready,
        say("expectation-keys.ready"),
        Fields(
            {
                "selector": LABELS,
                "namespace": NAMESPACE,
                "atLeast": Number(whole=True, least=1),
            },
            ("selector", "atLeast"),
        ),
    ),
    "evictions": Assertion(
        _evictions,
        say("expectation-keys.evictions"),
        POD,
        {
            "answers": ListOf(WHOLE, say("expectation-keys.evictions-answers")),
            "message": Text(say("expectation-keys.evictions-message")),
            "cause": Text(say("expectation-keys.evictions-cause")),
        },
        some=("answers", "message", "cause"),
    ),
    "leader": Assertion(
        _leader,
        say("expectation-keys.leader"),
        Either((Text(), ListOf(Text())), say("scenario-errors.name-or-names")),
        {"transitions": WHOLE},
    ),
}
