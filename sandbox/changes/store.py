"""The command log: all changes of a sandbox go through it.

A worker executes a command first. Then one short transaction checks that the log has not changed, appends the command
and commits. If the log has changed, the command is executed again at the new head. Several commands of one button are
executed and appended together, or none of them. Browsers are notified after the commit. No job runs inside a
transaction, so nobody waits for the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import transaction

from sandbox.changes import homes
from sandbox.changes.once import Once
from sandbox.limits import quotas
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.pool.turns import turn
from sandbox.runtime.layers import HERE, LINKS_CHANGED, publish
from sandbox.runtime.local import local
from sandbox.runtime.threads import tell
from sandbox.storage import branches, statements, tokens
from sandbox.storage.commands import to_text
from sandbox.storage.models import Branch, CommandRecord, Sandbox
from sandbox.storage.records import (
    QUEUE_RULES,
    START,
    Place,
    Plan,
    Position,
    Record,
    log_of,
)
from sandbox.worker import jobs
from sandbox.worker.errors import Occupied
from sandbox.worker.job import Job
from sandbox.worker.live import Executed
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.versions import DEFAULT, rules_for

T = TypeVar("T")
V = TypeVar("V")

PLANNED_FIELDS = (
    *("scenario", "story", "seed", "configuration", "queue_rules"),
    *("kubernetes", "feature_gates", "priority_numbers"),
)
"""Fields of a sandbox that its plan has, too."""


def create(
    title: str,
    scenario: str = "",
    seed: int = 42,
    configuration: Any = None,
    setup: list[dict[str, Any]] | None = None,
    queue_rules: str = QUEUE_RULES[0],
    story: str = "",
    token: str = "",
    sandbox_id: UUID | None = None,
    priority_numbers: bool = False,
    kubernetes: str = DEFAULT,
    feature_gates: Mapping[str, bool] | None = None,
    own_plugins: bool = True,
) -> tuple[Sandbox, str]:
    """Create a sandbox, execute ``setup`` as its first commands, and return it with its edit token.

    ``token``: use this edit token, "" = a new one. ``sandbox_id``: None = a new one. ``priority_numbers``: pods may
    have a priority number without a PriorityClass. ``kubernetes``: the version to begin under, with ``feature_gates``
    that differ from its defaults. ``own_plugins``: without a configuration, enable the plugins of the person who runs
    this site, if there are any. Raises ``Rejected``, ``IntegrityError`` if the id exists, or as ``execute``.
    """
    rules_for(kubernetes, feature_gates)  # Without commands nobody plays it before it is stored.
    commands = setup or []
    texts = [to_text(command) for command in commands]
    quotas.check_log(len(commands), sum(map(len, texts)))
    plan = Plan(
        sandbox_id or uuid4(),
        seed,
        json.dumps(local.configuration if configuration is None and own_plugins else configuration),
        queue_rules,
        scenario,
        story,
        priority_numbers,
        kubernetes,
        json.dumps(dict(feature_gates or {})),
    )
    marked = list[tuple[str, str, str]]()
    if commands:
        done = engines.ask(plan, START, jobs.execute, commands, texts)
        marked = [(text, "", mark) for text, mark in zip(done.texts, done.marks, strict=True)]
    elif configuration is not None:
        engines.ask(plan, START, jobs.state)  # It is refused before it is stored, not when somebody opens it.
    fields = {name: getattr(plan, name) for name in PLANNED_FIELDS}
    sandbox = Sandbox(id=plan.sandbox_id, title=title, engine_version=ENGINE_VERSION, **fields)
    token, records = save(sandbox, marked, token)
    engines.tell(plan, START, jobs.arrive, records)
    return sandbox, token


def save(sandbox: Sandbox, texts: list[tuple[str, str, str]], token: str = "") -> tuple[str, list[Record]]:
    """Store a new sandbox. Return its edit token and records. ``texts``: command, label of its author, and mark."""
    token = token or tokens.new_token()
    sandbox.edit_token_hash = tokens.digest(token)
    sandbox.view_token_hash = tokens.digest(tokens.view_token(token))
    with transaction.atomic():
        sandbox.save(force_insert=True)
        records = [
            statements.append(sandbox.pk, n, text, who, mark=mark) for n, (text, who, mark) in enumerate(texts, 1)
        ]
        if records:
            place = Place(Position(records[-1].key, len(records), len(records)), len(records))
            statements.set_place(sandbox.pk, place, sum(len(text) for text, *_ in texts))
            sandbox.state, sandbox.head, sandbox.length = place.position.state, len(records), len(records)
    quotas.add_stored_bytes(quotas.ROW_BYTES * (1 + len(records)) + sum(len(text) for text, *_ in texts))
    return token, records


def execute(sandbox: Sandbox, command: dict[str, Any], who: str = "") -> Position:
    """Execute ``command`` at the head and append it. Commands after the head become a branch. Return the new position.

    If the engine can merge a tick with the tick before, one record with the time of both replaces that. Raises
    ``Rejected``, ``OverQuota``, ``ReplayFailed`` or ``EngineError``, with nothing changed.
    """
    return execute_all(sandbox, [command], who)[-1]


def execute_all(
    sandbox: Sandbox,
    commands: Sequence[dict[str, Any]],
    who: str = "",
    refusals: Sequence[str] = (),
    after: int | None = None,
    once: Once | None = None,
) -> list[Position]:
    """Execute all commands and append them, or none. Return the position after each. Raises as ``execute``.

    They are one change: one revision, one piece of news. ``refusals``: for each command a part of the refusal after
    which it is left out, "" = none. ``after``: begin after this command instead of at the head. ``once``: the request
    that they are from; raises as its ``remember``.
    """
    plan, texts = Plan.of(sandbox), [to_text(command) for command in commands]

    def attempt(place: Place) -> list[Position] | None:
        here = place.position
        start = here if after is None else _place_in_log(sandbox.pk, here, after)
        _check_room(sandbox.pk, place, start, texts)
        done = engines.ask(plan, start, jobs.execute, commands, texts, refusals)
        return _store_executed(sandbox, plan, here, start, done, who, once)

    return engines.at_present(sandbox, attempt, lambda: homes.newest_place(sandbox))


def tried(sandbox: Sandbox, commands: Sequence[dict[str, Any]]) -> tuple[Position, dict[str, Any]]:
    """Execute all commands, and forget them. Return where the log would end, and the state then. Raises as ``execute``.

    No branch has to go for them: if they need its room, only ``execute_all`` finds out.
    """
    plan, texts = Plan.of(sandbox), [to_text(command) for command in commands]

    def attempt(place: Place) -> tuple[Position, dict[str, Any]]:
        here = place.position
        quotas.check_log(here.head + len(texts) - 1, 0)
        state = engines.ask(plan, here, jobs.tried, commands, texts)
        end = here.head + len(texts)
        return Position(here.state, end, end), state

    return engines.at_present(sandbox, attempt)


def delete(keys: Sequence[UUID]) -> None:
    """Delete sandboxes with all that belongs to them, and close the pages that show them."""
    with transaction.atomic():
        CommandRecord.objects.filter(sandbox__in=keys).delete()
        Sandbox.objects.filter(pk__in=keys).delete()
        for key in keys:
            transaction.on_commit(partial(publish, tell, key, LINKS_CHANGED), robust=True)


def carry_out(
    sandbox: Sandbox,
    job: Job[[V, str], tuple[Executed | None, T]],
    argument: V,
    who: str = "",
    once: Once | None = None,
) -> tuple[Executed | None, T]:
    """Let a job find and execute the commands of a request, and append them, or none. Return what the job returned.

    The job decides in the state in which its commands are executed. Its second argument is ``Sandbox.turns``. None: it
    executed nothing. Raises as ``execute``, and what the job raises.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> tuple[Executed | None, T] | None:
        here = place.position
        done, answer = engines.ask(plan, here, job, argument, place.turns)
        if done is None:
            there = statements.place(sandbox.pk).position == here
        else:
            _check_room(sandbox.pk, place, here, done.texts)
            there = _store_executed(sandbox, plan, here, here, done, who, once) is not None
        return (done, answer) if there else None

    return engines.at_present(sandbox, attempt, lambda: homes.newest_place(sandbox))


