"""What a learner does in the lesson of a sandbox: take steps, answer, show hints, turn to a part.

The worker reads the lesson; this module stores the progress.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandbox.changes import store
from sandbox.content.shelf import OWN, Placed
from sandbox.limits import quotas
from sandbox.pool import engines
from sandbox.pool.turns import turn
from sandbox.storage import statements
from sandbox.storage.models import Guess, Sandbox, Study
from sandbox.storage.records import Database, Place, Plan, Position
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.jobs.teaching import Learned, LessonAnswer, Status, as_learned
from scheduler_engine.errors import NothingToDo, Rejected

MOST_ANSWERS, LONGEST_NAME = 400, 400
"""Choices in one answer, and characters of each."""
Progress = dict[str, Any]
"""``began``: part → number and key of the last command before it. ``hints``: part → number of shown hints.

``right``: part → 1 if its question was answered rightly when the part was first left, else 0.
``pressed``: parts whose steps are all refused, and were taken. ``done`` and ``skipped``: lists of parts. ``set``: the
last part for which opening it set the sandbox. ``outline``: for a lesson without a shelf, its number of parts and the
parts with a task. ``opened``: the open part, and the real time when it was opened, in seconds since 1970. ``spent``:
part → seconds that it was open, for the parts that were left.
"""


def open_lesson(placed: Placed, token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox for a lesson, execute the setup, and return it with its edit token. ``token``: use this one."""
    return open_learned(as_learned(placed.lesson), placed.shelf, placed.text, token)


def open_learned(lesson: Learned, shelf: str = OWN, text: str = "", token: str = "") -> tuple[Sandbox, str]:
    """Create a sandbox for a lesson that was read, and return it with its edit token.

    ``text``: the lesson's file, "" if it is on a shelf.
    """
    sandbox, token = store.create(
        lesson.title,
        seed=lesson.seed,
        configuration=lesson.configuration,
        setup=lesson.setup,
        queue_rules=lesson.queue_rules,
        token=token,
        priority_numbers=lesson.priority_numbers,
        kubernetes=lesson.kubernetes,
        feature_gates=lesson.feature_gates,
        own_plugins=False,  # A lesson says what the plugins of Kubernetes do.
    )
    # Only workers read a lesson that is on no shelf. Its outline is stored for the page of a workshop.
    progress: Progress = {"outline": [lesson.parts, list(lesson.tasks)]} if text else {}
    note_opened(progress, 0)
    Study.objects.create(sandbox=sandbox, shelf=shelf, slug=lesson.slug, text=text, progress=json.dumps(progress))
    return sandbox, token


def note_opened(progress: Progress, part: int) -> None:
    """Note that a part is open from now on, and how long the one before it was open."""
    now = int(timezone.now().timestamp())
    before, since = progress.get("opened", (None, now))
    if before is not None:
        spent = progress.setdefault("spent", {})
        spent[str(before)] = spent.get(str(before), 0) + max(0, now - since)
    progress["opened"] = [part, now]


def step(sandbox: Sandbox, part: int, who: str = "") -> None:
    """Take the steps left in the open part. Do nothing if another part is open: two clicks may mean the same.

    Raises ``Rejected`` if a step is refused unexpectedly; none is taken then.
    """
    status: Status = engines.read(sandbox, jobs.lesson_status)
    if status.part != part:
        return
    steps = engines.read(sandbox, jobs.lesson_steps)
    if steps:
        store.execute_all(sandbox, [command for command, _ in steps], who, [refused for _, refused in steps])
    if steps and all(refused for _, refused in steps):
        _change(sandbox, lambda study, progress, here: _press(progress, part))
    if steps and Guess.objects.filter(sandbox=sandbox, part=part, right=None).exists():
        judged: Status = engines.read(sandbox, jobs.lesson_status)
        _change(sandbox, lambda study, progress, here: _judge(judged))


def _judge(status: Status) -> None:
    """Store whether the answer to the open part's question was right, if that is known."""
    if status.right is not None:
        Guess.objects.filter(pk=status.guess, right=None).update(right=status.right)


def _press(progress: Progress, part: int) -> None:
    progress.setdefault("pressed", {})[str(part)] = 1


def hint(sandbox: Sandbox) -> None:
    """Show one more hint of the open part. Raises ``NothingToDo`` if all are shown."""
    status: Status = engines.read(sandbox, jobs.lesson_status)

    def show_next(study: Study, progress: Progress, here: Position) -> None:
        hints = progress.setdefault("hints", {})
        before = hints.get(str(status.part), 0)
        if before >= status.hints:
            raise NothingToDo(say("lesson.no-hint"))
        hints[str(status.part)] = before + 1

    _change(sandbox, show_next)


def turn_to(sandbox: Sandbox, part: int, who: str = "") -> None:
    """Open the next part, or one that was open before. Raises ``Rejected`` for any other part.

    If statements of the next part would be false in this sandbox, for example after a skipped task, set the sandbox as
    that part expects it. This happens before the part opens, so that nobody answers too early.
    """
    status: Status = engines.read(sandbox, jobs.lesson_status)
    sets = part == status.part + 1 <= status.parts and _is_new(sandbox, part)
    sets = sets and not engines.read(sandbox, jobs.lesson_comes_true, part)
    began = _take_lesson_steps(sandbox, part, who) if sets else {}

    def open_part(study: Study, progress: Progress, here: Position) -> None:
        before = min(study.part, status.parts)
        if part == before:
            raise NothingToDo(say("lesson.open-already"))
        if not 0 <= part <= status.parts or (part > before + 1 and str(part) not in progress.get("began", {})):
            raise Rejected(say("lesson.no-part"))
        if part == before + 1:
            _leave(progress, before, status)
        _judge(status)
        if began:
            progress["set"] = part
            _set_began(progress, part, began)
        elif not _has_begun(sandbox, progress, part, here):
            progress.setdefault("began", {})[str(part)] = [here.head, here.state]
        study.part = part
        note_opened(progress, part)

    _change(sandbox, open_part)


