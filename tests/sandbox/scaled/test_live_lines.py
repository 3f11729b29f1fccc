"""Live lines of several web processes, while Redis comes and goes."""

from __future__ import annotations

import signal
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


def test_a_redis_that_hangs_delays_nobody(
    browse: Browse, postgres_server: Postgres, own_redis: RedisServer, tmp_path: Path
) -> None:
    with start_all(tmp_path, postgres_server.new_database(), own_redis.url) as web:
        here, there = web(), web()
        base = here.sandbox(nodes=1)
        near, far = browse(here, base), browse(there, base)
        for browser in (near, far):
            browser.see(1)
        assert own_redis.process is not None
        own_redis.process.send_signal(signal.SIGSTOP)
        assert click(here, base) == 204
        near.see(2)
        browse(here, base).see(2)
        own_redis.process.send_signal(signal.SIGCONT)
        far.see(2)


def test_browsers_elsewhere_catch_up_after_one_web_process_could_not_reach_redis(
    browse: Browse, postgres_server: Postgres, own_redis: RedisServer, tmp_path: Path
) -> None:
    with (
        start_all(tmp_path, postgres_server.new_database(), own_redis.url) as web,
        Redis.from_url(own_redis.url) as client,
    ):
        client.execute_command("ACL", "SETUSER", "web", "on", ">word", "~*", "&*", "+@all")
        here, there = web(REDIS_URL=own_redis.url.replace("//", "//web:word@")), web()
        base = here.sandbox(nodes=1)
        near, far = browse(here, base), browse(there, base)
        assert click(here, base) == 204
        far.see(2)
        client.execute_command("ACL", "SETUSER", "web", "-publish")
        assert click(here, base) == 204
        near.see(3)
        until(lambda: "Redis cannot be reached" in (here.directory / "log").read_text())
        client.execute_command("ACL", "SETUSER", "web", "+publish")
        far.see(3)
