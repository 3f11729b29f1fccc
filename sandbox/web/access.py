"""Who may do what: the decorators of every view below a sandbox's URL, and the answers of those who may not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from math import ceil
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from sandbox.library.shelf import WAYS_BACK
from sandbox.limits import ratelimit
from sandbox.limits.quotas import quotas
from sandbox.storage import statements, tokens
from sandbox.storage.models import Key, Sandbox, printable
from scheduler_engine.errors import FieldError

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


@dataclass(frozen=True, slots=True)
class Access:
    """A sandbox and what the token in the URL allows there."""

    sandbox: Sandbox
    token: str = field(repr=False)
    can_edit: bool
    key: Key | None = None
    """The one that the token is, if it is one: it works while the sandbox is frozen."""

    @property
    def watching(self) -> str:
        """The token to pass on to those who may watch."""
        if self.key is not None:
            return self.key.view_token
        return tokens.view_token(self.token) if self.can_edit else self.token

    @property
    def frozen(self) -> bool:
        """Whether nothing can be changed for now."""
        return self.sandbox.frozen and self.key is None


CapabilityView = Callable[Concatenate[HttpRequest, Access, P], HttpResponse]
RoutedView = Callable[..., HttpResponse]


def open_access(sandbox_id: UUID, token: str) -> Access | None:
    """None for an unknown sandbox as for a wrong token: the answer must not tell which."""
    sandbox = statements.sandbox(sandbox_id)
    if sandbox is None:
        return None
    if role := tokens.role(sandbox, token):
        return Access(sandbox, token, role == "edit")
    key = Key.objects.filter(sandbox=sandbox_id, token_hash=tokens.digest(token)).first()
    sandbox.by_helper = key is not None
    return Access(sandbox, token, True, key) if key else None


REVISION = "Sandbox-Revision"
"""Header of an answer to a change: how many changes there are with it. Live updates name theirs, too."""
FROZEN = "The trainer has paused the room. Nothing was changed."


def problem(
    request: HttpRequest, status: int, message: str, errors: list[FieldError] | None = None, calm: bool = False
) -> HttpResponse:
    """A refusal as a fragment that the page shows: one sentence, and the wrong fields if there are any.

    ``calm``: nothing is wrong; the page takes it away by itself. A browser that has left its page gets a page. That
    page leads back to the lessons the browser came from (``?shelf=…``; read as text, since a query can be refused).
    """
    back = WAYS_BACK.get(request.META.get("QUERY_STRING", "").removeprefix("shelf="))
    context = {"message": message, "errors": errors or [], "calm": calm, "back": back}
    leaves = request.headers.get("Sec-Fetch-Mode") == "navigate"
    if leaves and in_embed(request):
        advice = EMBED_ADVICE.get(status, EMBED_ADVICE[500] if status >= 500 else "")
        return render(request, "embed_refused.html", context | {"status": status, "advice": advice}, status=status)
    return render(request, "refused.html" if leaves else "fragments/error.html", context, status=status)


EMBED_ADVICE = {
    404: "Check the address of this frame in the page that embeds it.",
    400: "Check the address of this frame in the page that embeds it.",
    429: "Reload the page in a minute.",
    500: "Reload the page in a minute. If this persists, tell the site's operator.",
}
"""Status → what somebody can do who sees it in a frame, where there are no buttons of the workbench."""


def in_embed(request: HttpRequest) -> bool:
    """Whether the address is one that stands in the frame of another page."""
    path = request.path_info
    return path.startswith("/embed/") or (path.startswith("/s/") and "/embed/" in path)


TOO_OFTEN = {
    "address": "Too many requests from your address. Wait a moment and try again.",
    "create": "Too many new sandboxes from your address. Wait a moment and try again.",
    "command": "Too many commands at once in this sandbox. Wait a moment and try again.",
    "room": "Too many clicks at once in this room. Wait a moment and try again.",
    "join": "Too many codes were tried from your address. Wait a moment and try again.",
    "code": "Too many codes were tried for this name. Wait a moment and try again.",
    "look": "Too many requests for this sandbox. Wait a moment and try again.",
}


def too_often(request: HttpRequest, name: str, late: float) -> HttpResponse:
    """The answer to whoever is over the rate ``name`` and must wait for ``late`` seconds."""
    response = problem(request, 429, TOO_OFTEN[name])
    response.headers["Retry-After"] = str(ceil(late))
    return response


def limited(view: RoutedView) -> RoutedView:
    """Answer 429 to an address that makes too many sandboxes."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        late = ratelimit.wait("create", ratelimit.client(request))
        return too_often(request, "create", late) if late else view(request, *args, **kwargs)

    return checked


def readable_body(view: RoutedView) -> RoutedView:
    """Answer 413 or 400 for a body that is too large or no form, before anything is read from it."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        too_large = f"The request is too large. The limit for manifests is {quotas().manifest_bytes:,} bytes."
        if _length(request) > most:
            return problem(request, 413, too_large)
        try:
            _ = request.POST
        except RequestDataTooBig:
            return problem(request, 413, too_large)
        except (BadRequest, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
            return problem(request, 400, "The request could not be read.")
        return view(request, *args, **kwargs)

    return checked


def _length(request: HttpRequest) -> int:
    told = request.META.get("CONTENT_LENGTH", "")
    return int(told) if told.isascii() and told.isdigit() else 0


def reads(view: CapabilityView[P]) -> RoutedView:
    """A page or fragment of a sandbox, for both tokens."""

    @require_safe
    @wraps(view)
    def routed(request: HttpRequest, sandbox_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        access = open_access(sandbox_id, token)
        if access is None:
            raise Http404
        # Of its own for each link, so that those who watch leave their teacher hers.
        if late := ratelimit.wait("look", f"{sandbox_id} {access.can_edit}"):
            return too_often(request, "look", late)
        return view(request, access, *args, **kwargs)

    return routed


def edits(view: CapabilityView[P]) -> RoutedView:
    """A change to a sandbox: POST with the edit token; what the engine or a quota refuses becomes a 4xx fragment.

    No cookie gives authority, so that there is nothing for a forged request to ride on: CSRF protection would only keep
    the site from working inside an iframe with cookies blocked.

    The answer to what was not refused names the sandbox's revision: a page keeps what it sent until it sees that one.
    """

    @csrf_exempt
    @require_POST
    @readable_body
    @wraps(view)
    def routed(request: HttpRequest, sandbox_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        access = open_access(sandbox_id, token)
        if access is None:
            raise Http404
        if not access.can_edit:
            return problem(request, 403, "This link is view-only. Use the edit link to change something.")
        if access.frozen:
            return problem(request, 423, FROZEN, calm=True)
        if late := ratelimit.wait("command", str(sandbox_id)):
            return too_often(request, "command", late)
        response = view(request, access, *args, **kwargs)
        if response.status_code < 400:
            response.headers[REVISION] = str(statements.place(sandbox_id).revision)
        return response

    return routed


def who(request: HttpRequest) -> str:
    """The label under which a visitor acts, if the page sent one."""
    return printable(request.POST.get("who", ""))
