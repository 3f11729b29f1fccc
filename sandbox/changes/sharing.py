"""The sandboxes behind the scenarios of other people's pages: one for each scenario, found again, changed by nobody."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from threading import Lock
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError

from sandbox.changes import store
from sandbox.storage import statements, tokens
from sandbox.storage.models import Sandbox
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.scenario import Scenario, command_of
from scheduler_engine.scenario.priority_numbers import gives_numbers

_making = Lock()


def key_of(scenario: Scenario) -> tuple[UUID, str]:
    """Id and edit token of the sandbox of a scenario: others for another engine, other steps or another secret key.

    The edit token is never handed out; nobody guesses it without the secret key.
    """
    told = {name: value for name, value in asdict(scenario).items() if name != "origin"}
    what = json.dumps([ENGINE_VERSION, told], sort_keys=True, default=str).encode()
    mac = hmac.new(settings.SECRET_KEY.encode(), b"shared:" + what, sha256).digest()
    return UUID(bytes=sha256(b"id:" + mac).digest()[:16], version=4), urlsafe_b64encode(mac[:24]).decode()


def found(scenario: Scenario) -> tuple[Sandbox, str] | None:
    """The scenario's sandbox and its watching token; None: nobody has asked for it yet."""
    sandbox_id, token = key_of(scenario)
    sandbox = statements.sandbox(sandbox_id)
    return None if sandbox is None else (sandbox, tokens.view_token(token))


def made(scenario: Scenario) -> tuple[Sandbox, str]:
    """The same, made first where it is not there: its setup and its steps, but for those that are to be refused."""
    with _making:
        known = found(scenario)
        if known is not None:
            return known
        steps = [command_of(step) for step in scenario.then if "refused" not in step]
        sandbox_id, token = key_of(scenario)
        with suppress(IntegrityError):  # Another worker was quicker.
            store.create(
                scenario.title,
                scenario.slug,
                scenario.seed,
                scenario.configuration,
                [*(dict(step) for step in scenario.setup), *steps],
                scenario.queue_rules,
                token=token,
                sandbox_id=sandbox_id,
                priority_numbers=gives_numbers(scenario),
            )
        sandbox = Sandbox.objects.get(pk=sandbox_id)
        return sandbox, tokens.view_token(token)
