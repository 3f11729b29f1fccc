"""The home of a sandbox: the one web process that serves it."""

from __future__ import annotations

from tests.sandbox.scaled.conftest import Browse, Start, click
from tests.servers import Postgres

MOVED = 1012
CLICKS = 14


def replays(server: Postgres) -> list[str]:
    """Return the statements so far that read commands of a log."""
    return [text for text in server.statements() if 'FROM "sandbox_commandrecord"' in text]


def test_live_lines_follow_their_sandbox_to_its_new_home_which_then_need_not_replay(
    web: Start, browse: Browse, postgres_server: Postgres
) -> None:
    old, new = web(), web()
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
        assert "several web processes change" not in (site.directory / "log").read_text()


def test_a_proxy_that_sends_live_lines_elsewhere_is_noticed(web: Start, browse: Browse) -> None:
    here, there = web(), web()
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
    assert (here.directory / "log").read_text().count("several web processes change the same sandbox") == 1


def test_a_proxy_that_spreads_clicks_is_noticed_without_any_live_line(web: Start) -> None:
    sites = [web(), web()]
    base = sites[0].sandbox(nodes=1)
    for number in range(22):
        assert click(sites[number % 2], base) == 204
    for site in sites:
        assert (site.directory / "log").read_text().count("several web processes change the same sandbox") == 1


def test_a_web_process_counts_its_neighbours_when_it_starts(web: Start) -> None:
    alone, fits, one_too_many = web(), web(), web()
    logs = [(site.directory / "log").read_text() for site in (alone, fits, one_too_many)]
    assert ["web processes serve this database" in log for log in logs] == [False, True, True]
    assert ["Start each with WEB_PROCESSES=3" in log for log in logs] == [False, False, True]
