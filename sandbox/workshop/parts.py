"""Where people are stuck: what happened in each part of the lessons that the participants of a room are in.

Everything comes from the studies and the answers of their sandboxes, by two queries for any number of them. No sandbox
is replayed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from statistics import median
from typing import Any
from uuid import UUID

from sandbox.content.shelf import lessons, part_name
from sandbox.storage.models import Guess, Study
from sandbox.words.say import say
from sandbox.workshop.addresses import look_paths
from sandbox.workshop.models import Seat
from sandbox.workshop.progress import outline_of

SHADES = 4
"""Shades of a cell, from 1 for few to this for the most in its column; 0 for nothing."""
MINUTE = 60


@dataclass(frozen=True)
class Place:
    """A seat with a lesson: what is stored about its parts. Times are in seconds."""

    seat: Seat
    study: Study
    wrong: Counter[int | None]
    """Part → wrong answers, and answers looked up without a guess. None: predictions outside the lesson."""

    @cached_property
    def progress(self) -> dict[str, Any]:
        saved: dict[str, Any] = json.loads(self.study.progress)
        return saved

    @property
    def part(self) -> int:
        """The open part; the number of parts, or more, at the end."""
        return self.study.part

    @property
    def since(self) -> datetime | None:
        """When the open part was opened; None for studies of older versions."""
        part, seconds = self.progress.get("opened", (None, 0))
        return datetime.fromtimestamp(seconds, UTC) if part == self.part else None

    @cached_property
    def outline(self) -> tuple[int, list[int]]:
        """How many parts the lesson has, as far as is known, and which have a task."""
        return outline_of(self.study, self.progress) or (self.part + 1, [])

    @property
    def parts(self) -> int:
        return self.outline[0]

    @property
    def path(self) -> str:
        """The path on which the trainer watches the participant, or helps if that is allowed."""
        paths = look_paths(self.seat)
        return paths["help"] or paths["watch"]

    def state(self, part: int) -> str:
        """Return the key of the state of a part: ``done``, ``skipped``, ``open``, or ``ahead``."""
        states = {"done": self.progress.get("done", ()), "skipped": self.progress.get("skipped", ())}
        left = next((state for state, numbers in states.items() if part in numbers), "")
        return left or ("open" if part == self.part else "ahead")

    def spent(self, part: int) -> int | None:
        """Return the seconds that a part was open until it was last left; None if it was not left, or is unknown."""
        seconds: int | None = self.progress.get("spent", {}).get(str(part))
        return seconds

    def hints(self, part: int) -> int:
        """Return how many hints of a part were shown."""
        return int(self.progress.get("hints", {}).get(str(part), 0))


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of people or attempts in the table. ``shade``: from 0 to ``SHADES``, compared with its column."""

    count: int
    shade: int


@dataclass(frozen=True, slots=True)
class Row:
    """One part of a lesson, from 1. ``minutes``: the median of those who left it, as text, "" if nobody has."""

    number: int
    name: str
    here: Cell
    done: int
    skipped: int
    minutes: str
    slow: int
    """The shade of ``minutes``."""
    wrong: Cell
    hints: Cell
    longest: Place | None
    """Who has been in the part longest, if their time is known."""


@dataclass(frozen=True, slots=True)
class Heat:
    """The parts of one lesson, and how many people are in it and at its end."""

    title: str
    people: int
    finished: int
    rows: list[Row]


def places(seats: Iterable[Seat]) -> list[Place]:
    """Return what is stored about the lessons in the sandboxes of these seats; others have none."""
    taken = {seat.sandbox_id: seat for seat in seats if seat.sandbox_id}
    guesses = Guess.objects.filter(sandbox__in=taken, right=False)
    wrong: dict[UUID, Counter[int | None]] = {sandbox_id: Counter() for sandbox_id in taken}
    for sandbox_id, part in guesses.values_list("sandbox", "part"):
        wrong[sandbox_id][part] += 1
    studies = Study.objects.filter(sandbox__in=taken).select_related("sandbox").order_by("sandbox__created")
    return [Place(taken[study.sandbox_id], study, wrong[study.sandbox_id]) for study in studies]


def heat_maps(found: Iterable[Place]) -> list[Heat]:
    """Return a table for each lesson that somebody is in, the lesson with most people first."""
    lessons_of: dict[tuple[str, str, str], list[Place]] = {}
    for place in found:
        key = place.study.shelf, place.study.slug, place.study.text
        lessons_of.setdefault(key, []).append(place)
    # sorted() keeps the order of lessons with equally many people: the first one opened stays first.
    return [_heat(group) for group in sorted(lessons_of.values(), key=len, reverse=True)]


def _heat(group: Sequence[Place]) -> Heat:
    numbers = range(group[0].parts)
    here = [[place for place in group if place.part == number] for number in numbers]
    spent = [[time for place in group if (time := place.spent(number)) is not None] for number in numbers]
    medians = [int(median(times)) if times else 0 for times in spent]
    columns = {
        "here": [len(people) for people in here],
        "wrong": [sum(place.wrong[number] for place in group) for number in numbers],
        "hints": [sum(place.hints(number) for place in group) for number in numbers],
    }
    cells = {name: [Cell(count, _shade(count, max(counts))) for count in counts] for name, counts in columns.items()}
    names = part_names(group[0])
    rows = [
        Row(
            number=number + 1,
            name=names[number],
            done=sum(place.state(number) == "done" for place in group),
            skipped=sum(place.state(number) == "skipped" for place in group),
            minutes=duration(medians[number]) if spent[number] else "",
            slow=_shade(medians[number], max(medians)),
            longest=min((place for place in here[number] if place.since), key=_since, default=None),
            here=cells["here"][number],
            wrong=cells["wrong"][number],
            hints=cells["hints"][number],
        )
        for number in numbers
    ]
    return Heat(group[0].study.sandbox.title, len(group), sum(place.part >= len(numbers) for place in group), rows)


def _since(place: Place) -> datetime:
    assert place.since is not None
    return place.since


def _shade(count: int, most: int) -> int:
    """Return the shade of a number beside the largest of its column: rounded up, so that only 0 has none."""
    return -(-count * SHADES // most) if most else 0


def duration(seconds: int) -> str:
    """Return a time as people say it: seconds up to a minute and a half, then minutes."""
    if seconds < 1.5 * MINUTE:
        return say("room.seconds", count=seconds)
    return say("room.minutes-spent", count=round(seconds / MINUTE))


def part_names(place: Place) -> list[str]:
    """Return a name for each part of the lesson of a place. Of a lesson on no shelf only its tasks are known."""
    placed = None if place.study.text else lessons().get(place.study.slug)
    if placed is not None:
        return [part_name(part) for part in placed.lesson.parts]
    parts, tasks = place.outline
    return [say("lesson.part-task") if number in tasks else "" for number in range(parts)]
