"""Detect names that people would confuse: capitals, accents, invisible characters, letters of other scripts.

The pairs of letters are those of Unicode's confusables (UTS #39) for names in Latin, Greek or Cyrillic.
"""

from __future__ import annotations

import re
import unicodedata

LOOKALIKES = str.maketrans(
    {
        # Cyrillic
        **dict(zip("АВЕКМНОРСТУХЅІЈҮԌԚԜӀЬ", "ABEKMHOPCTYXSIJYGQWIb", strict=True)),
        **dict(zip("аеорсухѕіјӏһԁԛԝүѵкмт", "aeopcyxsijlhdqwyvkmt", strict=True)),
        # Greek
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
        **dict(zip("αγικνορτυχϲϳ", "ayikvoptuxcj", strict=True)),
        # Latin and digits
        **dict(zip("ıɡɑøØđĐłŁ01|ǀ", "igaoOdDlLolll", strict=True)),
    }
)
"""Letter → the Latin letter that it looks like."""
PAIRS = {"rn": "m", "vv": "w"}
"""Two small letters side by side → the letter that they look like."""
INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that are invisible although Unicode calls them printable."""
MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""Accents on letters of any script. Vowel signs of Thai or Hindi are not included: names differ by them."""
CAPITAL_I = re.compile(r"(?<=\w)I(?=\w*[a-z])|(?<=[a-z])I+")
"""A capital I within a word of small letters: people read it as an l."""


def clean(name: str) -> str:
    """Return a name as it is saved: without invisible characters, with single spaces."""
    printable = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
    return " ".join(INVISIBLE.sub("", unicodedata.normalize("NFC", printable)).split())


def readings(name: str) -> frozenset[str]:
    """Return what a name can be read as: as written, in small letters, in capitals.

    Two names are too close if they share a reading.
    """
    plain = MARKS.sub("", unicodedata.normalize("NFKD", clean(name)))
    return frozenset(
        " ".join(_with_pairs(variant.translate(LOOKALIKES)).casefold().split())
        for variant in (CAPITAL_I.sub(lambda match: "l" * len(match[0]), plain), plain.lower(), plain.upper())
    )


def _with_pairs(text: str) -> str:
    """Return the text with pairs of letters replaced by the letter that they look like."""
    for pair, letter in PAIRS.items():
        text = text.replace(pair, letter)
    return text
