"""Functions over lists, and what paths of fields and items cost. All values were compared with those of cel-go."""

from __future__ import annotations

import pytest

from scheduler_engine.api.cel.compiling import V1_34
from scheduler_engine.api.cel.devices import compile_selector, device_value
from tests.engine.cel.test_expressions import DEVICE, DRIVER

NO_LIMIT = 2**64 - 1
TRUE = {
    "[3, 1, 2].sort() == [1, 2, 3]": (30, 50),
    "['b', 'c', 'a'].sort() == ['a', 'b', 'c']": (30, 51),
    "[duration('2s'), duration('1s')].sort()[0] == duration('1s')": (22, 34),
    "[].sort() == []": (11, 31),
    "[dyn(2), dyn(1)].sort() == [1, 2]": (2, 43),
    "[1, 2, 3].sortBy(e, -e) == [3, 2, 1]": (75, 115),
    "['bb', 'a'].sortBy(e, size(e)) == ['a', 'bb']": (51, 91),
    "[[2, 1], [3]].sortBy(l, l.sort()[0]).flatten() == [2, 1, 3]": (98, 164),
    "[1, 2, 2, 1].distinct() == [1, 2]": (44, 64),
    "['a', 'b', 'a'].distinct() == ['a', 'b']": (30, 50),
    "[{'a': 1}, {'a': 1}].distinct().size() == 1": (21, 91),
    "[[1, 2], [3]].flatten() == [1, 2, 3]": (14, 54),
    "[dyn([dyn([1])])].flatten(2) == [1]": (14, 56),
    "[1, 2].flatten(0) == [1, 2]": (12, 32),
    "[1, 2, 3].reverse() == [3, 2, 1]": (15, 35),
    "[1, 2, 3].slice(1, 2) == [2]": (13, 33),
    "[1, 2].slice(0, size(device.driver) - 14) == [1]": (17, 38),
    "lists.range(3) == [0, 1, 2]": (15, 25),
    "lists.range(-1) == []": (11, 21),
    "lists.range(3).map(i, lists.range(i)).flatten() == [0, 0, 1]": (105, NO_LIMIT),
    "lists.range(650).map(x, -x).sort()[0] == -649": (854_776, 854_785),
    "device.driver.split('.').sort().join('.') == 'com.example.gpu'": (39, 1_844_674_407_370_963_627),
    "lists.range(700).distinct().size() == 700": (980_724, 980_724),
}
"""Expression that is true → what it costs, and the most that it may cost."""
SIMPLEST = (
    *("[].sort() == []", "[1, 2, 2, 1].distinct() == [1, 2]", "[1, 2, 3].reverse() == [3, 2, 1]"),
    *("[1, 2].flatten(0) == [1, 2]", "[1, 2, 3].slice(1, 2) == [2]", "lists.range(3) == [0, 1, 2]"),
    "[1, 2, 3].sortBy(e, -e) == [3, 2, 1]",
)
PATHS = {
    "[1, 2][0] == 1": 3,
    "{'a': {'b': 1}}.a.b == 1": 4,
    "has({'a': 1}.a)": 1,
    "dyn(device).driver == ''": 4,
    "[[1]].map(x, x)[0][0] == 1": 18,
    "([1] + [2])[0] == 1": 4,
    "(device.driver == 'x' ? [1] : [2])[0] == 2": 5,
    "device.attributes[device.driver].index == 3": 6,
    "device.attributes[device.driver.lowerAscii()].index == 3": 9,
    "{0: 1}[{0: 0}[0]] == 1": 4,
    "[1, 2][(true ? {'a': 0} : {}).a] == 1": 4,
    "{'a': 1}.?a.hasValue()": 3,
    "{'a': 1}.?b.hasValue()": 2,
    "device.attributes['gpu.example.com'].?x.?y.hasValue()": 4,
    "optional.none()[?'y'].hasValue()": 3,
    "true ? (true ? {'a': true} : {}).a : false": 1,
    "cidr('1.2.3.4/24').containsIP('1.2.3.9')": 3,
    "cidr('fd00::/64').containsCIDR(cidr('fd00::/96'))": 6,
}
"""Expression → what it costs."""


@pytest.mark.parametrize("expression", TRUE)
def test_a_true_expression_costs(expression: str) -> None:
    selector = compile_selector(expression)
    assert selector.judge(device_value(DRIVER, DEVICE)) == (True, TRUE[expression][0])
    assert selector.cost == TRUE[expression][1]


@pytest.mark.parametrize("expression", PATHS)
def test_a_path_costs(expression: str) -> None:
    assert compile_selector(expression).judge(device_value(DRIVER, DEVICE))[1] == PATHS[expression]


@pytest.mark.parametrize("name", ["sort", "distinct", "reverse", "flatten", "slice", "range", "sortBy"])
def test_new_objects_of_v1_34_do_not_know_them(name: str) -> None:
    (expression,) = (held for held in TRUE if f".{name}(" in held and held in SIMPLEST)
    assert f"undeclared reference to '{name}' (in container '')" in compile_selector(expression, V1_34).error
