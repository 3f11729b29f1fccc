"""Functions of IP addresses and networks. Source: upstream ``apiserver/pkg/cel/library/{ip,cidr}.go``."""

from __future__ import annotations

from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    NetmaskValueError,
    ip_address,
    ip_interface,
)
from typing import Any

from scheduler_engine.api.cel.typed import typed
from scheduler_engine.api.cel.values import CelError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@typed("ip", (str, IPv4Network, IPv6Network))
def ip(value: Any) -> Address:
    if not isinstance(value, str):
        host: Address = value.host
        return host
    try:
        found = ip_address(value)
    except (AddressValueError, ValueError):
        text = (
            f'IP Address "{value}" parse error during conversion from string: ParseAddr("{value}"): unable to parse IP'
        )
        raise CelError(text) from None
    if isinstance(found, IPv6Address) and found.scope_id:
        raise CelError(f'IP address "{value}" with zone value is not allowed')
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise CelError(f'IPv4-mapped IPv6 address "{value}" is not allowed')
    return found


class Cidr4(IPv4Network):
    """A network that keeps the address it was written with."""

    host: IPv4Address


class Cidr6(IPv6Network):
    """A network that keeps the address it was written with."""

    host: IPv6Address


@typed("cidr", str)
def cidr(text: str) -> Network:
    try:
        if "/" not in text:
            raise ValueError
        found = ip_interface(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        detail = f"network address parse error during conversion from string: netip.ParsePrefix(\"{text}\"): no '/'"
        raise CelError(detail) from None
    network = Cidr4(found.network) if isinstance(found.ip, IPv4Address) else Cidr6(found.network)
    network.host = found.ip
    return network


def masked(network: Any) -> Network:
    found: Network = cidr(f"{network.network_address}/{network.prefixlen}")
    return found


def contains_ip(network: Any, value: Any) -> bool:
    return (ip(value) if isinstance(value, str) else value) in network


def contains_cidr(network: Any, value: Any) -> bool:
    other = cidr(value) if isinstance(value, str) else value
    return bool(other.version == network.version and other.subnet_of(network))
