from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, RequestFactory, override_settings

from sandbox import ratelimit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(ratelimit.time, "time", lambda: now[0])
    return now


def test_a_burst_passes_then_one_each_time_a_token_has_come_back(clock: list[float]) -> None:
    assert [ratelimit.wait("x", "me", 2, 3) for _ in range(3)] == [0, 0, 0]
    assert ratelimit.wait("x", "me", 2, 3) == pytest.approx(0.5)
    clock[0] += 0.5
    assert ratelimit.wait("x", "me", 2, 3) == 0
    assert ratelimit.wait("x", "me", 2, 3) > 0


def test_a_client_that_paused_has_a_full_burst_again_and_no_more(clock: list[float]) -> None:
    for _ in range(3):
        ratelimit.wait("x", "me", 2, 3)
    clock[0] += 1000
    assert [ratelimit.wait("x", "me", 2, 3) > 0 for _ in range(4)] == [False, False, False, True]


def test_buckets_of_other_clients_and_other_names_are_not_touched(clock: list[float]) -> None:
    assert [ratelimit.wait(name, who, 1, 1) for name, who in (("x", "me"), ("x", "you"), ("y", "me"))] == [0, 0, 0]


@pytest.mark.parametrize(
    ("proxies", "forwarded", "client"),
    [
        pytest.param(0, "6.6.6.6", "127.0.0.1", id="without a proxy the header is the visitor's own invention"),
        pytest.param(1, "6.6.6.6, 1.2.3.4", "1.2.3.4", id="behind one proxy its own entry counts"),
        pytest.param(2, "6.6.6.6, 1.2.3.4, 10.0.0.1", "1.2.3.4", id="behind two the one before"),
        pytest.param(1, "", "127.0.0.1", id="a request past the proxy counts for its sender"),
    ],
)
def test_the_clients_address(proxies: int, forwarded: str, client: str) -> None:
    with override_settings(TRUSTED_PROXIES=proxies):
        assert ratelimit.client(RequestFactory(headers={"X-Forwarded-For": forwarded}).get("/")) == client


@pytest.mark.django_db
@override_settings(RATE_LIMITS={"create": (0.01, 2), "command": (0.01, 1)})
def test_too_many_requests_are_answered_429_with_the_time_to_wait(visitor: Any) -> None:
    assert [Client().post("/new/").status_code for _ in range(3)] == [302, 302, 429]
    assert visitor.post("do/settle/").status_code == 204
    answer = visitor.post("do/settle/")
    assert (answer.status_code, answer["Retry-After"]) == (429, "100")
    assert "Too many requests" in answer.content.decode()
    assert len(visitor.log()) == 1
