"""Live lines of several web processes, while Redis comes and goes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from redis import Redis

from sandbox.web.consumers import NOT_FOUND
from tests.processes import stopped
from tests.sandbox.scaled.conftest import Browse, Browser, Start, click, start_all
from tests.sandbox.served import ROOT, Served, environment
from tests.servers import Postgres, RedisServer, redis
from tests.waiting import until


class Pair(NamedTuple):
    """Two web processes with a Redis of their own. ``start`` adds another one."""

    redis: RedisServer
    database: str
    here: Served
    there: Served
    start: Start

    def logs(self) -> list[str]:
        return [(site.directory / "log").read_text() for site in (self.here, self.there)]


@pytest.fixture(scope="module")
def pair(postgres_server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    database = postgres_server.new_database()
    with redis() as own, start_all(folder, database, own.url) as start:
        yield Pair(own, database, start(), start(), start)


@pytest.fixture
def base(pair: Pair) -> str:
    return pair.here.sandbox(nodes=1)


@pytest.fixture
def near(pair: Pair, base: str, browse: Browse) -> Browser:
    """Open a browser of the sandbox at the web process that changes it."""
    browser = browse(pair.here, base)
    browser.see(1)
    return browser


@pytest.fixture
def far(pair: Pair, base: str, browse: Browse) -> Browser:
    """Open a browser of the sandbox at the other web process."""
    browser = browse(pair.there, base)
    browser.see(1)
    return browser


def groups(server: RedisServer) -> list[str]:
    """Return the groups of sandboxes that some web process is subscribed to."""
    with Redis.from_url(server.url) as client:
        return [name.decode() for name in client.pubsub_channels("*sandbox.*") if b"alive" not in name]


def test_a_change_reaches_the_browsers_of_all_web_processes(
    pair: Pair, base: str, near: Browser, far: Browser, browse: Browse
) -> None:
    browsers = [near, far, browse(pair.there, base)]
    for revision, site in enumerate((pair.here, pair.there, pair.here), 2):
        assert click(site, base) == 204
        for browser in browsers:
            browser.see(revision)


def test_a_group_ends_with_its_last_browser(pair: Pair, base: str, browse: Browse) -> None:
    site = pair.here
    until(lambda: groups(pair.redis) == [])
    browsers = [browse(site, base) for _ in range(2)]
    until(lambda: len(groups(pair.redis)) == 1)
    browsers.pop().close()
    assert click(site, base) == 204
    browsers[0].see(2)
    assert len(groups(pair.redis)) == 1
    browsers.pop().close()
    until(lambda: groups(pair.redis) == [])
    again = browse(site, base)
    assert click(site, base) == 204
    again.see(3)


def test_without_redis_commands_succeed_and_browsers_catch_up_when_it_is_back(
    pair: Pair, base: str, near: Browser, far: Browser, browse: Browse
) -> None:
    before = [len(log) for log in pair.logs()]

    def said() -> list[str]:
        return [log[start:] for log, start in zip(pair.logs(), before, strict=True)]

    def back(times: int) -> bool:
        return all(log.count("Redis answers again") == times for log in said())

    for outage in range(2):
        pair.redis.kill()
        assert click(pair.here, base) == 204
        near.see(2 + outage)
        new = browse(pair.here, base)
        new.see(2 + outage)
        new.close()
        pair.redis.start()
        far.see(2 + outage)
        # A process that still has to repeat a message says so later. Killed before, it is the same outage.
        until(partial(back, 1 + outage))
    assert click(pair.here, base) == 204
    far.see(4)
    for log in said():
        assert log.count("Redis cannot be reached") == 2
        assert "Traceback" not in log


def test_a_web_process_without_browsers_sends_again_when_redis_is_back(pair: Pair, base: str, far: Browser) -> None:
    here = pair.start()
    for revision in (2, 4):
        pair.redis.kill()
        assert click(here, base) == 204
        pair.redis.start()
        far.see(revision)
        assert click(here, base) == 204
        far.see(revision + 1)


def test_a_redis_that_hangs_delays_nobody(pair: Pair, base: str, near: Browser, far: Browser, browse: Browse) -> None:
    assert pair.redis.process is not None
    with stopped([pair.redis.process.pid]):
        assert click(pair.here, base) == 204
        near.see(2)
        browse(pair.here, base).see(2)
    far.see(2)


def test_browsers_elsewhere_catch_up_after_one_web_process_could_not_reach_redis(pair: Pair, browse: Browse) -> None:
    with Redis.from_url(pair.redis.url) as client:
        client.execute_command("ACL", "SETUSER", "web", "on", ">word", "~*", "&*", "+@all")
        here = pair.start(REDIS_URL=pair.redis.url.replace("//", "//web:word@"))
        base = here.sandbox(nodes=1)
        near, far = browse(here, base), browse(pair.there, base)
        assert click(here, base) == 204
        far.see(2)
        client.execute_command("ACL", "SETUSER", "web", "-publish")
        assert click(here, base) == 204
        near.see(3)
        until(lambda: "Redis cannot be reached" in (here.directory / "log").read_text())
        client.execute_command("ACL", "SETUSER", "web", "+publish")
        far.see(3)


def test_lines_end_when_another_process_deletes_their_sandbox(
    pair: Pair, base: str, near: Browser, far: Browser, tmp_path: Path
) -> None:
    with psycopg.connect(pair.database) as connection:
        sql = "UPDATE sandbox_sandbox SET last_used = '2020-01-01' WHERE id = %s"
        connection.execute(sql, [base.split("/")[2]])
    settings = environment(tmp_path, DATABASE_URL=pair.database, REDIS_URL=pair.redis.url)
    command = [sys.executable, "manage.py", "prune"]
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 sandboxes deleted"), done.stdout
    assert [browser.see_close() for browser in (near, far)] == [NOT_FOUND] * 2
