"""Many people change one sandbox at once, at two web processes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.hostile.audit import gaps, logs
from tests.hostile.wire import Connection, Line, served
from tests.sandbox.scaled.conftest import start_all
from tests.servers import Postgres, RedisServer
from tests.waiting import PATIENCE

PEOPLE, EACH = 20, 50
LATER = (409, 503)
"""Statuses of a command that was not carried out, because too many others were."""
SEEN = ("queues", "cluster", "timeline")


def test_a_thousand_commands_at_once_are_one_history_and_two_equal_pages(
    postgres_server: Postgres, redis_server: RedisServer, tmp_path: Path
) -> None:
    database = postgres_server.new_database()
    with start_all(tmp_path, database, redis_server.url) as start:
        sites = [start(COMMAND_RATE="100000") for _ in range(2)]
        base = sites[0].sandbox(nodes=1)
        asyncio.run(use([site.port for site in sites], base))
    (log,) = logs(database).values()
    assert gaps([log]) == []
    for number in range(PEOPLE):
        labels = [who for _, _, who in log.commands if who.startswith(f"{number}-")]
        assert labels == [f"{number}-{turn}" for turn in range(EACH)]
    assert " " not in log.digest(), "it replays"


async def use(ports: list[int], base: str) -> None:
    """Let people at all web processes change the sandbox. In the end all pages show the same."""
    async with Line(ports[0], base) as one, Line(ports[1], base) as other:
        await asyncio.gather(*(click(ports[number % 2], base, number) for number in range(PEOPLE)))
        readers = [Connection(port) for port in ports]
        shown, again = [await served(reader, base) for reader in readers]
        assert shown == again
        async with asyncio.timeout(PATIENCE):
            while any(f"200 {line.panels.get(panel)}" != shown[panel] for line in (one, other) for panel in SEEN):
                await asyncio.sleep(0.05)
        for reader in readers:
            reader.close()


async def click(port: int, base: str, number: int) -> None:
    """Send one command after the other. Repeat those that were refused."""
    http = Connection(port, f"127.0.30.{1 + number}", timeout=PATIENCE)
    for turn in range(EACH):
        while (answer := await http.post(f"{base}do/advance/", seconds="1", who=f"{number}-{turn}")).status in LATER:
            await asyncio.sleep(0.02)
        assert answer.status == 204, answer.text
    http.close()
