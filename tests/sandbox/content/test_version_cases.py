"""Every rule has a case, except those that nothing here shows; its versions differ in the rule."""

from __future__ import annotations

import pytest

from sandbox.content.version_cases import cases, changed_in
from scheduler_engine.answers.exercised import IMPOSSIBLE
from scheduler_engine.versions import ROWS, VERSIONS, rules_for

CASES = cases()


def test_the_cases_are_in_the_order_of_the_table() -> None:
    assert [*CASES] == [row.name for row in ROWS]
    assert {name for name, case in CASES.items() if case.scenario is None} == set(IMPOSSIBLE)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.scenario is not None])
def test_the_versions_of_a_case_differ_in_its_rule(name: str) -> None:
    first, second = CASES[name].sides()
    values = [getattr(rules_for(side.kubernetes, side.feature_gates), name) for side in (first, second)]
    assert values[0] != values[1]
    assert (first.kubernetes, second.kubernetes) == CASES[name].versions
    assert first.kubernetes != second.kubernetes


def test_a_rule_changes_in_the_first_version_that_differs() -> None:
    found = {row.name: changed_in(row) for row in ROWS}
    assert found["names_untolerated_taint"] == VERSIONS[1]
    assert found["scores_change_of_balance"] == VERSIONS[2]
    assert found["failures_keep_nomination"] == ""
