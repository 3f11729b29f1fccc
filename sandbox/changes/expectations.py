"""Add and delete the expectations of a sandbox."""

from __future__ import annotations

import json
from typing import Any

from django.db import transaction

from sandbox.changes import store
from sandbox.limits import quotas
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage import statements
from sandbox.storage.models import Expectation, Sandbox
from sandbox.storage.records import Place, Plan
from sandbox.words.say import say
from sandbox.worker import jobs
from scheduler_engine.errors import NothingToDo, Rejected

LONGEST = 8000
"""Characters of one expectation."""


def expect(sandbox: Sandbox, fact: str, about: dict[str, Any], at: Moment | None, who: str = "") -> Expectation:
    """Store a fact of a moment, None = the present, as an expectation, and return it.

    Raises ``Rejected`` if there is no such fact, ``NothingToDo`` if it is stored already, ``OverQuota`` or
    ``EngineError``.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> Expectation | None:
        expectation, *where = engines.ask(plan, place.position, jobs.expectation, fact, about, at)
        if expectation is None:
            raise Rejected(say("expectations.nothing"))
        return _store(sandbox, place, json.dumps(expectation, separators=(",", ":")), tuple(where), who)

    return engines.at_present(sandbox, attempt)


def _store(sandbox: Sandbox, place: Place, text: str, where: tuple[int, ...], who: str) -> Expectation | None:
    """Store an expectation. Return None if the log has changed meanwhile."""
    if len(text) > LONGEST:
        raise Rejected(say("expectations.long"))
    state, n, entries = where
    with transaction.atomic():
        if statements.place(sandbox.pk, lock=True) != place:
            return None
        moment = {"state": state, "n": n, "entries": entries}
        collected = Expectation.objects.filter(sandbox=sandbox)
        if collected.filter(expectation=text, **moment).exists():
            raise NothingToDo(say("expectations.already"))
        limit = quotas.quotas().expectations
        if collected.count() >= limit:
            raise quotas.OverQuota(say("expectations.full", most=limit))
        stored = Expectation.objects.create(sandbox=sandbox, expectation=text, who=who, **moment)
        store.announce(sandbox, place)
    return stored


def take_back(sandbox: Sandbox, key: int) -> bool:
    """Delete an expectation. Return False if there is none with this key."""
    with transaction.atomic():
        place = statements.place(sandbox.pk, lock=True)
        gone, _ = Expectation.objects.filter(sandbox=sandbox, pk=key).delete()
        if gone:
            store.announce(sandbox, place)
    return bool(gone)
