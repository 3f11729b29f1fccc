"""The address of a client, for the limits of the site and its server."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, IPv6Network, ip_address

PORT = re.compile(r"\[(?P<six>[^\[\]]*)\](:[0-9]*)?|(?P<four>[^:]*):[0-9]*")
UNKNOWN = "unknown"


def client_network(forwarded: str, peer: str, proxies: int) -> str:
    """Return the network of the client: that of ``peer``, or behind ``proxies`` the one the outermost proxy saw.

    ``forwarded``: X-Forwarded-For. Any visitor can write entries before those of the proxies, so they are ignored.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    forwarded_client = hops[-proxies] if proxies and len(hops) >= proxies else ""
    return network(forwarded_client) or network(peer) or UNKNOWN


def network(text: str) -> str:
    """Return an IPv4 address, or the /64 of an IPv6 address, which one client has as a whole. "" if invalid."""
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
