"""A step costs few statements and few messages: counted by the servers themselves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.sandbox.scaled.conftest import Browse, Start, click
from tests.servers import Postgres, RedisServer

STEPS = 10
WARM_UP = 2
"""Steps until the first estimate of the stored bytes is cached, and the daily deletion has run."""
MOST_STATEMENTS, MOST_COMMANDS = 5, 2


def test_a_step_takes_two_statements_and_one_message(
    web: Start, browse: Browse, postgres_server: Postgres, redis_server: RedisServer
) -> None:
    site = web()
    base = site.sandbox(nodes=1)
    browser = browse(site, base)
    for step in range(1 + WARM_UP):
        assert not step or click(site, base) == 204
        browser.see(step + 1)
    before, calls = len(postgres_server.statements()), redis_server.calls()
    for step in range(STEPS):
        assert click(site, base) == 204
        browser.see(2 + WARM_UP + step)
    # The estimate of the stored bytes, once a minute, is not part of a step.
    statements = [text.split()[0] for text in postgres_server.statements()[before:] if "SUM(" not in text]
    assert statements == ["SELECT", "WITH"] * STEPS
    assert redis_server.calls() - calls == Counter({"publish": STEPS})
    assert len(statements) <= MOST_STATEMENTS * STEPS
    assert (redis_server.calls() - calls).total() <= MOST_COMMANDS * STEPS


@pytest.mark.django_db(transaction=True)
def test_a_step_with_sqlite_takes_five_statements(visitor: Any) -> None:
    assert visitor.post("do/advance/", seconds="1").status_code == 204
    with CaptureQueriesContext(connection) as captured:
        assert visitor.post("do/advance/", seconds="1").status_code == 204
    statements = [query["sql"].split()[0] for query in captured]
    assert statements == ["SELECT", "BEGIN", "INSERT", "UPDATE", "COMMIT"]
