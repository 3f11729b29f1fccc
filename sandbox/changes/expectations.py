"""What people expect of a sandbox: collected at a moment, kept with it, taken back with a button."""

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
    """Keep a fact of a moment, None = the present, as an expectation.

    Raises ``Rejected`` where there is none, ``NothingToDo`` when it is kept already, ``OverQuota`` or ``EngineError``.
    """
    plan = Plan.of(sandbox)

    def attempt(place: Place) -> Expectation | None:
        expectation, *where = engines.ask(plan, place.position, jobs.expectation, fact, about, at)
        if expectation is None:
            raise Rejected(say("expectations.nothing"))
        return _keep(sandbox, place, json.dumps(expectation, separators=(",", ":")), tuple(where), who)

    return engines.at_present(sandbox, attempt)


def _keep(sandbox: Sandbox, place: Place, text: str, where: tuple[int, ...], who: str) -> Expectation | None:
    """None when another worker was quicker."""
    if len(text) > LONGEST:
        raise Rejected(say("expectations.long"))
    state, n, entries = where
    with transaction.atomic():
        if statements.place(sandbox.pk, lock=True) != place:
            return None
        held = Expectation.objects.filter(sandbox=sandbox)
        if held.filter(state=state, n=n, entries=entries, expectation=text).exists():
            raise NothingToDo(say("expectations.already"))
        most = quotas.quotas().expectations
        if held.count() >= most:
            raise quotas.OverQuota(say("expectations.full", most=most))
        kept = Expectation.objects.create(sandbox=sandbox, state=state, n=n, entries=entries, expectation=text, who=who)
        store.announce(sandbox, place)
    return kept


def take_back(sandbox: Sandbox, key: int) -> bool:
    """Forget an expectation; False when there is none of this key."""
    with transaction.atomic():
        place = statements.place(sandbox.pk, lock=True)
        gone, _ = Expectation.objects.filter(sandbox=sandbox, pk=key).delete()
        if gone:
            store.announce(sandbox, place)
    return bool(gone)
