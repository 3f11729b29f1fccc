"""Which requests are watches."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from sandbox.kube.reading import TRUE

SANDBOX = r"(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(?P<token>[^/]+)"
"""The part of a path that names a sandbox, as the pattern of a regular expression."""
WATCHED = re.compile(rf"/s/{SANDBOX}/kube/(?P<path>.+)")


def is_watch(query: bytes) -> bool:
    """Return True if the query string of a GET asks for a watch."""
    return b"watch=" in query and dict(parse_qsl(query.decode("latin-1"))).get("watch", "").lower() in TRUE