def _check_room(sandbox_id: UUID, place: Place, start: Position, texts: Sequence[str]) -> None:
    """Raise ``OverQuota`` if the log has no room for ``texts``. Old branches may have to go."""
    quotas.check_log(start.head + len(texts) - 1, _make_room_for(sandbox_id, place, sum(map(len, texts))))


def _store_executed(
    sandbox: Sandbox,
    plan: Plan,
    here: Position,
    start: Position,
    done: Executed,
    who: str,
    once: Once | None = None,
) -> list[Position] | None:
    """Append what was executed at ``start``. Return the position after each command, or None if the log has left
    ``here``.
    """
    if not done.texts:
        # All are refused. That counts only if the sandbox is where it was expected.
        return [start for _ in done.counts] if statements.place(sandbox.pk).position == here else None
    statements.set_marks(done.learned)
    with transaction.atomic() if once is not None else nullcontext():
        appended = _append_executed(sandbox, here, start, done, who)
        if appended is not None and once is not None:
            once.remember(sandbox.pk)
    if appended is None:
        return None
    now, records = appended
    quotas.add_stored_bytes(sum(quotas.ROW_BYTES + len(record.command) for record in records))
    engines.tell(plan, start, jobs.arrive, records)
    _announce(sandbox.pk, now)
    positions = [start, *(Position(record.key, record.n, now.position.length) for record in records)]
    return [positions[count] for count in done.counts]


