"""Which names people would take for one another: capitals, accents, invisible characters, letters of other scripts.

The pairs of letters are those of Unicode's confusables (UTS #39) that a name in Latin, Greek or Cyrillic may have.
"""

from __future__ import annotations

import re
import unicodedata

LOOKS = str.maketrans(
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
"""Letter → the Latin one that it looks like."""
PAIRS = {"rn": "m", "vv": "w"}
"""Two small letters → the one that they look like side by side."""
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Printable to Unicode, and yet nothing is seen."""
MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
"""That are put on letters of any script. Vowel signs of Thai or Hindi are no such marks: they tell names apart."""
CAPITAL_I = re.compile(r"(?<=\w)I(?=\w*[a-z])|(?<=[a-z])I+")
"""Within a word of small letters it is read as an l."""


def tidy(name: str) -> str:
    """A name as it is kept: printable, without what nobody sees, with single spaces."""
    seen = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
    return " ".join(UNSEEN.sub("", unicodedata.normalize("NFC", seen)).split())


def looks(name: str) -> frozenset[str]:
    """What a name can be read as: as it stands, in small letters, in capitals. Two that share one are too close."""
    plain = MARKS.sub("", unicodedata.normalize("NFKD", tidy(name)))
    return frozenset(
        " ".join(_joined(variant.translate(LOOKS)).casefold().split())
        for variant in (CAPITAL_I.sub(lambda found: "l" * len(found[0]), plain), plain.lower(), plain.upper())
    )


def _joined(text: str) -> str:
    for pair, letter in PAIRS.items():
        text = text.replace(pair, letter)
    return text
