"""Connections to PostgreSQL: few, shared, and replaced when they break."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.processes import descendants, stopped
from tests.sandbox.scaled.conftest import Start, click, start_all
from tests.sandbox.served import Served
from tests.servers import Postgres, RedisServer
from tests.waiting import until

FEW, PEOPLE = 4, 24
SHARED = "count(*) FILTER (WHERE query NOT LIKE '%pg_try_advisory_lock%' AND query NOT LIKE '%pg_locks%')"


def connections(server: Postgres, database: str) -> int:
    """Return how many connections the web processes have, without those that hold their locks."""
    name = urlsplit(database).path[1:]
    ((number,),) = server.run(f"SELECT {SHARED} FROM pg_stat_activity WHERE datname = '{name}'")
    return int(str(number))


@pytest.fixture(scope="module")
def database(postgres_server: Postgres) -> str:
    return postgres_server.new_database()


@pytest.fixture(scope="module")
def site(database: str, redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with start_all(tmp_path_factory.mktemp("few"), database, redis_server.url) as web:
        yield web(DATABASE_CONNECTIONS=str(FEW), ENGINE_PROCESSES="1")


@contextmanager
def locked(database: str, bases: list[str]) -> Iterator[None]:
    """Lock the rows of sandboxes in the block, so that their commands wait in the database."""
    keys = [base.split("/")[2] for base in bases]
    with psycopg.connect(database) as connection:
        connection.execute("SELECT 1 FROM sandbox_sandbox WHERE id = ANY(%s::uuid[]) FOR UPDATE", [keys])
        yield


def test_many_people_share_few_connections(site: Served, postgres_server: Postgres, database: str) -> None:
    bases = [site.sandbox(nodes=1) for _ in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as people:
        for _ in range(5):
            answers = people.map(lambda base: click(site, base), bases)
            assert set(answers) == {204}
            assert connections(postgres_server, database) <= FEW


def test_a_request_that_waits_for_a_worker_keeps_no_connection(site: Served, postgres_server: Postgres) -> None:
    bases = [site.sandbox(nodes=1) for _ in range(FEW + 1)]
    before = links_read(postgres_server)
    with ThreadPoolExecutor(len(bases)) as people:
        with stopped(descendants(site.process.pid)):
            waiting = [people.submit(click, site, base) for base in bases]
            until(lambda: links_read(postgres_server) == before + len(bases))
            for base in bases:
                assert site.ask("GET", f"/api/v1/sandboxes{base[2:]}log")[0] == 200
            assert not any(one.done() for one in waiting)
        assert [one.result() for one in waiting] == [204] * len(bases)


def links_read(server: Postgres) -> int:
    """Return how many requests so far have read the sandbox of their link."""
    return sum(text.startswith("SELECT * FROM sandbox_sandbox WHERE id") for text in server.statements())


def test_a_request_that_waits_too_long_for_a_connection_is_refused(site: Served, database: str) -> None:
    bases = [site.sandbox(nodes=1) for _ in range(FEW + 1)]
    with ThreadPoolExecutor(FEW) as people:
        with locked(database, bases[:FEW]):
            waiting = [people.submit(click, site, base) for base in bases[:FEW]]
            until(lambda: blocked(database) == FEW)
            status, text, _ = site.ask("POST", f"{bases[-1]}do/advance/", "seconds=1")
            assert (status, "Nothing was changed" in text) == (503, True)
        assert [one.result() for one in waiting] == [204] * FEW
    assert click(site, bases[-1]) == 204


def blocked(database: str) -> int:
    """Return how many statements wait for a lock."""
    with psycopg.connect(database) as connection:
        sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return connection.execute(sql).fetchone()[0]


@pytest.mark.parametrize("asks", ["pages", "commands"])
def test_a_request_that_meets_a_broken_connection_is_answered_on_a_new_one(
    site: Served, postgres_server: Postgres, database: str, asks: str
) -> None:
    bases = [site.sandbox(nodes=1) for _ in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as people:
        assert set(people.map(lambda base: click(site, base), bases)) == {204}
    name, log = urlsplit(database).path[1:], site.directory / "log"
    before = len(log.read_text())
    for _ in range(3):
        postgres_server.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        for base in bases[:FEW]:
            assert (site.ask("GET", base)[0] if asks == "pages" else click(site, base)) in (200, 204)
    assert "a connection to the database was lost" in log.read_text()[before:]


def test_the_site_works_again_after_postgres_was_away(
    own_postgres: Postgres, redis_server: RedisServer, tmp_path: Path
) -> None:
    with start_all(tmp_path, own_postgres.new_database(), redis_server.url) as web:
        site = web(DATABASE_CONNECTIONS=str(FEW))
        base = site.sandbox(nodes=1)
        own_postgres.stop()
        with ThreadPoolExecutor(PEOPLE) as people:
            refused = people.map(lambda _: click(site, base), range(PEOPLE))
            assert set(refused) == {503}
        own_postgres.start()
        until(lambda: click(site, base) == 204)
        assert site.ask("GET", base)[0] == 200


def test_commands_from_several_web_processes_leave_a_log_without_gaps(web: Start) -> None:
    sites = [web(), web()]
    base = sites[0].sandbox(nodes=1)
    with ThreadPoolExecutor(4) as people:
        statuses = list(people.map(lambda number: click(sites[number % 2], base), range(24)))
    log = sites[0].ask("GET", f"/api/v1/sandboxes{base[2:]}log")[1]
    assert 204 in statuses
    # 409: others changed it at the same time, again and again; 503: it was busy for too long.
    assert set(statuses) <= {204, 409, 503}
    assert log.count('"advance"') == statuses.count(204)
