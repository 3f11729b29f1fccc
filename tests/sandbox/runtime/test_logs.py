from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from daphne.access import AccessLogGenerator
from django.core.exceptions import SuspiciousOperation

import sandbox.asgi  # noqa: F401 - it hides tokens in the access log
from sandbox.runtime.logs import WithoutTokens, hide_tokens
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.web.access import Access

ID = "244d5097-0d80-497b-8752-674d4ba43c57"
TOKEN = "YOqEnfcp4H-vpS3xLzTLkHVQ_lpzUZSn"


def coded(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "Bad Request: /s/{id}/{token}/do/stage/",
        "/ws/s/{id}/{token}/",
        "/s/{id}/{token}",
        "/s/{id}/{token}?x=1",
        "/s/{id}/{token}x",
        "/s/{id}/too-short",
        "No route found for path 's/{id}/{token}'.",
        "//s//{id}//{token}/",
        "/S/{upper}/{token}/",
        "/s/{plain}/{token}/",
        r"\\s\\{id}\\{token}",
        "/elsewhere/{token}/",
        "token='{token}'",
        "?left=/s/{id}/{token}/&right=%2Fs%2F{id}%2F{token}%2F",
        "Referer: http://localhost/s/{id}/{token}/",
        "b'/s/{id}/{token}'",
        "GET {coded}",
        "GET {twice}",
        "GET {deep}",
    ],
)
def test_no_token_is_left_in_a_text(text: str) -> None:
    whole = f"/s/{ID}/{TOKEN}/"
    deep = whole
    for _ in range(9):
        deep = quote(deep, safe="")
    ways = {"coded": coded(whole), "twice": quote(coded(whole)), "deep": deep.replace("%", "%25")}
    sample = text.format(id=ID, token=TOKEN, upper=ID.upper(), plain=ID.replace("-", ""), **ways)
    hidden = hide_tokens(sample)
    assert "…" in hidden
    assert "too-short" not in hidden
    assert TOKEN not in hidden
    assert coded(TOKEN) not in hidden


@pytest.mark.parametrize(
    "text",
    [
        "3 of /s/short/",
        "100 % of 5%25 and %zz",
        "in test_the_scheduler_of_two_nodes_x",
        "sandbox.244d50970d80497b8752674d4ba43c57",
        f"sandbox {ID}: /static/css/base.css",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert hide_tokens(text) == text


def test_a_decoded_address_begins_no_new_line() -> None:
    assert hide_tokens(f"GET /s/{ID}/{TOKEN}/%0a%00x") == f"GET /s/{ID}/…/%0A%00x"


def test_every_new_token_is_recognised() -> None:
    for token in (tokens.new_token() for _ in range(2000)):
        assert hide_tokens(f"x {token}, {tokens.view_token(token)}.") == "x …, …."


def own_handlers() -> list[logging.Handler]:
    """Return the handlers of the settings, without pytest's."""
    return [handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """Return what the site's handler would write to the terminal."""
    stream = io.StringIO()
    (handler,) = own_handlers()
    assert isinstance(handler, logging.StreamHandler)
    before = handler.setStream(stream)
    yield stream
    handler.setStream(before)


def test_a_traceback_that_quotes_an_address_is_written_without_its_token(said: io.StringIO) -> None:
    try:
        raise ValueError(f"No route found for path 'ws/s/{ID}/{TOKEN}'.")
    except ValueError:
        logging.getLogger("tests.logs").exception("it broke down at %s", Access(Sandbox(), TOKEN, True))
    assert "Traceback" in said.getvalue()
    assert f"path 'ws/s/{ID}/…'" in said.getvalue()
    assert TOKEN not in said.getvalue()


def test_a_refusal_takes_one_line_and_a_server_error_a_traceback(said: io.StringIO) -> None:
    logger = logging.getLogger("tests.logs")
    for status in (400, 500):
        try:
            raise SuspiciousOperation("what is this")
        except SuspiciousOperation:
            logger.exception("answered %s", status, extra={"status_code": status})
    first, second, *more = said.getvalue().splitlines()
    assert first.endswith("WARNING tests.logs: answered 400")
    assert second.endswith("ERROR tests.logs: answered 500")
    assert more[0].startswith("Traceback")


def test_every_handler_of_the_process_is_ours() -> None:
    assert [type(handler.formatter) for handler in own_handlers()] == [WithoutTokens]
    # Django's own handlers would write to the terminal with DEBUG, and send e-mails without.
    for name in ("django", "django.server", "django.request", "django.security", "daphne", "asyncio"):
        assert logging.getLogger(name).handlers == []


def test_daphnes_own_access_log_has_no_token_either() -> None:
    stream = io.StringIO()
    details = {"client": "127.0.0.1:5", "path": f"/s/{ID}/{TOKEN}/", "status": 200, "size": 5, "method": "GET"}
    AccessLogGenerator(stream)("http", "complete", details)
    AccessLogGenerator(stream)("websocket", "rejected", details | {"path": f"/ws/s/{ID}/{TOKEN}"})
    http, socket = stream.getvalue().splitlines()
    assert f'"GET /s/{ID}/…/" 200 5' in http
    assert f'"WSREJECT /ws/s/{ID}/…"' in socket
    assert str(datetime.now(UTC).year) in http
