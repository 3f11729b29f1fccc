"""The bodies of requests and answers about links and embeds."""

from __future__ import annotations

from typing import Literal

from ninja import Field, Schema

from sandbox.panels.frames import SIZES, THEMES, USUAL
from sandbox.words.say import say


class EmbedQuery(Schema):
    """What an embed shows. ``panels``: names, separated by commas. ``at``: a moment; "" = it follows the present.
    ``steps``: buttons to step through the run. ``act``: readers may change the sandbox, so the code has the edit link.
    """

    panels: str = ",".join(USUAL)
    at: str = Field("", description=say("api.moment"))
    pod: str = ""
    node: str = ""
    plugin: str = ""
    tab: str = ""
    theme: Literal[THEMES] = THEMES[0]  # type: ignore[valid-type]
    size: Literal[SIZES] = SIZES[0]  # type: ignore[valid-type]
    steps: bool = True
    act: bool = False


class Embed(Schema):
    """``address``: of the page in the frame. ``iframe`` and ``element``: code for another page."""

    address: str
    iframe: str
    element: str


class Links(Schema):
    """``view`` and ``edit``: pages. ``api`` and ``api_view``: addresses in this API. ``kubectl``: for ``--server``."""

    view: str
    edit: str
    api: str
    api_view: str
    kubectl: str
    embed: Embed
