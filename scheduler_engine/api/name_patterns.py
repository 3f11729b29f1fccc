"""Kubernetes' errors for labels and domains; each check lists its texts, none if the name is valid.

Source: upstream ``apimachinery/pkg/util/validation/validation.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Check = Callable[[str], list[str]]

_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
ENDS = "and must start and end with an alphanumeric character"
_CHARACTERS = f"consist of alphanumeric characters, '-', '_' or '.', {ENDS}"


class Reworded(str):
    """A text that newer versions word differently, as ``newer``, if ``word`` is in the rule ``newer_texts``."""

    newer: str
    word: str


def _reworded(text: str, newer: str, word: str) -> Reworded:
    result = Reworded(text)
    result.newer, result.word = newer, word
    return result


def joined(problems: list[str], between: str = ";") -> str:
    """Join texts as errors about taints and tolerations do; others have more ``between`` them."""
    text, words = between.join(problems), [item.word for item in problems if isinstance(item, Reworded)]
    newer = between.join(item.newer if isinstance(item, Reworded) else item for item in problems)
    return _reworded(text, newer, words[0]) if words else text


def pattern(text: str, regex: str, *examples: str, limit: int = 0, counts_bytes: str = "") -> Check:
    """Build a check by pattern and length; ``text`` is followed by the examples and the pattern.

    ``counts_bytes``: the word of ``newer_texts`` with which the limit is one of bytes.
    """
    listed = " or ".join(f"'{example}', " for example in examples)
    message = f"{text} (e.g. {listed}regex used for validation is '{regex}')"
    compiled = re.compile(regex)

    too_long = _limit(limit, counts_bytes) if counts_bytes else too_many_characters(limit)

    def check(value: str) -> list[str]:
        long = [too_long] if limit and len(value.encode()) > limit else []
        return long if compiled.fullmatch(value) else [*long, message]

    return check


def too_many_characters(limit: int) -> str:
    return f"must be no more than {limit} characters"


def _limit(limit: int, word: str, before: str = "") -> Reworded:
    """Return a text about a limit that newer versions count in bytes, after the words ``before``."""
    return _reworded(f"{before}{too_many_characters(limit)}", f"{before}must be no more than {limit} bytes", word)


label_value = pattern(
    f"a valid label must be an empty string or {_CHARACTERS}",
    f"({_QUALIFIED})?",
    "MyValue",
    "my_value",
    "12345",
    limit=63,
    counts_bytes="label-values",
)
subdomain = pattern(
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {ENDS}",
    _SUBDOMAIN,
    "example.com",
    limit=253,
)
dns_1035_label = pattern(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "my-name",
    "abc-123",
    limit=63,
)
_dns_label = pattern(
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {ENDS}",
    _LABEL,
    "my-name",
    "123-abc",
)
_name_part = pattern(f"must {_CHARACTERS}", _QUALIFIED, "MyName", "my.name", "123-abc")


_SHORT_QUALIFIED = re.compile(rf"({_SUBDOMAIN}/)?{_QUALIFIED}")
"""Matches nearly every qualified name; no part of so short a text can be too long."""


KEYS = "label-keys"


def dns_label(value: str) -> list[str]:
    problems = [too_many_characters(63)] if len(value.encode()) > 63 else []
    if re.fullmatch(_LABEL, value):
        return problems
    if re.fullmatch(_SUBDOMAIN, value):
        return [*problems, "must not contain dots"]
    return problems + _dns_label(value)


def qualified_name(value: str) -> list[str]:
    """Check a label key or resource name: a name with an optional domain before a slash."""
    if len(value) <= 63 and _SHORT_QUALIFIED.fullmatch(value):
        return []
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        [text] = _name_part("")
        rest = f"{text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [_reworded(f"a qualified name {rest}", f"a valid label key {rest}", KEYS)]
    problems: list[str] = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        long = _limit(253, KEYS, "prefix part ")
        problems += [long if long.endswith(text) else f"prefix part {text}" for text in subdomain(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        problems.append(_limit(63, KEYS, "name part "))
    return problems + [f"name part {text}" for text in _name_part(name)]
