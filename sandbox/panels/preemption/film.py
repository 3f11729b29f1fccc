"""The film of a node's dry run: the node as it is, lower-priority pods out, one reprieve after the other, the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing import shapes
from sandbox.panels.drawing.blocks import Block, block, gone_block
from sandbox.panels.drawing.shapes import Drawing, Shapes, Text
from sandbox.panels.explain import explain_dry_run
from sandbox.panels.model.state import Cycle, PodState
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.framework.facts import DryRunFacts, DryRunRoom
from scheduler_engine.trace.events import PreemptionNodeTried
from scheduler_engine.wording import amounts

FIT = "NodeResourcesFit"
MOST_REMOVALS = 12
"""Pods that are taken out one by one; the rest go together."""


def film(world: World, cycle: Cycle, tried: PreemptionNodeTried) -> dict[str, Any]:
    """Return ``frames`` in order, each with a bar and its sum; ``protected``: pods whose eviction would violate a
    budget.
    """
    facts = explain_dry_run(world, cycle, tried)
    return {
        "node": tried.node,
        "frames": _Film(world, cycle, tried, facts).frames(),
        "resource": _tight(world, cycle, tried.node, facts),
        "rejected": tried.rejected,
        "why": wording.sentence(facts.facts) if facts is not None and tried.rejected else "",
        "lines": wording.lines(facts.facts) if facts is not None and tried.rejected else (),
        "protected": [short_name(key) for key in tried.violating],
    }


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of the dry run; ``note`` and ``lines``: the plugin's own words, empty if it gives no facts."""

    action: str
    pod: str
    ok: bool
    reason: str = ""
    note: str = ""
    lines: tuple[wording.Line, ...] = ()


def _steps(tried: PreemptionNodeTried, facts: DryRunFacts | None) -> list[_Step]:
    if facts is None:
        return [_Step(*step) for step in tried.steps]
    return [
        _Step(said.action, said.pod, said.ok, said.reason, wording.sentence(said.facts), wording.lines(said.facts))
        for said in facts.steps
    ]


def pod_then(world: World, cycle: Cycle, key: str) -> PodState | None:
    """Return a pod of the cycle's snapshot; None if it is gone, even if another pod has its name."""
    snapshot = cycle.mark("Snapshot")
    return world.pod_at(key, snapshot.entry if snapshot is not None else cycle.entry)


def pod_block(world: World, cycle: Cycle, key: str) -> Block:
    pod = pod_then(world, cycle, key)
    return block(pod, "", state="bound") if pod else gone_block(key)


def _tight(world: World, cycle: Cycle, node: str, facts: DryRunFacts | None) -> str:
    """Return the resource whose bar is drawn: the first one that was short in the dry run, else in Filter, else cpu."""
    steps = facts.steps if facts is not None else ()
    checked = [said for step in steps for plugin, said in step.checked if plugin == FIT]
    filtered = world.witness.filter(cycle, node, FIT)
    short = (
        item.values["resource"]
        for said in (*checked, *([filtered] if filtered is not None else []))
        for item in said.shown
        if item.ok is False and "resource" in item.values
    )
    return str(next(short, "cpu"))


@dataclass(frozen=True, slots=True)
class _Bar:
    """Pods on the node in one frame: the pod in question if ``with_asker``, then ``inside``; ``back`` is on trial."""

    inside: tuple[str, ...]
    with_asker: bool
    back: str = ""
    refused: bool = False


