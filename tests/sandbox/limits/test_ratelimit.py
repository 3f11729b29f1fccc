from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client, RequestFactory, override_settings

from sandbox.asgi import application
from sandbox.limits import ratelimit
from sandbox.limits.ratelimit import Buckets
from sandbox.routing import TOO_OFTEN
from tests.conftest import PATIENCE


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(ratelimit, "monotonic", lambda: now[0])
    return now


def limits(**rates: tuple[float, int]) -> override_settings:
    """Override the site's limits with these."""
    return override_settings(RATE_LIMITS=settings.RATE_LIMITS | rates)


def test_a_burst_passes_then_one_each_time_a_token_has_come_back(clock: list[float]) -> None:
    buckets = Buckets()
    assert [buckets.take("x", "me", 2, 3) for _ in range(3)] == [0, 0, 0]
    assert buckets.take("x", "me", 2, 3) == pytest.approx(0.5)
    clock[0] += 0.5
    assert buckets.take("x", "me", 2, 3) == 0
    assert buckets.take("x", "me", 2, 3) > 0


def test_a_client_that_paused_has_at_most_a_full_burst_again(clock: list[float]) -> None:
    buckets = Buckets()
    for _ in range(3):
        buckets.take("x", "me", 2, 3)
    clock[0] += 1000
    assert [buckets.take("x", "me", 2, 3) > 0 for _ in range(4)] == [False, False, False, True]


def test_buckets_of_other_clients_and_other_names_are_not_touched(clock: list[float]) -> None:
    buckets = Buckets()
    assert [buckets.take(name, who, 1, 1) for name, who in (("x", "me"), ("x", "you"), ("y", "me"))] == [0, 0, 0]


def test_a_thousand_other_addresses_do_not_empty_a_bucket(clock: list[float]) -> None:
    with limits(create=(0.01, 1)):
        assert ratelimit.wait("create", "me") == 0
        assert [ratelimit.wait("create", f"10.0.{i // 250}.{i % 250}") for i in range(1000)] == [0] * 1000
        assert ratelimit.wait("create", "me") > 0


def test_without_room_no_client_is_forgotten_and_newcomers_share_a_bucket(clock: list[float]) -> None:
    buckets = Buckets(room=3)
    for who in ("a", "b", "c"):
        assert buckets.take("x", who, 0.1, 1) == 0
    assert buckets.take("x", "new", 0.1, 1) == 0
    assert all(buckets.take("x", who, 0.1, 1) > 0 for who in ("a", "b", "c", "another", "and another"))
    assert len(buckets.buckets) == 4


def test_full_buckets_make_room(clock: list[float]) -> None:
    buckets = Buckets(room=3)
    for who in ("a", "b", "c"):
        buckets.take("x", who, 1, 1)
    clock[0] += 2
    assert [buckets.take("x", f"new {i}", 1, 1) for i in range(3)] == [0, 0, 0]
    assert len(buckets.buckets) == 3


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        pytest.param(0, "6.6.6.6", "127.0.0.1", id="without a proxy the header is not trusted"),
        pytest.param(1, "6.6.6.6, 1.2.3.4", "1.2.3.4", id="behind one proxy its own entry counts"),
        pytest.param(2, "6.6.6.6, 1.2.3.4, 10.0.0.1", "1.2.3.4", id="behind two proxies the entry before counts"),
        pytest.param(1, "", "127.0.0.1", id="a request past the proxy counts for its sender"),
        pytest.param(1, " , ,1.2.3.4, ,", "1.2.3.4", id="empty entries do not count"),
        pytest.param(1, "1.2.3.4:567", "1.2.3.4", id="a port is not part of an address"),
        pytest.param(1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", id="an IPv6 address counts for its /64"),
        pytest.param(1, "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64", id="so does another address in it"),
        pytest.param(1, '"[2001:db8:1:2::1]:80"', "2001:db8:1:2::/64", id="in brackets with a port, too"),
        pytest.param(1, "[2001:db8:1:2::1]", "2001:db8:1:2::/64", id="and in brackets alone"),
        pytest.param(1, "fe80::1%eth0", "fe80::/64", id="a zone is not part of an address"),
        pytest.param(1, "::ffff:1.2.3.4", "1.2.3.4", id="an IPv4-mapped IPv6 address"),
        pytest.param(1, "[::ffff:1.2.3.4]:80", "1.2.3.4", id="and with a port"),
        pytest.param(1, "unknown", "127.0.0.1", id="a word counts for the sender"),
        pytest.param(1, "١.٢.٣.٤", "127.0.0.1", id="so do other digits"),
        pytest.param(1, "[::1", "127.0.0.1", id="so does a partial address"),
        pytest.param(1, "1.2.3.4.5", "127.0.0.1", id="and an address and a half"),
        pytest.param(1, "a" * 100_000, "127.0.0.1", id="and a whole novel"),
    ],
)
def test_the_clients_address_of_requests_and_of_sockets(proxies: int, forwarded: str, client: str) -> None:
    with override_settings(TRUSTED_PROXIES=proxies):
        assert ratelimit.client(RequestFactory(headers={"X-Forwarded-For": forwarded}).get("/")) == client
        if forwarded.isascii():
            headers = [(b"host", b"x"), (b"x-forwarded-for", forwarded.encode())]
            assert ratelimit.client_of({"headers": headers, "client": ("127.0.0.1", 5)}) == client


