"""Kubernetes' named formats of texts. Source: upstream ``apiserver/pkg/cel/library/format.go``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from scheduler_engine.api.cel.typed import typed
from scheduler_engine.api.cel.urls import parse_request
from scheduler_engine.api.cel.values import NOTHING, Optional
from scheduler_engine.api.name_patterns import dns_1035_label, dns_label, label_value, qualified_name, subdomain

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_UUID = re.compile("-?".join(f"[0-9a-f]{{{count}}}" for count in (8, 4, 4, 4, 12)), re.ASCII | re.IGNORECASE)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")


@dataclass(frozen=True, slots=True)
class Format:
    """``size``: the length that the costs of a check count as that of its pattern."""

    type_name: ClassVar[str] = "kubernetes.NamedFormat"

    name: str
    size: int


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    try:
        date(year or 400, month, day)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    """Return True for a date and a time; what follows another ``t`` does not count."""
    day, *rest = text.lower().split("t")
    found = _TIME.fullmatch(rest[0]) if rest and _is_date(day) else None
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def _if_not(valid: Callable[[str], object], text: str) -> Callable[[str], list[str]]:
    return lambda value: [] if valid(value) else [text]


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Check a name to which a part will be added: it may end with a dash."""
    return lambda value: list(check(f"{value[:-2]}a" if len(value) > 1 and value.endswith("-") else value))


def _address(text: str) -> list[str]:
    try:
        parse_request(text)
    except ValueError as problem:
        return [str(problem)]
    return []


CHECKS: Mapping[str, tuple[Format, Callable[[str], list[str]]]] = {
    "dns1123Label": (Format("DNS1123Label", 30), dns_label),
    "dns1123Subdomain": (Format("DNS1123Subdomain", 60), subdomain),
    "dns1035Label": (Format("DNS1035Label", 30), dns_1035_label),
    "qualifiedName": (Format("QualifiedName", 60), qualified_name),
    "dns1123LabelPrefix": (Format("DNS1123LabelPrefix", 30), _prefix(dns_label)),
    "dns1123SubdomainPrefix": (Format("DNS1123SubdomainPrefix", 60), _prefix(subdomain)),
    "dns1035LabelPrefix": (Format("DNS1035LabelPrefix", 30), _prefix(dns_1035_label)),
    "labelValue": (Format("LabelValue", 40), label_value),
    "uri": (Format("URI", 1103), _address),
    "uuid": (Format("uuid", 72), _if_not(_UUID.fullmatch, "does not match the UUID format")),
    "byte": (Format("byte", 84), _if_not(_BASE64.fullmatch, "invalid base64")),
    "date": (Format("date", 76), _if_not(_is_date, "invalid date")),
    "datetime": (Format("datetime", 76), _if_not(_is_datetime, "invalid datetime")),
}
"""Name of a format → the format, and its check: the problems of a text."""
_CHECK_OF = dict(CHECKS.values())


@typed("format.named", str)
def named(name: str) -> Optional:
    return Optional((CHECKS[name][0],)) if name in CHECKS else NOTHING


@typed("validate", Format, str)
def validate(held: Format, text: str) -> Optional:
    """Return the problems of a text, nothing if there are none."""
    problems = [str(problem) for problem in _CHECK_OF[held](text)]
    return Optional((problems,)) if problems else NOTHING
