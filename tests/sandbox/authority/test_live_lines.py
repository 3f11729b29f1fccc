"""What a live line tells to whom: the rows of the tables about websockets, over the application itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.utils import timezone

from sandbox.asgi import application
from sandbox.changes import store
from sandbox.routing import refuse, websocket_urlpatterns
from sandbox.runtime import layers
from sandbox.server.pruning import prune
from sandbox.storage import statements
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Database, Position
from sandbox.web.consumers import NOT_FOUND, PONG
from sandbox.workshop import room as rooms
from sandbox.workshop.layers import group as room_group
from sandbox.workshop.models import Workshop
from sandbox.workshop.people import remove, rename
from tests.conftest import PATIENCE
from tests.sandbox.authority import world
from tests.sandbox.authority.links import PAUSED, of_room, of_sandbox
from tests.sandbox.authority.table import Row, filled, table
from tests.sandbox.authority.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

HEADERS = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
REFUSED = 1000
"""The code for a path that no consumer has: the handshake is answered 403."""
QUIET = 0.5
"""Seconds after which a silent line counts as having nothing to say."""
CONTROL = 'id="break"'
"""A button of the panel of faults, for those who may edit."""
PAGES = {
    'id="controls"': "trainer",
    "data-assists": "assistant",
    'id="corner"': "projector",
    'id="strip"': "participant",
}
"""A piece of a page of a room → whose page it is."""


class Line:
    """A live line, and what arrives on it. ``closed``: its close code, None while it is open.

    ``tells``: something must arrive, however long the machine takes.
    """

    def __init__(self, path: str, tells: bool = True) -> None:
        self.socket = WebsocketCommunicator(application, path, headers=HEADERS)
        self.closed: int | None = None
        self.tells = tells

    async def open(self) -> Line:
        connected, code = await self.socket.connect(PATIENCE)
        self.closed = None if connected else code
        return self

    async def say(self, **message: Any) -> None:
        if self.closed is None:
            await self.socket.send_to(text_data=json.dumps(message))

    async def hear(self) -> str:
        """Return the next message; "" if the line is closed instead."""
        if self.closed is not None:
            return ""
        output = await self.socket.receive_output(PATIENCE)
        if output["type"] == "websocket.close":
            self.closed = output["code"]
            return ""
        return str(output["text"])

    async def hear_for(self, *wanted: str) -> str:
        """Return everything up to one of the texts, none = any message, and on to a silence."""
        heard = ""
        while self.tells and self.closed is None and not (heard if not wanted else any(map(heard.count, wanted))):
            heard += await self.hear()
        return heard + await self.hear_all()

    async def hear_all(self) -> str:
        """Return everything up to a silence, or to the end."""
        heard = ""
        while self.closed is None and not await self.socket.receive_nothing(QUIET):
            heard += await self.hear()
        return heard


async def view(line: Line, people: World) -> str:
    await line.say(open="faults")
    heard = await line.hear()
    return "edits" if CONTROL in heard else "reads" if "panel-faults" in heard else heard


async def ping(line: Line, people: World) -> str:
    await line.say(ping=1)
    return "yes" if PONG in await line.hear_for(PONG) else "no"


async def changed(line: Line, people: World) -> str:
    await line.say(open="toolbar")
    await line.hear()
    await in_thread(lambda: store.execute(Sandbox.objects.get(pk=cluster(people)), {"kind": "advance", "seconds": 1}))
    return "yes" if "panel-toolbar" in await line.hear_for("panel-toolbar") else "no"


async def progress(line: Line, people: World) -> str:
    """Have a long job in the sandbox report, whether the line is about it or not."""
    await line.hear_all()
    await get_channel_layer().group_send(layers.group(cluster(people)), {"type": "sandbox.progress", "text": "half"})
    return "yes" if "half" in await line.hear_for("half") else "no"


async def board(line: Line, people: World) -> str:
    await line.say(order="joined", find="")
    heard = await line.hear_for(*PAGES)
    return " ".join(page for piece, page in PAGES.items() if piece in heard)


async def room_changed(line: Line, people: World) -> str:
    await line.hear_all()
    await in_thread(lambda: change(people))
    return "yes" if await line.hear_for() else "no"


def change(people: World) -> None:
    """Change both rooms so that all of their pages show it."""
    rooms.set_timer(people.room, 5)
    for room in (people.room, people.closed[0]):
        ada = room.people.get(name__startswith="Ada")
        rename(ada, "Ada" if ada.name != "Ada" else "Ada Ada")


async def sandbox_changed(line: Line, people: World) -> str:
    await line.hear_all()
    await in_thread(lambda: store.execute(Sandbox.objects.get(pk=cluster(people)), {"kind": "settle"}))
    return "yes" if await line.hear_for() else "no"


async def caught_up(line: Line, people: World) -> str:
    """Change the sandbox as another web process does whose message was lost."""
    await line.say(open="toolbar")
    await line.hear()

    def turn() -> None:
        here = statements.place(cluster(people))
        length = here.position.length
        n = length if here.position.head < length else length - 1
        position = Position(Database().keys(cluster(people), [n])[n], n, length)
        statements.set_place(cluster(people), here.then(position))

    await in_thread(turn)
    await get_channel_layer().group_send(layers.group(cluster(people)), {"type": "catch.up.again"})
    return "yes" if "panel-toolbar" in await line.hear_for("panel-toolbar") else "no"


async def links_kept(line: Line, people: World) -> str:
    """Have a line check its link, which still opens the sandbox."""
    await get_channel_layer().group_send(layers.group(cluster(people)), layers.LINKS_CHANGED)
    return await ping(line, people)


async def room_links_changed(line: Line, people: World) -> str:
    """Change both rooms silently, then tell those who watch the sandbox that its links have changed."""
    await line.hear_all()
    for room in (people.room, people.closed[0]):
        await in_thread(lambda room=room: change_silently(room))
    await get_channel_layer().group_send(layers.group(cluster(people)), layers.LINKS_CHANGED)
    return "yes" if await line.hear_for() else "no"


async def room_caught_up(line: Line, people: World) -> str:
    """Change both rooms as another web process does whose message was lost."""
    await line.hear_all()
    for room in (people.room, people.closed[0]):
        await in_thread(lambda room=room: change_silently(room))
        await get_channel_layer().group_send(room_group(room.pk), {"type": "catch.up.again"})
    return "yes" if await line.hear_for() else "no"


def change_silently(room: Workshop) -> None:
    """Change a room so that all of its pages show it, and tell none."""
    Workshop.objects.filter(pk=room.pk).update(timer_ends=timezone.now() + timedelta(minutes=5))
    for person in room.people.filter(name__startswith="Ada"):
        person.name = "Ada" if person.name != "Ada" else "Ada Ada"
        person.save()


TELLS: Mapping[str, Mapping[str, Callable[[Line, World], Awaitable[str]]]] = {
    "sandboxes": {
        "view": view,
        "ping": ping,
        "sandbox.changed": changed,
        "sandbox.progress": progress,
        "catch.up.again": caught_up,
        "links.changed": links_kept,
    },
    "rooms": {
        "board": board,
        "ping": ping,
        "room.changed": room_changed,
        "sandbox.changed": sandbox_changed,
        "sandbox.progress": progress,
        "catch.up.again": room_caught_up,
        "links.changed": room_links_changed,
    },
}
"""Table → kind of message → what a line then says. Kinds with a dot come from the site, the others from browsers."""
LINKS = {"sandboxes": lambda people: of_sandbox(people, "cluster"), "rooms": lambda people: of_room(people, "cluster")}


def cluster(people: World) -> Any:
    return people.desks["cluster"].sandbox.pk


def in_thread(act: Callable[[], Any]) -> Awaitable[Any]:
    return database_sync_to_async(act)()


@pytest.mark.parametrize(("name", "row"), [(name, row) for name in TELLS for row in table(name).messages], ids=str)
async def test_what_a_live_line_tells(name: str, row: Row) -> None:
    people = await in_thread(world.create)
    links = LINKS[name](people)
    for who, cell in row.cells.items():
        await in_thread(lambda who=who: rooms.set_frozen(people.room, who in PAUSED))
        for link in links[who] if isinstance(links[who], list) else [links[who]]:
            line = await Line(filled(row.path, link), tells=cell not in ("no", "404")).open()
            told = await TELLS[name][row.what](line, people)
            assert (who, told if line.closed is None else "404") == (who, cell)
            assert line.closed in (None, NOT_FOUND, REFUSED)
            await line.socket.disconnect()


async def test_the_tables_have_every_live_line_and_every_message_of_the_site() -> None:
    """What the site sends by the channel layer has a method of the consumer, which no inherited one is."""
    consumers = [pattern.callback.consumer_class for pattern in websocket_urlpatterns if pattern.callback is not refuse]
    inherited = set(dir(AsyncWebsocketConsumer))
    for name, consumer in zip(TELLS, consumers, strict=True):
        known = {row.what.replace(".", "_") for row in table(name).messages if "." in row.what}
        own = {method for method in vars(consumer) if method not in inherited and takes_message(consumer, method)}
        assert known == own


def takes_message(consumer: type, name: str) -> bool:
    method = vars(consumer)[name]
    return inspect.iscoroutinefunction(method) and list(inspect.signature(method).parameters) == ["self", "message"]


def take_key_back(people: World) -> None:
    ada = people.desks["cluster"]
    rooms.allow_help(ada.row, ada.token, False)


def prune_it(people: World) -> None:
    Sandbox.objects.filter(pk=cluster(people)).update(last_used=world.LONG_AGO)
    assert prune(30) == 1


ENDS: Mapping[str, tuple[str, Callable[[World], str], Callable[[World], Any]]] = {
    "a key is taken back": ("sandboxes", lambda people: of_sandbox(people, "cluster")["helper"][0], take_key_back),
    "a sandbox is pruned": (
        "sandboxes",
        lambda people: of_sandbox(people, "cluster")["owner"][0],
        prune_it,
    ),
    "a participant is removed": (
        "rooms",
        lambda people: of_room(people, "cluster")["participant"],
        lambda people: remove(people.desks["cluster"].row),
    ),
    "a room is deleted": (
        "rooms",
        lambda people: of_room(people, "cluster")["projector"],
        lambda people: rooms.delete(people.room),
    ),
}
"""What ends a right: the table of its link, the link, and the act."""


@pytest.mark.parametrize("shows", ["faults", ""], ids=["a line that shows panels", "a line that shows nothing"])
@pytest.mark.parametrize("why", ENDS)
async def test_an_open_line_ends_with_its_right_by_itself(
    why: str, shows: str, caplog: pytest.LogCaptureFixture
) -> None:
    people = await in_thread(world.create)
    name, link, end = ENDS[why]
    line = await Line(f"/ws/{name[0].replace('r', 'w')}/{link(people)}/").open()
    if shows:
        await line.say(open=shows)
        assert await line.hear_for()
    await line.say(ping=1)
    await line.hear_for(PONG)
    await in_thread(lambda: end(people))
    heard = ""
    while line.closed is None:
        heard += await line.hear()
    assert (line.closed, "panel-" in heard) == (NOT_FOUND, False)
    assert [record for record in caplog.records if record.exc_info] == []
    await line.socket.disconnect()
