"""What people take along on paper: a handout of the room, and what each participant has completed in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.urls import reverse

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons, part_name
from sandbox.worker.lessons.markdown import html_of
from sandbox.workshop import sources
from sandbox.workshop.models import Answer, Participant, Question, Seat, Workshop
from sandbox.workshop.parts import Place, part_names, places
from sandbox.workshop.questions import Bar, bars, is_free, shown_answers
from sandbox.workshop.room import sendings


@dataclass(frozen=True, slots=True)
class Sheet:
    """Something that was sent. ``parts``: their names; ``know``: key sentences as HTML; ``path``: to see it again."""

    title: str
    about: str
    parts: tuple[str, ...] = ()
    know: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class AskedSheet:
    """A closed question. ``own``: what the participant has answered. ``bars``: with the right ones, once revealed."""

    ask: str
    bars: list[Bar]
    own: list[str]


@dataclass(frozen=True, slots=True)
class Handout:
    sheets: list[Sheet]
    questions: list[AskedSheet]
    notes: str


def handout(room: Workshop, participant: Participant | None) -> Handout:
    """Return what was sent to everybody, in order, and the closed questions; for a participant also their own part."""
    sent = [sources.from_text(room.source), *(sources.from_text(one.source) for one in sendings(room))]
    sheets = list(dict.fromkeys(_sheet(room, source) for source in sent))
    closed = room.questions.exclude(over=None).order_by("number")
    asked = [_asked(room, question, participant) for question in closed]
    return Handout(sheets, asked, participant.notes if participant else "")


def _sheet(room: Workshop, source: sources.Source) -> Sheet:
    kind, slug = source["kind"], source.get("slug", "")
    placed, scenario = lessons().get(slug), scenarios().get(slug)
    if kind == "lesson" and placed is not None:
        lesson = placed.lesson
        names = tuple(part_name(part) for part in lesson.parts)
        know = tuple(html_of(text) for text in (lesson.know or filter(None, (lesson.truth,))))
        return Sheet(lesson.title, lesson.about, names, know, reverse("embed-lesson", args=[slug]))
    if kind == "scenario" and scenario is not None:
        return Sheet(scenario.title, scenario.about, path=reverse("embed-scenario", args=[slug]))
    return Sheet(source["title"], "")


def _asked(room: Workshop, question: Question, participant: Participant | None) -> AskedSheet:
    answer = question.answers.filter(participant=participant).first() if participant else None
    shown = bars(question)
    if is_free(question):
        keys = shown_answers(question)
        shown = [bar for bar in shown if bar.choice.casefold() in keys]
    return AskedSheet(question.ask, shown, json.loads(answer.chosen) if answer else [])


@dataclass(frozen=True, slots=True)
class Completed:
    """A lesson in which somebody completed something. ``done``: names of the parts, of how many (``of``)."""

    title: str
    done: list[str]
    of: int


@dataclass(frozen=True, slots=True)
class Certificate:
    """``answered``: how many questions of the room. ``day``: when the room was opened."""

    name: str
    day: datetime
    lessons: list[Completed]
    answered: int
    asked: int


def certificates(room: Workshop, people: Iterable[Participant]) -> list[Certificate]:
    """Return what each of these participants has completed, by the same facts as the board."""
    everybody = list(people)
    occupied = Seat.objects.filter(workshop=room, participant__in=everybody).select_related("sandbox", "participant")
    found: dict[int | None, list[Place]] = {}
    for place in places(occupied.order_by("number")):
        found.setdefault(place.seat.participant_id, []).append(place)
    answers = Answer.objects.filter(participant__in=everybody).values_list("participant")
    answered = dict(answers.annotate(count=Count("pk")).order_by())
    asked = room.questions.count()
    return [
        Certificate(person.name, room.created, _completed(found.get(person.pk, [])), answered.get(person.pk, 0), asked)
        for person in everybody
    ]


def _completed(studied: Sequence[Place]) -> list[Completed]:
    """Return the lessons with a completed part. A lesson that was sent twice counts once, with the parts of both."""
    lessons_of: dict[tuple[str, str, str], list[Place]] = {}
    for place in studied:
        lessons_of.setdefault((place.study.shelf, place.study.slug, place.study.text), []).append(place)
    rows = []
    for group in lessons_of.values():
        names = part_names(group[0])
        done = [number for number in range(len(names)) if any(place.state(number) == "done" for place in group)]
        if done:
            listed = [names[number] or str(number + 1) for number in done]
            rows.append(Completed(group[0].study.sandbox.title, listed, len(names)))
    return rows
