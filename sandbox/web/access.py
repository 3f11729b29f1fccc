"""Access to a sandbox: the decorators of every view below its URL, and the answers when access is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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

from sandbox.changes import homes
from sandbox.content.shelf import WAYS_BACK
from sandbox.limits import ratelimit
from sandbox.limits.quotas import quotas
from sandbox.storage import statements, tokens
from sandbox.storage.models import Key, Sandbox, printable
from sandbox.words.say import say
from scheduler_engine.errors import FieldError

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Access:
    """A sandbox, and what the token in the URL allows."""

    sandbox: Sandbox
    token: str = field(repr=False)
    can_edit: bool
    key: Key | None = None
    """The helper's key, if the token is one. It works while the sandbox is frozen."""

    @property
    def watching(self) -> str:
        """The token of the view-only link."""
        if self.key is not None:
            return self.key.view_token
        return tokens.view_token(self.token) if self.can_edit else self.token

    @property
    def frozen(self) -> bool:
        """True while this access cannot change anything because the sandbox is paused."""
        return self.sandbox.frozen and self.key is None


CapabilityView = Callable[Concatenate[HttpRequest, Access, P], HttpResponse]
RoutedView = Callable[..., HttpResponse]


def open_access(sandbox_id: UUID, token: str) -> Access | None:
    """Return the access that a token grants, or None.

    An unknown sandbox and a wrong token have the same result: nobody must learn which sandboxes exist.
    """
    sandbox = statements.sandbox(sandbox_id)
    if sandbox is None:
        return None
    if role := tokens.role(sandbox, token):
        return Access(sandbox, token, role == "edit")
    key = Key.objects.filter(sandbox=sandbox_id, token_hash=tokens.digest(token)).first()
    sandbox.by_helper = key is not None
    return Access(sandbox, token, True, key) if key else None


PART, ANSWER = "part", "answer"
"""Field of a query, and its value if a page that waits requests the answer that it shows."""
REVISION = "Sandbox-Revision"
"""Header of the answer to a change: the number of changes so far, this one included. Live updates have it too."""


API = "/api/"
"""The start of the addresses of the API."""


def field_problem(error: FieldError) -> dict[str, Any]:
    """Return an error as the ``FieldProblem`` of the API's document."""
    return {
        "path": error.path,
        "type": error.kind,
        "message": error.message,
        "object": error.object_name,
        "document": error.document + 1,
        "line": error.line or None,
        "column": error.column or None,
    }


def problem_data(message: str, errors: Sequence[FieldError] = ()) -> dict[str, Any]:
    """Return a refusal as the ``Problem`` of the API's document."""
    return {"message": message, "errors": [field_problem(error) for error in errors]}


def problem_as_json(status: int, message: str, errors: Sequence[FieldError] = ()) -> HttpResponse:
    return HttpResponse(json.dumps(problem_data(message, errors)), status=status, content_type="application/json")


def problem(
    request: HttpRequest, status: int, message: str, errors: list[FieldError] | None = None, calm: bool = False
) -> HttpResponse:
    """Return a refusal as a fragment of the page: one sentence, and the invalid fields if there are any.

    ``calm``: nothing is wrong, and the page removes the message after a while. A browser that navigates gets a whole
    page, with a link back to the lessons it came from (``?shelf=…``; read as text: the query itself may be invalid).
    A program gets JSON below the address of the API.
    """
    if request.path_info.startswith(API):
        return problem_as_json(status, message, errors or ())
    back = WAYS_BACK.get(request.META.get("QUERY_STRING", "").removeprefix("shelf="))
    context = {"message": message, "errors": errors or [], "calm": calm, "back": back}
    if request.GET.get(PART) == ANSWER:
        query = request.GET.copy()
        del query[PART]
        return render(request, "fragments/answer_refused.html", context | {"query": query.urlencode()}, status=status)
    leaves = request.headers.get("Sec-Fetch-Mode") == "navigate"
    if leaves and in_embed(request):
        key = EMBED_ADVICE.get(status, EMBED_ADVICE[500] if status >= 500 else "")
        context |= {"status": status, "advice": say(key) if key else ""}
        return render(request, "embed_refused.html", context, status=status)
    return render(request, "refused.html" if leaves else "fragments/error.html", context, status=status)


