from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import OperationalError

from sandbox.asgi import application
from sandbox.changes import store
from sandbox.storage import statements
from sandbox.web.consumers import NOT_FOUND, TRY_AGAIN
from sandbox.worker import rendering
from tests.conftest import PATIENCE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

QUIET = 0.2
"""Seconds after which a silent socket counts as having nothing to send."""


@asynccontextmanager
async def browser(visitor: Any, **view: str | bool) -> AsyncIterator[WebsocketCommunicator]:
    """Return a connected socket that has sent its view."""
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost")]
    socket = WebsocketCommunicator(application, "/ws" + visitor.url(), headers=headers)
    connected, _ = await socket.connect(PATIENCE)
    assert connected
    if view:
        await socket.send_to(text_data=json.dumps(view))
    try:
        yield socket
    finally:
        await socket.disconnect()


async def panels(socket: WebsocketCommunicator) -> dict[str, str]:
    """Return the next message: panel id → HTML."""
    html = await socket.receive_from(timeout=PATIENCE)
    parts = re.split(r'(?=<section[^>]*id="panel-)', html)
    return {re.search(r'id="panel-([a-z]+)"', part)[1]: part for part in parts if "panel-" in part}  # type: ignore[index]


async def test_a_page_in_a_frame_without_an_origin_needs_the_token_as_any_other(visitor: Any) -> None:
    headers = [(b"origin", b"null"), (b"host", b"localhost")]
    for path, open_ in ((visitor.url(), True), (visitor.url().replace(visitor.token, "wrong"), False)):
        socket = WebsocketCommunicator(application, "/ws" + path, headers=headers)
        await socket.connect(PATIENCE)
        await socket.send_to(text_data=json.dumps({"open": "cluster"}))
        answer = await socket.receive_output(timeout=PATIENCE)
        assert answer["type"] == ("websocket.send" if open_ else "websocket.close")
        await socket.disconnect()


async def test_a_page_that_meets_a_lost_database_is_asked_to_connect_again(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*arguments: Any) -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr("sandbox.web.consumers.open_access", lost)
    async with browser(visitor) as socket:
        assert (await socket.receive_output(timeout=PATIENCE))["code"] == TRY_AGAIN


async def do(visitor: Any, command: dict[str, Any]) -> None:
    await database_sync_to_async(lambda: store.execute(visitor.row(), command))()


async def test_a_browser_gets_the_panels_it_has_open_and_always_the_status(visitor: Any) -> None:
    async with browser(visitor, open="cluster") as socket:
        assert set(await panels(socket)) == {"cluster", "status"}


async def test_every_browser_learns_of_a_command_and_gets_only_changes(visitor: Any, node: Any) -> None:
    async with browser(visitor, open="cluster preemption") as one, browser(visitor.watching(), open="cluster") as two:
        await panels(one)
        await panels(two)
        await do(visitor, node("blue-node"))
        for socket in (one, two):
            changed = await panels(socket)
            assert set(changed) == {"cluster", "status"}
            assert "blue-node" in changed["cluster"]


async def test_going_back_reaches_every_browser(visitor: Any, node: Any) -> None:
    await do(visitor, node("blue-node"))
    async with browser(visitor, open="cluster") as socket:
        assert "blue-node" in (await panels(socket))["cluster"]
        await database_sync_to_async(lambda: store.go_to(visitor.sandbox, lambda _: 0))()
        assert "blue-node" not in (await panels(socket))["cluster"]


async def test_the_decision_panel_of_the_stage_comes_with_it_to_followers(visitor: Any, node: Any, pod: Any) -> None:
    await do(visitor, node("a"))
    await do(visitor, pod("p"))
    async with browser(visitor, open="sentence", follow=True) as socket:
        shown = [set(await panels(socket)) - {"sentence", "status"}]
        for _ in range(4):
            await do(visitor, {"kind": "stage"})
            shown.append(set(await panels(socket)) - {"sentence", "status"})
    assert shown == [{"cache"}, set(), {"cache"}, {"filter"}, {"filter"}]


