"""Sandboxes behind the scenarios that other pages embed: one for each scenario, read-only, reused by all pages."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from threading import Lock
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError

from sandbox.changes import store
from sandbox.storage import statements, tokens
from sandbox.storage.models import Sandbox
from sandbox.worker.jobs.importing import beginning_of
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.scenario import Scenario, command_of

_creating = Lock()


def key_of(scenario: Scenario) -> tuple[UUID, str]:
    """Return the id and the edit token of a scenario's sandbox. Both change with engine, scenario and secret key.

    The edit token is never shown to anybody, and cannot be computed without the secret key.
    """
    content = json.dumps(
        [ENGINE_VERSION, {item.name: getattr(scenario, item.name) for item in fields(scenario) if item.compare}],
        sort_keys=True,
    ).encode()
    mac = hmac.new(settings.SECRET_KEY.encode(), b"shared:" + content, sha256).digest()
    return UUID(bytes=sha256(b"id:" + mac).digest()[:16], version=4), urlsafe_b64encode(mac[:24]).decode()


def find(scenario: Scenario) -> tuple[Sandbox, str] | None:
    """Return the scenario's sandbox and its view token, None if it does not exist yet."""
    sandbox_id, token = key_of(scenario)
    sandbox = statements.sandbox(sandbox_id)
    return None if sandbox is None else (sandbox, tokens.view_token(token))


def get_or_create(scenario: Scenario) -> tuple[Sandbox, str]:
    """Return the scenario's sandbox and its view token. Create the sandbox if it does not exist.

    A new one executes the setup and all steps, except those with an expected refusal.
    """
    with _creating:
        existing = find(scenario)
        if existing is not None:
            return existing
        steps = [command_of(step) for step in scenario.then if "refused" not in step]
        sandbox_id, token = key_of(scenario)
        with suppress(IntegrityError):  # Another web process was quicker.
            beginning = beginning_of(scenario)
            beginning["setup"] += steps
            store.create(scenario.title, scenario.slug, token=token, sandbox_id=sandbox_id, **beginning)
        sandbox = Sandbox.objects.get(pk=sandbox_id)
        return sandbox, tokens.view_token(token)
