from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.facts.finding import LONGEST_WANTED
from sandbox.web.views.reading import MOST_NAMED
from scheduler_engine.testing import make_node, make_pod

pytestmark = pytest.mark.django_db


def test_a_panel_is_rendered_for_the_view_in_the_query(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("blue-node"))
    plain = visitor.get("panel/inspector/")
    chosen = visitor.get("panel/inspector/", node="blue-node")
    assert plain.status_code == chosen.status_code == 200
    assert "blue-node" in chosen.content.decode()
    assert 'id="panel-inspector"' in chosen.content.decode()


def test_watchers_see_panels_too(visitor: Any) -> None:
    assert visitor.watching().get("panel/status/").status_code == 200


def test_an_unknown_panel_is_not_found(visitor: Any) -> None:
    assert visitor.get("panel/secrets/").status_code == 404


def test_an_objects_manifest_is_shown_as_yaml(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    text = visitor.get("yaml/Node/", key="a").content.decode()
    assert "kind: Node" in text
    assert "memory: 8Gi" in text


@pytest.mark.parametrize(("kind", "key"), [("Node", "b"), ("Node", ""), ("Nothing", "a"), ("Pod", "../a")])
def test_the_manifest_of_a_missing_object_is_not_found(visitor: Any, node: Any, kind: str, key: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    assert visitor.get(f"yaml/{kind}/", key=key).status_code == 404


def test_html_in_a_manifest_is_shown_as_text(visitor: Any, node: Any) -> None:
    command = node("a")
    command["manifests"][0]["metadata"]["annotations"] = {"x": "<script>alert(1)</script>"}
    store.execute(visitor.sandbox, command)
    text = visitor.get("yaml/Node/", key="a").content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_the_dump_is_of_the_scheduler_and_the_moment_in_view(visitor: Any, node: Any) -> None:
    """Two schedulers without leader election: one does not count what the other has assumed."""
    store.execute(visitor.sandbox, {"kind": "replicas", "count": 2, "leader_elect": False})
    for name in ("a", "b"):
        store.execute(visitor.sandbox, node(name))
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_pod("web-1").cpu("1").obj()]})
    for _ in range(18):
        store.execute(visitor.sandbox, {"kind": "stage"})
    looked_at = [
        visitor.get("dump", replica=name).content.decode() for name in ("kube-scheduler-1", "kube-scheduler-2")
    ]
    nodes = [text[: text.index("name: web-1")].rpartition("Node name: ")[2][0] for text in looked_at]
    assert sorted(nodes) == ["a", "b"]
    panel = visitor.get("panel/cache/", replica="kube-scheduler-2", at="3.1").content.decode()
    link = re.search(r'href="(dump\?at=[0-9.]+&amp;replica=kube-scheduler-2)"', panel)
    assert link is not None
    assert "web-1" not in visitor.get(unescape(link[1])).content.decode()


CLUSTER = [
    make_node("node-blue").zone("eu-a").obj(),
    make_pod("web-1").node("node-blue").obj(),
    make_pod("web-2").cpu("64").obj(),
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "shop"}},
            "template": {
                "metadata": {"labels": {"app": "shop"}},
                "spec": {"containers": [{"name": "main", "image": "x"}]},
            },
        },
    },
]


def hits(visitor: Any, wanted: str, **view: str) -> list[tuple[str, str, str]]:
    """Return (kind, what it leads to, text) of each result."""
    page = visitor.get("find/", q=wanted, **view).content.decode()
    rows = re.findall(
        r'<li><(?:button type="button"|a) ?([^>]*)><span class="f-t[^>]*>(.+?)</span>.*?<small>(.+?)</small>', page
    )
    return [(kind, unescape(leads), unescape(text)) for leads, text, kind in rows]


