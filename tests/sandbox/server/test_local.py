"""The local mode: a site for its own machine alone loads the plugins of its user, and every other one refuses to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.sandbox.served import ROOT, Served, served
from tests.sandbox.server.test_startup import refused

PLACE = "maintenance:Maintenance"
PUBLIC: dict[str, tuple[list[str], dict[str, str], str]] = {
    "it listens on all addresses": (["--bind", "0.0.0.0"], {}, "listen on 0.0.0.0"),
    "it listens on all IPv6 addresses": (["--bind", "::"], {}, "listen on ::"),
    "other names are allowed": ([], {"ALLOWED_HOSTS": "sandbox.example,localhost"}, "ALLOWED_HOSTS"),
    "any name is allowed": ([], {"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS"),
    "a proxy lets in others": ([], {"TRUSTED_PROXIES": "1"}, "TRUSTED_PROXIES"),
    "it is reached by https": ([], {"TRUSTED_PROXIES": "1", "HSTS_SECONDS": "60"}, "HSTS_SECONDS"),
    "there are several web processes": ([], {"WEB_PROCESSES": "2"}, "WEB_PROCESSES"),
    "there is Redis": ([], {"REDIS_URL": "redis://127.0.0.1:1/0"}, "REDIS_URL"),
    "there is a database server": ([], {"DATABASE_URL": "postgres://a@127.0.0.1:1/a"}, "DATABASE_URL"),
    "other sites may embed it": ([], {"FRAME_ANCESTORS": "*"}, "FRAME_ANCESTORS"),
    "other origins are trusted": ([], {"CSRF_TRUSTED_ORIGINS": "https://a.example"}, "CSRF_TRUSTED_ORIGINS"),
}
SPY = """\
from pathlib import Path
Path(__file__).with_name("loaded").touch()
from scheduler_engine.plugin_api import FilterPlugin


class Spy(FilterPlugin):
    name = "Spy"

    def filter(self, state, pod, node_info):
        return None
"""


@pytest.fixture
def spy(tmp_path: Path) -> dict[str, str]:
    """Return the settings of a site whose plugin leaves a file when its module is loaded."""
    (tmp_path / "spy.py").write_text(SPY)
    return {"PYTHONPATH": str(tmp_path), "PLUGINS": "spy:Spy"}


def was_loaded(spy: dict[str, str]) -> bool:
    return (Path(spy["PYTHONPATH"]) / "loaded").exists()


@pytest.mark.parametrize(("options", "settings", "names"), PUBLIC.values(), ids=PUBLIC)
def test_a_site_for_others_does_not_start_with_plugins(
    tmp_path: Path, spy: dict[str, str], options: list[str], settings: dict[str, str], names: str
) -> None:
    message = refused(tmp_path, *options, **spy, **settings)
    assert message.startswith("PLUGINS loads your own code, so it works only on a site for this machine alone.")
    assert names in message
    assert "\n" not in message
    assert not was_loaded(spy)


@pytest.mark.parametrize(("options", "settings", "names"), list(PUBLIC.values())[:3], ids=list(PUBLIC)[:3])
def test_a_site_for_others_does_not_start_with_a_file(
    tmp_path: Path, options: list[str], settings: dict[str, str], names: str
) -> None:
    message = refused(tmp_path, *options, **settings, LESSON=__file__)
    assert message.startswith("LESSON shows a file of yours, so it works only on a site for this machine alone.")
    assert names in message
    assert message.endswith("or LESSON.")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path, LESSON=str(tmp_path / "none.yaml")) == f"LESSON: {tmp_path / 'none.yaml'} is not a file."


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere:Spy", "cannot load the plugin nowhere:Spy: ModuleNotFoundError"),
        ("spy", "'spy' does not name a plugin: write module:Class"),
        ("spy:Spy, spy:Other", "cannot load the plugin spy:Other"),
        ("json:JSONDecoder", "cannot load the plugin json:JSONDecoder"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_named(tmp_path: Path, spy: dict[str, str], place: str, says: str) -> None:
    message = refused(tmp_path, **spy | {"PLUGINS": place})
    assert message.startswith(f"PLUGINS: {says}")
    assert "\n" not in message


def api(server: Served, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    status, text, _ = server.ask(method, path, "" if body is None else json.dumps(body))
    return status, json.loads(text)


def create(server: Served, **body: Any) -> str:
    status, created = api(server, "POST", "/api/v1/sandboxes", body)
    assert status == 201, created
    return urlsplit(created["api"]).path


def test_a_site_without_the_variable_loads_nothing_even_if_it_could(tmp_path: Path, spy: dict[str, str]) -> None:
    with served(tmp_path, **spy | {"PLUGINS": ""}) as server:
        api(server, "POST", f"{create(server, scenario='nothing-fits')}/commands", {"kind": "run"})
    assert not was_loaded(spy)


def test_the_example_is_explained_and_a_site_without_it_says_what_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "my-plugin"
    subprocess.run([sys.executable, "-m", "scheduler_engine", "new-plugin", str(folder)], check=True, cwd=ROOT)
    file = (folder / "maintenance.scenario.yaml").read_text()
    with served(tmp_path, PYTHONPATH=str(folder), PLUGINS=PLACE) as server:
        base = create(server, file=file)
        status, state = api(server, "POST", f"{base}/commands", {"kind": "run"})
        assert (status, state["bound"]) == (200, 1)
        nodes = api(server, "GET", f"{base}/explain?pod=default/web")[1]["attempt"]["nodes"]
        refusal = next(row for row in nodes if row["node"] == "node-a")
        assert (refusal["plugin"], refusal["reasons"]) == ("Maintenance", ["node(s) had maintenance soon"])
        assert refusal["why"]["sentence"] == "node-a has maintenance soon."
        assert nodes[0]["scores"]["Maintenance"] == {"raw": 100, "normalized": 100, "weighted": 200}
        page = base.replace("/api/v1/sandboxes/", "/s/")
        for panel in ("filter", "scores", "configuration"):
            assert "Maintenance" in server.ask("GET", f"{page}/panel/{panel}/?pod=default/web")[1]
        # Without a configuration, the named plugin is enabled, except in lessons.
        assert "Maintenance" in json.dumps(api(server, "GET", f"{create(server)}/log")[1]["configuration"])
        assert api(server, "GET", f"{create(server, lesson='backoff')}/log")[1]["configuration"] is None
        lesson = create(server, lesson_file=(folder / "maintenance.lesson.yaml").read_text())
        status, part = api(server, "POST", f"{lesson}/lesson/answer", {"answers": ["node-b", "node-c"]})
        assert status == 200, part
        status, part = api(server, "POST", f"{lesson}/lesson/step", {"part": 0})
        assert (part["done"], part["question"]["points"]["right"]) == (True, True), part
    with served(tmp_path) as server:
        for method, path, body in (("GET", base, None), ("POST", f"{base}/commands", {"kind": "run"})):
            status, told = api(server, method, path, body)
            assert status == 422
            assert "a plugin that is not here: Maintenance" in told["message"]
        status, text, _ = server.ask("GET", f"{page}/")
        assert (status, "a plugin that is not here: Maintenance" in text) == (422, True)
        assert api(server, "POST", "/api/v1/sandboxes", {"file": file})[0] == 422
