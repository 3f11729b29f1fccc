"""Timestamps, durations, formats and URLs: what they give, what they cost, and what is wrong with them.

The values were compared with those of v1.34.1's packages.
"""

from __future__ import annotations

import zoneinfo

import pytest

from scheduler_engine.api.cel.conversions import to_duration
from scheduler_engine.api.cel.devices import compile_selector, device_value
from scheduler_engine.api.cel.formats import CHECKS
from scheduler_engine.api.cel.overloads import FORMATS
from scheduler_engine.api.cel.values import CelError
from scheduler_engine.api.cel.zones import names
from tests.engine.cel.test_expressions import DEVICE, DRIVER, marked

TEXTS = {
    "string(timestamp('2026-01-02T03:04:05.1200+02:30'))": "2026-01-02T03:04:05.12+02:30",
    "string(timestamp('2026-01-02T3:04:05,5Z'))": "2026-01-02T03:04:05.5Z",
    "string(timestamp('2026-01-02T03:04:05-24:60'))": "2026-01-02T03:04:05-25:00",
    "string(timestamp('0000-12-31T23:59:59-01:00'))": "0000-12-31T23:59:59-01:00",
    "string(timestamp('9999-12-31T22:00:00+05:00') + duration('6h'))": "10000-01-01T04:00:00+05:00",
    "string(duration('-36h') + timestamp('2026-01-02T03:04:05Z'))": "2025-12-31T15:04:05Z",
    "string(timestamp(0) - duration('1ns'))": "1969-12-31T23:59:59.999999999Z",
    "string(timestamp(100) - timestamp(50))": "50s",
    "string(timestamp(int(timestamp('1969-12-31T23:59:59.5Z'))))": "1969-12-31T23:59:59Z",
    "string(duration('1h2m3.5s'))": "3723.5s",
    "string(duration('-1.5h'))": "-5400s",
    "string(duration('1\u00b5s') + duration('1\u03bcs'))": "0.000002s",
    "string(-dyn(duration('.5s')))": "-0.5s",
    "string(int(duration('0.3333333333333333333h')))": "1200000000000",
    "string(int(duration('-9223372036854775808ns')))": "-9223372036854775808",
    "string([duration('1s'), duration('2s')].sum())": "3s",
    "string([timestamp(5), timestamp(1)].min())": "1970-01-01T00:00:01Z",
    "'%s'.format([type(timestamp(0))])": "google.protobuf.Timestamp",
    "'%s %s'.format([timestamp(0), duration('90m')])": "1970-01-01T00:00:00Z 5400s",
    "'%s'.format([[timestamp(0), duration('90m')]])": '[timestamp("1970-01-01T00:00:00Z"), duration("5400s")]',
    "'%s'.format([[1.5, dyn(null), b'a', type(1), 'q\"\\u200b']])": '[1.500000, null, b"a", int, "q\\"\\u200b"]',
    "'%s'.format([{'b': [1.0], 'a': 2}])": '{"a":2, "b":[1.000000]}',
    "'100%% %d %s'.format([-7, 1.0e10])": "100% -7 1e+10",
    "'%f|%.2f|%.0f'.format([1234567.891, -0.0, 2.5])": "1,234,567.891000|0.00|2",
    "'%f %f %f'.format(['NaN', 'Infinity', '-Infinity'])": "NaN \u221e -\u221e",
    "'%e|%.3e|%.15e'.format([1052.03, 1052.03, 1e-12])": "1.052030\u00d710\u2070\u00b3|1.052030\u00d710\u2070\u00b3| "
    "1.000000\u00d710\u207b\u00b9\u00b2",
    "'%b %b %o'.format([5, true, -8])": "101 1 -10",
    "'%x %X %x %X'.format([255, -255, 'A\u00e9', b'\\xff\\x00'])": "ff -FF 41c3a9 FF00",
    "strings.quote('a\"b\\\\\\n\\u00e9')": '"a\\"b\\\\\\n\u00e9"',
    "url('https://user:pass@example.com:80/a b?x=1#f').getHost()": "example.com:80",
    "url('https://[::1]:80/').getHostname() + url('https://[::1]:80/').getPort()": "::180",
    "url('HTTP://h/a b').getScheme() + url('HTTP://h/a b').getEscapedPath()": "http/a%20b",
    "'%s'.format([url('/p?a=1&b=%20c+d&a=2&;x&e').getQuery()])": '{"a":["1", "2"], "b":[" c d"], "e":[""]}',
    "url('http://[fe80::1%25en%41]/').getHost()": "[fe80::1%enA]",
    "format.dns1123Label().validate('A').value()[0].substring(0, 27)": "a lowercase RFC 1123 label ",
    "format.byte().validate('a').value().join()": "invalid base64",
    "format.uri().validate('../x').value().join()": 'parse "../x": invalid URI for request',
    "[1, 2].first().optMap(x, string(x)).value() + string([1, 2].last().value())": "12",
    "string(optional.unwrap([optional.of(1), optional.none()]).size())": "1",
}


