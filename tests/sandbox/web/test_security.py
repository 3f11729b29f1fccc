"""What a hostile page and odd requests may not do. Who may do what at which address: tests/sandbox/authority."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings

from sandbox.content.scenarios import scenarios

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    [
        "panel/..%2f..%2fsettings/",
        "panel/../../../etc/passwd/",
        "panel/__init__/",
        "panel/status%00/",
        "yaml/..%2fNode/?key=a",
        "do/..%2fstage/",
        "add/..%2f..%2fpanels%2fstatus/",
        "preview/yaml_preview/",
    ],
)
def test_paths_lead_nowhere_but_to_views(visitor: Any, path: str) -> None:
    for method in (visitor.client.get, visitor.client.post):
        assert method(visitor.url(path)).status_code in (404, 405)
    assert visitor.log() == []


@pytest.mark.parametrize("sandbox_id", ["1", "00000000-0000-0000-0000-00000000000g", "..", "%2e%2e"])
def test_an_invalid_id_is_not_found(visitor: Any, sandbox_id: str) -> None:
    assert Client().get(f"/s/{sandbox_id}/{visitor.token}/").status_code == 404


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe", b"a=%ff%fe&who=%00", b"seconds=1&" * 2000],
    ids=["not text", "not UTF-8", "many fields"],
)
def test_a_strange_body_gets_an_answer_without_a_crash(visitor: Any, body: bytes) -> None:
    answer = Client().post(visitor.url("do/stage/"), body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code < 500


def test_a_broken_multipart_body_is_refused(visitor: Any) -> None:
    answer = Client().post(visitor.url("apply/"), b"--x\r\nnonsense", content_type="multipart/form-data; boundary=")
    assert answer.status_code == 400
    assert visitor.log() == []


def test_visitors_text_is_never_markup(visitor: Any) -> None:
    answer = visitor.post("do/advance/", seconds="<script>alert(1)</script>")
    response = visitor.post("delete/", kind="<img src=x>", key="<script>alert(1)</script>")
    for html in (answer.content.decode(), response.content.decode()):
        assert "<script>alert" not in html
        assert "<img" not in html


LEADS_ELSEWHERE = ["/new/", "/compare/"]


@pytest.mark.parametrize("path", LEADS_ELSEWHERE)
def test_the_redirect_that_hands_out_a_link_is_not_cached(path: str) -> None:
    slug = next(iter(scenarios()))
    answer = Client().post(path, {"left": slug, "right": slug})
    assert answer.status_code == 302
    assert "/s/" in unquote(answer["Location"])
    assert (answer["Cache-Control"], answer["X-Robots-Tag"]) == ("no-store", "noindex, nofollow")
    assert answer["Referrer-Policy"] == "no-referrer"


def test_an_address_without_its_last_slash_redirects_and_leaks_nothing(visitor: Any) -> None:
    answer = Client().get(visitor.url().rstrip("/"))
    assert (answer.status_code, answer["Location"]) == (301, visitor.url())
    assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")


def test_search_engines_may_list_the_first_page_and_no_other(visitor: Any) -> None:
    pages = {path: Client().get(path) for path in ("/", visitor.url(), "/nowhere/", "/compare/")}
    listed = [path for path, answer in pages.items() if "X-Robots-Tag" not in answer]
    without_mark = [path for path, answer in pages.items() if 'name="robots"' not in answer.content.decode()]
    assert listed == ["/"]
    assert without_mark == ["/", "/compare/"]
    assert pages["/"].headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("host", ["evil.example", "", "localhost:x"])
def test_a_foreign_host_gets_one_page_with_the_policy_of_all(visitor: Any, host: str) -> None:
    answer = Client(headers={"host": host}).get(visitor.url())
    assert answer.status_code == 400
    assert "This server does not serve this host name" in answer.content.decode()
    assert "connect-src 'self';" in answer["Content-Security-Policy"]
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("proxies", "header", "scheme"),
    [("1", "https", "https"), ("1", "http", "http"), ("1", "junk", "http"), ("0", "https", "http")],
    ids=["a proxy that speaks TLS", "one that does not", "one that sends nonsense", "a visitor who invents it"],
)
def test_the_links_to_share_have_the_scheme_that_the_proxy_tells(
    visitor: Any, monkeypatch: pytest.MonkeyPatch, proxies: str, header: str, scheme: str
) -> None:
    monkeypatch.setenv("TRUSTED_PROXIES", proxies)
    spec = find_spec("sandbox.settings")
    assert spec is not None
    assert spec.loader is not None
    fresh = module_from_spec(spec)
    spec.loader.exec_module(fresh)
    with override_settings(SECURE_PROXY_SSL_HEADER=fresh.SECURE_PROXY_SSL_HEADER):
        answer = Client(headers={"host": "testserver", "x-forwarded-proto": header}).get(visitor.url())
    assert f"{scheme}://testserver{visitor.url()}" in answer.content.decode()
    assert "wss://testserver" in answer["Content-Security-Policy"]


NO_SETTINGS = {
    **{("COMMAND_RATE", text): "a number above 0, per second" for text in ("0", "-1", "nan", "inf", "fast")},
    ("COMMAND_SECONDS", "soon"): "a number above 0, in seconds",
    ("ENGINE_PROCESSES", "-1"): "a whole number of 0 or more",
    ("ENGINE_LONG", "2.5"): "a whole number of 0 or more",
    ("ENGINE_MEMORY_MB", "32"): "a whole number of 64 or more",
    ("PRUNE_DAYS", "never"): "a whole number of 0 or more",
}


@pytest.mark.parametrize(("name", "text"), NO_SETTINGS, ids=" ".join)
def test_an_invalid_setting_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(name, text)
    spec = find_spec("sandbox.settings")
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImproperlyConfigured, match=f"{name} must be {NO_SETTINGS[name, text]}, not '{text}'"):
        spec.loader.exec_module(module_from_spec(spec))
