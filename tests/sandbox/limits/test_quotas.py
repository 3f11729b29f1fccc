from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from sandbox.changes import store
from sandbox.limits import quotas as quotas_module
from sandbox.limits.quotas import OverQuota, Quotas, quotas
from sandbox.storage.records import Database, Plan, Position
from sandbox.worker.live import Live
from scheduler_engine.controllers import sizes
from scheduler_engine.errors import Rejected
from tests.engine import controllers

pytestmark = pytest.mark.django_db


def test_settings_override_single_limits() -> None:
    with override_settings(QUOTAS={"nodes": 3}):
        assert quotas() == Quotas(nodes=3)


@override_settings(QUOTAS={"nodes": 3})
def test_nodes_are_limited_and_an_update_of_one_that_exists_is_not_counted(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a", "b"))
    with pytest.raises(OverQuota, match=r"limit is 3 nodes.* there are 2, and this would add 2"):
        store.execute(visitor.row(), node("c", "d"))
    store.execute(visitor.row(), node("c"))
    store.execute(visitor.row(), node("a", "b", "c"))
    assert len(visitor.log()) == 3


@override_settings(QUOTAS={"nodes": 3})
def test_ghosts_are_not_counted_as_nodes(visitor: Any, node: Any) -> None:
    spec = {"nodeName": "nowhere", "containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lost"}, "spec": spec}
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [pod]})
    store.execute(visitor.row(), node("a", "b", "c"))
    assert len(visitor.log()) == 2


@override_settings(QUOTAS={"pods": 1})
def test_pods_are_limited_by_namespace_and_name(visitor: Any) -> None:
    fields = {"cpu": "1", "memory": "1Gi"}
    assert visitor.post("add/pod/", name="web", **fields).status_code == 204
    answer = visitor.post("add/pod/", name="web", namespace="kube-system", **fields)
    assert answer.status_code == 422
    assert "limit is 1 pods" in answer.content.decode()
    assert len(visitor.log()) == 1


def test_the_bytes_of_manifests_are_limited_in_one_place(visitor: Any) -> None:
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n#" + "x" * (1 << 20)
    assert visitor.post("apply/", manifests=text).status_code == 413
    with override_settings(QUOTAS={"manifest_bytes": 3 << 19}):
        assert visitor.post("apply/", manifests=text).status_code == 204


@override_settings(QUOTAS={"commands": 2})
def test_a_full_log_refuses_more_but_allows_going_back_and_another_command(visitor: Any) -> None:
    for _ in range(2):
        assert visitor.post("do/settle/").status_code == 204
    answer = visitor.post("do/settle/")
    assert answer.status_code == 422
    assert "limit of 2 commands" in answer.content.decode()
    visitor.post("do/back/")
    assert visitor.post("do/settle/").status_code == 204


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}


def applying(*manifests: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "apply", "manifests": list(manifests)}


@override_settings(QUOTAS={"objects": 10})
def test_objects_of_all_kinds_are_limited_together(visitor: Any, node: Any) -> None:
    """A sandbox begins with its four namespaces and two priority classes."""
    maps = [CONFIG_MAP | {"metadata": {"name": f"m{number}"}} for number in range(5)]
    store.execute(visitor.sandbox, node("a"))
    with pytest.raises(OverQuota, match=r"limit is 10 objects.* there are 7, and this would add 5"):
        store.execute(visitor.sandbox, applying(*maps))
    store.execute(visitor.sandbox, applying(*maps[:3]))
    store.execute(visitor.sandbox, applying(*maps[:3]))
    assert len(visitor.log()) == 3


def test_the_length_of_the_log_is_known_whatever_was_done_to_it(visitor: Any, node: Any) -> None:
    def agrees() -> bool:
        kept = visitor.sandbox.records.values_list("command", flat=True)
        return visitor.row().log_bytes == sum(map(len, kept))

    for name in ("first", "second-with-a-long-name", "third"):
        store.execute(visitor.sandbox, node(name))
        assert agrees()
    for tick in range(12):
        store.execute(visitor.sandbox, {"kind": "advance", "seconds": 1 + tick / 8, "play": True})
        assert agrees()
    store.go_to(visitor.sandbox, lambda _: 1)
    assert agrees()
    store.execute(visitor.sandbox, node("other"))
    assert agrees()
    sandbox, _ = store.create("Made", setup=[node("a"), node("b")])
    assert sandbox.records.count() == 2
    assert type(sandbox).objects.get(pk=sandbox.pk).log_bytes == sum(
        len(record.command) for record in sandbox.records.all()
    )


@override_settings(QUOTAS={"log_bytes": 600})
def test_the_log_of_a_sandbox_is_limited_in_length(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node("a", "b"))
    with pytest.raises(OverQuota, match="limit of 600 bytes of commands"):
        store.execute(visitor.sandbox, node("c", "d", "e"))
    store.go_to(visitor.sandbox, lambda _: 0)
    store.execute(visitor.sandbox, {"kind": "settle"})
    store.execute(visitor.sandbox, node("c", "d"))


@override_settings(QUOTAS={"entries": 30})
def test_the_trace_of_a_sandbox_is_limited(visitor: Any, node: Any) -> None:
    store.execute(visitor.sandbox, node(*"abcdefghijklmnopqrstuvwxyz"))
    with pytest.raises(OverQuota, match="limit of 30 entries"):
        store.execute(visitor.sandbox, {"kind": "settle"})
    store.go_to(visitor.sandbox, lambda _: 0)
    store.execute(visitor.sandbox, {"kind": "settle"})


def test_a_command_counts_before_the_database_is_asked_again(visitor: Any, node: Any) -> None:
    quotas_module.forget_stored_bytes()
    before = quotas_module.store_bytes()
    store.execute(visitor.sandbox, node("a"))
    (text,) = visitor.log()
    assert quotas_module.store_bytes() == before + quotas_module.ROW_BYTES + len(text)


def test_a_site_that_is_full_takes_nothing_more_but_shows_all(visitor: Any, node: Any, settings: Any) -> None:
    store.execute(visitor.sandbox, node("a"))
    quotas_module.forget_stored_bytes()
    settings.STORE_BYTES = quotas_module.store_bytes()
    for path in ("/new/", visitor.url("do/settle/")):
        answer = visitor.client.post(path)
        assert (answer.status_code, "storage is full" in answer.content.decode()) == (507, True)
    assert visitor.get().status_code == 200
    assert visitor.post("do/back/").status_code == 200


def test_an_owner_that_is_too_large_is_refused_at_its_field(visitor: Any) -> None:
    with pytest.raises(Rejected) as caught:
        store.execute(visitor.row(), applying(controllers.job("batch", parallelism=2**31 - 1)))
    assert [error.path for error in caught.value.errors] == ["spec.parallelism"]
    assert visitor.log() == []


def test_an_owner_in_the_log_is_replayed_though_it_is_too_large_now(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.execute(visitor.row(), applying(controllers.replica_set("web", 3)))
    monkeypatch.setattr(sizes, "MOST_WANTED", 2)
    here = Live(Plan.of(visitor.sandbox), Database())
    here.move_to(Position.of(visitor.row()))
    assert here.world.stuck is None
    assert len(here.world.pods) == 3