def _is_new(sandbox: Sandbox, part: int) -> bool:
    """Return True if a part has not begun in the present log."""
    text = Study.objects.values_list("progress", flat=True).get(sandbox=sandbox)
    return not _has_begun(sandbox, json.loads(text), part, statements.place(sandbox.pk).position)


def _has_begun(sandbox: Sandbox, progress: Progress, part: int, here: Position) -> bool:
    """Return True if the place where a part began is still in the log up to the head."""
    if part == 0:
        return True
    n, state = progress.get("began", {}).get(str(part), (here.head + 1, 0))
    return n <= here.head and Database().keys(sandbox.pk, [n]).get(n, 0) == state


def _leave(progress: Progress, part: int, status: Status) -> None:
    """Note a part as done or skipped. A part that was done once stays done, and its first answer counts."""
    finished = set(progress.get("done", ())) | ({part} if status.done else set())
    skipped = set(progress.get("skipped", ())) | ({part} if not status.done else set())
    if status.right is not None:
        progress.setdefault("right", {}).setdefault(str(part), int(status.right))
    progress["done"], progress["skipped"] = sorted(finished), sorted(skipped - finished)


def begin_at(sandbox: Sandbox, part: int) -> None:
    """Open a part of a lesson that nobody has begun, with the sandbox as that part expects it. Raises ``Rejected``."""
    began = _take_lesson_steps(sandbox, part, "")

    def open_part(study: Study, progress: Progress, here: Position) -> None:
        study.part = part
        note_opened(progress, part)
        _set_began(progress, part, began)

    _change(sandbox, open_part)


def catch_up(sandbox: Sandbox, who: str = "") -> None:
    """Set the sandbox as the open part expects it. Raises ``Rejected``."""
    part = engines.read(sandbox, jobs.lesson_status).part
    began = _take_lesson_steps(sandbox, part, who)
    _change(sandbox, lambda study, progress, now: _set_began(progress, part, began))


def _take_lesson_steps(sandbox: Sandbox, part: int, who: str) -> dict[str, list[int]]:
    """Go back to the setup, and take the lesson's own steps to the start of a part. The old timeline becomes a branch.

    Return where each part began. Raises ``Rejected``, with nothing changed.
    """
    setup, way = engines.read(sandbox, jobs.lesson_commands, part)
    with _as_helper(sandbox):
        if not way:
            here = store.go_to(sandbox, lambda _: setup)
            return {str(number): [here.head, here.state] for number in range(1, part + 1)}
        commands, refusals = [command for _, command, _ in way], [refused for _, _, refused in way]
        positions = store.execute_all(sandbox, commands, who, refusals, after=setup)
        if positions[-1].head == setup:  # All are refused.
            store.go_to(sandbox, lambda _: setup)
    start = Position(Database().keys(sandbox.pk, [setup]).get(setup, 0), setup, setup)
    began: dict[str, list[int]] = {}
    for number in range(1, part + 1):
        taken = sum(of < number for of, _, _ in way)
        here = positions[taken - 1] if taken else start
        began[str(number)] = [here.head, here.state]
    return began


@contextmanager
def _as_helper(sandbox: Sandbox) -> Iterator[None]:
    """Mark changes in the block as a helper's, not the owner's."""
    before, sandbox.by_helper = sandbox.by_helper, True
    try:
        yield
    finally:
        sandbox.by_helper = before


def _set_began(progress: Progress, part: int, began: dict[str, list[int]]) -> None:
    progress["began"] = began
    progress["pressed"] = {of: 1 for of in progress.get("pressed", {}) if int(of) < part}


def _change(sandbox: Sandbox, change: Callable[[Study, Progress, Position], None]) -> None:
    """Change the stored progress of a study, and notify browsers. Raises ``Rejected`` if there is no lesson."""
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
    """Store the answer ``named`` to the open question, None = show the answer without guessing.

    ``predicts``: answer the prediction ``key``, "" = that of the next stage. Raises ``Rejected``, ``NothingToDo`` if
    there is no open question, ``OverQuota`` or ``EngineError``.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> bool | None:
        lesson_answer = engines.ask(plan, place.position, jobs.lesson_guess, named, predicts, key)
        with transaction.atomic():
            if statements.place(sandbox.pk, lock=True) != place:
                return None
            _store(sandbox, lesson_answer, named, predicts, who)
            store.announce(sandbox, place)
        return True

    engines.at_present(sandbox, attempt)


def _store(
    sandbox: Sandbox, lesson_answer: LessonAnswer, named: Sequence[str] | None, predicts: bool, who: str
) -> None:
    guesses = Guess.objects.filter(sandbox=sandbox)
    limit = quotas.quotas().guesses
    if guesses.count() >= limit:
        raise quotas.OverQuota(say("predict.full", most=limit))
    part = None if predicts else Study.objects.values_list("part", flat=True).get(sandbox=sandbox)
    Guess.objects.create(
        sandbox=sandbox,
        part=part,
        question=lesson_answer.question,
        named=json.dumps(None if named is None else list(named), ensure_ascii=False),
        points=lesson_answer.points,
        right=json.loads(lesson_answer.points)["right"] if lesson_answer.points else None,
        state=lesson_answer.state,
        n=lesson_answer.n,
        entries=lesson_answer.entries,
        who=who,
    )
