"""Whose request is processed next."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox.limits import fairness
from sandbox.limits.fairness import ANYBODY, INSIDE, MAKING, OVERHEAD_SECONDS, Turn, Turns, kind_of


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the stall limit: on a busy machine a test may pause longer than a stalled request."""
    monkeypatch.setattr(fairness, "STALLED_SECONDS", 600.0)


def played(story: Callable[[Turns], Awaitable[Any]], of_one: int = 100) -> Any:
    async def main() -> Any:
        return await story(Turns(of_one, Clock()))

    return asyncio.run(main())


async def begins(turns: Turns, address: str, kind: str = ANYBODY) -> asyncio.Task[Turn]:
    task = asyncio.ensure_future(turns.begin(address, kind))
    await asyncio.sleep(0)
    return task


async def ends(turns: Turns, task: asyncio.Task[Turn], seconds: float = 0.01) -> None:
    """End a request that took this many seconds, and let paused ones continue."""
    turns.end(task.result(), seconds)
    await pauses()


async def pauses() -> None:
    await asyncio.sleep(3 * OVERHEAD_SECONDS)


async def crowd(turns: Turns, size: int, seconds: float = 0.01) -> list[asyncio.Task[Turn]]:
    """Return requests of this many addresses. All have used their share, and ask for more."""
    first = [await begins(turns, f"greedy-{number}") for number in range(size)]
    more = [await begins(turns, f"greedy-{number}") for number in range(size)]
    for task in first:
        turns.end(task.result(), seconds)
    await pauses()
    return more


def at_work(tasks: list[asyncio.Task[Turn]]) -> int:
    return sum(task.done() for task in tasks)


def test_one_address_alone_computes_one_request_after_the_other() -> None:
    async def story(turns: Turns) -> None:
        first, second = await begins(turns, "a"), await begins(turns, "a")
        assert (first.done(), second.done()) == (True, False)
        await ends(turns, first)
        assert second.done()
        await ends(turns, second)

    played(story)


def test_a_newcomer_begins_at_once_although_another_address_computes() -> None:
    async def story(turns: Turns) -> None:
        tasks = [await begins(turns, "greedy") for _ in range(8)]
        assert at_work(tasks) == 1
        assert (await begins(turns, "new")).done()
        for task in tasks:
            task.cancel()

    played(story)


def test_fifty_greedy_visitors_do_not_keep_a_modest_one_waiting() -> None:
    """The modest one asks for half as much as they do, repeatedly."""

    async def story(turns: Turns) -> None:
        waiting = await crowd(turns, 50)
        done: list[int] = []
        for _ in range(5):
            modest = await begins(turns, "modest")
            assert modest.done()
            await ends(turns, modest)
            for _ in range(100):
                task = next(task for task in waiting if task.done())
                waiting.remove(task)
                waiting.append(await begins(turns, task.result().asker[1]))
                turns.end(task.result(), 0.01)
                await pauses()
                done.append(int(task.result().asker[1].split("-")[1]))
            assert at_work(waiting) == 1
        assert [done.count(number) for number in range(50)] == [10] * 50
        for task in waiting:
            task.cancel()

    played(story)


def test_waiting_requests_continue_in_order_of_their_past_use() -> None:
    async def story(turns: Turns) -> list[str]:
        first = [await begins(turns, address) for address in ("most", "much", "more")]
        tasks = {address: await begins(turns, address) for address in ("most", "much", "more")}
        for task, seconds in zip(first, (0.3, 0.1, 0.2), strict=True):
            turns.end(task.result(), seconds)
        order = []
        while tasks:
            await pauses()
            address = next(address for address, task in tasks.items() if task.done())
            order.append(address)
            turns.end(tasks.pop(address).result(), 0.0)
        return order

    assert played(story) == ["much", "more", "most"]


def test_a_heavy_user_has_a_turn_when_the_others_have_used_as_much() -> None:
    async def story(turns: Turns) -> int:
        heavy, light = await begins(turns, "heavy"), await begins(turns, "light")
        again = await begins(turns, "heavy")
        await ends(turns, heavy, 0.1)
        for number in range(100):
            following = await begins(turns, "light")
            await ends(turns, light, 0.01)
            if again.done():
                return number
            light = following
        return -1

    assert 8 <= played(story) <= 10


def test_after_a_rest_all_are_even() -> None:
    async def story(turns: Turns) -> None:
        await ends(turns, await begins(turns, "a"), 5.0)
        assert (await begins(turns, "b")).done()
        assert (await begins(turns, "a")).done(), "past use delays no request"
        assert turns.addresses[ANYBODY].ends.keys() == {"a", "b"}

    played(story)


