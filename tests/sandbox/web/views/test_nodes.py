"""The controls of the tab Nodes: conditions, usage, kubelet configurations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.view import View
from tests.sandbox.inside import fragments

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(visitor: Any, node: Any, pod: Any) -> Any:
    """Return the visitor of a sandbox with the node n1 and the pod default/web."""
    store.execute(visitor.sandbox, node("n1"))
    store.execute(visitor.sandbox, pod("web"))
    return visitor


def panel(visitor: Any) -> str:
    return str(fragments(visitor.row(), View(), ["nodes"], True)["nodes"].html)


@pytest.mark.parametrize(
    ("path", "fields", "command"),
    [
        pytest.param(
            "node-condition/",
            {"node": "n1", "type": "Ready", "status": "Unknown"},
            {"kind": "node-condition", "node": "n1", "type": "Ready", "status": "Unknown"},
            id="a condition button",
        ),
        pytest.param(
            "usage/",
            {"pod": "default/web", "memory": " 500Mi ", "pids": ""},
            {"kind": "usage", "pod": "default/web", "node": "", "memory": "500Mi", "pids": None, "cpu": None},
            id="the fields of a pod; empty ones change nothing",
        ),
        pytest.param(
            "usage/",
            {"pod": "default/web", "slide": "512", "amount": "ephemeral_storage", "unit": "Mi"},
            {"kind": "usage", "pod": "default/web", "ephemeral_storage": "512Mi", "memory": None},
            id="the slider of a pod",
        ),
        pytest.param(
            "usage/",
            {"node": "n1", "memory": "0"},
            {"kind": "usage", "node": "n1", "pod": "", "memory": "0"},
            id="the system daemons of a node use nothing",
        ),
        pytest.param(
            "kubelet/",
            {"node": "n1", "configuration": "evictionHard: {memory.available: 500Mi}"},
            {"kind": "kubelet", "node": "n1", "configuration": {"evictionHard": {"memory.available": "500Mi"}}},
            id="a kubelet configuration",
        ),
        pytest.param(
            "kubelet/",
            {"node": "n1"},
            {"kind": "kubelet", "node": "n1", "configuration": None},
            id="back to the default configuration",
        ),
    ],
)
def test_each_control_is_one_command(cluster: Any, path: str, fields: dict[str, str], command: dict[str, Any]) -> None:
    assert cluster.post(path, who="Ada", **fields).status_code == 204
    assert command.items() <= json.loads(cluster.log()[-1]).items()
    assert len(cluster.log()) == 3


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        pytest.param(
            "usage/", {"pod": "default/web", "memory": "much"}, "quantities must match", id="an invalid amount"
        ),
        pytest.param(
            "usage/", {"pod": "default/web", "memory": "-1"}, "greater than or equal to 0", id="a negative amount"
        ),
        pytest.param("usage/", {"pod": "default/web", "memory": ""}, "enter an amount", id="an empty field"),
        pytest.param(
            "usage/", {"pod": "default/gone", "memory": "1Mi"}, "&#34;gone&#34; not found", id="an unknown pod"
        ),
        pytest.param("usage/", {"memory": "1Mi"}, "name a pod or a node, not both", id="no name"),
        pytest.param(
            "kubelet/",
            {"node": "n1", "configuration": "evictionSoft: {memory.available: 1Gi}"},
            "grace period must be specified for the soft eviction threshold memory.available",
            id="a soft threshold without a grace period",
        ),
        pytest.param(
            "kubelet/",
            {"node": "n1", "configuration": "evictionHard: {memory.free: 1Gi}\nevictionSoft: {cpu: '1'}"},
            "unsupported eviction signal cpu",
            id="all errors are reported",
        ),
        pytest.param("kubelet/", {"node": "n1", "configuration": "evictionHard: {"}, "line", id="not YAML"),
        pytest.param("kubelet/", {"node": "n1", "configuration": "- 1"}, "field: value", id="a list"),
        pytest.param("kubelet/", {"node": "n1", "configuration": "{}\n---\n{}"}, "not several", id="two documents"),
        pytest.param(
            "taint/",
            {"node": "n1", "key": "a b", "effect": "NoSchedule", "on": "1"},
            "name part must consist of alphanumeric characters",
            id="a taint with an invalid key",
        ),
        pytest.param(
            "taint/",
            {"node": "n1", "key": "a", "effect": "Never", "on": "1"},
            "Unsupported value",
            id="an unknown effect",
        ),
        pytest.param("kubelet/", {"node": "n9"}, "&#34;n9&#34; not found", id="an unknown node"),
    ],
)
def test_an_error_is_reported_at_the_control_and_changes_nothing(
    cluster: Any, path: str, fields: dict[str, str], words: str
) -> None:
    answer = cluster.post(path, **fields)
    assert answer.status_code == 422
    text = answer.content.decode()
    assert words in text
    assert 'class="err" role="alert"' in text
    assert "data-notice" not in text
    assert len(cluster.log()) == 2


def test_a_taint_is_added_by_the_form_and_removed_by_its_cross(cluster: Any) -> None:
    taint = {"node": "n1", "key": "maintenance", "effect": "NoExecute"}
    answer = cluster.post("taint/", **taint, value="soon", on="1")
    assert (answer.status_code, answer.content) == (200, b"")
    text = fragments(cluster.row(), View(node="n1"), ["inspector"], True)["inspector"].html
    assert "maintenance=soon:NoExecute" in text
    assert cluster.post("taint/", **taint, on="0").status_code == 204
    text = fragments(cluster.row(), View(node="n1"), ["inspector"], True)["inspector"].html
    assert "maintenance" not in text
    answer = cluster.post("taint/", **taint, on="0")
    assert (answer.status_code, "data-notice" in answer.content.decode()) == (422, True)


def test_a_watcher_sees_taints_but_no_way_to_change_them(cluster: Any) -> None:
    cluster.post("taint/", node="n1", key="maintenance", effect="NoSchedule", on="1")
    text = fragments(cluster.row(), View(node="n1"), ["inspector"], False)["inspector"].html
    assert "maintenance:NoSchedule" in text
    assert "hx-post" not in text


def test_a_condition_that_there_is_not_is_a_notice(cluster: Any) -> None:
    answer = cluster.post("node-condition/", node="n1", type="Hungry", status="True")
    assert (answer.status_code, "data-notice" in answer.content.decode()) == (422, True)
    assert len(cluster.log()) == 2


@pytest.mark.parametrize("path", ["node-condition/", "usage/", "kubelet/"])
def test_a_watcher_is_refused(cluster: Any, path: str) -> None:
    assert cluster.watching().post(path, node="n1", memory="1Gi", type="Ready", status="False").status_code == 403
    assert cluster.get(path).status_code == 405
    assert len(cluster.log()) == 2


def test_the_panel_shows_the_settings(cluster: Any) -> None:
    cluster.post("kubelet/", node="n1", configuration="evictionHard: {memory.available: 1Gi}")
    cluster.post("do/settle/")
    cluster.post("usage/", pod="default/web", memory="7500Mi")
    assert "below the threshold: the kubelet will notice at its next check" in panel(cluster)
    cluster.post("do/advance/", seconds="10")
    html = panel(cluster)
    assert "met: evicts" in html
    assert "The node was low on resource: memory. Threshold quantity: 1Gi" in html
