"""Node selectors that cannot be evaluated, and fields that no node has."""

from __future__ import annotations

from scheduler_engine.api.node_affinity import node_selector_from
from scheduler_engine.api.validation.selector_text import preferred_terms_problem


def test_all_errors_of_preferred_terms_are_in_one_list_and_each_one_once() -> None:
    wrong = {"key": "a", "operator": "Gt", "values": ["x", "y"]}
    terms = [{"weight": 1, "preference": {"matchExpressions": [wrong, {"key": "b", "operator": "like"}]}}]
    assert preferred_terms_problem(terms) == (
        "[[0].matchExpressions[0].values: Invalid value: [\"x\",\"y\"]: for 'Gt', 'Lt' operators, exactly one value is "
        "required, [0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must "
        "be an integer, [0].matchExpressions[0].values[1]: Invalid value: \"y\": for 'Gt', 'Lt' operators, the value "
        'must be an integer, [0].matchExpressions[1].operator: Unsupported value: "like": supported values: "In", '
        '"NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]'
    )


def test_an_unknown_field_is_the_empty_text_on_every_node() -> None:
    def matched(operator: str, value: str) -> bool:
        field = {"key": "metadata.namespace", "operator": operator, "values": [value]}
        return node_selector_from({"nodeSelectorTerms": [{"matchFields": [field]}]}).matches("node-1", {})

    assert [matched("In", ""), matched("In", "x"), matched("NotIn", ""), matched("NotIn", "x")] == [
        True,
        False,
        False,
        True,
    ]
