"""Watches of the real server: what they send, how they begin and end, and many of them at once."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from sandbox.kube import watching
from sandbox.kube.reading import Request
from sandbox.kube.watching import news
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_pod
from tests.sandbox.served import Served, served
from tests.waiting import PATIENCE

PODS = "api/v1/namespaces/default/pods"
MANY = 200
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("site")) as one:
        yield one


@pytest.fixture
def base(site: Served) -> str:
    return site.sandbox(nodes=1)


class Watch:
    """An open watch: its status, and its events one by one."""

    def __init__(
        self, site: Served, base: str, path: str = PODS, accept: str = JSON, host: str = "localhost", **query: str
    ) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
        asked = f"{base}kube/{path}?{urlencode({'watch': 'true', **query})}"
        self.connection.request("GET", asked, headers={"Accept": accept, "Host": host})
        self.answer = self.connection.getresponse()

    def event(self) -> tuple[str, Any]:
        """Return type and object of the next event; "" if the watch has ended."""
        line = self.answer.readline().strip()
        event = json.loads(line) if line else {"type": "", "object": None}
        return event["type"], event["object"]

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()


def add(site: Served, base: str, *names: str, **labels: str) -> None:
    manifests = "\n".join(json.dumps(make_pod(name).labels(labels).obj()) for name in names)
    assert site.ask("POST", f"{base}apply/", f"manifests={quote(manifests)}")[0] == 204


def do(site: Served, base: str, what: str, body: str = "") -> None:
    assert site.ask("POST", f"{base}do/{what}/", body)[0] in (200, 204)


def version(site: Served, base: str, path: str = PODS) -> str:
    return str(json.loads(site.ask("GET", f"{base}kube/{path}")[1])["metadata"]["resourceVersion"])


def named(event: tuple[str, Any]) -> tuple[str, str]:
    return event[0], event[1]["metadata"]["name"]


def test_a_watch_begins_with_what_is_there_or_after_a_version(site: Served, base: str) -> None:
    add(site, base, "a", "b")
    with Watch(site, base) as fresh, Watch(site, base, resourceVersion=version(site, base)) as later:
        assert [named(fresh.event()) for _ in range(2)] == [("ADDED", "a"), ("ADDED", "b")]
        add(site, base, "c")
        assert named(fresh.event()) == named(later.event()) == ("ADDED", "c")
        do(site, base, "run")
        kind, pod = later.event()
        assert (kind, pod["metadata"]["name"], pod["spec"]["nodeName"]) == ("MODIFIED", "a", "node-0")
    marked = {"resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with Watch(site, base, sendInitialEvents="true", **marked) as listing:
        events = [listing.event() for _ in range(4)]
        assert [kind for kind, _ in events] == ["ADDED", "ADDED", "ADDED", "BOOKMARK"]
        assert events[-1][1]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


BEGINNINGS = {
    "all of any version": ({"resourceVersion": "0"}, ["ADDED"]),
    "all, and where they end": ({"allowWatchBookmarks": "true"}, ["ADDED", "BOOKMARK"]),
    "all, asked for": ({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}, ["ADDED"]),
    "none": ({"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}, []),
    "none of any version": (
        {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan", "resourceVersion": "0"},
        [],
    ),
}


@pytest.mark.parametrize(("query", "sent"), BEGINNINGS.values(), ids=BEGINNINGS)
def test_what_a_watch_sends_first(query: dict[str, str], sent: list[str]) -> None:
    world, _ = labelled(2)
    assert [json.loads(line)["type"] for line in news(world, Request(PODS, query, "")).lines] == sent


def test_a_selection_says_what_enters_and_leaves_it(site: Served, base: str) -> None:
    with Watch(site, base, labelSelector="tier=front", resourceVersion=version(site, base)) as watch:
        add(site, base, "a", tier="back")
        add(site, base, "a", tier="front")
        assert named(watch.event()) == ("ADDED", "a")
        add(site, base, "a", tier="back")
        assert named(watch.event()) == ("DELETED", "a")


def test_tables_and_events_are_watched_too(site: Served, base: str) -> None:
    with Watch(site, base, accept=TABLE) as table, Watch(site, base, "api/v1/events") as events:
        add(site, base, "big")
        kind, first = table.event()
        assert (kind, first["kind"], first["rows"][0]["cells"][:3]) == ("ADDED", "Table", ["big", "0/1", "Pending"])
        do(site, base, "run")
        kind, event = events.event()
        assert (kind, event["reason"], event["involvedObject"]["name"]) == ("ADDED", "Scheduled", "big")


def number(event: tuple[str, Any]) -> int:
    return int(event[1]["metadata"]["resourceVersion"])


def test_a_watch_sends_what_differs_when_somebody_goes_back(site: Served, base: str) -> None:
    add(site, base, "a")
    with Watch(site, base) as watch, Watch(site, base, labelSelector="tier=front") as front:
        assert named(watch.event()) == ("ADDED", "a")
        add(site, base, "b", "c", tier="front")
        add(site, base, "a", tier="front")
        earlier = [watch.event() for _ in range(3)]
        assert [named(front.event()) for _ in range(3)] == [("ADDED", "b"), ("ADDED", "c"), ("ADDED", "a")]
        do(site, base, "back")
        event = watch.event()
        assert (named(event), event[1]["metadata"].get("labels")) == (("MODIFIED", "a"), None)
        assert number(event) > max(map(number, earlier))
        assert named(front.event()) == ("DELETED", "a")
        do(site, base, "back")
        assert [named(watch.event()) for _ in range(2)] == [("DELETED", "b"), ("DELETED", "c")]
        add(site, base, "d")
        last = watch.event()
        assert (named(last), number(last) > number(event)) == (("ADDED", "d"), True)
        assert str(number(last)) == version(site, base)


def test_forward_brings_back_what_back_took(site: Served, base: str) -> None:
    add(site, base, "a")
    with Watch(site, base) as watch:
        seen = [watch.event()]
        for what in ("back", "forward", "back", "forward"):
            do(site, base, what)
            seen.append(watch.event())
        assert [named(event)[0] for event in seen] == ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED"]
        assert sorted(map(number, seen)) == [*map(number, seen)]


def test_an_ended_watch_is_continued_after_somebody_went_back(site: Served, base: str) -> None:
    add(site, base, "a")
    add(site, base, "b")
    before = version(site, base)
    do(site, base, "back")
    with Watch(site, base, resourceVersion=before) as watch:
        assert named(watch.event()) == ("DELETED", "b")
    after = version(site, base)
    with Watch(site, base, resourceVersion=before, allowWatchBookmarks="true") as watch:
        gone, (kind, mark) = watch.event(), watch.event()
        assert (named(gone), kind, mark["metadata"]["resourceVersion"]) == (("DELETED", "b"), "BOOKMARK", after)
    # Others that going back changed might be told after it.
    with Watch(site, base, resourceVersion=str(number(gone))) as watch:
        assert watch.event()[1]["reason"] == "Expired"
    add(site, base, "c")
    with Watch(site, base, resourceVersion=after) as watch:
        assert named(watch.event()) == ("ADDED", "c")
    with Watch(site, base, "api/v1/nodes", resourceVersion=before) as watch:
        do(site, base, "back")
        assert site.ask("POST", f"{base}do/cordon/", "node=node-0")[0] == 204
        assert named(watch.event()) == ("MODIFIED", "node-0")


def test_events_that_did_not_happen_are_deleted(site: Served, base: str) -> None:
    add(site, base, "a")
    do(site, base, "stage")
    with Watch(site, base, "api/v1/events") as events:
        do(site, base, "run")
        scheduled = events.event()
        assert scheduled[1]["reason"] == "Scheduled"
        do(site, base, "back")
        gone = events.event()
        assert named(gone) == ("DELETED", named(scheduled)[1])
        assert number(gone) > number(scheduled)


def test_a_watch_of_an_unknown_number_is_expired(site: Served, base: str) -> None:
    with Watch(site, base, resourceVersion="4711") as watch:
        kind, status = watch.event()
        assert (kind, status["reason"], status["code"]) == ("ERROR", "Expired", 410)
        assert watch.event() == ("", None)


def test_playing_does_not_end_a_watch(site: Served, base: str) -> None:
    """Ticks merge into one command of the log, whose record is replaced each time."""
    with Watch(site, base) as watch:
        for n in range(3):
            do(site, base, "advance", "seconds=0.5&play=1")
            do(site, base, "advance", "seconds=0.5&play=1")
            add(site, base, f"p{n}")
            while (event := named(watch.event())) != ("ADDED", f"p{n}"):
                assert event[0] == "MODIFIED"


def test_a_watch_ends_after_its_time(site: Served, base: str) -> None:
    with Watch(site, base, timeoutSeconds="1") as watch:
        assert (watch.answer.status, watch.event()) == (200, ("", None))


REFUSED = {
    "a number": (PODS, {"resourceVersion": "x"}, 400),
    "a time": (PODS, {"timeoutSeconds": "-1"}, 400),
    "a selector": (PODS, {"fieldSelector": "a"}, 400),
    "all objects, of whatever version": (PODS, {"sendInitialEvents": "true"}, 422),
    "a way to match that is not for it": (PODS, {"resourceVersionMatch": "Exact"}, 422),
    "all objects of the future": (
        *(PODS, {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "resourceVersion": "99999"}),
        504,
    ),
    "a resource": ("api/v1/secrets", {}, 404),
    "one object": (f"{PODS}/a", {}, 405),
}


@pytest.mark.parametrize(("path", "query", "status"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_watched(site: Served, base: str, path: str, query: dict[str, str], status: int) -> None:
    with Watch(site, base, path, **query) as watch:
        assert watch.answer.status == status
        assert json.loads(watch.answer.read())["kind"] == "Status"


def test_a_wrong_token_watches_nothing(site: Served, base: str) -> None:
    changed = "y" if base.endswith("x/") else "x"
    for wrong in (f"{base[:-2]}{changed}/", "/s/00000000-0000-4000-8000-000000000000/x/", f"/s/{'-' * 36}/x/"):
        with Watch(site, wrong) as watch:
            assert watch.answer.status == 404


def secured(answer: http.client.HTTPResponse) -> dict[str, str]:
    """Return the headers that protect an answer, without the host of live lines, which a watch has none of."""
    names = ("Content-Security-Policy", "Cache-Control", "Referrer-Policy", "X-Content-Type-Options", "X-Robots-Tag")
    return {name: re.sub(r" wss?://[^ ;]+", "", answer.headers[name]) for name in names}


def test_a_watch_has_the_checks_and_headers_of_every_request(site: Served, base: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
    with Watch(site, base) as watch, closing(connection) as page:
        page.request("GET", f"{base}kube/{PODS}", headers={"Host": "localhost"})
        assert secured(watch.answer) == secured(page.getresponse())
    with Watch(site, base, host="other.example") as watch:
        assert (watch.answer.status, json.loads(watch.answer.read())["kind"]) == (400, "Status")
    with Watch(site, base, **{f"x{n}": "1" for n in range(1001)}) as watch:
        assert watch.answer.status == 400


def labelled(count: int) -> tuple[World, int]:
    """Return the world after ``count`` changes of a pod's label, and the resource version."""
    simulation = Simulation(undoes=False)
    for n in range(count):
        pod = make_pod("a").labels({"n": str(n)}).obj()
        simulation.execute(commands.from_json({"kind": "apply", "manifests": [pod]}))
    return World.fold(simulation.recorder.entries), simulation.api.resource_version


