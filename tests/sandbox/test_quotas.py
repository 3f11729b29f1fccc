from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from sandbox import store
from sandbox.quotas import OverQuota, Quotas, quotas

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


@override_settings(QUOTAS={"pods": 1})
def test_pods_are_limited_by_namespace_and_name(visitor: Any) -> None:
    fields = {"cpu": "1", "memory": "1Gi"}
    assert visitor.post("add/pod/", name="web", **fields).status_code == 204
    answer = visitor.post("add/pod/", name="web", namespace="kube-system", **fields)
    assert answer.status_code == 422
    assert "limit is 1 pods" in answer.content.decode()
    assert len(visitor.log()) == 1


@override_settings(QUOTAS={"commands": 2})
def test_a_full_log_refuses_more_but_lets_one_go_back_and_do_something_else(visitor: Any) -> None:
    for _ in range(2):
        assert visitor.post("do/settle/").status_code == 204
    answer = visitor.post("do/settle/")
    assert answer.status_code == 422
    assert "limit of 2 commands" in answer.content.decode()
    visitor.post("do/back/")
    assert visitor.post("do/settle/").status_code == 204
