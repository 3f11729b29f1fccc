"""Every kind of fault once, while people use the site; ``make hostile`` goes on for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import chaos, kills
from tests.servers import Postgres, RedisServer


@pytest.mark.slow
@pytest.mark.nginx
def test_nothing_answered_is_lost_or_doubled_when_servers_fail(
    tmp_path: Path, own_postgres: Postgres, own_redis: RedisServer
) -> None:
    tally = chaos.run(len(chaos.FAULTS), tmp_path, own_postgres, own_redis, pause=1)
    assert tally.wrong == []
    assert tally.kills == dict.fromkeys(chaos.FAULTS, 1)
    assert tally.answered > len(chaos.FAULTS) * chaos.ANSWERS
    assert len(tally.shown) >= kills.SANDBOXES