async def test_a_new_view_sends_only_the_panels_that_depend_on_it(visitor: Any, node: Any) -> None:
    await do(visitor, node("blue-node"))
    async with browser(visitor, open="cluster inspector") as socket:
        await panels(socket)
        await socket.send_to(text_data=json.dumps({"open": "cluster inspector", "node": "blue-node"}))
        assert set(await panels(socket)) == {"inspector"}


async def test_a_panel_that_is_opened_again_is_sent_again(visitor: Any) -> None:
    async with browser(visitor, open="cluster") as socket:
        await panels(socket)
        await socket.send_to(text_data=json.dumps({"open": ""}))
        await socket.send_to(text_data=json.dumps({"open": "cluster"}))
        assert set(await panels(socket)) == {"cluster"}


async def test_a_browser_that_connects_again_gets_everything(visitor: Any, node: Any) -> None:
    async with browser(visitor, open="cluster") as socket:
        await panels(socket)
    await do(visitor, node("blue-node"))
    async with browser(visitor, open="cluster") as socket:
        again = await panels(socket)
    assert set(again) == {"cluster", "status"}
    assert "blue-node" in again["cluster"]


async def test_a_browser_of_another_sandbox_hears_nothing(visitor: Any, node: Any) -> None:
    other, token = await database_sync_to_async(lambda: store.create("Other"))()
    async with browser(type(visitor)(other, token, visitor.client), open="cluster") as socket:
        await panels(socket)
        await do(visitor, node("blue-node"))
        assert await socket.receive_nothing(QUIET)


async def test_a_browser_that_has_sent_nothing_yet_gets_nothing(visitor: Any, node: Any) -> None:
    async with browser(visitor) as socket:
        await do(visitor, node("blue-node"))
        assert await socket.receive_nothing(QUIET)


@pytest.mark.parametrize("text", ["null", "no json", "[1]", '{"open": 5}', '{"open": "../x"}', '"' + "x" * 9000 + '"'])
async def test_nonsense_from_a_browser_does_no_harm(visitor: Any, text: str) -> None:
    async with browser(visitor, open="cluster") as socket:
        await panels(socket)
        await socket.send_to(text_data=text)
        await socket.send_to(text_data=json.dumps({"open": "inspector"}))
        assert "inspector" in await panels(socket)


async def test_a_wrong_token_gets_its_code_and_is_not_asked_to_come_again(visitor: Any) -> None:
    wrong = type(visitor)(visitor.sandbox, "wrong", visitor.client)
    async with browser(wrong) as socket:
        assert await socket.receive_output(timeout=PATIENCE) == {"type": "websocket.close", "code": NOT_FOUND}


