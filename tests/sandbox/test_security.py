"""What a stranger, a watcher and a hostile page may not do."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from sandbox import store

pytestmark = pytest.mark.django_db

POSTS = [
    "do/stage/", "do/pod/", "do/settle/", "do/run/", "do/advance/", "do/back/", "do/forward/", "do/goto/", "apply/",
    "check/", "add/node/", "add/pod/", "preview/node/", "preview/pod/", "delete/", "cordon/", "break/", "allow/",
    "configure/", "evict/", "drain/", "scale/", "rollout/", "node-condition/", "taint/", "usage/", "kubelet/",
    "replicas/", "replica/", "step/",
]  # fmt: skip
GETS = ["", "panel/status/", "yaml/Node/?key=a", "metrics", "faults/", "configuration/", "replicas-form/"]


def routes(resolver: URLResolver) -> list[str]:
    """The names of all views."""
    names: list[str] = []
    for pattern in resolver.url_patterns:
        names += routes(pattern) if isinstance(pattern, URLResolver) else [str(pattern.name)]
        assert isinstance(pattern, URLPattern | URLResolver)
    return names


def test_these_tests_know_every_view() -> None:
    tested = {path.split("/")[0] or "workbench" for path in POSTS + GETS}
    assert set(routes(get_resolver())) == tested | {"landing", "create", "compare"}


@pytest.mark.parametrize("path", POSTS)
def test_a_wrong_token_changes_nothing_and_learns_nothing(visitor: Any, path: str) -> None:
    answer = Client().post(visitor.url(path).replace(visitor.token, "wrong"), {"seconds": "1"})
    assert answer.status_code == 404
    assert visitor.log() == []


@pytest.mark.parametrize("path", POSTS)
def test_the_view_link_cannot_change_anything(visitor: Any, node: Any, path: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    before = visitor.row().revision
    answer = visitor.watching().post(path, seconds="1", n="0", node="a", on="1", kind="Node", key="a", manifests="{}")
    assert answer.status_code == 403
    assert "only watches" in answer.content.decode()
    assert visitor.row().revision == before


@pytest.mark.parametrize("method", ["get", "head", "options", "put", "patch", "delete"])
@pytest.mark.parametrize("path", POSTS)
def test_a_change_takes_a_post(visitor: Any, node: Any, path: str, method: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    answer = getattr(Client(), method)(visitor.url(path))
    assert answer.status_code == 405
    assert visitor.row().revision == 1


@pytest.mark.parametrize("path", GETS)
def test_a_page_takes_a_get(visitor: Any, node: Any, path: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    assert Client().post(visitor.url(path)).status_code == 405


@pytest.mark.parametrize("path", [*GETS, *POSTS])
def test_no_answer_sets_a_cookie_and_each_has_the_policy(visitor: Any, node: Any, path: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    browser = Client(enforce_csrf_checks=True)
    answer = browser.post(visitor.url(path), {"name": "x"}) if path in POSTS else browser.get(visitor.url(path))
    assert answer.status_code not in (403, 404, 405)
    assert not browser.cookies
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    assert answer["Referrer-Policy"] == "same-origin"


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
def test_what_is_no_id_is_not_found(visitor: Any, sandbox_id: str) -> None:
    assert Client().get(f"/s/{sandbox_id}/{visitor.token}/").status_code == 404


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe", b"a=%ff%fe&who=%00", b"seconds=1&" * 2000],
    ids=["no text", "no UTF-8", "many fields"],
)
def test_a_strange_body_gets_an_answer_without_a_crash(visitor: Any, body: bytes) -> None:
    answer = Client().post(visitor.url("do/stage/"), body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code < 500


def test_a_broken_multipart_body_is_refused(visitor: Any) -> None:
    answer = Client().post(visitor.url("apply/"), b"--x\r\nnonsense", content_type="multipart/form-data; boundary=")
    assert answer.status_code == 400
    assert visitor.log() == []


def test_what_a_visitor_typed_is_never_markup(visitor: Any) -> None:
    answer = visitor.post("do/advance/", seconds="<script>alert(1)</script>")
    told = visitor.post("delete/", kind="<img src=x>", key="<script>alert(1)</script>")
    for html in (answer.content.decode(), told.content.decode()):
        assert "<script>alert" not in html
        assert "<img" not in html
