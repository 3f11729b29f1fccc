"""Content-Security-Policy: own files only, no inline script, no eval; inline styles because Plotly sets them."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self' ws://{host} wss://{host}; worker-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors {ancestors}"
)


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    def middleware(request: HttpRequest) -> HttpResponse:
        # Asked first: a host that is not allowed must end here, before any view.
        host = request.get_host()
        response = get_response(request)
        response.headers["Content-Security-Policy"] = POLICY.format(host=host, ancestors=settings.FRAME_ANCESTORS)
        return response

    return middleware
