"""What holds for every answer but static files: who may ask how often, and the headers that keep a page to itself."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.limits import ratelimit
from sandbox.web.access import in_embed, problem, too_often

Handler = Callable[[HttpRequest], HttpResponse]

# Own files only, no inline script, no eval; inline styles because Plotly sets them.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'{sockets}; worker-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors {ancestors}"
)
OPEN_TO_ALL = frozenset({"/", "/course/", "/misconceptions/", "/challenges/"})
"""Paths whose pages show nobody's sandbox."""
BY_LINK = ("/s/", "/embed/")
"""Below these, who knows the address may read the answer, and no cookie adds anything. A page in a frame without an
origin of its own, where every request counts as foreign, must be able to as well.
"""
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}


def own_host(get_response: Handler) -> Handler:
    """Refuse whoever asks for another host, before any view, and give every answer the headers of the site."""

    def middleware(request: HttpRequest) -> HttpResponse:
        host = request.get_host()
        return with_headers(request, get_response(request), host)

    return middleware


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for what Django refuses with 400."""
    foreign = "This server does not serve this host name. Check the address."
    message = foreign if isinstance(exception, DisallowedHost) else "The request could not be read, or is too large."
    return with_headers(request, render(request, "400.html", {"message": message}, status=400))


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for an address at which there is nothing; in a frame one that fits there."""
    if not in_embed(request):
        return render(request, "404.html", status=404)
    gone = "This sandbox no longer exists, or its link is incomplete."
    return problem(request, 404, gone if request.path_info.startswith("/s/") else "There is nothing at this address.")


def with_headers(request: HttpRequest, response: HttpResponse, host: str = "") -> HttpResponse:
    sockets = f" ws://{host} wss://{host}" if host else ""
    response.headers["Content-Security-Policy"] = POLICY.format(sockets=sockets, ancestors=settings.FRAME_ANCESTORS)
    if request.path_info.startswith(BY_LINK):
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "*"
    if request.path_info not in OPEN_TO_ALL:
        for name, value in PRIVATE.items():
            response.headers.setdefault(name, value)
    return response


def counted(get_response: Handler) -> Handler:
    """Answer 429 to an address that asks too often."""

    def middleware(request: HttpRequest) -> HttpResponse:
        late = ratelimit.wait("address", ratelimit.client(request))
        return too_often(request, "address", late) if late else get_response(request)

    return middleware
