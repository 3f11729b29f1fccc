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
NOT_OWN = ("SUM(", 'FROM "sandbox_commandrecord"', "FROM pg_locks")
MOST_STATEMENTS, MOST_COMMANDS = 5, 2


def test_a_step_takes_three_statements_and_one_message(
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
    statements = postgres_server.statements()[before:]
    # Neither the estimate of the stored bytes, nor a replay in another lane of workers, nor a check of the lock is a
    # step's own.
    own = [text.split()[0] for text in statements if not any(part in text for part in NOT_OWN)]
    # The link of the click, the command, and the link of the live line, which may have been taken back.
    assert own == ["SELECT", "WITH", "SELECT"] * STEPS
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
