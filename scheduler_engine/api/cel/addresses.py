"""Functions of IP addresses and networks. Source: upstream ``apiserver/pkg/cel/library/{ip,cidr}.go``."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface
from typing import Any

from scheduler_engine.api.cel.typed import typed
from scheduler_engine.api.cel.values import CelError

Address = IPv4Address | IPv6Address
Network = IPv4Interface | IPv6Interface
"""A network, and the address that it was written with."""

LONGEST = 100
"""Longer texts are no addresses, and are not read."""
_FIELDS = re.compile(r"[0-9.]+", re.ASCII)
_BITS = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_CONVERSION = "parse error during conversion from string"


def _reason(text: str) -> str:
    """Return why Go reads no address in a text: what is wrong with the first field of four."""
    if not _FIELDS.fullmatch(text) or "." not in text:
        return "unable to parse IP"
    fields = text.split(".")
    for number, field in enumerate(fields):
        if not field or number > 3:
            return "IPv4 address too long" if number > 3 else "IPv4 field must have at least one digit"
        if len(field) > 1 and field[0] == "0":
            return "IPv4 field has octet with leading zero"
        if len(field) > 3 or int(field) > 255:
            return "IPv4 field has value >255"
    return "IPv4 address too short"


def _parsed(text: str) -> Address:
    """Return an address. Raises CelError with Go's text."""
    try:
        if len(text) > LONGEST:
            raise ValueError
        return ip_address(text)
    except ValueError:
        raise CelError(f'ParseAddr("{text}"): {_reason(text)}') from None


@typed("ip", (str, Network))
def ip(value: Any) -> Address:
    if not isinstance(value, str):
        host: Address = value.ip
        return host
    try:
        found = _parsed(value)
    except CelError as problem:
        raise CelError(f'IP Address "{value}" {_CONVERSION}: {problem}') from None
    if isinstance(found, IPv6Address) and found.scope_id:
        raise CelError(f'IP address "{value}" with zone value is not allowed')
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise CelError(f'IPv4-mapped IPv6 address "{value}" is not allowed')
    return found


@typed("cidr", str)
def cidr(text: str) -> Network:
    try:
        return _network(text)
    except CelError as problem:
        raise CelError(f"network address {_CONVERSION}: {problem}") from None


def _network(text: str) -> Network:
    address, slash, bits = text.rpartition("/")
    problem = ""
    if not slash:
        problem = "no '/'"
    elif "%" in address:
        problem = "IPv6 zones cannot be present in a prefix"
    elif not _BITS.fullmatch(bits):
        problem = f'bad bits after slash: "{bits}"'
    else:
        try:
            found = _parsed(address)
        except CelError as reason:
            problem = str(reason)
        else:
            if len(bits) > 3 or int(bits) > found.max_prefixlen:
                problem = "prefix length out of range"
            elif isinstance(found, IPv6Address) and found.ipv4_mapped:
                raise CelError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    if problem:
        raise CelError(f'network address {_CONVERSION}: netip.ParsePrefix("{text}"): {problem}')
    return ip_interface(text)


def masked(network: Any) -> Network:
    return ip_interface(network.network)


def is_link_local_multicast(address: Address) -> bool:
    """Return True for the addresses of a link: in version 6 the last four bits of the second byte decide."""
    first, second, third = address.packed[:3]
    return (first, second, third) == (224, 0, 0) if address.version == 4 else first == 0xFF and second & 15 == 2


@typed("containsIP", Network, (str, Address))
def contains_ip(network: Any, value: Any) -> bool:
    return (ip(value) if isinstance(value, str) else value) in network.network


@typed("containsCIDR", Network, (str, Network))
def contains_cidr(network: Any, value: Any) -> bool:
    one, other = network.network, (cidr(value) if isinstance(value, str) else value).network
    return bool(other.version == one.version and other.subnet_of(one))
