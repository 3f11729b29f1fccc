"""Hostile requests to the API server of a sandbox, in this process: KUBE_REQUESTS=20000 sends more of them by hand.

No answer is 5xx, every error is a ``Status``, and neither an error nor a look changes anything. ``make hostile`` sends
such requests to real servers, too.
"""

from __future__ import annotations

import os
import random
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client

from sandbox.changes import store
from tests.hostile import of_kube
from tests.hostile.targets import COMMANDS
from tests.sandbox.conftest import Visitor

COUNT = int(os.environ.get("KUBE_REQUESTS", "400"))
SEED = int(os.environ.get("KUBE_SEED", "1"))
IN_ONE = 100
"""Requests to one sandbox: then a new one has its objects again."""
LOST = 200
"""Characters of a request that a message shows."""


def opened() -> Visitor:
    sandbox, token = store.create("Hostile")
    for command in COMMANDS:
        store.execute(sandbox, command)
        sandbox.refresh_from_db()
    return Visitor(sandbox, token, Client(raise_request_exception=False))


@pytest.mark.django_db
def test_no_request_breaks_a_sandbox(settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, (1e6, 1_000_000))
    statuses, wrong = set[int](), list[str]()
    for number in range(COUNT):
        if number % IN_ONE == 0:
            visitor = opened()
            log = visitor.log()
        drawn = random.Random(f"kube {number} of {SEED}")
        method, path, headers, body = of_kube.request(drawn)
        place, _, query = path.partition("?")
        answer = visitor.client.generic(
            method,
            visitor.url(unquote(place, errors="replace")),
            body,
            headers.pop("Content-Type", "").partition(";")[0],  # The test client itself refuses odd parameters.
            headers=headers,
            QUERY_STRING=query.encode("ascii", "replace").decode(),
        )
        statuses.add(answer.status_code)
        before, log = log, visitor.log()
        refused = answer.status_code >= 400
        recorded = answer.status_code == 429 and place.endswith("/eviction")  # A budget refused it.
        faults = {
            "is an error of the server": answer.status_code >= 500,
            "is no Status": refused and answer["Content-Type"] == "application/json" and answer.json()["code"] < 400,
            "changed something": (refused or method == "GET") and not recorded and log != before,
        }
        said = [text for text, holds in faults.items() if holds]
        wrong += [f"{number}: {method} {path} {body!r}"[:LOST] + f" {answer.status_code} {text}" for text in said]
    assert wrong == []
    assert {200, 201, 400, 404, 405, 409, 415, 422} <= statuses
