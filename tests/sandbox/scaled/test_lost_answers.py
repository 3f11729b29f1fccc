"""PostgreSQL carries out a statement, but its answer is lost with the connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.sandbox.scaled.conftest import click, start_all
from tests.sandbox.scaled.cutter import Cutter, cutter
from tests.sandbox.served import Served
from tests.servers import Postgres, RedisServer


class Cuttable(NamedTuple):
    """A web process, and its line to PostgreSQL."""

    site: Served
    line: Cutter


@pytest.fixture(scope="module")
def cuttable(
    postgres_server: Postgres, redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cuttable]:
    database = postgres_server.new_database()
    with cutter(postgres_server.port) as line:
        url = database.replace(f":{postgres_server.port}/", f":{line.port}/")
        with start_all(tmp_path_factory.mktemp("cuttable"), url, redis_server.url) as start:
            yield Cuttable(start(), line)


def kinds(site: Served, base: str) -> list[str]:
    """Return the kinds of all commands in the log."""
    text = site.ask("GET", f"/api/v1/sandboxes{base[2:]}log")[1]
    return [command["kind"] for command in json.loads(text)["commands"]]


@pytest.mark.parametrize(
    ("before", "lost"),
    [
        pytest.param([], b"INSERT INTO sandbox_commandrecord", id="at the end of the log, in one statement"),
        pytest.param(["do/back/"], b"COMMIT", id="after a step back, in a transaction"),
    ],
)
def test_a_command_whose_answer_is_lost_is_refused_and_not_done_twice(
    cuttable: Cuttable, before: list[str], lost: bytes
) -> None:
    site, line = cuttable
    base, cuts = site.sandbox(nodes=1), line.cuts
    assert click(site, base) == 204
    for path in before:
        assert click(site, base, path, "") == 204
    was = kinds(site, base).count("advance")
    line.after = lost
    status, text, _ = site.ask("POST", f"{base}do/advance/", "seconds=2")
    assert line.cuts == cuts + 1
    now = kinds(site, base)
    assert (status, now.count("advance") - was) == (503, 1), now
    assert "Check" in text, text