def test_a_request_that_waits_for_an_engine_lets_another_one_compute() -> None:
    async def story(turns: Turns) -> None:
        first, second, third = [await begins(turns, "a") for _ in range(3)]
        turns.give_way(first.result())
        assert (await second, third.done())[1] is False
        turns.give_way(second.result())
        await third
        for task in (first, second, third):
            await ends(turns, task)
        assert (turns.computing, turns.modest, dict(turns.at_work)) == (0, 0, {})

    played(story)


def test_work_in_a_sandbox_need_not_wait_for_page_fetches() -> None:
    """The request for the worker's page costs more than any of the many pages that others fetch."""

    async def story(turns: Turns) -> None:
        waiting = await crowd(turns, 50)
        for _ in range(5):
            works = await begins(turns, "works", INSIDE)
            assert works.done()
            beside = await begins(turns, "works", INSIDE)
            assert not beside.done(), "one at a time"
            beside.cancel()
            await ends(turns, works, 0.1)
            for _ in range(20):
                task = next(task for task in waiting if task.done())
                waiting[waiting.index(task)] = await begins(turns, task.result().asker[1])
                await ends(turns, task)
        for task in waiting:
            task.cancel()

    played(story)


def test_endless_work_in_a_sandbox_gets_half_beside_page_fetches() -> None:
    async def story(turns: Turns) -> Counter[str]:
        tasks = [*await crowd(turns, 5), await begins(turns, "works", INSIDE)]
        counts: Counter[str] = Counter()
        for _ in range(200):
            task = next(task for task in tasks if task.done())
            kind, address = task.result().asker
            tasks[tasks.index(task)] = await begins(turns, address, kind)
            await ends(turns, task)
            counts[kind] += 1
        for task in tasks:
            task.cancel()
        return counts

    counts = played(story)
    assert 90 <= counts[INSIDE] <= 110, counts


def test_pages_are_created_one_at_a_time_and_all_else_continues() -> None:
    async def story(turns: Turns) -> None:
        first = [await begins(turns, "a", kind) for kind in (MAKING, INSIDE)]
        makes, next_one, steps = [await begins(turns, "a", kind) for kind in (MAKING, MAKING, INSIDE)]
        await ends(turns, first[0])
        await ends(turns, first[1], 0.02)
        assert (makes.done(), next_one.done(), steps.done()) == (True, False, False)
        turns.give_way(makes.result())  # It waits for an engine.
        await pauses()
        assert (next_one.done(), steps.done()) == (False, True)
        await ends(turns, steps)
        await ends(turns, makes)
        assert next_one.done()
        await ends(turns, next_one)
        assert (turns.computing, turns.making, turns.modest) == (0, 0, 0)

    played(story)


def test_a_slow_page_keeps_no_other_request_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "STALLED_SECONDS", 0.01)

    async def story(turns: Turns) -> None:
        first = await begins(turns, "a", MAKING)
        makes, next_one = [await begins(turns, "a", MAKING) for _ in range(2)]
        await ends(turns, first)
        await makes
        await next_one  # which would never begin
        for task in (makes, next_one):
            await ends(turns, task)
        assert (turns.computing, turns.making) == (0, 0)

    played(story)


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/", ANYBODY),
        ("GET", "/api/v1/openapi.json", ANYBODY),
        ("POST", "/new/", MAKING),
        ("POST", "/api/v1/sandboxes", MAKING),
        ("POST", "/api/v1/rooms", MAKING),
        ("POST", "/api/v1/rooms/0f8fad5b-d9cb-469f-a165-70867728950e/token/answer", INSIDE),
        ("POST", "/api/v1/sandboxes/0f8fad5b-d9cb-469f-a165-70867728950e/token/commands", INSIDE),
        ("GET", "/s/0f8fad5b-d9cb-469f-a165-70867728950e/token/", INSIDE),
        ("POST", "/w/0f8fad5b-d9cb-469f-a165-70867728950e/token/answer/", INSIDE),
    ],
)
def test_kinds_of_requests(method: str, path: str, kind: str) -> None:
    assert kind_of(method, path) == kind


def test_an_address_has_a_limit_of_running_requests_and_the_others_wait() -> None:
    async def story(turns: Turns) -> None:
        tasks = [await begins(turns, "a") for _ in range(5)]
        for task in tasks[:3]:
            turns.give_way(await task)
        assert [task.done() for task in tasks] == [True, True, True, False, False]
        assert (await begins(turns, "b")).done()
        await ends(turns, tasks[0])
        assert not tasks[3].done(), "another one computes"
        tasks[4].cancel()

    played(story, of_one=3)


