"""Server-sent events of the API, from the real server."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from sandbox.words.say import say
from tests.conftest import PATIENCE
from tests.sandbox.served import Served, served

Event = dict[str, Any]


@pytest.fixture(name="site", scope="module")
def start_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("events"), SERVER_SOCKETS_PER_ADDRESS="2") as site:
        yield site


def ask(site: Served, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


def new_sandbox(site: Served) -> str:
    """Create a sandbox. Return its path in the API."""
    return urlsplit(ask(site, "POST", "/api/v1/sandboxes", {"scenario": "three-zones-one-gpu-pool"})[1]["api"]).path


@contextmanager
def followed(site: Served, path: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    connection.request("GET", f"{path}/events")
    yield connection.getresponse()
    connection.close()


def next_event(answer: http.client.HTTPResponse) -> Event | None:
    """Read the next event, without comments. Return None at the end."""
    fields: Event = {}
    for line in iter(answer.readline, b""):
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name and not name.startswith(":"):
            fields[name] = value
        elif not name and fields:
            return {**fields, "data": json.loads(fields["data"])}
    return None


def test_a_program_follows_what_others_do(site: Served) -> None:
    base = new_sandbox(site)
    with followed(site, base) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        first = next_event(answer)
        assert first is not None
        assert (first["event"], first["data"]) == ("state", ask(site, "GET", base)[1])
        done = ask(site, "POST", f"{base}/commands", {"kind": "pod"})[1]
        second = next_event(answer)
        assert second is not None
        assert second["data"] == done
        assert int(second["id"]) > int(first["id"])
        ask(site, "POST", f"{base}/head", {"to": 0})
        third = next_event(answer)
        assert third is not None
        assert third["data"]["head"] == 0
        assert ask(site, "DELETE", base) == (204, None)
        assert next_event(answer) is None, "the sandbox is gone"


def test_events_need_a_link_and_have_places_as_live_lines(site: Served) -> None:
    base = new_sandbox(site)
    with followed(site, f"{base}x") as answer:
        assert (answer.status, json.loads(answer.read())["errors"]) == (404, [])
    with followed(site, base) as one, followed(site, base) as two:
        assert next_event(one)
        assert next_event(two)
        assert ask(site, "GET", f"{base}/events")[0] == 503
        assert ask(site, "GET", base)[0] == 200


def test_events_of_another_host_are_refused(site: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    connection.request("GET", f"{new_sandbox(site)}/events", headers={"Host": f"127.0.0.1:{site.port},"})
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["message"]) == (400, say("errors.other-host"))
    connection.close()