EMBED_ADVICE = {
    404: "errors.frame-address",
    400: "errors.frame-address",
    429: "errors.frame-later",
    500: "errors.frame-broken",
}
"""Status → key of the advice in a frame, which has none of the workbench's buttons."""


def in_embed(request: HttpRequest) -> bool:
    """Return True if the address is one for a frame in another page."""
    path = request.path_info
    return path.startswith("/embed/") or (path.startswith("/s/") and "/embed/" in path)


TOO_OFTEN = {
    "address": "errors.often-address",
    "create": "errors.often-create",
    "command": "errors.often-command",
    "room": "errors.often-room",
    "join": "errors.often-join",
    "code": "errors.often-code",
    "look": "errors.often-look",
    "inquiry": "errors.often-inquiry",
}
"""Name of a rate → key of the sentence for too many requests."""


def too_often(request: HttpRequest, name: str, seconds: float) -> HttpResponse:
    """Return the answer 429 for the rate ``name``. The client must wait for ``seconds``."""
    response = problem(request, 429, say(TOO_OFTEN[name]))
    response.headers["Retry-After"] = str(ceil(seconds))
    return response


def limited(view: RoutedView) -> RoutedView:
    """Make a view that answers 429 to an address that creates too many sandboxes."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        seconds = ratelimit.wait("create", ratelimit.client(request))
        return too_often(request, "create", seconds) if seconds else view(request, *args, **kwargs)

    return checked


def public_form(view: RoutedView) -> RoutedView:
    """Make a POST view for a form that needs no token.

    There is no CSRF protection: a forged request only creates something that nobody knows.
    """
    return csrf_exempt(require_POST(limited(readable_body(view))))


def readable_body(view: RoutedView) -> RoutedView:
    """Make a view that answers 413 to a body that is too large, and 400 to one that is not a form."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        too_large = say("errors.request-too-large", most=quotas().manifest_bytes)
        if _length(request) > most:
            return problem(request, 413, too_large)
        try:
            _ = request.POST
        except RequestDataTooBig:
            return problem(request, 413, too_large)
        except (BadRequest, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
            return problem(request, 400, say("errors.unreadable"))
        return view(request, *args, **kwargs)

    return checked


def _length(request: HttpRequest) -> int:
    """Return the length of the body in bytes, 0 if the header is missing or invalid."""
    header = request.META.get("CONTENT_LENGTH", "")
    return int(header) if header.isascii() and header.isdigit() else 0


def reads(view: CapabilityView[P]) -> RoutedView:
    """Make a GET view of a sandbox, for the edit token and the view-only token."""

    @require_safe
    @wraps(view)
    def routed(request: HttpRequest, sandbox_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        access = open_access(sandbox_id, token)
        if access is None:
            raise Http404
        # Each link has its own rate, so that many who watch do not use up the rate of the one who edits.
        if seconds := ratelimit.wait("look", f"{sandbox_id} {access.can_edit}"):
            return too_often(request, "look", seconds)
        return view(request, access, *args, **kwargs)

    return routed


def edits(view: CapabilityView[P]) -> RoutedView:
    """Make a POST view that changes a sandbox. It needs the edit token.

    There is no CSRF protection: no cookie grants access, so a forged request gains nothing, and the site must work in
    an iframe with cookies blocked.

    The answer to a successful change has the revision of the sandbox. The page keeps what it sent until a live update
    has that revision.
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
            return problem(request, 403, say("errors.view-only"))
        if access.frozen:
            return problem(request, 423, say("errors.paused"), calm=True)
        if seconds := ratelimit.wait("command", str(sandbox_id)):
            return too_often(request, "command", seconds)
        response = view(request, access, *args, **kwargs)
        if response.status_code < 400:
            response.headers[REVISION] = str(homes.newest_place(access.sandbox).revision)
        return response

    return routed


def who(request: HttpRequest) -> str:
    """Return the name under which a visitor acts, "" if the page sent none."""
    return printable(request.POST.get("who", ""))