class _Film:
    """What the dry run saw on the node, and how much of the drawn resource each pod requests."""

    def __init__(self, world: World, cycle: Cycle, tried: PreemptionNodeTried, facts: DryRunFacts | None) -> None:
        self.world, self.cycle, self.tried, self.steps = world, cycle, tried, _steps(tried, facts)
        self.name = short_name(cycle.pod)
        self.resource = _tight(world, cycle, tried.node, facts)
        room = world.witness.room(cycle, tried.node, self.resource) or DryRunRoom(0, 0, ())
        self.total, self.asked = room.total, room.asked
        self.sizes, self.nominated = dict(room.pods), dict(room.nominated)
        self.waiting = sum(self.nominated.values())

    def frames(self) -> list[dict[str, Any]]:
        if not self.steps:
            return self._without_steps()
        removed = [step.pod for step in self.steps if step.action == "remove"]
        inside = tuple(key for key in self.sizes if key not in removed)
        frames = [self._as_it_is((*inside, *removed))]
        frames += self._removals(len(frames), inside, removed)
        for step in self.steps:
            if step.action == "fits":
                frames.append(self._all_out(len(frames), inside, len(removed), step))
            elif step.action == "reprieve":
                frames.append(self._reprieve(len(frames), inside, step))
                inside = (*inside, step.pod) if step.ok else inside
        return frames if self.tried.rejected else [*frames, self._end(len(frames), inside)]

    def _without_steps(self) -> list[dict[str, Any]]:
        """Return the beginning and the end: nobody was removed, or a lean trace names only the victims."""
        staying = tuple(key for key in self.sizes if key not in self.tried.victims)
        first = self._as_it_is((*staying, *self.tried.victims))
        return [first] if self.tried.rejected else [first, self._end(1, staying)]

    def _as_it_is(self, inside: tuple[str, ...]) -> dict[str, Any]:
        asks = say("film.asks", pod=self.name, amount=self._text(self.asked))
        return self._used(0, say("film.as-it-is"), _Bar(inside, False), asks)

    def _end(self, number: int, inside: tuple[str, ...]) -> dict[str, Any]:
        bar = _Bar(inside, True)
        used = self._taken(self._size(*inside) + self.asked)
        frame = self._frame(number, say("film.result"), bar, used)
        return frame | {"formula": self._sum(bar), "note": self._result()}

    def _removals(self, number: int, inside: tuple[str, ...], removed: list[str]) -> list[dict[str, Any]]:
        """Return one frame for each call of RemovePod, starting with the pods on the node."""
        by_pod = {step.pod: step for step in self.steps if step.action == "remove"}
        one_by_one = removed if len(removed) <= MOST_REMOVALS + 1 else removed[:MOST_REMOVALS]
        frames = []
        for place, key in enumerate(one_by_one, 1):
            bar = _Bar((*inside, *removed[place:]), False)
            pod = short_name(key)
            note = by_pod[key].note or say("film.removed", pod=pod)
            frame = self._used(number + place - 1, say("film.out"), bar, note)
            frames.append(frame | {"pod": pod_block(self.world, self.cycle, key)})
        rest = len(removed) - len(one_by_one)
        if rest:
            note = say("film.removed-the-rest", count=rest)
            frames.append(
                self._used(number + len(one_by_one), say("film.rest-out", count=rest), _Bar(inside, False), note)
            )
        return frames

    def _used(self, number: int, title: str, bar: _Bar, note: str) -> dict[str, Any]:
        """Return a frame without the pod in question."""
        used = self._taken(self._size(*bar.inside))
        frame = self._frame(number, title, bar, used)
        return frame | {"formula": say("film.used-of", used=used, total=self._text(self.total)), "note": note}

    def _taken(self, used: int) -> str:
        """Return ``2000m used + 1000m nominated (q)``."""
        text = say("film.used", amount=self._text(used))
        return f"{text} + {self._nominated(self._text(self.waiting))}" if self.nominated else text

    def _nominated(self, amount: str) -> str:
        names = listed([short_name(key) for key in self.nominated])
        return say("film.nominated", amount=amount, pods=names)

    def _all_out(self, number: int, inside: tuple[str, ...], removed: int, step: _Step) -> dict[str, Any]:
        bar, title, without = _Bar(inside, True), say("film.all-out", count=removed), plural(removed, "pod")
        recorded = say("film.fits-without" if step.ok else "film.still-does-not-fit", pods=without, pod=self.name)
        outcome = say("film.fits") if step.ok else say("film.still-no")
        frame = self._frame(number, title, bar, outcome, "yes" if step.ok else "no", step.reason)
        return frame | {"formula": self._sum(bar), "note": step.note or recorded, "lines": step.lines}

    def _reprieve(self, number: int, inside: tuple[str, ...], step: _Step) -> dict[str, Any]:
        key, name = step.pod, short_name(step.pod)
        bar = _Bar(inside, True, key, refused=not step.ok)
        recorded = say("film.may-stay" if step.ok else "film.is-a-victim", pod=name, asker=self.name)
        outcome = say("film.kept") if step.ok else say("film.victim")
        frame = self._frame(number, say("film.back-in"), bar, outcome, "yes" if step.ok else "no", step.reason)
        return frame | {
            "pod": pod_block(self.world, self.cycle, key),
            "violates": key in self.tried.violating,
            "formula": self._sum(bar),
            "note": step.note or recorded,
            "lines": step.lines,
        }

    def _result(self) -> str:
        victims = [short_name(key) for key in self.tried.victims]
        return say("film.victims", count=len(victims), pods=", ".join(victims)) if victims else say("film.nobody")

    def _frame(
        self, number: int, title: str, bar: _Bar, outcome: str, sign: str = "", reason: str = ""
    ) -> dict[str, Any]:
        return {
            "number": number,
            "title": title,
            "pod": None,
            "drawing": self._drawn(bar),
            "outcome": outcome,
            "said": sign,
            "reason": reason,
            "violates": False,
            "lines": (),
        }

    def _size(self, *keys: str) -> int:
        return sum(self.sizes.get(key, 0) for key in keys)

    def _text(self, number: int) -> str:
        return amounts(self.resource, number)[0]

    def _sum(self, bar: _Bar) -> str:
        """Return ``3000m requested + 500m staying + 600m back = 4100m > 4000m``."""
        parts = [(self.asked, "film.requested"), (self.waiting, ""), (self._size(*bar.inside), "film.staying")]
        if bar.back:
            parts.append((self._size(bar.back), "film.back"))
        parts = [part for index, part in enumerate(parts) if part[0] or not index]
        whole = sum(number for number, _ in parts)
        *texts, sum_text, total = amounts(self.resource, *(number for number, _ in parts), whole, self.total)
        keys = (key for _, key in parts)
        terms = " + ".join(
            say(key, amount=text) if key else self._nominated(text) for text, key in zip(texts, keys, strict=True)
        )
        result = f" = {sum_text}" if len(parts) > 1 else ""
        return f"{terms}{result} {'>' if whole > self.total else '≤'} {total}"

    def _drawn(self, bar: _Bar) -> Drawing:
        scale = shapes.FULL / self.total if self.total else 0.0
        x = 0.0
        parts: list[Shapes] = [(shapes.rect("cap", 0, shapes.FULL, 0.5, 14),)]
        if bar.with_asker:
            x = self.asked * scale
            parts += [(shapes.rect("in", 0.2, min(x, 100) - 0.4, 1, 13),), _label(0, x, self.name, "int")]
        for key in (*bar.inside, *([bar.back] if bar.back else [])):
            width = min(self._size(key) * scale, max(100 - x, 0))
            pod = pod_then(self.world, self.cycle, key)
            if key == bar.back and bar.refused:
                parts.append((shapes.rect("over", x, max(width, 0.8), 0.5, 14),))
            else:
                segment = shapes.rect(f"seg app-{pod.app if pod else 1}", x + 0.2, width - 0.4, 1, 13)
                parts += [(segment,), _label(x, width, short_name(key), "")]
            x += width
        for key, size in self.nominated.items():
            width = min(size * scale, max(100 - x, 0))
            pod = pod_then(self.world, self.cycle, key)
            segment = shapes.rect(f"seg is-waiting app-{pod.app if pod else 1}", x + 0.2, width - 0.4, 1, 13)
            parts += [(segment,), _label(x, width, short_name(key), "")] if width else []
            x += width
        parts.append((shapes.limit(-2, 19),))
        return Drawing("fb", tuple(shape for several in parts for shape in several))


def _label(x: float, width: float, text: str, classes: str) -> Shapes:
    """Return a label, nothing if there is no room for it."""
    if width < len(text) * 2.1:
        return ()
    return (Text(classes, shapes.percent(x), "11", text, dx="4"),)
