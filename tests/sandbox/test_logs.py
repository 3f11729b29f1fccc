from __future__ import annotations

import logging

import pytest
from django.conf import settings

from sandbox.logs import HideTokens

ID = "244d5097-0d80-497b-8752-674d4ba43c57"


@pytest.mark.parametrize(
    "path", ["/s/{id}/{token}/do/stage/", "/ws/s/{id}/{token}/", "/s/{id}/{token}", "/s/{id}/{token}?x=1"]
)
def test_the_token_of_a_url_is_hidden(path: str) -> None:
    given = path.format(id=ID, token="se-cr_et")
    record = logging.LogRecord("django.request", logging.WARNING, "", 0, "%s: %s", ("Bad Request", given), None)
    assert HideTokens().filter(record)
    assert record.getMessage() == "Bad Request: " + path.format(id=ID, token="…")


def test_other_messages_stay_as_they_are() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "%d of %s", (3, "/s/short/"), None)
    assert HideTokens().filter(record)
    assert record.getMessage() == "3 of /s/short/"


def test_every_handler_hides_tokens() -> None:
    assert all("hide_tokens" in handler["filters"] for handler in settings.LOGGING["handlers"].values())