async def test_ten_browsers_cost_one_rendering(visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    original = rendering.render_panel

    def counted(panel_id: str, *args: Any) -> str:
        rendered.append(panel_id)
        return original(panel_id, *args)

    monkeypatch.setattr(rendering, "render_panel", counted)
    sockets = [browser(visitor, open="cluster") for _ in range(10)]
    entered = [await socket.__aenter__() for socket in sockets]
    for socket in entered:
        await panels(socket)
    rendered.clear()
    await do(visitor, node("blue-node"))
    for socket in entered:
        await panels(socket)
    assert sorted(rendered) == ["cluster", "status"]
    for socket in sockets:
        await socket.__aexit__(None, None, None)


async def test_a_slow_browser_skips_states_and_ends_up_level(visitor: Any, node: Any) -> None:
    async with browser(visitor, open="cluster") as socket:
        await panels(socket)
        for name in ("n1", "n2", "n3", "n4", "n5"):
            await do(visitor, node(name))
        last = {}
        while not await socket.receive_nothing(QUIET):
            last |= await panels(socket)
        assert "n5" in last["cluster"]


async def test_late_news_do_not_restore_an_old_state(visitor: Any, node: Any) -> None:
    async with browser(visitor, open="cluster") as socket:
        await panels(socket)
        await do(visitor, node("a"))
        await panels(socket)
        old = await database_sync_to_async(statements.place)(visitor.sandbox.pk)
        await do(visitor, node("b"))
        assert "b" in (await panels(socket))["cluster"]
        await database_sync_to_async(store._publish)(visitor.sandbox.pk, old)
        assert await socket.receive_nothing(QUIET)


async def test_news_of_a_state_that_was_shown_already_leave_no_older_one_behind(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ({"open": "cluster inspector", "node": name} for name in ("n1", "n2"))
    async with browser(visitor, **first) as socket:
        await panels(socket)
        await do(visitor, node("n1"))
        await panels(socket)
        publish = store._publish
        with monkeypatch.context() as patch:
            patch.setattr(store, "_publish", lambda *args: None)
            await do(visitor, node("n2"))
        await socket.send_to(text_data=json.dumps(second))
        assert "n2" in (await panels(socket))["cluster"]
        await database_sync_to_async(publish)(visitor.sandbox.pk, await database_sync_to_async(present)(visitor))
        await socket.send_to(text_data=json.dumps(first))
        assert "cluster" not in await panels(socket)


def present(visitor: Any) -> Any:
    return statements.place(visitor.sandbox.pk)


async def test_a_browser_that_cannot_be_served_is_asked_to_come_again(
    visitor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "fragments", lambda *args: 1 / 0)
    async with browser(visitor, open="cluster") as socket:
        assert await socket.receive_output(timeout=PATIENCE) == {"type": "websocket.close", "code": TRY_AGAIN}


async def test_large_fragments_are_split_and_the_page_fetches_those_too_large_for_the_socket(
    visitor: Any, node: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"cluster": 700_000, "queues": 700_000, "inspector": 1_100_000}

    def large(panel_id: str, *args: Any) -> str:
        return f'<section id="panel-{panel_id}">{"x" * sizes.get(panel_id, 0)}</section>'

    monkeypatch.setattr(rendering, "render_panel", large)
    async with browser(visitor, open="cluster queues inspector", node="a&b") as socket:
        first, second = await panels(socket), await panels(socket)
    assert (set(first), set(second)) == ({"queues"}, {"cluster", "inspector", "status"})
    link = re.search(r'hx-get="([^"]+)"', second["inspector"])
    assert link is not None
    assert "node=a%26b" in link[1]
    assert (await database_sync_to_async(visitor.get)(link[1].replace("&amp;", "&"))).status_code == 200


async def test_after_every_burst_all_browsers_show_the_same_present(visitor: Any, node: Any, pod: Any) -> None:
    """Commands, steps back and view changes come at once, from several threads."""
    await do(visitor, node("a", "b"))
    await do(visitor, pod(*(f"p{number}" for number in range(30))))
    dice = random.Random(10)

    def burst(steps: list[str]) -> None:
        for step in steps:
            assert visitor.post(f"do/{step}/", seconds="1").status_code in (200, 204, 422, 429)

    async def last_shown(socket: WebsocketCommunicator, before: str, present: str) -> str:
        """Return the toolbar that the socket shows at the present, once no message is left."""
        while present not in before:
            before = (await panels(socket)).get("toolbar", before)
        while not await socket.receive_nothing(QUIET):
            before = (await panels(socket)).get("toolbar", before)
        return before

    sockets = [browser(visitor, open="toolbar") for _ in range(6)]
    entered = [await socket.__aenter__() for socket in sockets]
    shown = ["" for _ in entered]
    for _ in range(6):
        bursts = [dice.choices(["stage", "pod", "back", "forward", "advance"], k=4) for _ in range(3)]
        at_work = [asyncio.ensure_future(asyncio.to_thread(burst, steps)) for steps in bursts]
        for look in range(8):
            for socket in entered:
                await socket.send_to(text_data=json.dumps({"open": "toolbar", "pages": f"queues.activeQ:{look + 1}"}))
            await asyncio.sleep(0.01)
        await asyncio.gather(*at_work)
        for socket in entered:
            await socket.send_to(text_data=json.dumps({"open": "toolbar", "node": dice.choice("ab")}))
        row = await database_sync_to_async(visitor.row)()
        present = f'data-head="{row.head}" data-length="{row.length}"'
        shown = await asyncio.gather(*(last_shown(*one, present) for one in zip(entered, shown, strict=True)))
        assert [present in html for html in shown] == [True] * len(shown)
    for socket in sockets:
        await socket.__aexit__(None, None, None)
