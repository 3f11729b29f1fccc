"""The site does not start with settings that would lose or reveal something."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import override_settings

from sandbox.server import combinations
from sandbox.server.startup import CannotStart
from tests.sandbox.served import served
from tests.sandbox.server.test_probes import ALONE, fetch
from tests.sandbox.server.test_startup import refused
from tests.servers import Postgres, RedisServer

KEY = "k" * 50
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a database in memory": ({"DATABASE_URL": "sqlite://:memory:"}, "DATABASE_URL keeps everything in memory"),
    "DEBUG for others": ({"DEBUG": "1", "ALLOWED_HOSTS": "*"}, "DEBUG shows settings and code to visitors"),
    "https without a proxy": ({"HSTS_SECONDS": "60"}, "HSTS_SECONDS sends visitors to https, but TRUSTED_PROXIES is 0"),
    "an odd format of the log": ({"LOG_FORMAT": "xml"}, "LOG_FORMAT must be one of text, json, not 'xml'."),
    "odd readers of the metrics": ({"METRICS_FROM": "10.0.0.1/8"}, "METRICS_FROM must list addresses or networks"),
    "a drain that is no number": ({"SERVER_DRAIN_SECONDS": "soon"}, "SERVER_DRAIN_SECONDS must be a positive number"),
}


@pytest.mark.parametrize(("settings", "said"), REFUSED.values(), ids=REFUSED)
def test_it_does_not_start(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    message = refused(tmp_path, **settings)
    assert message.startswith(said)
    assert "\n" not in message


def test_with_debug_on_all_addresses_it_does_not_start(tmp_path: Path) -> None:
    assert refused(tmp_path, "--bind", "0.0.0.0", DEBUG="1").startswith("DEBUG shows settings and code to visitors")


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /srv nfs4 rw 0 0
/dev/sdb1 /srv/local ext4 rw 0 0
//server/a\\040b /home/a\\040b cifs rw 0 0
//server/b /home/Bücher cifs rw 0 0
"""
PLACES = {
    "/data/db": "ext4",
    "/srv/db": "nfs4",
    "/srv/local/db": "ext4",
    "/srvx/db": "ext4",
    "/home/a b/db": "cifs",
    "/home/Bücher/db": "cifs",
}


@pytest.mark.parametrize("path", PLACES)
def test_the_file_system_of_a_path_is_that_of_the_nearest_mount(path: str) -> None:
    assert combinations.file_system(Path(path), MOUNTS) == PLACES[path]


SHARED = {
    "several web processes on a shared disk": ("redis://127.0.0.1", "/srv/db", True),
    "one web process on a shared disk": (None, "/srv/db", False),
    "several web processes on an own disk": ("redis://127.0.0.1", "/srv/local/db", False),
}


@pytest.mark.parametrize(("redis", "name", "refuses"), SHARED.values(), ids=SHARED)
def test_several_web_processes_do_not_share_sqlite_over_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis: str | None, name: str, refuses: bool
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    monkeypatch.setattr(combinations, "MOUNTS", mounts)
    database = {"default": {"ENGINE": combinations.SQLITE, "NAME": name}}
    with override_settings(REDIS_URL=redis), pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.DATABASES", database)
        if refuses:
            with pytest.raises(CannotStart, match="SQLite would lose changes there"):
                combinations.check()
        else:
            combinations.check()


def test_web_processes_with_different_keys_do_not_serve_one_database(
    tmp_path: Path, postgres_server: Postgres, redis_server: RedisServer
) -> None:
    shared = {"DATABASE_URL": postgres_server.new_database(), "REDIS_URL": redis_server.url, **ALONE}
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    with served(folders[0], SECRET_KEY=KEY, **shared) as first:
        said = refused(folders[1], SECRET_KEY="another-" + KEY, **shared)
        assert said.startswith("Another web process on this database has another SECRET_KEY.")
        with served(folders[2], SECRET_KEY=KEY, **shared) as second:
            assert [site.ask("GET", "/")[0] for site in (first, second)] == [200, 200]
    with served(folders[1], SECRET_KEY="another-" + KEY, **shared) as later:
        assert later.ask("GET", "/")[0] == 200


DIRECT: dict[str, str] = {}
BY_PROXY = {"X-Forwarded-For": "203.0.113.5"}
PROXIES = {
    "a proxy that is not trusted": ("0", DIRECT, BY_PROXY, "but TRUSTED_PROXIES is 0"),
    "a proxy that is missing": ("1", BY_PROXY, DIRECT, "but TRUSTED_PROXIES is not 0"),
}


@pytest.mark.parametrize(("proxies", "right", "wrong", "said"), PROXIES.values(), ids=PROXIES)
def test_a_wrong_number_of_proxies_is_a_warning_and_the_right_one_is_not(
    tmp_path: Path, proxies: str, right: dict[str, str], wrong: dict[str, str], said: str
) -> None:
    with served(tmp_path, TRUSTED_PROXIES=proxies, **ALONE) as site:
        fetch(site, "/course/", **right)
        assert "TRUSTED_PROXIES" not in (tmp_path / "log").read_text()
        for _ in range(2):
            fetch(site, "/course/", **wrong)
        assert (tmp_path / "log").read_text().count(said) == 1
