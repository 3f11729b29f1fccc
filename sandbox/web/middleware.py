"""Middleware for every answer except static files: rates of requests, and security headers."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from sandbox.limits import ratelimit
from sandbox.web.access import too_often

Handler = Callable[[HttpRequest], HttpResponse]

# Own files only, no inline script, no eval; inline styles because Plotly sets them.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'{sockets}; worker-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors {ancestors}"
)
OPEN_TO_ALL = frozenset({"/", "/course/", "/misconceptions/", "/challenges/", "/practice/"})
"""Paths of pages that show no sandbox."""
BY_LINK = ("/s/", "/embed/")
"""Below these paths, knowing the address grants access, and cookies add nothing. So other origins may read the answers:
a page in a sandboxed frame has no origin, and all its requests are cross-origin.
"""
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}


def check_host(get_response: Handler) -> Handler:
    """Refuse requests for another host before any view, and add the site's headers to every answer."""

    def middleware(request: HttpRequest) -> HttpResponse:
        host = request.get_host()
        return with_headers(request, get_response(request), host)

    return middleware


def with_headers(request: HttpRequest, response: HttpResponse, host: str = "") -> HttpResponse:
    """Add the site's headers to an answer, and return it. ``host``: the one that live lines may connect to."""
    sockets = f" ws://{host} wss://{host}" if host else ""
    response.headers["Content-Security-Policy"] = POLICY.format(sockets=sockets, ancestors=settings.FRAME_ANCESTORS)
    if request.path_info.startswith(BY_LINK):
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "*"
    if request.path_info not in OPEN_TO_ALL:
        for name, value in PRIVATE.items():
            response.headers.setdefault(name, value)
    return response


def limit_rate(get_response: Handler) -> Handler:
    """Answer 429 to an address that sends too many requests."""

    def middleware(request: HttpRequest) -> HttpResponse:
        seconds = ratelimit.wait("address", ratelimit.client(request))
        return too_often(request, "address", seconds) if seconds else get_response(request)

    return middleware