def _place_in_log(sandbox_id: UUID, here: Position, n: int) -> Position:
    """Return the position after command ``n``. Raises ``Occupied`` if somebody has shortened the log."""
    state = log_of(sandbox_id).filter(n=n).values_list("pk", flat=True).first() if n else 0
    if state is None:
        raise Occupied(engines.CHANGING)
    return Position(state, n, here.length)


def _append_executed(
    sandbox: Sandbox, at: Position, start: Position, done: Executed, who: str
) -> tuple[Place, list[Record]] | None:
    """Store commands that were executed at ``start``, as ``_append`` does. One at the end of the log: one statement."""
    texts = list(zip(done.texts, done.marks, strict=True))
    if len(texts) > 1 or done.grows or start != at or at.head < at.length:
        return _append(sandbox, at, start.head + (not done.grows), texts, who, start=start, grown=done.grows)
    ((text, mark),) = texts
    appended = statements.append_next(sandbox.pk, at, text, who, sandbox.by_helper, mark)
    return None if appended is None else (appended[0], [appended[1]])


def _append(
    sandbox: Sandbox,
    at: Position,
    n: int,
    texts: Sequence[tuple[str, str]],
    who: str,
    start: Position,
    grown: bool = False,
    until: int | None = None,
) -> tuple[Place, list[Record]] | None:
    """Store ``texts`` as commands from ``n`` on. Return the new place and the records, or None if the log has left
    ``at``. Each text has its mark beside it.

    ``start``: the position at which they were executed. ``grown``: the first one extends the last command, which needs
    no branch. ``until``: it is the old command ``n``, ended after ``until`` entries. In both cases expectations and
    guesses move to the new record. That record counts as a helper's only if the owner took no part in it.
    """
    sandbox_id, by_helper = sandbox.pk, sandbox.by_helper
    with transaction.atomic():
        place = statements.place(sandbox_id, lock=True)
        if place.position != at:
            return None
        same = grown or until is not None
        old = log_of(sandbox_id).filter(n=n).values_list("pk", "by_helper").first() if same else None
        before, was_helped = old or (None, False)
        if old:
            by_helper = was_helped and (by_helper or not grown)
        dropped = _clear(sandbox_id, start, n, grown) if n <= start.length else 0
        helped = (by_helper, *(sandbox.by_helper for _ in texts[1:]))
        records = [
            statements.append(sandbox_id, number, text, who, by, mark)
            for number, (by, (text, mark)) in enumerate(zip(helped, texts, strict=True), n)
        ]
        moved = before is not None and statements.move_expectations(sandbox_id, before, records[0].key, until)
        last, more = records[-1], sum(len(text) for text, _ in texts) - dropped
        now = place.then(Position(last.key, last.n, last.n), moved, more, left=n if grown else n - 1)
        statements.set_place(sandbox_id, now, more, not sandbox.by_helper)
    return now, records