def test_a_selection_follows_an_object_through_all_its_changes() -> None:
    world, version = labelled(6)
    request = Request(PODS, {"labelSelector": "n in (1,2,4)", "resourceVersion": str(version - 5)}, "")
    kinds = [json.loads(line)["type"] for line in news(world, request).lines]
    assert kinds == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]


@pytest.mark.parametrize(("back", "sent"), [(4, ["MODIFIED"] * 4), (5, ["ERROR"])])
def test_a_watch_may_not_begin_too_far_back(monkeypatch: pytest.MonkeyPatch, back: int, sent: list[str]) -> None:
    world, version = labelled(6)
    monkeypatch.setattr(watching, "MOST_BEHIND", 4)
    found = news(world, Request(PODS, {"resourceVersion": str(version - back)}, ""))
    assert ([json.loads(line)["type"] for line in found.lines], found.over) == (sent, sent == ["ERROR"])


@pytest.mark.slow
def test_many_watches_miss_nothing(site: Served, base: str) -> None:
    with ExitStack() as stack:
        watches = [stack.enter_context(Watch(site, base, resourceVersion=version(site, base))) for _ in range(MANY)]
        before = site.rss
        names = [f"p{n}" for n in range(20)]
        for name in names:
            add(site, base, name)
        for watch in watches:
            assert [watch.event()[1]["metadata"]["name"] for _ in names] == names
        assert site.rss - before < 100
    add(site, base, "last")
