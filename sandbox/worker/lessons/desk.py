"""The data of the lesson panel: the open part, its questions and task, and predictions, each computed once."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sandbox.content.shelf import DAILY, OWN, PRACTICE, WAYS_BACK, lesson_of, next_lesson
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.records import Guessed, Studied
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from sandbox.worker import earlier
from sandbox.worker.lessons.answers import (
    FEW_NODES,
    answer_data,
    compare,
    question_data,
    question_of,
    revealed,
    score,
)
from sandbox.worker.lessons.markdown import html_of
from sandbox.worker.lessons.needs import needs
from sandbox.worker.lessons.rounds import round_data, rounds_after
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import Lesson, Part, Question, costs, predictions, tasks
from scheduler_engine.lesson.ends import End, cycle_under_way, end_of_attempt
from scheduler_engine.lesson.model import Steps
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.lesson.walking import Walk, command_in
from scheduler_engine.scenario import command_of, play
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation

if TYPE_CHECKING:
    from sandbox.worker.live import Live

ASKED_BEFORE = {
    "Snapshot": "lane",
    "Filter": "passes",
    "PostFilter": "victims",
    "PreScore": "winner",
    "Score": "winner",
}
"""Next stage → kind of the prediction to ask before it. The attempt answers it."""
SHOWN_AT = {"refuses": "Filter"} | {kind: stage for stage, kind in ASKED_BEFORE.items() if kind != "lane"}
"""Kind of a question → the stage of the attempt whose panels show the answer, or give it away: the last one before
which it may be asked. A pod can change its place at any time.
"""
IN_LARGE = ("winner", "lane")
CHARGES = {
    costs.NODE_ADDED: "new node",
    costs.NODE_DELETED: "deleted node",
    costs.POD_ENDED: "pod that left",
    costs.OBJECT_ADDED: "new object",
    costs.CHANGE: "change",
}
"""Charge of a bill → its noun."""
MOST_CHARGES = 12
"""Lines shown of a bill."""


@dataclass(frozen=True)
class Desk:
    """A ``Teacher`` for the world of the moment ``at``, None = the present.

    ``prose``: how the Markdown of the lesson is returned, by default as HTML.
    """

    live: Live
    world: World
    at: Moment | None
    studied: Studied
    prose: Callable[[str], str] = html_of

    # --- the lesson ---

    @cached_property
    def lesson(self) -> Lesson | None:
        return lesson_of(self.studied.slug, self.studied.text) if self.studied.slug else None

    @property
    def is_round(self) -> bool:
        return self.studied.shelf == PRACTICE

    @property
    def number(self) -> int:
        return min(self.studied.part, len(self.lesson.parts)) if self.lesson else 0

    @cached_property
    def open(self) -> Part | None:
        """The open part. None at the end, and without a lesson."""
        return self.lesson.parts[self.number] if self.lesson and self.number < len(self.lesson.parts) else None

    @cached_property
    def progress(self) -> dict[str, Any]:
        return json.loads(self.studied.progress)

    @cached_property
    def _began(self) -> tuple[int, int | None]:
        """Number and key of the last command before this part. The key is None for the end of the setup."""
        setup = len(self.lesson.scenario.setup) if self.lesson else 0
        n, state = self.progress.get("began", {}).get(str(self.number), (setup, None))
        return n, state

    @property
    def began(self) -> int:
        return self._began[0]

    @cached_property
    def run(self) -> RunView:
        return RunView(self.live.simulation)

    @cached_property
    def _walk(self) -> Walk:
        """The progress in the steps of this part, which anybody may take in any way."""
        live = self.live
        pressed = str(self.number) in self.progress.get("pressed", {})
        steps = self.open.do if self.open else ()
        about = (steps, self._began, pressed)
        walk = self._last_walk(about)
        if walk is None:
            walk = Walk(steps, live.simulation.recorder, live.world.end_of(self.began), self._ahead, pressed)
        else:
            walk = walk.continued(live.simulation.recorder, self._ahead)
        # Before the start of the part, commands that lead there again would count as steps.
        live.walked = (about, live.n, live.state, walk) if live.is_recorded and live.n >= self.began else None
        return walk

    def _last_walk(self, about: Any) -> Walk | None:
        """Return the last walk if it was the same one, and the log still has the commands that it looked at."""
        live = self.live
        if live.walked is None:
            return None
        last, n, state, walk = live.walked
        if last != about or n > live.n:
            return None
        now = live.state if n == live.n else live.records.keys(live.plan.sandbox_id, [n]).get(n, 0)
        return walk if now == state else None

    def _ahead(self, entries: int, steps: Steps) -> Simulation | None:
        """Return the simulation after ``entries`` of the trace (the end of a command) and then ``steps``.

        None: a step is refused. The last simulation is cached.
        """
        live = self.live
        moment = None if entries == len(live.world.entries) else live.world.moment_of(entries)
        before = live.world.head if moment is None else moment.command
        key = (before, live.records.keys(live.plan.sandbox_id, [before]).get(before, 0), repr(steps))
        if live.played is None or live.played[0] != key:
            simulation = earlier.simulation_at(live, moment)
            if not steps:
                return simulation
            live.played = key, _play(simulation, steps)
        return live.played[1]

    def steps_left(self) -> list[tuple[Data, str]]:
        """Return the steps left in this part as commands, each with the text of its expected refusal or ""."""
        return [(command_of(step), step.get("refused", "")) for step in self._walk.left()]

    @cached_property
    def lost(self) -> bool:
        """True if somebody went back to before the start of this part, and perhaps did something else there."""
        n, state = self._began
        if self.live.world.head < n:
            return True
        return state is not None and self.live.records.keys(self.live.plan.sandbox_id, [n]).get(n, 0) != state

    @property
    def stepped(self) -> bool:
        return self.open is not None and self._walk.over

    @property
    def done(self) -> bool:
        """True if the task, the question or the steps of this part are done. A part with only text is done at once."""
        part = self.open
        if part is None:
            return True
        if part.task:
            return tasks.done(self.run, part.task)
        if part.question and not part.predicts:
            return self._guess is not None
        return self.stepped

    @property
    def right(self) -> bool | None:
        """Whether the question of the open part was answered rightly. None: not answered, or not known yet."""
        points = self._points(self._guess) if self._guess else None
        return None if points is None or points["none"] else bool(points["right"])

    @property
    def guess(self) -> int:
        """Primary key of the answer to the question of the open part, 0 = none."""
        return self._guess.key if self._guess else 0

    @cached_property
    def rights(self) -> dict[int, bool]:
        """Part → whether its first answer was right."""
        now = {} if self.right is None else {self.number: self.right}
        return now | {int(part): bool(right) for part, right in self.progress.get("right", {}).items()}

    def part(self) -> dict[str, Any] | None:
        return self._part

    @cached_property
    def _part(self) -> dict[str, Any] | None:
        lesson = self.lesson
        if lesson is None:
            return None
        common = {
            # A challenge of the day is read from its text, which does not have its name.
            "slug": self.studied.slug if self.studied.shelf not in (OWN, PRACTICE) else "",
            "name": {OWN: "", DAILY: DAILY, PRACTICE: self.studied.slug}.get(self.studied.shelf, lesson.slug),
            "round": round_data(self.studied.slug, self.rights, len(lesson.parts)) if self.is_round else None,
            "title": lesson.title,
            "part": self.number,
            "parts": len(lesson.parts),
            "belief": lesson.belief,
            # The truth, and what differs under other versions, may give answers away: they come at the end.
            "truth": lesson.truth if self.open is None else "",
            # A round is drawn for the version of its sandbox, and not played under the others.
            "versions": [] if self.is_round else [*lesson.versions()][: None if self.open is None else 1],
            "lost": self.lost,
            "finished": self.open is None,
        }
        return {**common, **(self._end_data(lesson) if self.open is None else self._part_data(self.open))}

    def _end_data(self, lesson: Lesson) -> dict[str, Any]:
        page, place, words = WAYS_BACK[self.studied.shelf]
        skipped = len(self.progress.get("skipped", ()))
        following = next_lesson(lesson.slug)
        after = [following] if following else []
        rows = [{name: getattr(each, name) for name in ("slug", "title", "about", "minutes")} for each in after]
        return {
            "know": [self.prose(text) for text in lesson.know],
            "next": rounds_after(self.studied.slug, self.rights) if self.is_round else rows,
            "bill": None if lesson.par is None or skipped else self._bill(lesson, lesson.par),
            "skipped": skipped,
            "back": {"page": page, "place": place, "words": say(words)},
            "shelf": self.studied.shelf,
        }

    def _bill(self, lesson: Lesson, par: int) -> dict[str, Any]:
        """Return the cost of a challenge's solution beside its par: in total, by kind of charge, and line by line."""
        bill = costs.cost(self.live.simulation, self._setup_left(lesson))
        lines = [{"about": line.about, "price": line.price} for line in bill.lines[:MOST_CHARGES]]
        return {
            "total": bill.total,
            "par": par,
            "parts": listed(
                [plural(count, CHARGES[charge]) for charge, count in bill.counts.items()], len(bill.counts)
            ),
            "lines": lines,
            "more": len(bill.lines) - len(lines),
        }

    def _setup_left(self, lesson: Lesson) -> int:
        """Return how many commands of the setup the log still begins with: undoing the setup makes nothing cheaper."""
        setup = [commands.from_json(command_of(step)) for step in lesson.scenario.setup]
        logged = self.live.texts(0, min(len(setup), self.live.world.head))
        pairs = zip(setup, logged, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == commands.from_json(json.loads(pair[1])), pairs))

    def _part_data(self, part: Part) -> dict[str, Any]:
        hints = part.task.hints if part.task else ()
        shown = min(int(self.progress.get("hints", {}).get(str(self.number), 0)), len(hints))
        done = self.done
        return {
            "heading": part.title,
            "text": self.prose(part.text),
            "figure": self._figure(part),
            "look": asdict(part.look),
            "needs": needs(self.lesson, self.number) if self.lesson else [],
            "say": part.say or "; ".join(command_in(step).summary for step in part.do),
            "steps": bool(part.do),
            "stepped": self.stepped,
            "set": self.progress.get("set") == self.number and not done,
            "off": bool(part.do) and not self.stepped and self._walk.other > 0,
            "done": done,
            "question": self._question(part),
            "task": self._task(part),
            "hints": [self.prose(text) for text in hints[:shown]],
            "more_hints": len(hints) - shown,
            "then": self.prose(part.then) if done else "",
        }

    def _figure(self, part: Part) -> str:
        """Return the address of the part's figure, "" = it has none. Sandboxes share that of an installed lesson."""
        if part.figure is None:
            return ""
        return f"figure/{self.number + 1}" if self.studied.text else f"/figures/{part.figure.slug}"

    def _task(self, part: Part) -> dict[str, Any] | None:
        if part.task is None:
            return None
        try:
            run = RunView(earlier.simulation_at(self.live, self.at))
        except Rejected:
            return {"text": self.prose(part.task.text), "rows": []}
        rows = tasks.checked(run, part.task)
        return {
            "text": self.prose(part.task.text),
            "rows": [{"say": row.item.say, "wrong": list(row.shown)} for row in rows],
        }

    # --- questions of the lesson ---

    @cached_property
    def _guesses(self) -> list[Guessed]:
        """The guesses whose moment is part of the log, and not ahead of the head."""
        rows, head = self.studied.guesses, self.live.world.head
        if not rows:
            return []
        keys = self.live.records.keys(self.live.plan.sandbox_id, sorted({row.n for row in rows}))
        return [row for row in rows if keys.get(row.n, 0) == row.state and row.n <= head]

    @cached_property
    def _guess(self) -> Guessed | None:
        """The last guess in this part, None if there is none."""
        return next((row for row in reversed(self._guesses) if row.part == self.number), None)

    def _question(self, part: Part) -> dict[str, Any] | None:
        if part.question is None:
            return None
        guess = self._guess
        points = self._points(guess) if guess else None
        data = question_data(self.run, part.question, part.predicts)
        late = guess is None and part.predicts and self._is_shown(part.question)
        more = {"late": say("reveal.late") if late else "", "reveals": revealed(part.question, guess, points)}
        return {**data, **answer_data(guess, points), **more}

    def _is_shown(self, question: Question) -> bool:
        """Return True if the page may already show the answer to the question of the open part."""
        if not self._walk.begun or self._walk.over or question.kind not in SHOWN_AT:
            return self._walk.begun
        since = self.live.world.end_of(self.began)
        return end_of_attempt(self.live.simulation.recorder, question.pod, since, SHOWN_AT[question.kind]) != End()

    def _points(self, guess: Guessed) -> dict[str, Any] | None:
        """Return the answer to a guess point by point, None if it is not known yet."""
        if guess.points:
            return json.loads(guess.points)
        question, since = question_of(guess.question), self.live.world.entry_of(Moment(guess.n, guess.entries))
        if guess.part is None:
            # Questions stored by older versions lack it.
            question = replace(question, at=predictions.KINDS[question.kind].at)
        return compare(question, since, self._sight(of_part=guess.part is not None), json.loads(guess.named))

    def _sight(self, of_part: bool) -> Sight:
        if not of_part:
            return Sight(self.live.simulation.recorder, lambda _: self.run)
        return Sight(self.live.simulation.recorder, self._run_then, self._walk)

    def _run_then(self, entries: int) -> RunView:
        """Return the run at the end of the steps, without later commands."""
        there = self._walk.simulation() if self._walk.over else self.live.simulation
        assert there is not None, "these steps were played before"
        return self.run if there is self.live.simulation else RunView(there)

    def compare_now(self, question: Question, named: Sequence[str] | None) -> dict[str, Any] | None:
        """Return the answer to a question about what has happened so far."""
        return compare(question, 0, Sight(self.live.simulation.recorder, lambda _: self.run), named)

    # --- predictions ---

    def prediction(self) -> dict[str, Any] | None:
        return self._prediction

    @cached_property
    def _predictions(self) -> dict[str, Guessed]:
        """Key of a prediction → its newest guess. The last guess comes last."""
        newest: dict[str, Guessed] = {}
        for row in self._guesses:
            if row.part is None:
                since = self.live.world.entry_of(Moment(row.n, row.entries))
                key = self._key(question_of(row.question), since)
                newest.pop(key, None)
                newest[key] = row
        return newest

    def _key(self, question: Question, since: int) -> str:
        """Return the key of a prediction: its kind and attempt. The attempt distinguishes pods of the same name."""
        return f"{question.kind}-{cycle_under_way(self.live.simulation.recorder, question.pod, since)}"

    @cached_property
    def _next_question(self) -> tuple[str, Question] | None:
        """The prediction to ask before the next stage, with its key."""
        question = self.predictable()
        return None if question is None else (self._key(question, len(self.live.world.entries)), question)

    @cached_property
    def _prediction(self) -> dict[str, Any]:
        rows = {key: (row, self._points(row)) for key, row in self._predictions.items()}
        judged = [(row, points) for row, points in rows.values() if points is not None]
        # What the last command answered, which can be several questions, else the last one answered.
        news = [each for each in judged if each[1]["end"] > self.live.world.starts[-1]] or judged[-1:]
        key, question = self._next_question or ("", None)
        return {
            "question": self._predicted(key, question, None) if question and key not in rows else None,
            "kept": [
                self._predicted(key, question_of(row.question), row)
                for key, (row, points) in rows.items()
                if points is None
            ],
            "last": [
                {"ask": predictions.asked(question_of(row.question)), **answer_data(row, points)}
                for row, points in news
            ],
            "score": score(judged),
        }

    def _predicted(self, key: str, question: Question, row: Guessed | None) -> dict[str, Any]:
        return {"key": key, **question_data(self.run, question, predicts=True), **answer_data(row, None)}

    def predicted(self, key: str) -> Question | None:
        """Return the prediction ``key`` while it can be answered or answered again. "" = that of the next stage."""
        coming = self._next_question
        key = key or (coming[0] if coming else "")
        row = self._predictions.get(key)
        if row is not None:
            return question_of(row.question) if self._points(row) is None else None
        return coming[1] if coming and key == coming[0] else None

    def predictable(self) -> Question | None:
        """Return the prediction to ask before the next stage. None also if the open part has its own question."""
        if self.open is not None and self.open.question:
            return None
        cycle = self.live.simulation.scheduler.cycle
        kind = ASKED_BEFORE.get(cycle.stage) if cycle is not None else None
        if cycle is None or kind is None:
            return None
        if len(self.live.world.nodes) > FEW_NODES and kind not in IN_LARGE:
            return None
        return Question(kind, pod=cycle.pod.key, at=predictions.KINDS[kind].at)


def _play(simulation: Simulation, steps: Steps) -> Simulation | None:
    """Return a copy after these steps, None if one of them is refused."""
    played = copy.deepcopy(simulation)
    try:
        play(played, steps)
    except Rejected:
        return None
    return played
