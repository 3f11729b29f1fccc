"""ControllerRevisions: how many are kept, what they are called, and that nobody writes them."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.changes import store
from scheduler_engine.testing import make_node
from tests.sandbox.conftest import Visitor

PATH = "kube/apis/apps/v1/namespaces/default/controllerrevisions"


def stateful(image: int, limit: int = 10, replicas: int = 0) -> dict[str, Any]:
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": f"db:{image}"}]}}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": template,
        "revisionHistoryLimit": limit,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": spec | {"replicas": replicas},
    }


def listed(visitor: Visitor) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = visitor.client.get(visitor.url(PATH)).json()["items"]
    return sorted(items, key=lambda item: item["revision"])


def test_the_newest_revision_has_the_name_in_the_status(visitor: Visitor) -> None:
    for image in (1, 2):
        store.execute(visitor.row(), {"kind": "apply", "manifests": [stateful(image)]})
    newest = listed(visitor)[-1]
    path = "kube/apis/apps/v1/namespaces/default/statefulsets/db"
    owner = visitor.client.get(visitor.url(path)).json()
    assert newest["metadata"]["name"] == owner["status"]["updateRevision"]
    assert newest["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
    assert newest["metadata"]["labels"]["app"] == "db"
    assert newest["data"]["spec"]["template"] == {**owner["spec"]["template"], "$patch": "replace"}


def test_old_revisions_go_and_all_go_with_their_owner(visitor: Visitor) -> None:
    for image in range(5):
        store.execute(visitor.row(), {"kind": "apply", "manifests": [stateful(image, limit=2)]})
    assert [item["revision"] for item in listed(visitor)] == [3, 4, 5]
    store.execute(visitor.row(), {"kind": "delete", "object_kind": "StatefulSet", "key": "default/db"})
    assert listed(visitor) == []


@pytest.mark.parametrize(("kind", "kept", "later"), [("StatefulSet", [1, 3, 4], [3, 4]), ("DaemonSet", [1, 4], [1, 4])])
def test_a_revision_of_a_running_pod_stays(visitor: Visitor, kind: str, kept: list[int], later: list[int]) -> None:
    def apply(image: int) -> None:
        manifest = {**stateful(image, limit=1, replicas=1), "kind": kind}
        if kind == "DaemonSet":
            del manifest["spec"]["replicas"]
        store.execute(visitor.row(), {"kind": "apply", "manifests": [manifest]})

    store.execute(visitor.row(), {"kind": "apply", "manifests": [make_node("n").obj()]})
    apply(1)
    store.execute(visitor.row(), {"kind": "run"})
    for image in (2, 3, 4):
        apply(image)
    assert [item["revision"] for item in listed(visitor)] == kept
    store.execute(visitor.row(), {"kind": "run"})
    store.execute(visitor.row(), {"kind": "advance", "seconds": 120})
    assert [item["revision"] for item in listed(visitor)] == later


def test_a_template_that_returns_keeps_the_annotations_of_its_first_use(visitor: Visitor) -> None:
    for image in (1, 2, 1):
        owner = stateful(image)
        owner["metadata"]["annotations"] = {"kubernetes.io/change-cause": f"image {image} of {len(listed(visitor))}"}
        store.execute(visitor.row(), {"kind": "apply", "manifests": [owner]})
    shown = [
        (item["revision"], item["metadata"]["annotations"]["kubernetes.io/change-cause"]) for item in listed(visitor)
    ]
    assert shown == [(2, "image 2 of 1"), (3, "image 1 of 0")]


def test_a_template_that_returns_after_its_revision_went_is_a_new_one(visitor: Visitor) -> None:
    for image in (1, 2, 3, 1):
        store.execute(visitor.row(), {"kind": "apply", "manifests": [stateful(image, limit=1)]})
        store.execute(visitor.row(), {"kind": "advance", "seconds": 1})
    by_number = {item["revision"]: item["metadata"]["creationTimestamp"][-3:] for item in listed(visitor)}
    assert by_number == {3: "02Z", 4: "03Z"}


def test_nobody_writes_or_watches_them(visitor: Visitor) -> None:
    assert visitor.client.post(visitor.url(PATH), {}, "application/json").status_code == 405
    assert visitor.client.get(visitor.url(f"{PATH}?watch=true")).status_code == 405
