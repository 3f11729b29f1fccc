"""The route of the links of a sandbox, and of the code that embeds it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from ninja import Query, Router
from ninja.errors import HttpError

from sandbox.panels import frames
from sandbox.web.access import Access
from sandbox.web.api import link_shapes as shapes
from sandbox.web.api.access import ONE, PROBLEMS, access_to
from sandbox.web.snippets import snippet
from sandbox.words.say import say
from scheduler_engine.errors import FieldError, Rejected

router = Router(tags=["Links"])


@router.get(f"{ONE}/links", response={200: shapes.Links, **PROBLEMS}, summary=say("api.links"))
def links(request: HttpRequest, sandbox_id: UUID, token: str, wanted: Query[shapes.EmbedQuery]) -> Any:
    """Return the links that this one may pass on, and code that embeds the sandbox. ``edit`` is "" for a view link."""
    access = access_to(request, sandbox_id, token, False)
    if wanted.act and not access.can_edit:
        raise HttpError(403, say("errors.view-only-token"))
    if wanted.act and wanted.at:
        raise HttpError(422, say("errors.act-or-at"))
    watch, own = access.watching, access.token
    addresses = {
        "view": _address(request, "workbench", access, watch),
        "edit": _address(request, "workbench", access, own) if access.can_edit else "",
        "api": _address(request, "api:state", access, own),
        "api_view": _address(request, "api:state", access, watch),
        "kubectl": request.build_absolute_uri(reverse("workbench", args=[access.sandbox.pk, own]) + "kube"),
    }
    base = _address(request, "embed", access, own if wanted.act else watch)
    script = request.build_absolute_uri(reverse("embed-script"))
    embed = snippet(base, script, say("api.embed-title", title=access.sandbox.title), _chosen(wanted))
    return addresses | {"embed": embed._asdict()}


def _address(request: HttpRequest, name: str, access: Access, token: str) -> str:
    return request.build_absolute_uri(reverse(name, args=[access.sandbox.pk, token]))


def _chosen(wanted: shapes.EmbedQuery) -> dict[str, str]:
    """Return the parameters of an embed. Raise ``Rejected`` with a sentence for each invalid one."""
    chosen = {
        "panels": wanted.panels,
        **{name: getattr(wanted, name) for name in ("pod", "node", "plugin", "tab", "at")},
        "steps": "1" if wanted.steps or wanted.act else "",
        "live": "" if wanted.at else "1",
        "theme": wanted.theme if wanted.theme != frames.THEMES[0] else "",
        "size": wanted.size if wanted.size != frames.SIZES[0] else "",
    }
    chosen = {name: value for name, value in chosen.items() if value}
    if errors := frames.address_errors(chosen):
        raise Rejected([FieldError("", "Invalid", error) for error in errors])
    return chosen
