"""Whom a request counts for: the address of a client, as the site and its server limit it."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, IPv6Network, ip_address

PORT = re.compile(r"\[(?P<six>[^\[\]]*)\](:[0-9]*)?|(?P<four>[^:]*):[0-9]*")
UNKNOWN = "unknown"


def counted(forwarded: str, peer: str, proxies: int) -> str:
    """``peer``, or behind so many ``proxies`` what the outermost of them saw.

    ``forwarded``: X-Forwarded-For; what stands there before the proxies' own entries is the visitor's invention.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    told = hops[-proxies] if proxies and len(hops) >= proxies else ""
    return network(told) or network(peer) or UNKNOWN


def network(text: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 one, all of which a single client has; "" for what is no address."""
    text = text.strip('" ')
    if ported := PORT.fullmatch(text):
        text = ported["six"] or ported["four"] or ""
    try:
        address = ip_address(text)
    except ValueError:
        return ""
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