def _clear(sandbox_id: UUID, position: Position, n: int, grown: bool) -> int:
    """Make place ``n`` free. Return how many characters were deleted. What is not ``grown`` becomes a branch."""
    if grown and n == position.length and not Branch.objects.filter(sandbox=sandbox_id, base=position.state).exists():
        return statements.drop_from(sandbox_id, n)
    branches.move_to_branch(sandbox_id, n)
    return branches.make_room(sandbox_id)


def _make_room_for(sandbox_id: UUID, place: Place, more: int) -> int:
    """Return the characters of the log plus ``more``. Delete old branches if that is over the limit."""
    most = quotas.quotas().log_bytes
    if place.size + more <= most:
        return place.size + more
    with transaction.atomic():
        place = statements.place(sandbox_id, lock=True)
        freed = branches.make_room(sandbox_id, place.size + more - most)
        statements.set_place(sandbox_id, place, -freed)
    return place.size + more - freed


def go_to_moment(sandbox: Sandbox, moment: Moment) -> Position:
    """Go back to a moment. Return the new position.

    If the moment is within a command, that command ends early and the old timeline becomes a branch. Otherwise later
    commands stay ahead of the head. Raises ``Rejected`` if the command cannot end there, or ``EngineError``.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> tuple[int, Position | None] | None:
        whole, ended, mark = engines.ask(plan, place.position, jobs.log_until, moment)
        if ended is None:
            return whole, None
        authors = log_of(sandbox.pk).filter(n=whole + 1).values_list("who", flat=True)
        who, here = next(iter(authors), ""), place.position
        appended = _append(sandbox, here, whole + 1, [(ended, mark)], who, start=here, until=until_of(ended))
        if appended is None:
            return None
        _announce(sandbox.pk, appended[0])
        return whole, appended[0].position

    whole, position = engines.at_present(sandbox, attempt)
    return position or go_to(sandbox, lambda _: whole)


def reopen(sandbox: Sandbox, key: int) -> Position | None:
    """Go to the end of a branch. The commands it replaces become a branch. Return None if there is no such branch."""
    with turn(sandbox.pk), transaction.atomic():
        place = statements.place(sandbox.pk, lock=True)
        reopened = branches.reopen(sandbox.pk, key)
        if reopened is None:
            return None
        position, left = reopened
        freed = branches.make_room(sandbox.pk)
        now = place.then(position, grown=-freed, left=left)
        statements.set_place(sandbox.pk, now, -freed, not sandbox.by_helper)
        _announce(sandbox.pk, now)
    return position


def until_of(ended: str) -> int:
    """Return after how many entries of its trace a command ends early."""
    return int(json.loads(ended)["until"])


def go_to(sandbox: Sandbox, choose: Callable[[Position], int]) -> Position:
    """Set the head to ``choose(present position)``, limited to the length of the log. Return the new position."""
    with turn(sandbox.pk):
        with transaction.atomic():
            place = statements.place(sandbox.pk, lock=True)
            here = place.position
            n = max(0, min(choose(here), here.length))
            if n == here.head:
                return here
            state = log_of(sandbox.pk).get(n=n).pk if n else 0
            now = place.then(Position(state, n, here.length), left=n)
            statements.set_place(sandbox.pk, now, by_owner=not sandbox.by_helper)
        _announce(sandbox.pk, now)
    return now.position


def announce(sandbox: Sandbox, place: Place) -> None:
    """Record that expectations, guesses or the study have changed, and notify browsers.

    Call it in a transaction that locks the log at ``place``.
    """
    now = place.then(place.position, expected=True)
    statements.set_place(sandbox.pk, now, by_owner=not sandbox.by_helper)
    _announce(sandbox.pk, now)


def _announce(sandbox_id: UUID, place: Place) -> None:
    """Notify browsers after the commit. If that fails, the change is valid, and they catch up with the next one."""
    transaction.on_commit(lambda: _publish(sandbox_id, place), robust=True)


def _publish(sandbox_id: UUID, place: Place) -> None:
    homes.note_change(sandbox_id, place)
    position = place.position
    message = {
        "type": "sandbox.changed",
        "revision": place.revision,
        "expected_at": place.expected_at,
        "position": [position.state, position.head, position.length],
        "by": HERE,
    }
    publish(tell, sandbox_id, message)