def test_the_clients_of_a_unix_socket_are_one_client() -> None:
    assert ratelimit.client_of({"headers": [], "client": None}) == "unknown"


def test_a_class_of_200_behind_one_address_works(clock: list[float]) -> None:
    refused = []
    for _ in range(200):
        refused += [ratelimit.wait(name, "school") for name in ("address", "create", "address", "address", "socket")]
    for _ in range(60):
        for sandbox in range(200):
            refused += [ratelimit.wait("address", "school"), ratelimit.wait("command", str(sandbox))]
        clock[0] += 0.5
    assert max(refused) == 0


def test_one_sandbox_cannot_be_hammered(clock: list[float]) -> None:
    done = 0
    for _ in range(1000):
        done += ratelimit.wait("command", "a sandbox") == 0
        clock[0] += 0.001
    assert done == pytest.approx(90, abs=1)


@pytest.mark.django_db
def test_too_many_new_sandboxes_are_refused_with_the_time_to_wait(clock: list[float]) -> None:
    with limits(create=(0.01, 2)):
        answers = [Client().post("/new/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert answers[-1]["Retry-After"] == "100"
    assert "Too many new sandboxes from your address. Wait a moment" in answers[-1].content.decode()


@pytest.mark.django_db
def test_too_many_commands_in_one_sandbox_leave_others_alone(visitor: Any, clock: list[float]) -> None:
    with limits(command=(0.01, 1)):
        assert visitor.post("do/settle/").status_code == 204
        answer = visitor.post("do/settle/")
        assert Client().post(Client().post("/new/")["Location"] + "do/settle/").status_code == 204
    assert (answer.status_code, answer["Retry-After"]) == (429, "100")
    assert "Too many commands at once in this sandbox." in answer.content.decode()
    assert len(visitor.log()) == 1


@pytest.mark.django_db
def test_requests_without_the_link_cannot_use_up_a_sandboxs_rate(visitor: Any, clock: list[float]) -> None:
    with limits(command=(0.01, 1), look=(0.01, 1)):
        for _ in range(3):
            assert Client().post(visitor.url("do/settle/").replace(visitor.token, "x")).status_code == 404
            assert visitor.watching().post("do/settle/").status_code == 403
        assert visitor.post("do/settle/").status_code == 204


@pytest.mark.django_db
def test_pages_and_panels_are_counted_for_each_link(visitor: Any, clock: list[float]) -> None:
    with limits(look=(0.01, 2)):
        watching = visitor.watching()
        statuses = [watching.get(path).status_code for path in ("metrics", "panel/status/", "configuration/", "")]
        assert statuses == [200, 200, 429, 429]
        assert visitor.get("panel/status/").status_code == 200
        assert "Too many requests for this sandbox" in watching.get().content.decode()


@pytest.mark.django_db
def test_everything_that_an_address_asks_for_is_counted(visitor: Any, clock: list[float]) -> None:
    with limits(address=(0.01, 3)):
        asked = [visitor.client.get("/"), visitor.client.get("/nowhere/"), visitor.post("do/settle/"), visitor.get()]
    assert [answer.status_code for answer in asked] == [200, 404, 204, 429]
    assert asked[-1]["Retry-After"] == "100"
    assert "Too many requests from your address." in asked[-1].content.decode()


def socket(visitor: Any, **headers: str) -> WebsocketCommunicator:
    all_headers = {"origin": "http://localhost", "host": "localhost", **headers}
    coded = [(name.replace("_", "-").encode(), value.encode()) for name, value in all_headers.items()]
    return WebsocketCommunicator(application, "/ws" + visitor.url(), headers=coded)


async def closed_with(line: WebsocketCommunicator) -> int:
    """Return the code with which the server closes."""
    while (message := await line.receive_output(5))["type"] != "websocket.close":
        pass
    return message["code"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_socket_too_many_is_closed_with_a_code_after_which_the_page_waits(visitor: Any) -> None:
    with limits(socket=(0.01, 1)), override_settings(TRUSTED_PROXIES=1):
        first, second = (socket(visitor, x_forwarded_for="1.2.3.4:5") for _ in range(2))
        other = socket(visitor, x_forwarded_for="1.2.3.5")
        assert [(await line.connect(PATIENCE))[0] for line in (first, second, other)] == [True, True, True]
        assert await closed_with(second) == TOO_OFTEN
        assert await first.receive_nothing(0.1)
        assert await other.receive_nothing(0.1)
        await asyncio.gather(first.disconnect(), other.disconnect())


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_socket_that_talks_too_much_is_closed(visitor: Any) -> None:
    with limits(message=(0.01, 3)):
        line = socket(visitor)
        await line.connect(PATIENCE)
        for page in range(5):
            await line.send_to(text_data=json.dumps({"open": "", "pages": f"filter:{page}"}))
        assert await closed_with(line) == TOO_OFTEN
        await line.wait()
