"""Rules for IP addresses and ranges in older fields, which newer versions check more strictly.

Source: upstream ``apimachinery/pkg/util/validation/ip.go`` (IsValidIPForLegacyField, IsValidCIDRForLegacyField).
"""

from __future__ import annotations

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.problems import Errors, Rule, by_version, since, texts

STRICT = "strict_addresses"

_strict_ip = texts(names.strict_ip)
_reachable_ip = texts(names.reachable_ip)


def _legacy(check: names.Check, strict_check: names.Check) -> Rule:
    """Build a rule that also applies ``strict_check`` where the version is strict."""
    plain, strict = texts(check), texts(strict_check)

    def rule(value: str, path: str) -> Errors:
        if check(value):
            yield from plain(value, path)
        else:
            yield from since(STRICT, strict(value, path))

    return rule


ip_address = _legacy(names.ip_address, names.strict_ip)
network = _legacy(names.cidr, names.strict_cidr)


def reachable_address(value: str, path: str) -> Errors:
    """Check an address that others must reach; like Kubernetes, report an invalid one once."""
    if names.ip_address(value):
        yield from ip_address(value, path)
        return
    reachable, strict = list(_reachable_ip(value, path)), list(_strict_ip(value, path))
    yield from by_version(reachable, (STRICT, strict)) if strict else reachable
