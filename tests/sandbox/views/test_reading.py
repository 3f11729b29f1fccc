from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from sandbox import store
from scheduler_engine.testing import make_pod

pytestmark = pytest.mark.django_db


def test_a_panel_is_rendered_for_the_view_in_the_query(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("blue-node"))
    plain = visitor.get("panel/inspector/")
    chosen = visitor.get("panel/inspector/", node="blue-node")
    assert plain.status_code == chosen.status_code == 200
    assert "blue-node" in chosen.content.decode()
    assert 'id="panel-inspector"' in chosen.content.decode()


def test_whoever_watches_sees_panels_too(visitor: Any) -> None:
    assert visitor.watching().get("panel/status/").status_code == 200


def test_an_unknown_panel_is_not_found(visitor: Any) -> None:
    assert visitor.get("panel/secrets/").status_code == 404


def test_an_objects_manifest_is_shown_as_yaml(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    text = visitor.get("yaml/Node/", key="a").content.decode()
    assert "kind: Node" in text
    assert "memory: 8Gi" in text


@pytest.mark.parametrize(("kind", "key"), [("Node", "b"), ("Node", ""), ("Nothing", "a"), ("Pod", "../a")])
def test_the_manifest_of_what_is_not_there_is_not_found(visitor: Any, node: Any, kind: str, key: str) -> None:
    store.execute(visitor.sandbox, node("a"))
    assert visitor.get(f"yaml/{kind}/", key=key).status_code == 404


def test_html_in_a_manifest_is_shown_as_text(visitor: Any, node: Any) -> None:
    command = node("a")
    command["manifests"][0]["metadata"]["annotations"] = {"x": "<script>alert(1)</script>"}
    store.execute(visitor.sandbox, command)
    text = visitor.get("yaml/Node/", key="a").content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text


def test_the_dump_is_of_the_scheduler_and_of_the_moment_that_are_looked_at(visitor: Any, node: Any) -> None:
    """Two schedulers without leader election: what one of them has assumed, the other does not count."""
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
