"""What people expect of a sandbox: collected at a moment, kept with it, taken back with a button."""

from __future__ import annotations

import json
from typing import Any

from django.db import transaction

from sandbox import quotas, statements, store
from sandbox.engines import site
from sandbox.engines.errors import Occupied
from sandbox.engines.turns import turn
from sandbox.live import StateGone
from sandbox.models import Expectation, Sandbox
from sandbox.panels.model.moment import Moment
from sandbox.panels.words.say import say
from sandbox.records import Place, Plan
from scheduler_engine.errors import NothingToDo, Rejected

LONGEST = 8000
"""Characters of one expectation."""


def expect(sandbox: Sandbox, fact: str, about: dict[str, Any], at: Moment | None, who: str = "") -> Expectation:
    """Keep a fact of a moment, None = the present, as an expectation.

    Raises ``Rejected`` where there is none, ``NothingToDo`` when it is kept already, ``OverQuota`` or ``EngineError``.
    """
    plan = Plan.of(sandbox)
    with turn(sandbox.pk):
        for _ in range(site.TRIES):
            place = statements.place(sandbox.pk)
            try:
                found, *where = site.ask(plan, place.position, "expectation", fact, about, at)
            except StateGone:
                continue
            if found is None:
                raise Rejected(say("expectations.nothing"))
            kept = _keep(sandbox, place, json.dumps(found, separators=(",", ":")), tuple(where), who)
            if kept is not None:
                return kept
    raise Occupied(site.CHANGING)


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