@pytest.mark.parametrize("expression", TEXTS)
def test_a_value_as_a_text(expression: str) -> None:
    selector = compile_selector(f"{expression} == {_literal(TEXTS[expression])}")
    assert selector.error == ""
    assert selector.judge(device_value(DRIVER, DEVICE))[0] is True


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


FIELDS = {
    ("2024-03-10T09:30:15.987654Z", ""): (2024, 2, 69, 9, 10, 0, 9, 30, 15, 987),
    ("2024-03-10T09:30:15.987654Z", "America/Los_Angeles"): (2024, 2, 69, 9, 10, 0, 1, 30, 15, 987),
    ("2024-03-10T10:30:15Z", "America/Los_Angeles"): (2024, 2, 69, 9, 10, 0, 3, 30, 15, 0),
    ("2026-12-31T23:59:59-05:00", "+05:30"): (2027, 0, 0, 0, 1, 5, 10, 29, 59, 0),
    ("0001-01-01T00:00:00Z", "-00:30"): (0, 11, 365, 30, 31, 0, 23, 30, 0, 0),
    ("9999-12-31T23:59:59Z", "Asia/Kolkata"): (10000, 0, 0, 0, 1, 6, 5, 29, 59, 0),
    ("1800-06-01T12:00:00Z", "Europe/Berlin"): (1800, 5, 151, 0, 1, 0, 12, 53, 28, 0),
}
ACCESSORS = (
    *("getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"),
    *("getHours", "getMinutes", "getSeconds", "getMilliseconds"),
)


