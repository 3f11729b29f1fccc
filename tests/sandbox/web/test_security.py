"""What a stranger, a watcher and a hostile page may not do."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from sandbox.changes import store
from sandbox.content.scenarios import scenarios

pytestmark = pytest.mark.django_db

POSTS = [
    "do/stage/", "do/pod/", "do/settle/", "do/run/", "do/advance/", "do/back/", "do/forward/", "do/goto/",
    "do/assumed-ttl/", "do/admission/", "apply/", "check/", "add/node/", "add/pod/", "add/workload/",
    "add/priority-class/",
    "add/budget/", "add/claim/", "preview/node/", "preview/pod/", "preview/workload/", "preview/priority-class/",
    "preview/budget/", "preview/claim/", "delete/", "cordon/", "break/", "allow/", "configure/", "evict/",
    "drain/", "scale/", "rollout/", "node-condition/", "taint/", "usage/", "kubelet/", "replicas/", "replica/",
    "edit/Node/?key=a", "edit/Node/preview/?key=a", "label/", "ungate/", "unfinalize/", "resize/",
    "mend/", "mend/copy/", "step/", "go-back/", "reopen/", "fork/", "controls/", "expect/", "take-back/",
    "lesson/step/", "lesson/turn/", "lesson/hint/", "lesson/catch-up/", "lesson/answer/", "predict/",
]  # fmt: skip
GETS = [
    "", "panel/status/", "yaml/Node/?key=a", "admission/Node/?key=a", "dump", "metrics", "faults/", "configuration/",
    "find/?q=a", "edit/Node/form/?key=a", "offers/", "replicas-form/", "branches/", "export/",
    "export/scenario/", "export/manifests/", "export/snapshot/", "export/trace/", "csv/filter/", "csv/queues/",
    "embed/", "embed/state/", "differences/?seed=1", "differences/?seeds=10", "reroll/?cycle=1", "headroom/",
    "fit/?pod=default/a", "fixes/?pod=default/a", "leave/?node=a",
]  # fmt: skip


LEARNING = ("course", "misconceptions", "challenges")
"""Pages without a sandbox: tests/sandbox/web/views/test_learning.py."""
BEFORE = ("before", "before-convert", "before-open")
"""Pages about older versions: tests/sandbox/web/views/test_before.py."""
ROOMS = {
    "workshops", "join", "join-code", "room", "room-open", "room-freeze", "room-eyes", "room-timer", "room-rename",
    "room-remove", "room-send", "room-step", "room-results", "room-file", "room-close", "room-delete", "room-take",
    "room-hand", "room-help", "room-leave", "room-lesson",
    "room-ask", "room-predict", "room-planned", "room-end", "room-reveal", "room-put-away", "room-answer",
}  # fmt: skip
"""Pages of rooms: tests/sandbox/workshop/."""
IMPORTS = ("import", "import-outlook", "import-open")
"""Pages before there is a sandbox: tests/sandbox/web/views/test_importing.py."""

EMBEDS = ("embed-script", "embed-scenario", "embed-lesson", "embed-state", "open")
"""Pages for everybody: tests/sandbox/web/views/test_embedding.py."""


def routes(resolver: URLResolver) -> list[str]:
    """Return the names of all views but those of the API, whose tests use its document."""
    names: list[str] = []
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver) and pattern.namespace == "api":
            continue
        names += routes(pattern) if isinstance(pattern, URLResolver) else [str(pattern.name)]
        assert isinstance(pattern, URLPattern | URLResolver)
    return names


def test_these_tests_know_every_view() -> None:
    tested = {path.split("/")[0] or "workbench" for path in POSTS + GETS}
    others = {"landing", "create", "compare", "schema", "api-document", "scenario-schema", "lesson-open"}
    others |= {*LEARNING, *IMPORTS, *ROOMS, *EMBEDS, *BEFORE}
    assert set(routes(get_resolver())) == tested | others


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
    assert "view-only" in answer.content.decode()
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
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"
    assert answer["X-Robots-Tag"] == "noindex, nofollow"


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
