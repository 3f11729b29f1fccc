"""PodGroups: the errors of the schema of their CustomResourceDefinition."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.validation import check_rules
from scheduler_engine.api.validation.pod_groups import AMOUNT
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import Cluster
from tests.engine.gangs import make_group

WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a group of none": (
        {"minMember": 0},
        ["spec.minMember: Invalid value: 0: spec.minMember in body should be greater than or equal to 1"],
    ),
    "an amount without a number": (
        {"minResources": {"cpu": "much"}},
        [
            'spec.minResources.cpu: Invalid value: "much": spec.minResources.cpu in body should match '
            rf"'{AMOUNT}'"
        ],
    ),
    "two errors": (
        {"minMember": -1, "minResources": {"memory": ""}},
        [
            "spec.minMember: Invalid value: -1: spec.minMember in body should be greater than or equal to 1",
            f"spec.minResources.memory: Invalid value: \"\": spec.minResources.memory in body should match '{AMOUNT}'",
        ],
    ),
    "a fraction": (
        {"minResources": {"cpu": 1.5}},
        [
            'spec.minResources.cpu: Invalid value: "number": '
            'spec.minResources.cpu in body must be of type integer,string: "number"',
            '<nil>: Invalid value: "": "spec.minResources.cpu" must validate at least one schema (anyOf)',
            'spec.minResources.cpu: Invalid value: "number": '
            'spec.minResources.cpu in body must be of type integer: "number"',
        ],
    ),
    "a group that says nothing": ({}, []),
    "a whole number and a quantity": ({"minResources": {"cpu": 2, "memory": "1Gi", "example.com/fpga": 2.0}}, []),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_group_has_the_errors_of_its_schema(words: str) -> None:
    spec, errors = WRONG[words]
    assert [str(error) for error in check_rules({**make_group("g", 1), "spec": spec})] == errors


def test_a_group_of_none_is_refused_by_the_api_server() -> None:
    with pytest.raises(Rejected, match=r"spec\.minMember in body should be greater than or equal to 1"):
        Cluster().apply(make_group("g", 0))