@pytest.mark.parametrize(("text", "zone"), FIELDS)
def test_the_fields_of_a_timestamp_in_a_zone(text: str, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    found = ", ".join(f"timestamp('{text}').{name}('{zone}')" for name in ACCESSORS)
    expected = ", ".join(map(str, FIELDS[text, zone]))
    assert compile_selector(f"[{found}] == [{expected}]").judge(device_value(DRIVER, DEVICE))[0] is True


def test_the_parts_of_a_duration() -> None:
    parts = ", ".join(f"duration('-1.9999h').{name}()" for name in ACCESSORS[-4:])
    assert compile_selector(f"[{parts}] == [-1, -119, -7199, -7199640]").judge(device_value(DRIVER, DEVICE))[0] is True


def test_zones_and_formats_are_known() -> None:
    assert {"UTC", "Europe/Berlin", "US/Central"} <= names()
    assert set(FORMATS) == set(CHECKS)


INVALID = {
    "duration('1d') == duration('1s')": (9, "invalid duration argument"),
    "duration(5) == duration('1s')": (9, "invalid duration argument"),
    "timestamp('2026-02-29T00:00:00Z') == timestamp(0)": (10, "invalid timestamp argument"),
    "timestamp(253402300800) == timestamp(0)": (10, "invalid timestamp argument"),
    "timestamp(0) < duration('1s')": (13, "found no matching overload for '_<_' applied to '(timestamp, duration)'"),
    "'%'.format([1]) == ''": (10, "unexpected end of string"),
    "'%s %s'.format([1]) == ''": (14, "index 1 out of range"),
    "'%s'.format([1, 2]) == ''": (11, "too many arguments supplied to string.format (expected 1, got 2)"),
    "'%j'.format([1]) == ''": (11, 'could not parse formatting clause: unrecognized formatting clause "j"'),
    "'%.f'.format([1.0]) == ''": (
        12,
        "could not parse formatting clause: error while parsing precision: error while converting precision to "
        'integer: strconv.Atoi: parsing "": invalid syntax',
    ),
    "'%d'.format([1.5]) == ''": (
        13,
        "error during formatting: decimal clause can only be used on integers, was given double",
    ),
    "'%s'.format([[quantity('1')]]) == ''": (
        22,
        "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
        "types, durations, and timestamps, was given kubernetes.Quantity",
    ),
}


@pytest.mark.parametrize("expression", INVALID)
def test_what_is_wrong_with_a_constant_is_marked(expression: str) -> None:
    at, message = INVALID[expression]
    assert compile_selector(expression).error == marked(expression, at, message)


FAILS = {
    "timestamp(device.driver) == timestamp(0)": "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    "timestamp('9999-12-31T23:59:59Z') + duration('1s') == timestamp(0)": "timestamp overflow",
    "duration('9223372036854775807ns') + duration('1ns') == duration('1s')": "integer overflow",
    "timestamp(253402300799) - timestamp(-62135596800) == duration('1s')": "integer overflow",
    "timestamp(0).getHours('nowhere') == 0": "unknown time zone nowhere",
    "timestamp(0).getHours('../x') == 0": "time: invalid location name",
    "timestamp(0).getHours('1:b') == 0": 'strconv.Atoi: parsing "b": invalid syntax',
    "dyn(1).getHours() == 0": "no such overload: getHours(int)",
    "dyn(duration('1h')).getFullYear() == 1": "no such overload: getFullYear(google.protobuf.Duration)",
    "dyn('%s').format([]) == ''": "index 0 out of range",
    "'%d'.format(dyn(['a'])) == ''": "error during formatting: decimal clause can only be used on integers, was given "
    "string",
    "url('../x') == url('/')": 'URL parse error during conversion from string: parse "../x": invalid URI for request',
    "url('http://h:8a/') == url('/')": "URL parse error during conversion from string: parse "
    '"http://h:8a/": invalid port ":8a" after host',
    "url('/a') == dyn(1)": "no such overload",
    "dyn('%.9999999f').format([1.0]) == ''": "operation cancelled: actual cost limit exceeded",
}


@pytest.mark.parametrize("expression", FAILS)
def test_what_goes_wrong_with_a_value(expression: str) -> None:
    assert compile_selector(expression).judge(device_value(DRIVER, DEVICE))[0] == FAILS[expression]


COSTS = {
    "timestamp(0) < timestamp(1)": (3, 1),
    "timestamp(0).getHours() == 0": (3, 2),
    "duration('1s') + duration('1s') == duration('2s')": (5, 2),
    "'%s %d'.format(['a', 1]) == ''": (11, 1),
    "strings.quote('abc').contains('b')": (2, 2),
    "url('/a').getHost().size() == 0": (4, 4),
    "url('/a') == url('/b')": (3, 3),
    "format.dns1123Label() == format.uri()": (9, 3),
    "[1, 2].first().value() == 1": (13, 3),
    "device.driver in ['a', 'b']": (14, 2),
    "type(1) == int": (1844674407370955266, 1),
}


@pytest.mark.parametrize("expression", COSTS)
def test_what_an_expression_costs(expression: str) -> None:
    selector = compile_selector(expression)
    assert (selector.cost, selector.judge(device_value(DRIVER, DEVICE))[1]) == COSTS[expression]


def test_a_long_text_that_is_no_duration_is_read_once() -> None:
    """To look for a part at each of its characters would take an hour."""
    with pytest.raises(CelError, match="type conversion error"):
        to_duration("1" * 300_000)
