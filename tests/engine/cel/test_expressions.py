"""Expressions over a device: what they give, what they cost, and what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.cel.devices import MOST_COST, compile_selector, device_value
from scheduler_engine.api.cel.values import CelError

DRIVER = "gpu.example.com"
DEVICE = {
    "name": "gpu-0",
    "attributes": {
        "model": {"string": "a100"},
        "index": {"int": 3},
        "healthy": {"bool": True},
        "version": {"version": "1.2.3-rc.1"},
        "other.example.com/numa": {"int": 1},
    },
    "capacity": {"memory": {"value": "40Gi"}, "other.example.com/lanes": {"value": "16"}},
}
OWN, OTHER = f'device.attributes["{DRIVER}"]', 'device.attributes["other.example.com"]'
MEMORY = f'device.capacity["{DRIVER}"].memory'

TRUE = [
    f'device.driver == "{DRIVER}"',
    f'"{DRIVER}" in device.attributes && !("elsewhere" in device.attributes)',
    f'{OWN}.model == "a100" && {OTHER}.numa == 1',
    f'{OWN}["model"].startsWith("a") && {OWN}.model.endsWith("0") && {OWN}.model.contains("10")',
    f"{OWN}.index % 2 == 1 && {OWN}.index in [1, 3] && -{OWN}.index < 0 && {OWN}.index == 3.0",
    f'has({OWN}.healthy) && !has({OWN}.nothing) && !has(device.attributes["elsewhere"].x)',
    f"{OWN}.?nothing.orValue(7) == 7 && {OWN}.?index.orValue(7) == 3",
    f'{OWN}[?"index"].hasValue() && device.attributes[?"elsewhere"].hasValue()',
    f'{MEMORY}.compareTo(quantity("40Gi")) == 0 && {MEMORY}.isGreaterThan(quantity("1M"))',
    f'{MEMORY} == quantity("40960Mi") && {MEMORY}.sub(quantity("40Gi")).asInteger() == 0',
    f'{OWN}.version.isLessThan(semver("1.2.3")) && {OWN}.version.isGreaterThan(semver("1.2.3-alpha"))',
    f'{OWN}.version.major() == 1 && semver("v1.02", true).minor() == 2 && !isSemver("1.2")',
    f"{OWN}.exists(name, name == 'index') && {OWN}.all(name, size(name) > 3)",
    f"{OWN}.exists_one(name, name.startsWith('v')) && device.attributes.size() == 2",
    "[1, 2, 3].map(x, x * 2).filter(x, x > 2) == [4, 6] && [1, 2].map(x, x > 1, x) == [2]",
    "[3, 4].all(i, x, x == i + 3) && [3, 4].transformList(i, x, i * x) == [0, 4]",
    f'cel.bind(own, {OWN}, own.model == "a100" && own.index > 2)',
    f'{OWN}.model.matches("^a[0-9]+$") && {OWN}.model.find("[0-9]+") == "100"',
    '"a,b".split(",") == ["a", "b"] && ["a", "b"].join("-") == "a-b" && "aXb".lowerAscii() == "axb"',
    '"abc".substring(1, 2) == "b" && "abcb".lastIndexOf("b") == 3 && "abc".replace("b", "") == "ac"',
    "[3, 1].min() == 1 && [3, 1].sum() == 4 && ![3, 1].isSorted() && sets.contains([1, 2], [2])",
    'cidr("10.0.0.0/8").containsIP("10.1.2.3") && ip("::1").isLoopback() && !isIP("10.0.0")',
    "true || 1 / 0 == 1",
    "1 / 0 == 1 || true",
    "!(false && 1 / 0 == 1)",
    f'{OWN}.healthy ? true : {OWN}.nothing == "x"',
    "int('7') + 1 == 8 && string(7) == '7' && double(1) == 1.0 && uint(7) == 7u && type(1) == int",
    '{"a": 1}.a == 1 && {"a": 1, "b": 2}["b"] == 2 && "a" in {"a": 1}',
    'b"ab" + b"c" == b"abc" && r"\\n" == "\\\\n" && "\\u0041\\x42\\103" == "ABC"',
    "optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().or(optional.of(2)).value() == 2",
]


@pytest.mark.parametrize("expression", TRUE)
def test_what_is_true_of_the_device(expression: str) -> None:
    selector = compile_selector(expression)
    assert selector.error == ""
    assert selector.matches(device_value(DRIVER, DEVICE)) is True
    inverted = compile_selector(f"!({expression})")
    assert inverted.matches(device_value(DRIVER, DEVICE)) is False


def marked(expression: str, at: int, message: str) -> str:
    return f"compilation failed: ERROR: <input>:1:{at + 1}: {message}\n | {expression}\n | {'.' * at}^"


INVALID: dict[str, tuple[int, str]] = {
    "syntax error here": (7, "Syntax error: mismatched input 'error' expecting <EOF>"),
    "(true": (5, "Syntax error: mismatched input '<EOF>' expecting ')'"),
    "device.nosuch": (6, "undefined field 'nosuch'"),
    "nosuch == 1": (0, "undeclared reference to 'nosuch' (in container '')"),
    "nosuch(1)": (6, "undeclared reference to 'nosuch' (in container '')"),
    "device.driver > 1": (14, "found no matching overload for '_>_' applied to '(string, int)'"),
    "device.driver.size(1) > 1": (18, "found no matching overload for 'size' applied to 'string.(int)'"),
    "[1, 'a'].size() == 2": (4, "expected type 'int' but found 'string'"),
    "device.driver.x": (13, "type 'string' does not support field selection"),
    "'a'.exists(x, true)": (
        0,
        "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
    ),
    "device.driver.matches('(')": (22, "invalid matches argument"),
    "true && 'a'": (8, "expected type 'bool' but found 'string'"),
    "for == 1": (0, "reserved identifier: for"),
    "99999999999999999999 == 1": (0, "invalid int literal"),
}


@pytest.mark.parametrize("expression", INVALID)
def test_what_is_wrong_with_an_expression_is_marked_in_it(expression: str) -> None:
    at, message = INVALID[expression]
    assert compile_selector(expression).error == marked(expression, at, message)


def test_an_error_in_a_later_line_shows_that_line() -> None:
    text = "undeclared reference to 'nosuch' (in container '')"
    expected = f"compilation failed: ERROR: <input>:2:3: {text}\n |   nosuch\n | ..^"
    assert compile_selector("true &&\n  nosuch").error == expected


def test_a_selector_gives_true_or_false() -> None:
    assert compile_selector("1 + 1").error == "must evaluate to bool or the unknown type, not int"
    assert compile_selector("[device.driver]").error == "must evaluate to bool or the unknown type, not list(string)"


FAILS = {
    f"{OWN}.nothing == 1": "no such key: nothing",
    'device.attributes["elsewhere"].x == 1': "no such key: x",
    f"{OWN}.model > 3": "no such overload: _>_(string, int)",
    f"{OWN}.index": "CEL result of type int could not be converted to bool: type conversion error from 'int' to 'bool'",
    "1 / (1 - 1) == 1": "division by zero",
    "9223372036854775807 + 1 == 1": "integer overflow",
    "[1][2] == 1": "index out of bounds: 2",
    'quantity("x") == quantity("1")': "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    'semver("1.2") == semver("1.2.0")': "No Major.Minor.Patch elements found",
    "optional.none().value() == 1": "optional.none() dereference",
}


@pytest.mark.parametrize("expression", FAILS)
def test_what_goes_wrong_in_an_evaluation(expression: str) -> None:
    with pytest.raises(CelError) as caught:
        compile_selector(expression).matches(device_value(DRIVER, DEVICE))
    assert str(caught.value) == FAILS[expression]


COSTS = {
    "true": 0,
    'device.driver == ""': 2,
    f'device.driver == "{DRIVER}"': 4,
    f"{OWN}.healthy": 4,
    f"{OWN}.index > 0": 5,
    f'{OWN}.model == "a100"': 5,
    f'{OWN}.version.isGreaterThan(semver("0.0.1"))': 6,
    f'"memory" in device.capacity["{DRIVER}"] && {MEMORY}.isGreaterThan(quantity("1Ki"))': 10,
    f'cel.bind(own, device.attributes["{DRIVER}"], own.healthy)': 15,
    f'device.attributes.exists_one(x, x == "{DRIVER}")': 164,
    f'{OWN}.exists_one(x, x == "model")': 133,
    f'{OWN}.model.matches("[^a]?sym")': 18,
}


@pytest.mark.parametrize("expression", COSTS)
def test_the_worst_case_costs_what_it_costs_in_kubernetes(expression: str) -> None:
    assert compile_selector(expression).cost == COSTS[expression]


def nested(depth: int) -> str:
    numbers = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    inner = f"{OWN}.index > 0"
    for level in range(depth):
        inner = f"{numbers}.all(x{level}, {inner})"
    return inner


def test_an_expensive_expression_is_known_and_stopped() -> None:
    cheap, expensive = compile_selector(nested(4)), compile_selector(nested(7))
    assert cheap.cost <= MOST_COST < expensive.cost
    assert not cheap.is_too_complex
    assert expensive.is_too_complex
    assert cheap.matches(device_value(DRIVER, DEVICE)) is True
    with pytest.raises(CelError, match=r"^operation cancelled: actual cost limit exceeded$"):
        expensive.matches(device_value(DRIVER, DEVICE))


def test_no_pattern_hangs() -> None:
    device: dict[str, Any] = {"name": "x", "attributes": {"text": {"string": "a" * 63 + "b"}}}
    selector = compile_selector('device.attributes["d"].text.matches("^(a+)+$")')
    assert selector.matches(device_value("d", device)) is False


def test_deep_nesting_is_refused() -> None:
    assert "expression recursion limit exceeded" in compile_selector("(" * 300 + "true" + ")" * 300).error
    assert "expression recursion limit exceeded" in compile_selector("-1" + " - 1" * 300 + " < 0").error
    assert compile_selector("(" * 30 + "true" + ")" * 30).error == ""
    assert compile_selector(" && ".join(["true"] * 1000)).error == ""