@pytest.mark.parametrize(
    ("wanted", "kind", "leads", "text"),
    [
        pytest.param("web-1", "pod", 'data-pod="default/web-1"', "web-1", id="a pod on a node"),
        pytest.param("WEB-2", "pod", 'data-pod="default/web-2"', "web-2", id="a waiting pod, in upper case"),
        pytest.param("node-blue", "node", 'data-node="node-blue"', "node-blue", id="a node"),
        pytest.param("shop", "workload", 'data-tab="workloads"', "shop", id="a workload"),
        pytest.param("kube-system", "object", 'data-edit="Namespace"', "kube-system", id="another object"),
        pytest.param("NodeAff", "plugin", 'data-tab="filter"', "NodeAffinity", id="a plugin"),
        pytest.param(
            "Insufficient", "event", 'data-pod="default/web-2"', "FailedScheduling", id="an event by its words"
        ),
        pytest.param("evic", "tab", 'data-tab="evictions"', "Evictions", id="a tab"),
        pytest.param("repriev", "help", 'data-tab="preemption"', "reprieve", id="a term with a tab"),
        pytest.param("Permit", "help", "data-help", "Permit", id="a term without a tab"),
        pytest.param(
            "leader is killed",
            "scenario",
            "?find=The%20leader%20is%20killed#scenarios",
            "The leader is killed",
            id="a scenario",
        ),
    ],
)
def test_find_lists(visitor: Any, wanted: str, kind: str, leads: str, text: str) -> None:
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": CLUSTER})
    store.execute(visitor.sandbox, {"kind": "settle"})
    listed = [(where, said) for what, where, said in hits(visitor, wanted) if what == kind]
    assert any(leads in where and said == text for where, said in listed), listed


def test_find_says_that_nothing_was_found_and_shows_the_letters_as_text(visitor: Any) -> None:
    answer = visitor.get("find/", q="<b>nowhere")
    assert hits(visitor, "<b>nowhere") == []
    assert "Nothing matches “&lt;b&gt;nowhere”" in answer.content.decode()


@pytest.mark.parametrize("wanted", ["", "   "])
def test_find_without_letters_says_what_can_be_found(visitor: Any, wanted: str) -> None:
    page = visitor.get("find/", q=wanted).content.decode()
    assert "<button" not in page
    assert "Type part of the name of a pod, node" in page


def test_a_watcher_reads_the_objects_that_others_edit(visitor: Any) -> None:
    edited = visitor.get("find/", q="kube-system").content.decode()
    read = visitor.watching().get("find/", q="kube-system").content.decode()
    assert ('data-edit="Namespace"' in edited, 'data-edit="Namespace"' in read) == (True, False)
    assert 'data-read="Namespace" data-key="kube-system"' in read


def test_a_text_that_is_too_long_is_searched_by_its_beginning(visitor: Any) -> None:
    page = visitor.get("find/", q="x" * 500).content.decode()
    assert "“" + "x" * LONGEST_WANTED + "”" in page


def test_find_in_the_past_lists_the_objects_of_then(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("node-blue"))
    store.execute(visitor.sandbox, node("node-red"))
    assert [text for kind, _, text in hits(visitor, "node-") if kind == "node"] == ["node-blue", "node-red"]
    assert [text for kind, _, text in hits(visitor, "node-", at="1.1") if kind == "node"] == ["node-blue"]


def test_find_counts_the_omitted_results(visitor: Any, pod: Any) -> None:
    store.execute(visitor.sandbox, pod(*(f"twin-{number}" for number in range(20))))
    listed = len(hits(visitor, "twin-"))
    assert 0 < listed < 20
    assert f"{20 - listed} more. Type more of the name" in visitor.get("find/", q="twin-").content.decode()


@pytest.mark.parametrize("kind", ["tab", "help", "scenario"])
def test_a_common_word_lists_some_objects_of_each_kind(visitor: Any, kind: str) -> None:
    assert 0 < sum(what == kind for what, _, _ in hits(visitor, "e")) <= MOST_NAMED
