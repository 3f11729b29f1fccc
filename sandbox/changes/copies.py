"""Copies of sandboxes: of the log up to a moment, with what belongs to it, or of another run."""

from __future__ import annotations

import json
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from sandbox.changes.store import PLANNED_FIELDS, save, until_of
from sandbox.limits import quotas
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage.models import Expectation, Guess, Sandbox, Study
from sandbox.storage.records import Database, Expected, Guessed, Record, log_of
from sandbox.worker import jobs
from sandbox.worker.errors import Occupied
from sandbox.worker.other_run import Course

FORKED_FIELDS = ("title", *PLANNED_FIELDS, "engine_version")


def fork(sandbox: Sandbox, moment: Moment | None, token: str = "", anew: bool = False) -> tuple[UUID, str]:
    """Create a sandbox with the log of this one up to a moment, None = the present. Return its id and edit token.

    ``anew``: its commands count as this version of the engine decides them, even if they were decided differently here.
    Raises as ``go_to_moment``, ``Occupied`` if the log changes meanwhile, or ``OverQuota``.
    """
    present = sandbox.head, None, ""
    whole, ended, mark = present if moment is None else engines.read(sandbox, jobs.log_until, moment)
    count = whole + (ended is not None)
    texts = list(log_of(sandbox.pk).filter(n__lte=count).order_by("n").values_list("command", "who", "mark"))
    if len(texts) < count:
        raise Occupied(engines.CHANGING)
    if ended is not None:
        texts[-1] = ended, texts[-1][1], mark
    if anew:
        texts = [(text, who, "") for text, who, _ in texts]
    quotas.check_log(0, sum(len(text) for text, *_ in texts))
    fields = {name: getattr(sandbox, name) for name in FORKED_FIELDS}
    with transaction.atomic():
        token, records = save(Sandbox(id=(fork_id := uuid4()), **fields), texts, token)
        _copy_notes(sandbox, fork_id, records, None if ended is None else until_of(ended))
    return fork_id, token


def open_run(sandbox: Sandbox, run: Course, title: str) -> tuple[UUID, str]:
    """Create a sandbox with another run of this one. Return its id and edit token. Raises ``OverQuota``."""
    quotas.check_log(len(run.texts), sum(map(len, run.texts)))
    fields = {name: getattr(sandbox, name) for name in FORKED_FIELDS}
    fields |= {name: getattr(run.plan, name) for name in PLANNED_FIELDS} | {"title": title}
    token, _ = save(Sandbox(id=(run_id := uuid4()), **fields), [(text, "", "") for text in run.texts])
    return run_id, token


def _copy_notes(sandbox: Sandbox, fork_id: UUID, records: list[Record], until: int | None) -> None:
    """Copy expectations, lesson and guesses to a fork, as far as their moments are in its log.

    ``until``: entries after which its last command ends early.
    """
    before = dict(log_of(sandbox.pk).filter(n__lte=len(records)).values_list("n", "pk")) | {0: 0}
    now = {record.n: record.key for record in records} | {0: 0}

    def within(row: Expected | Guessed) -> bool:
        return before.get(row.n) == row.state and (row.n < len(records) or until is None or row.entries <= until)

    Expectation.objects.bulk_create(
        Expectation(
            sandbox_id=fork_id, state=now[row.n], n=row.n, entries=row.entries, expectation=row.text, who=row.who
        )
        for row in Database().expected(sandbox.pk)
        if within(row)
    )
    studied = Database().studied(sandbox.pk)
    Guess.objects.bulk_create(
        Guess(
            sandbox_id=fork_id,
            state=now[row.n],
            **{name: getattr(row, name) for name in ("part", "question", "named", "points", "n", "entries", "who")},
        )
        for row in studied.guesses
        if within(row)
    )
    if studied.slug:
        fields = {name: getattr(studied, name) for name in ("slug", "shelf", "text", "part")}
        progress = _fork_progress(studied.progress, before, now, studied.part)
        Study.objects.create(sandbox_id=fork_id, progress=progress, **fields)


def _fork_progress(text: str, before: dict[int, int], now: dict[int, int], part: int) -> str:
    """Return the progress of a study with the keys of a fork's records. Parts that began later are left out.

    The time that the original's owner spent in its parts is not that of the fork's.
    """
    progress = json.loads(text)
    began = progress.get("began", {}).items()
    progress["began"] = {part: [n, now[n]] for part, (n, state) in began if n in now and before.get(n) == state}
    progress |= {"opened": [part, int(timezone.now().timestamp())], "spent": {}}
    return json.dumps(progress, separators=(",", ":"))
