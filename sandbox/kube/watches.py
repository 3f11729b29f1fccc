"""Which requests are watches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from sandbox.kube.reading import TRUE

WATCHED = re.compile(r"/s/(?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/(?P<token>[^/]+)/kube/(?P<path>.+)")


def is_watch(scope: Mapping[str, Any]) -> bool:
    """Return True if an ASGI scope is that of a watch."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and b"watch=" in scope["query_string"]
        and WATCHED.fullmatch(scope["path"]) is not None
        and dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("watch", "").lower() in TRUE
    )
