"""Kubernetes' errors for invalid names; each check lists its texts, none if the name is valid.

Source: upstream ``apimachinery/pkg/util/validation/validation.go`` and ``ip.go``.
"""

from __future__ import annotations

import ipaddress
import re

from scheduler_engine.api.name_patterns import ENDS, pattern
from scheduler_engine.api.name_patterns import Check as Check
from scheduler_engine.api.name_patterns import Reworded as Reworded
from scheduler_engine.api.name_patterns import dns_1035_label as dns_1035_label
from scheduler_engine.api.name_patterns import dns_label as dns_label
from scheduler_engine.api.name_patterns import joined as joined
from scheduler_engine.api.name_patterns import label_value as label_value
from scheduler_engine.api.name_patterns import qualified_name as qualified_name
from scheduler_engine.api.name_patterns import subdomain as subdomain
from scheduler_engine.api.name_patterns import too_many_characters as too_many_characters

_UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_SUBDOMAIN = rf"{_UNDERSCORE_LABEL}(\.{_UNDERSCORE_LABEL})*"
subdomain_with_underscore = pattern(
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', {ENDS}",
    _UNDERSCORE_SUBDOMAIN,
    "example.com",
    limit=253,
)
http_header = pattern(
    "a valid HTTP header must consist of alphanumeric characters or '-'", "[-A-Za-z0-9]+", "X-Header-Name"
)
_config_key = pattern(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "[-._a-zA-Z0-9]+",
    "key.name",
    "KEY_NAME",
    "key-name",
    limit=253,
)


def config_key(value: str) -> list[str]:
    problems = _config_key(value)
    if value in (".", ".."):
        problems.append(f"must not be '{value}'")
    elif value.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def environment_variable(value: str) -> list[str]:
    if all(" " <= character <= "~" and character != "=" for character in value):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def port_name(value: str) -> list[str]:
    rules = (
        (len(value.encode()) <= 15, too_many_characters(15)),
        (re.fullmatch("[-a-z0-9]+", value), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (re.search("[a-z]", value), "must contain at least one letter (a-z)"),
        ("--" not in value, "must not contain consecutive hyphens"),
        (not value.startswith("-") and not value.endswith("-"), "must not begin or end with a hyphen"),
    )
    return [text for holds, text in rules if not holds]


def ip_address(value: str) -> list[str]:
    return [] if parsed_ip(value) else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def cidr(value: str) -> list[str]:
    return [] if parsed_cidr(value) else ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]


def strict_ip(value: str) -> list[str]:
    """Check a valid address: no leading zeros, and no IPv4 address in the form of IPv6."""
    if _without_leading_zeros(value) != value:
        return ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if _is_mapped(parsed_ip(value)) else []


def strict_cidr(value: str) -> list[str]:
    """Check a valid range: as ``strict_ip``, and no bits after the prefix."""
    address, _, bits = value.rpartition("/")
    if _without_leading_zeros(address) != address or str(int(bits)) != bits:
        return ["must not have leading 0s in IP or prefix length"]
    if _is_mapped(parsed_ip(address)):
        return ["must not have an IPv4-mapped IPv6 address"]
    first = ipaddress.ip_interface(value).network.network_address
    return [] if first == parsed_ip(address) else ["must not have bits set beyond the prefix length"]


def _is_mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


_PADDED = re.compile(r"(?:^|\.)0[0-9]")


def parsed_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return None for an invalid address; allow leading zeros in IPv4, as Kubernetes still does for old fields."""
    try:
        return ipaddress.ip_address(_without_leading_zeros(value)) if "%" not in value else None
    except ValueError:
        return None


def plain_ip(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Like ``parsed_ip``, but an IPv4 address in IPv6 form becomes IPv4, as in Kubernetes."""
    parsed = parsed_ip(value)
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def reachable_ip(value: str) -> list[str]:
    """Check an address that others can reach: an endpoint's, or an external one of a service."""
    address = plain_ip(value)
    if address is None:
        return ["must be a valid IP address"]
    if address.version == 4:
        link_local_multicast = address.packed[:3] == bytes((224, 0, 0))
    else:
        link_local_multicast = address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02
    wrong = {
        f"may not be unspecified ({value})": address.is_unspecified,
        "may not be in the loopback range (127.0.0.0/8, ::1/128)": address.is_loopback,
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)": address.is_link_local,
        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)": link_local_multicast,
    }
    return [text for text, holds in wrong.items() if holds]


def parsed_cidr(value: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    address, slash, bits = value.rpartition("/")
    if not slash or not bits.isdecimal():
        return None
    try:
        return ipaddress.ip_network(f"{_without_leading_zeros(address)}/{bits}", strict=False)
    except ValueError:
        return None


def _without_leading_zeros(value: str) -> str:
    if not _PADDED.search(value) or not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,10}){3}", value):
        return value
    return ".".join(str(int(part)) for part in value.split("."))


def generated(check: Check) -> Check:
    """Check a ``generateName``: a dash at its end does not count."""

    def masked(value: str) -> list[str]:
        return check(value[:-2] + "a" if len(value) > 1 and value.endswith("-") else value)

    return masked
