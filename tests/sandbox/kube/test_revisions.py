"""ControllerRevisions: how many are kept, what they are called, and that nobody writes them."""

from __future__ import annotations

from typing import Any

from sandbox.changes import store
from tests.sandbox.conftest import Visitor

PATH = "kube/apis/apps/v1/namespaces/default/controllerrevisions"


def stateful(image: int, limit: int = 10) -> dict[str, Any]:
    labels = {"app": "db"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": f"db:{image}"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template, "revisionHistoryLimit": limit}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


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


def test_nobody_writes_or_watches_them(visitor: Visitor) -> None:
    assert visitor.client.post(visitor.url(PATH), {}, "application/json").status_code == 405
    assert visitor.client.get(visitor.url(f"{PATH}?watch=true")).status_code == 405
