"""Live lines of several web processes, while Redis comes and goes."""

from __future__ import annotations

from pathlib import Path

from redis import Redis

from tests.sandbox.scaled.conftest import Browse, Start, click, start_all
from tests.servers import Postgres, RedisServer
from tests.waiting import until


def groups(server: RedisServer) -> list[str]:
    """Return the groups of sandboxes that some web process is subscribed to."""
    with Redis.from_url(server.url) as client:
        return [name.decode() for name in client.pubsub_channels("*sandbox.*") if b"alive" not in name]


def test_a_change_reaches_the_browsers_of_all_web_processes(web: Start, browse: Browse) -> None:
    here, there = web(), web()
    base = here.sandbox(nodes=1)
    browsers = [browse(site, base) for site in (here, there, there)]
    for revision, site in enumerate((here, there, here), 2):
        assert click(site, base) == 204
        for browser in browsers:
            browser.see(revision)


def test_a_group_ends_with_its_last_browser(web: Start, browse: Browse, redis_server: RedisServer) -> None:
    before = groups(redis_server)
    site = web()
    base = site.sandbox(nodes=1)
    browsers = [browse(site, base) for _ in range(2)]
    until(lambda: len(groups(redis_server)) == len(before) + 1)
    browsers.pop().close()
    assert click(site, base) == 204
    browsers[0].see(2)
    assert len(groups(redis_server)) == len(before) + 1
    browsers.pop().close()
    until(lambda: groups(redis_server) == before)
    again = browse(site, base)
    assert click(site, base) == 204
    again.see(3)


def test_without_redis_commands_succeed_and_browsers_catch_up_when_it_is_back(
    browse: Browse, postgres_server: Postgres, own_redis: RedisServer, tmp_path: Path
) -> None:
    with start_all(tmp_path, postgres_server.new_database(), own_redis.url) as web:
        here, there = web(), web()
        base = here.sandbox(nodes=1)
        near, far = browse(here, base), browse(there, base)
        for browser in (near, far):
            browser.see(1)
        for outage in range(2):
            own_redis.kill()
            assert click(here, base) == 204
            near.see(2 + outage)
            new = browse(here, base)
            new.see(2 + outage)
            new.close()
            own_redis.start()
            far.see(2 + outage)
        assert click(here, base) == 204
        far.see(4)
        logs = [(site.directory / "log").read_text() for site in (here, there)]
    for log in logs:
        assert log.count("Redis cannot be reached") == log.count("Redis answers again") == 2
        assert "Traceback" not in log