@pytest.mark.parametrize("begun", [False, True])
def test_a_cancelled_request_frees_its_place(begun: bool) -> None:
    async def story(turns: Turns) -> None:
        first, second = await begins(turns, "a"), await begins(turns, "a")
        if begun:
            turns.end(first.result(), 0.0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        if not begun:
            turns.end(first.result(), 0.0)
        await pauses()
        assert (turns.computing, turns.modest, dict(turns.at_work), turns.waiting) == (0, 0, {}, {})

    played(story)


def test_a_request_cancelled_while_another_ends_does_no_harm() -> None:
    """A cancelled task is notified a little later: its turn may come in between."""

    async def story(turns: Turns) -> None:
        first, gone, third = [await begins(turns, "a") for _ in range(3)]
        gone.cancel()
        await ends(turns, first)
        assert gone.cancelled()
        assert third.done()
        await ends(turns, third)
        assert_is_empty(turns)

    played(story)


def test_many_addresses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "ROOM", 100)

    async def story(turns: Turns) -> None:
        stays = await begins(turns, "stays")
        for number in range(1000):
            turns.clock.now += 0.1  # type: ignore[attr-defined]
            turns.end(await turns.begin(f"new-{number}"), 0.01)
            assert len(turns.addresses[ANYBODY].ends) <= 101
            assert len(turns.modest_at) <= 21
        await ends(turns, stays)

    played(story)


def assert_is_empty(turns: Turns) -> None:
    assert (turns.computing, turns.making, turns.modest, dict(turns.at_work), turns.waiting) == (0, 0, 0, {}, {})


def assert_counts_hold(turns: Turns, running: list[Turn], pausing: int) -> None:
    """Check the counts. ``pausing``: places that requests may still hold just after they gave them up, at most."""
    assert turns.modest == sum(turn.modest for turn in running)
    for number, held in ((turns.computing, "computes"), (turns.making, "makes")):
        assert 0 <= number - sum(getattr(turn, held) for turn in running) <= pausing
    assert max(turns.computing, turns.making) <= fairness.AT_ONCE
    assert turns.at_work == Counter(turn.asker for turn in running)
    assert all(0 < number <= turns.of_one for number in turns.at_work.values())
    assert all(turns.waiting.values())


@pytest.mark.parametrize("addresses", [1, 3, 40], ids=["one address", "three addresses", "forty addresses"])
@pytest.mark.parametrize("seed", range(4))
def test_no_history_leaves_a_place_in_use_or_a_request_waiting(
    seed: int, addresses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fairness, "STALLED_SECONDS", 0.003)
    chance = random.Random(seed)

    async def story(turns: Turns) -> None:
        tasks: list[asyncio.Task[Turn]] = []
        ended = 0
        for _ in range(600):
            turns.clock.now += chance.choice((0.0, 0.001, 0.1))  # type: ignore[attr-defined]
            running = [task for task in tasks if task.done() and not task.cancelled()]
            act = chance.choice(("ask", "ask", "end", "end", "give way", "leave", "sleep"))
            if act == "ask" and len(tasks) < 60:
                address, kind = f"a-{chance.randrange(addresses)}", chance.choice((INSIDE, MAKING, ANYBODY))
                tasks.append(asyncio.ensure_future(turns.begin(address, kind)))
            elif act == "end" and running:
                tasks.remove(task := chance.choice(running))
                turns.end(task.result(), chance.choice((0.0, 0.002, 0.05, 2.0)))
                ended += 1
            elif act == "give way" and running:
                for _ in range(chance.randrange(1, 3)):
                    turns.give_way(chance.choice(running).result())
            elif act == "leave" and (waits := [task for task in tasks if not task.done()]):
                tasks.remove(task := chance.choice(waits))
                task.cancel()
            elif act == "sleep":
                await asyncio.sleep(chance.choice((0, 0, 0.001)))
            if chance.random() < 0.5:
                for _ in range(20):  # A turn may just have begun, or ended: its task runs a moment later.
                    await asyncio.sleep(0)
                    running = [task for task in tasks if task.done() and not task.cancelled()]
                    if len(running) == sum(turns.at_work.values()):
                        break
                assert_counts_hold(turns, [task.result() for task in running], 1)
        while tasks:
            await asyncio.sleep(0.001)
            done = [task for task in tasks if task.done()]
            assert done or turns.computing or turns.making
            for task in done:
                tasks.remove(task)
                turns.end(task.result(), 0.01)
        await asyncio.sleep(fairness.LONGEST_PAUSE + 0.01)
        assert_is_empty(turns)
        assert not any(shares.ends for shares in (turns.kinds, *turns.addresses.values()))

    played(story, of_one=5)
