"""The route that creates a sandbox from a dump of a real cluster."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from sandbox.changes.opening import open_uploaded
from sandbox.web import imports
from sandbox.web.api import shapes
from sandbox.web.api.access import PROBLEMS, addresses_of, check_rate
from sandbox.words.say import say
from scheduler_engine.importing import Choices
from scheduler_engine.versions import VERSIONS

FILE = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary", "description": say("api.import-file")}},
}
BODY = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": FILE}}}}


class Chosen(Schema):
    """``without`` and ``without_kind``: namespaces and kinds to omit. ``pod``: step to its attempt. ``made_up``: give
    all things new names. ``kubernetes``: the version to follow, "" = that of the nodes.
    """

    without: list[str] = Field([], max_length=1000)
    without_kind: list[str] = Field([], max_length=100)
    pod: str = Field("", examples=["default/web"])
    made_up: bool = False
    kubernetes: Literal["", *VERSIONS] = ""  # type: ignore[valid-type]


class Notice(Schema):
    """What is different from the cluster, in words. ``count``: how many things; ``examples``: some of their names."""

    text: str
    count: int
    examples: list[str]


class Skipped(Schema):
    """Something that was omitted. ``count``: how many alike; ``name`` is that of the first."""

    kind: str
    name: str
    reason: str
    count: int


class Waiting(Schema):
    """A pod without a node. ``message``: what the real scheduler said, "" = nothing."""

    key: str
    message: str


class Imported(shapes.Created):
    """The new sandbox. ``pod``: the chosen pod, under its name there. ``version``: why it follows ``kubernetes``.

    A scenario has only its addresses and its version.
    """

    pod: str = ""
    kubernetes: str
    version: str = ""
    notices: list[Notice] = Field([])
    skipped: list[Skipped] = Field([])
    waiting: list[Waiting] = Field([])


router = Router(tags=["Sandboxes"])


@router.post("/import", response={201: Imported, **PROBLEMS}, summary=say("api.import"), openapi_extra=BODY)
def import_cluster(request: HttpRequest, chosen: Query[Chosen]) -> Any:
    """Create a sandbox from a file of ``kubectl get --output yaml``, a folder of such files as an archive, or a
    scenario.
    """
    check_rate(request, "create")
    key, scenario = imports.read(request)
    if scenario is not None:
        sandbox, token = open_uploaded(scenario)
        return Status(201, addresses_of(request, sandbox.pk, token) | {"kubernetes": scenario.kubernetes})
    path = imports.path_of(key)
    names = tuple(chosen.without), tuple(chosen.without_kind)
    choices = Choices(*names, chosen.made_up, chosen.pod, chosen.kubernetes)
    try:
        sandbox, token, imported = imports.create(path, choices)
    except BaseException:
        imports.remove(path)
        raise
    preview = imported.preview
    shown = {
        "pod": imported.pod,
        "kubernetes": preview.kubernetes,
        "version": preview.version,
        "notices": preview.notices,
        "skipped": preview.skipped,
        "waiting": preview.summary.waiting,
    }
    return Status(201, addresses_of(request, sandbox.pk, token) | shown)
