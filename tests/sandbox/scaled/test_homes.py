"""The home of a sandbox: the one web process that serves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.scaled.conftest import Browse, click, start_all
from tests.sandbox.served import Served
from tests.servers import Postgres, RedisServer

MOVED = 1012
CLICKS = 14
ASTRAY = "several web processes change the same sandbox"


@pytest.fixture(scope="module")
def three(
    postgres_server: Postgres, redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Served]]:
    """Start three web processes. Each warns once in ten minutes, so each is expected to warn in one test only."""
    folder = tmp_path_factory.mktemp("three")
    with start_all(folder, postgres_server.new_database(), redis_server.url) as web:
        yield [web(), web(), web()]


def log(site: Served) -> str:
    return (site.directory / "log").read_text()


def replays(server: Postgres) -> list[str]:
    """Return the statements so far that read commands of a log."""
    return [text for text in server.statements() if 'FROM "sandbox_commandrecord"' in text]


def test_live_lines_follow_their_sandbox_to_its_new_home_which_then_need_not_replay(
    three: list[Served], browse: Browse, postgres_server: Postgres
) -> None:
    old, new, _ = three
    base = old.sandbox(nodes=1)
    assert click(old, base) == 204
    browsers = [browse(old, base) for _ in range(2)]
    for _ in range(3):
        assert click(new, base) == 204
    assert [browser.see_close() for browser in browsers] == [MOVED] * 2
    moved = browse(new, base)
    moved.see(5)
    before = len(replays(postgres_server))
    assert before
    for revision in range(6, 6 + CLICKS):
        assert click(new, base) == 204
        moved.see(revision)
    # A move to another lane of workers replays too, but not every click does.
    assert len(replays(postgres_server)) < before + CLICKS / 2
    for site in (old, new):
        assert ASTRAY not in log(site)


def test_a_proxy_that_sends_live_lines_elsewhere_is_noticed(three: list[Served], browse: Browse) -> None:
    here, there, _ = three
    base = here.sandbox(nodes=1)
    closed = 0
    browser = browse(here, base)
    for revision in range(2, 14):
        assert click(there, base) == 204
        browser.see(revision)
        if browser.code is not None:
            closed += 1
            browser = browse(here, base)
            browser.see(revision)
    assert closed == 1
    assert [log(site).count(ASTRAY) for site in (here, there)] == [1, 0]


def test_a_proxy_that_spreads_clicks_is_noticed_without_any_live_line(three: list[Served]) -> None:
    sites = three[1:]
    assert [ASTRAY in log(site) for site in sites] == [False, False]
    base = sites[0].sandbox(nodes=1)
    for number in range(22):
        assert click(sites[number % 2], base) == 204
    assert [log(site).count(ASTRAY) for site in sites] == [1, 1]


def test_a_web_process_counts_its_neighbours_when_it_starts(three: list[Served]) -> None:
    logs = [log(site) for site in three]  # One alone, one more that fits, and one too many.
    assert ["web processes serve this database" in log for log in logs] == [False, True, True]
    assert ["Start each with WEB_PROCESSES=3" in log for log in logs] == [False, False, True]
