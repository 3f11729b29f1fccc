"""What a learner does in the lesson of a sandbox: its steps, answers, hints, the way on and back.

The lesson itself is read and asked in the engine's process alone; here stands what is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from sandbox.changes import store
from sandbox.library.shelf import OWN, Placed
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.pool.turns import turn
from sandbox.storage import statements
from sandbox.storage.models import Guess, Sandbox, Study
from sandbox.storage.records import Database, Place, Plan, Position
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.jobs.teaching import Answered, Learned, Stand
from scheduler_engine.errors import NothingToDo, Rejected
from scheduler_engine.scenario.priority_numbers import gives_numbers

Progress = dict[str, Any]
"""``began``: part → number and key of the last command before it; ``hints``: part → how many are shown; ``pressed``:
parts whose steps are all refused, and were; ``done`` and ``skipped``: lists of parts; ``set``: the last part that the
sandbox was set for when it was opened; ``outline``: of a lesson that
somebody brought, how many parts there are, and which have a task.
"""


def open_lesson(placed: Placed, token: str = "") -> tuple[Sandbox, str]:
    """A sandbox with the setup of a lesson executed, and its edit token: ``token``, if given."""
    lesson = placed.lesson
    scenario = lesson.scenario
    setup = [dict(step) for step in scenario.setup]
    told = lesson.slug, lesson.title, scenario.seed, scenario.configuration, scenario.queue_rules, setup
    learned = Learned(*told, priority_numbers=gives_numbers(lesson))
    return open_learned(learned, placed.shelf, placed.text, token)


def open_learned(learned: Learned, shelf: str = OWN, text: str = "", token: str = "") -> tuple[Sandbox, str]:
    """The same, of a lesson that was read; ``text``: its file, where it is not on a shelf."""
    sandbox, token = store.create(
        learned.title,
        seed=learned.seed,
        configuration=learned.configuration,
        setup=learned.setup,
        queue_rules=learned.queue_rules,
        token=token,
        priority_numbers=learned.priority_numbers,
    )
    # A lesson that is on no shelf is read in an engine alone: its outline is kept for those who look on.
    progress = {"outline": [learned.parts, list(learned.tasks)]} if text else {}
    Study.objects.create(sandbox=sandbox, shelf=shelf, slug=learned.slug, text=text, progress=json.dumps(progress))
    return sandbox, token


def step(sandbox: Sandbox, part: int, who: str = "") -> None:
    """What is left of the steps of a part that is open; of another one nothing, as two clicks may mean the same.

    Raises ``Rejected`` when one is refused.
    """
    stand: Stand = engines.read(sandbox, jobs.lesson_stands)
    if stand.part != part:
        return
    steps = engines.read(sandbox, jobs.lesson_steps)
    for command, refused in steps:
        _execute(sandbox, command, refused, who)
    if steps and all(refused for _, refused in steps):
        _change(sandbox, lambda study, progress, here: _press(progress, part))


def _press(progress: Progress, part: int) -> None:
    progress.setdefault("pressed", {})[str(part)] = 1


def _execute(sandbox: Sandbox, command: dict[str, Any], refused: str, who: str) -> None:
    try:
        store.execute(sandbox, command, who)
    except Rejected as refusal:
        if not refused or refused not in str(refusal):
            raise


def hint(sandbox: Sandbox) -> None:
    """One more hint of the open part. Raises ``NothingToDo`` when all are shown."""
    stand: Stand = engines.read(sandbox, jobs.lesson_stands)

    def shown(study: Study, progress: Progress, here: Position) -> None:
        hints = progress.setdefault("hints", {})
        before = hints.get(str(stand.part), 0)
        if before >= stand.hints:
            raise NothingToDo(say("lesson.no-hint"))
        hints[str(stand.part)] = before + 1

    _change(sandbox, shown)


def turn_to(sandbox: Sandbox, part: int, who: str = "") -> None:
    """Open another part: the next one, or one that was open before. Raises ``Rejected`` for any other.

    The next one may say what is not so, as for whoever skips a task: then the sandbox is set as that part expects it,
    before it opens, so that nobody answers too early.
    """
    stand: Stand = engines.read(sandbox, jobs.lesson_stands)
    sets = part == stand.part + 1 <= stand.parts and _is_new(sandbox, part)
    sets = sets and not engines.read(sandbox, jobs.lesson_comes_true, part)
    began = _own_way(sandbox, part, who) if sets else {}

    def turned(study: Study, progress: Progress, here: Position) -> None:
        before = min(study.part, stand.parts)
        if part == before:
            raise NothingToDo(say("lesson.open-already"))
        if not 0 <= part <= stand.parts or (part > before + 1 and str(part) not in progress.get("began", {})):
            raise Rejected(say("lesson.no-part"))
        if part == before + 1:
            _leave(progress, before, stand.done)
        if began:
            progress["set"] = part
            _caught_up(progress, part, began)
        elif not _has_begun(sandbox, progress, part, here):
            progress.setdefault("began", {})[str(part)] = [here.head, here.state]
        study.part = part

    _change(sandbox, turned)


def _is_new(sandbox: Sandbox, part: int) -> bool:
    """Return True if a part has not begun in the present log."""
    text = Study.objects.values_list("progress", flat=True).get(sandbox=sandbox)
    return not _has_begun(sandbox, json.loads(text), part, statements.place(sandbox.pk).position)


def _has_begun(sandbox: Sandbox, progress: Progress, part: int, here: Position) -> bool:
    """Where a part began stays so while that is part of the log."""
    if part == 0:
        return True
    n, state = progress.get("began", {}).get(str(part), (here.head + 1, 0))
    return n <= here.head and Database().keys(sandbox.pk, [n]).get(n, 0) == state


def _leave(progress: Progress, part: int, done: bool) -> None:
    """A part that was done once stays so."""
    finished = set(progress.get("done", ())) | ({part} if done else set())
    skipped = set(progress.get("skipped", ())) | ({part} if not done else set())
    progress["done"], progress["skipped"] = sorted(finished), sorted(skipped - finished)


def catch_up(sandbox: Sandbox, who: str = "") -> None:
    """Set the sandbox as the open part expects it. Raises ``Rejected``."""
    part = engines.read(sandbox, jobs.lesson_stands).part
    began = _own_way(sandbox, part, who)
    _change(sandbox, lambda study, progress, now: _caught_up(progress, part, began))


def _own_way(sandbox: Sandbox, part: int, who: str) -> dict[str, list[int]]:
    """Go back to the setup, and the lesson's own way to the start of a part; what was becomes a branch.

    Return where each part began. Raises ``Rejected``.
    """
    setup, way = engines.read(sandbox, jobs.lesson_way, part)
    began: dict[str, list[int]] = {}
    with _helped(sandbox):
        here = store.go_to(sandbox, lambda _: setup)
        for number in range(part + 1):
            if number:
                began[str(number)] = [here.head, here.state]
            for command, refused in [(command, refused) for of, command, refused in way if of == number]:
                _execute(sandbox, command, refused, who)
                here = statements.place(sandbox.pk).position
    return began


@contextmanager
def _helped(sandbox: Sandbox) -> Iterator[None]:
    """What is done within is not a step of the owner."""
    before, sandbox.by_helper = sandbox.by_helper, True
    try:
        yield
    finally:
        sandbox.by_helper = before


def _caught_up(progress: Progress, part: int, began: dict[str, list[int]]) -> None:
    progress["began"] = began
    progress["pressed"] = {of: 1 for of in progress.get("pressed", {}) if int(of) < part}


def _change(sandbox: Sandbox, change: Callable[[Study, Progress, Position], None]) -> None:
    """Change what is kept of a study, and tell all who look on."""
    with turn(sandbox.pk), transaction.atomic():
        place = statements.place(sandbox.pk, lock=True)
        study = Study.objects.filter(sandbox=sandbox).first()
        if study is None:
            raise Rejected(say("lesson.none"))
        progress: Progress = json.loads(study.progress)
        change(study, progress, place.position)
        study.progress = json.dumps(progress, separators=(",", ":"))
        study.save()
        store.announce(sandbox, place)


def answer(sandbox: Sandbox, named: Sequence[str] | None, predicts: bool = False, who: str = "", key: str = "") -> None:
    """Keep an answer, None = looks without guessing; ``predicts``: to a prediction, by its ``key`` if it is not that of
    the next stage.

    Raises ``Rejected``, ``NothingToDo`` when it is answered already, ``OverQuota`` or ``EngineError``.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> bool | None:
        answered = engines.ask(plan, place.position, jobs.lesson_guess, named, predicts, key)
        with transaction.atomic():
            if statements.place(sandbox.pk, lock=True) != place:
                return None
            _keep(sandbox, answered, named, predicts, who)
            store.announce(sandbox, place)
        return True

    engines.at_present(sandbox, attempt)


def _keep(sandbox: Sandbox, found: Answered, named: Sequence[str] | None, predicts: bool, who: str) -> None:
    held = Guess.objects.filter(sandbox=sandbox)
    most = quotas.quotas().guesses
    if held.count() >= most:
        raise quotas.OverQuota(say("predict.full", most=most))
    part = None if predicts else Study.objects.values_list("part", flat=True).get(sandbox=sandbox)
    Guess.objects.create(
        sandbox=sandbox,
        part=part,
        question=found.question,
        named=json.dumps(None if named is None else list(named), ensure_ascii=False),
        points=found.points,
        state=found.state,
        n=found.n,
        entries=found.entries,
        who=who,
    )
