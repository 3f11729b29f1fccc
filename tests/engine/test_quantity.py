"""Quantities: parsing, canonical forms, rounding, sums, and the effects of 64-bit arithmetic."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_engine.api.quantity import (
    FORMAT_MESSAGE,
    LARGE_MESSAGE,
    NANO,
    NUMBER_MESSAGE,
    SUFFIX_MESSAGE,
    added,
    canonical,
    negated,
    parse_quantity,
    rounded_up_to_milli,
)
from scheduler_engine.api.quantity_int64 import as_int64, scaled_value

FORMS = {
    "0": "0",
    "00": "0",
    "-": "0",
    "Ki": "0",
    ".5": "500m",
    "1.50": "1500m",
    "1024": "1024",
    "1000000": "1M",
    "1048576Ki": "1Gi",
    "1025Mi": "1025Mi",
    "512": "512",
    "-1.5Gi": "-1536Mi",
    "0.5n": "1n",
    "0.00001Mi": "10485760u",
    "1e18": "1e18",
    "1e100": "10e99",
    "12e2": "1200",
    "1e-10": "1e-9",
    "10E": "10E",
    "1024Ei": "9223372036854775807",
    "-8Ei": "-9223372036854775807",
    "+9G": "+9G",
    "+9.90T": "9900G",
}


@pytest.mark.parametrize("text", FORMS)
def test_canonical_form(text: str) -> None:
    assert canonical(parse_quantity(text)) == FORMS[text]
    assert str(parse_quantity(text)) == FORMS[text]


WRONG = {
    "": FORMAT_MESSAGE,
    "abc": FORMAT_MESSAGE,
    "1 Gi": FORMAT_MESSAGE,
    "1GB": FORMAT_MESSAGE,
    "1.2.3": FORMAT_MESSAGE,
    "..": FORMAT_MESSAGE,
    "0x10": FORMAT_MESSAGE,
    "٣": FORMAT_MESSAGE,
    "1\n": FORMAT_MESSAGE,
    "1ki": SUFFIX_MESSAGE,
    "1mm": SUFFIX_MESSAGE,
    "--1": SUFFIX_MESSAGE,
    "1e99999999999999999999": SUFFIX_MESSAGE,
    "1e120": LARGE_MESSAGE,
    "-1e999999999": LARGE_MESSAGE,
    "e-12": NUMBER_MESSAGE,
    ".Pi": NUMBER_MESSAGE,
}


@pytest.mark.parametrize("text", WRONG, ids=repr)
def test_an_invalid_quantity_gets_kubernetes_message(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(WRONG[text])}$"):
        parse_quantity(text)


LONG = {
    "1e119": ("100e117", 10**119),
    "9" * 120: ("9" * 120, int("9" * 120)),
    "0" * 100_000 + "5": ("5", 5),
    "0." + "0" * 100_000 + "5": ("1n", 1),
    "-0." + "0" * 100_000 + "5": ("-1n", -1),
    "0." + "0" * 5_000 + "5e5001": ("5", 5),
    "1." + "5" * 100_000: ("1555555556n", 2),
    "9" * 100_000 + "Ki": ("9223372036854775807", 2**63 - 1),
    "1." + "0" * 100_000 + "1Ki": ("1024000000001n", 1025),
    "1e-2147483648": ("1e-9", 1),
    "0e2147483647": ("0", 0),
    "1e4294967299": ("1e4294967299", 1000),
    "5E" + "0" * 100_000 + "3": ("5e3", 5000),
}


@pytest.mark.parametrize("text", LONG, ids=lambda text: f"{text[:9]}…{text[-9:]}")
def test_a_long_quantity_is_parsed_as_in_kubernetes(text: str) -> None:
    quantity = parse_quantity(text)
    assert (canonical(quantity), quantity.value()) == LONG[text]


TOO_LARGE = ["37e99998", "1" * 121, "2" * 1_000_000, "1e2147483647", "-1.5e4000"]


@pytest.mark.parametrize("text", TOO_LARGE, ids=lambda text: text[:12])
def test_an_oversized_quantity_is_refused_before_it_is_computed(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(LARGE_MESSAGE)}$"):
        parse_quantity(text)


def test_zeros_before_a_wrong_character_are_read_once() -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(FORMAT_MESSAGE)}$"):
        parse_quantity("0" * 1_000_000 + "!")


ROUNDED = {
    "1": (1, 1000),
    "0.5": (1, 500),
    "1.5": (2, 1500),
    "-1.5": (-2, -1500),
    "1n": (1, 1),
    "100u": (1, 1),
    "1001u": (1, 2),
    "0": (0, 0),
}


@pytest.mark.parametrize("text", ROUNDED)
def test_whole_units_and_thousandths_are_rounded_away_from_zero(text: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli_value()) == ROUNDED[text]


SUMS = {
    ("1Gi", "512Mi"): ("1536Mi", "512Mi"),
    ("0", "999n"): ("999n", "-999n"),
    ("1e3", "1Gi"): ("1073742824", "-1073740824"),
    ("1Gi", "100m"): ("1073741824100m", "1073741823900m"),
    ("0Ki", "1Gi"): ("1Gi", "-1Gi"),
    ("9223372036854775807", "1k"): ("9223372036854776807", "9223372036854774807"),
}


@pytest.mark.parametrize("pair", SUMS, ids=" and ".join)
def test_sums_and_differences_keep_the_notation_of_the_first(pair: tuple[str, str]) -> None:
    left, right = (parse_quantity(text) for text in pair)
    assert (canonical(added(left, right)), canonical(added(left, negated(right)))) == SUMS[pair]


INT64 = {
    "5": (5, 5, 5000),
    "0.5": (None, 1, 500),
    "-1.5n": (None, 1, 1),
    "5P": (5 * 10**15, 5 * 10**15, 5 * 10**18),
    "9E": (9 * 10**18, 9 * 10**18, 0),
    "10E": (None, 0, 0),
    "9223372036854775807": (None, 2**63 - 1, -1000),
    "1024Pi": (None, 2**60, -(2**63)),
    "229008199682G": (None, 7647270797485380608, 0),
    "-1.5Ti": (None, -7507219102, -7507219103848),
}


def test_a_zero_of_arbitrary_precision_takes_over_the_precision_of_the_other() -> None:
    difference = added(parse_quantity("-00Pi"), negated(parse_quantity("9007199254740993")))
    assert scaled_value(difference, -3) == -9007199254740993000


@pytest.mark.parametrize("text", INT64)
def test_64_bit_arithmetic_wraps_or_gives_up_as_in_kubernetes(text: str) -> None:
    quantity = parse_quantity(text)
    assert (as_int64(quantity), scaled_value(quantity, 0), scaled_value(quantity, -3)) == INT64[text]


NUMBERS = st.from_regex(r"[0-9]{1,17}(\.[0-9]{1,9})?", fullmatch=True)
SUFFIXES = st.sampled_from(["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E2", "e-3"])
FACTORS = {"m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
FACTORS |= {"e3": 1000, "E2": 100, "e-3": Fraction(1, 1000), "": 1}


@given(NUMBERS, SUFFIXES)
def test_the_amount_is_exact_to_a_nano_unit_and_survives_its_canonical_form(number: str, suffix: str) -> None:
    quantity = parse_quantity(number + suffix)
    exact = Fraction(number) * FACTORS[suffix] * NANO
    if exact <= (2**63 - 1) * NANO:
        assert 0 <= quantity.nano - exact < 1
    assert parse_quantity(canonical(quantity)).nano == quantity.nano
    rounded = rounded_up_to_milli(quantity)
    assert 0 <= rounded.nano - quantity.nano < NANO // 1000
    assert rounded.nano % (NANO // 1000) == 0


@given(st.text(max_size=12) | st.text("0123456789.+-eEinumkKMGTP", max_size=12))
def test_any_text_is_a_quantity_or_a_value_error(text: str) -> None:
    try:
        message = canonical(parse_quantity(text)) and ""
    except ValueError as problem:
        message = str(problem)
    assert message in ("", FORMAT_MESSAGE, LARGE_MESSAGE, SUFFIX_MESSAGE, NUMBER_MESSAGE)


@pytest.mark.parametrize(("number", "form"), [(1e90, "1e+90"), (1.5, "1500m"), (1000.0, "1k"), (1e-7, "100e-9")])
def test_a_number_is_read_as_go_writes_it(number: float, form: str) -> None:
    assert canonical(parse_quantity(number)) == form
