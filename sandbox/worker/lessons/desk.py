"""What the lesson's column shows of a sandbox, and what can be predicted in it, asked of its simulation once."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sandbox.library.shelf import OWN, WAYS_BACK, lesson_of, where_next
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.world import World
from sandbox.storage.records import Guessed, Studied
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from sandbox.worker import earlier
from sandbox.worker.lessons.answers import FEW_NODES, answered, asked, compared, question_of, score
from sandbox.worker.lessons.markdown import html_of
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import Lesson, Part, Question, costs, predictions, tasks
from scheduler_engine.lesson.ends import cycle_under_way
from scheduler_engine.lesson.model import Steps
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.lesson.walking import Walk, given_by
from scheduler_engine.scenario import command_of, play
from scheduler_engine.scenario.attempts import Seen
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
"""Stage that comes next → kind of the prediction that is asked before it. The attempt answers it."""
IN_LARGE = ("winner", "lane")
CHARGES = {
    costs.NODE_ADDED: "new node",
    costs.NODE_DELETED: "deleted node",
    costs.POD_ENDED: "pod that left",
    costs.OBJECT_ADDED: "new object",
    costs.CHANGE: "change",
}
"""What is charged → how it is counted in words."""
MOST_CHARGES = 12
"""Lines of a bill that are listed."""


@dataclass(frozen=True)
class Desk:
    """A ``Teacher`` of the world of a moment ``at``, None = the present."""

    live: Live
    world: World
    at: Moment | None
    studied: Studied

    # --- the lesson ---

    @cached_property
    def lesson(self) -> Lesson | None:
        return lesson_of(self.studied.slug, self.studied.text) if self.studied.slug else None

    @property
    def number(self) -> int:
        return min(self.studied.part, len(self.lesson.parts)) if self.lesson else 0

    @cached_property
    def open(self) -> Part | None:
        """None at the end, and where there is no lesson."""
        return self.lesson.parts[self.number] if self.lesson and self.number < len(self.lesson.parts) else None

    @cached_property
    def progress(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.studied.progress)
        return found

    @cached_property
    def _began(self) -> tuple[int, int | None]:
        """Number and key of the last command before this part; the key None: that of the end of the setup."""
        setup = len(self.lesson.scenario.setup) if self.lesson else 0
        n, state = self.progress.get("began", {}).get(str(self.number), (setup, None))
        return n, state

    @property
    def began(self) -> int:
        return self._began[0]

    @cached_property
    def seen(self) -> Seen:
        return Seen(self.live.simulation)

    @cached_property
    def _walk(self) -> Walk:
        """How far the steps of this part are done, whoever did them and however."""
        pressed = str(self.number) in self.progress.get("pressed", {})
        steps = self.open.do if self.open else ()
        begin = self.live.world.end_of(self.began)
        return Walk(steps, self.live.simulation.recorder, begin, self._ahead, pressed)

    def _ahead(self, entries: int, steps: Steps) -> Simulation | None:
        """The simulation after so many entries, at the end of a command, and these steps; the last one is kept."""
        live = self.live
        moment = None if entries == len(live.world.entries) else live.world.moment_of(entries)
        before = live.world.head if moment is None else moment.command
        key = (before, live.records.keys(live.plan.sandbox_id, [before]).get(before, 0), repr(steps))
        if live.led is None or live.led[0] != key:
            simulation = earlier.simulation_at(live, moment)
            if not steps:
                return simulation
            live.led = key, _played(simulation, steps)
        return live.led[1]

    def steps_left(self) -> list[tuple[Data, str]]:
        """Commands of the button, each with the text with which it is to be refused, or ""."""
        return [(command_of(step), step.get("refused", "")) for step in self._walk.left()]

    @cached_property
    def lost(self) -> bool:
        """Somebody went back behind the start of this part, and perhaps did something else there."""
        n, state = self._began
        if self.live.world.head < n:
            return True
        return state is not None and self.live.records.keys(self.live.plan.sandbox_id, [n]).get(n, 0) != state

    @property
    def stepped(self) -> bool:
        return self.open is not None and self._walk.over

    @property
    def done(self) -> bool:
        """What this part asks for is done; reading is, by itself."""
        part = self.open
        if part is None:
            return True
        if part.task:
            return tasks.done(self.seen, part.task)
        if part.question and not part.foresee:
            return self._guess is not None
        return self.stepped

    def part(self) -> dict[str, Any] | None:
        return self._part

    @cached_property
    def _part(self) -> dict[str, Any] | None:
        lesson = self.lesson
        if lesson is None:
            return None
        common = {
            "slug": lesson.slug if self.studied.shelf != OWN else "",
            "title": lesson.title,
            "part": self.number,
            "parts": len(lesson.parts),
            "belief": lesson.belief,
            "truth": lesson.truth,
            "lost": self.lost,
            "finished": self.open is None,
        }
        return {**common, **(self._end(lesson) if self.open is None else self._shown(self.open))}

    def _end(self, lesson: Lesson) -> dict[str, Any]:
        page, place, words = WAYS_BACK[self.studied.shelf]
        skipped = len(self.progress.get("skipped", ()))
        return {
            "know": [html_of(text) for text in lesson.know],
            "next": [{"slug": other.slug, "title": other.title} for other in where_next(lesson.slug)],
            "bill": None if lesson.par is None or skipped else self._bill(lesson, lesson.par),
            "skipped": skipped,
            "back": {"page": page, "place": place, "words": say(words)},
            "shelf": self.studied.shelf,
        }

    def _bill(self, lesson: Lesson, par: int) -> dict[str, Any]:
        """What the solution of a challenge cost, beside its par: in all, by what is charged, and line by line."""
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
        """How many commands of the setup the log still begins with: going back behind its end makes nothing cheaper."""
        setup = [commands.from_json(command_of(step)) for step in lesson.scenario.setup]
        logged = self.live.texts(0, min(len(setup), self.live.world.head))
        pairs = zip(setup, logged, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == commands.from_json(json.loads(pair[1])), pairs))

    def _shown(self, part: Part) -> dict[str, Any]:
        hints = part.task.hints if part.task else ()
        shown = min(int(self.progress.get("hints", {}).get(str(self.number), 0)), len(hints))
        done = self.done
        return {
            "heading": part.title,
            "text": html_of(part.text),
            "look": asdict(part.look),
            "say": part.say or "; ".join(given_by(step).summary for step in part.do),
            "steps": bool(part.do),
            "stepped": self.stepped,
            "set": self.progress.get("set") == self.number and not done,
            "off": bool(part.do) and not self.stepped and self._walk.other > 0,
            "done": done,
            "question": self._question(part),
            "task": self._task(part),
            "hints": [html_of(text) for text in hints[:shown]],
            "more_hints": len(hints) - shown,
            "then": html_of(part.then) if done else "",
        }

    def _task(self, part: Part) -> dict[str, Any] | None:
        if part.task is None:
            return None
        try:
            seen = Seen(earlier.simulation_at(self.live, self.at))
        except Rejected:
            return {"text": html_of(part.task.text), "rows": []}
        rows = tasks.checked(seen, part.task)
        return {
            "text": html_of(part.task.text),
            "rows": [{"say": row.item.say, "wrong": list(row.told)} for row in rows],
        }

    # --- questions of the lesson ---

    @cached_property
    def _guesses(self) -> list[Guessed]:
        """Those whose moment is part of the log, and not ahead."""
        rows, head = self.studied.guesses, self.live.world.head
        if not rows:
            return []
        kept = self.live.records.keys(self.live.plan.sandbox_id, sorted({row.n for row in rows}))
        return [row for row in rows if kept.get(row.n, 0) == row.state and row.n <= head]

    @cached_property
    def _guess(self) -> Guessed | None:
        """The last one about this part."""
        return next((row for row in reversed(self._guesses) if row.part == self.number), None)

    def _question(self, part: Part) -> dict[str, Any] | None:
        if part.question is None:
            return None
        guess = self._guess
        points = self._points(guess) if guess else None
        found = asked(self.seen, part.question, part.foresee)
        # Who steps on without an answer is not asked what he sees already.
        late = guess is None and part.foresee and self._walk.begun
        return {**found, **answered(guess, points), "late": say("reveal.late") if late else ""}

    def _points(self, guess: Guessed) -> dict[str, Any] | None:
        """The answer point by point; None: the question is not over."""
        if guess.points:
            found: dict[str, Any] = json.loads(guess.points)
            return found
        question, since = question_of(guess.question), self.live.world.entry_of(Moment(guess.n, guess.entries))
        if guess.part is None:
            # Those of older versions do not say it.
            question = replace(question, at=predictions.KINDS[question.kind].at)
        return compared(question, since, self._sight(of_part=guess.part is not None), json.loads(guess.named))

    def _sight(self, of_part: bool) -> Sight:
        if not of_part:
            return Sight(self.live.simulation.recorder, lambda _: self.seen)
        return Sight(self.live.simulation.recorder, self._seen_then, self._walk)

    def _seen_then(self, entries: int) -> Seen:
        """The run at the end of the steps, whatever came later."""
        there = self._walk.simulation() if self._walk.over else self.live.simulation
        assert there is not None, "these steps were played before"
        return self.seen if there is self.live.simulation else Seen(there)

    def compared_now(self, question: Question, named: Sequence[str] | None) -> dict[str, Any] | None:
        """The answer to a question about what has happened by now."""
        return compared(question, 0, Sight(self.live.simulation.recorder, lambda _: self.seen), named)

    # --- predictions ---

    def prediction(self) -> dict[str, Any] | None:
        return self._prediction

    @cached_property
    def _predictions(self) -> dict[str, Guessed]:
        """The newest answer to each question, by its key; what was answered last comes last."""
        newest: dict[str, Guessed] = {}
        for row in self._guesses:
            if row.part is None:
                since = self.live.world.entry_of(Moment(row.n, row.entries))
                key = self._key(question_of(row.question), since)
                newest.pop(key, None)
                newest[key] = row
        return newest

    def _key(self, question: Question, since: int) -> str:
        """Two questions of one kind about one attempt are the same. The attempt tells pods of one name apart."""
        return f"{question.kind}-{cycle_under_way(self.live.simulation.recorder, question.pod, since)}"

    @cached_property
    def _next_question(self) -> tuple[str, Question] | None:
        """The question of the stage that comes next, with its key."""
        question = self.predictable()
        return None if question is None else (self._key(question, len(self.live.world.entries)), question)

    @cached_property
    def _prediction(self) -> dict[str, Any]:
        rows = {key: (row, self._points(row)) for key, row in self._predictions.items()}
        known = [(row, points) for row, points in rows.values() if points is not None]
        # What the last command has answered, or what was answered last: one command can answer several questions.
        news = [each for each in known if each[1]["end"] > self.live.world.starts[-1]] or known[-1:]
        key, question = self._next_question or ("", None)
        return {
            "question": self._predicted(key, question, None) if question and key not in rows else None,
            "kept": [
                self._predicted(key, question_of(row.question), row)
                for key, (row, points) in rows.items()
                if points is None
            ],
            "last": [
                {"ask": predictions.asked(question_of(row.question)), **answered(row, points)} for row, points in news
            ],
            "score": score(known),
        }

    def _predicted(self, key: str, question: Question, row: Guessed | None) -> dict[str, Any]:
        return {"key": key, **asked(self.seen, question, foresee=True), **answered(row, None)}

    def predicted(self, key: str) -> Question | None:
        """The question that can be answered now, or again, by its key; "" = that of the stage that comes next."""
        coming = self._next_question
        key = key or (coming[0] if coming else "")
        row = self._predictions.get(key)
        if row is not None:
            return question_of(row.question) if self._points(row) is None else None
        return coming[1] if coming and key == coming[0] else None

    def predictable(self) -> Question | None:
        """The question of the stage that comes next; None also where the lesson itself has a question."""
        if self.open is not None and self.open.question:
            return None
        cycle = self.live.simulation.scheduler.cycle
        kind = ASKED_BEFORE.get(cycle.stage) if cycle is not None else None
        if cycle is None or kind is None:
            return None
        if len(self.live.world.nodes) > FEW_NODES and kind not in IN_LARGE:
            return None
        return Question(kind, pod=cycle.pod.key, at=predictions.KINDS[kind].at)


def _played(simulation: Simulation, steps: Steps) -> Simulation | None:
    """A copy in which these steps are done; None: one of them is refused."""
    played = copy.deepcopy(simulation)
    try:
        play(played, steps)
    except Rejected:
        return None
    return played
