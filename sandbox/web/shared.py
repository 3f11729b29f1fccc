"""Answers that are the same for everybody: rendered and compressed once, and 304 for clients that have them."""

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

NOT_KEPT = "no-store"
"""For an answer that lacks something for the moment: it is not cached."""
FOR_AN_HOUR = "public, max-age=3600"
"""For addresses without a version, whose answer may change soon."""


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """An answer, plain and compressed with gzip."""

    body: bytes
    compressed: bytes
    content_type: str
    etag: str


def same_for_all(key: Callable[[], Any] = lambda: None, control: str = "no-cache") -> Callable[[View], View]:
    """Make a view that caches its answer, which depends on nothing but the path and ``key()``.

    An answer other than 200, or with ``NOT_KEPT``, is not cached. ``control``: the header Cache-Control.
    """

    def decorate(view: View) -> View:
        cache: dict[str, tuple[Any, CachedResponse]] = {}
        rendering = Lock()  # Of many first requests at the same time, one renders.

        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            now = key()
            entry = cache.get(request.path_info)
            if entry is None or entry[0] != now:
                with rendering:
                    entry = cache.get(request.path_info)
                    if entry is None or entry[0] != now:
                        response = view(request, *args, **kwargs)
                        if response.status_code != 200 or response.headers.get("Cache-Control") == NOT_KEPT:
                            return response
                        entry = cache[request.path_info] = now, _cached(response)
            return _answer(request, entry[1], control)

        return answer

    return decorate


def _cached(response: HttpResponse) -> CachedResponse:
    body = bytes(response.content)
    # Without the time, so that the result is the same in every process.
    compressed = gzip.compress(body, mtime=0)
    return CachedResponse(body, compressed, response.headers["Content-Type"], f'"{sha256(body).hexdigest()[:32]}"')


def _answer(request: HttpRequest, cached: CachedResponse, control: str) -> HttpResponse:
    """Return a cached answer in the encoding that the client accepts, or 304 if the client has it."""
    compresses = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(cached.compressed if compresses else cached.body, content_type=cached.content_type)
    if compresses:
        response.headers["Content-Encoding"] = "gzip"
    # One tag for each encoding: a cache must not mix them up.
    etag = cached.etag[:-1] + '-gz"' if compresses else cached.etag
    response.headers["ETag"], response.headers["Cache-Control"] = etag, control
    patch_vary_headers(response, ("Accept-Encoding",))
    return get_conditional_response(request, etag, None, response) or response
