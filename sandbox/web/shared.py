"""Answers that are the same for everybody: made once, packed once, and not sent again to whoever has them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from threading import Lock
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers

View = Callable[..., HttpResponse]

FOR_AN_HOUR = "public, max-age=3600"
"""For what an address without a version may soon answer otherwise."""


@dataclass(frozen=True, slots=True)
class Kept:
    body: bytes
    packed: bytes
    content_type: str
    etag: str


def same_for_all(key: Callable[[], Any] = lambda: None, control: str = "no-cache") -> Callable[[View], View]:
    """Of a view whose answer depends on its address and ``key()`` alone. ``control``: Cache-Control."""

    def decorate(view: View) -> View:
        kept: dict[str, tuple[Any, Kept]] = {}
        making = Lock()  # Of many who ask first, one makes it.

        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            now = key()
            held = kept.get(request.path_info)
            if held is None or held[0] != now:
                with making:
                    held = kept.get(request.path_info)
                    if held is None or held[0] != now:
                        response = view(request, *args, **kwargs)
                        if response.status_code != 200:
                            return response
                        held = kept[request.path_info] = now, _kept(response)
            return _told(request, held[1], control)

        return answer

    return decorate


def _kept(response: HttpResponse) -> Kept:
    body = bytes(response.content)
    # Without the time, so that every worker gives the same.
    packed = gzip.compress(body, mtime=0)
    return Kept(body, packed, response.headers["Content-Type"], f'"{sha256(body).hexdigest()[:32]}"')


def _told(request: HttpRequest, kept: Kept, control: str) -> HttpResponse:
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(kept.packed if packs else kept.body, content_type=kept.content_type)
    if packs:
        response.headers["Content-Encoding"] = "gzip"
    # One for each form: a cache must not take one for the other.
    etag = kept.etag[:-1] + '-gz"' if packs else kept.etag
    response.headers["ETag"], response.headers["Cache-Control"] = etag, control
    patch_vary_headers(response, ("Accept-Encoding",))
    return get_conditional_response(request, etag, None, response) or response
