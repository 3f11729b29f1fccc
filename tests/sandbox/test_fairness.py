"""Whose request is worked on next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandbox.fairness import Turn, Turns


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def played(story: Callable[[Turns], Awaitable[Any]], of_one: int = 100) -> Any:
    async def main() -> Any:
        return await story(Turns(of_one, Clock()))

    return asyncio.run(main())


async def begins(turns: Turns, address: str) -> asyncio.Task[Turn]:
    task = asyncio.ensure_future(turns.begin(address))
    await asyncio.sleep(0)
    return task


async def use(turns: Turns, address: str, seconds: float) -> None:
    turns.end(await turns.begin(address), seconds)


def test_one_address_alone_computes_one_request_after_the_other() -> None:
    async def story(turns: Turns) -> None:
        await use(turns, "a", 1.0)
        first, second = await begins(turns, "a"), await begins(turns, "a")
        assert (first.done(), second.done()) == (True, False)
        turns.end(first.result(), 0.1)
        await asyncio.sleep(0)
        assert second.done()

    played(story)


def test_whoever_has_used_little_begins_at_once_although_another_address_computes() -> None:
    async def story(turns: Turns) -> None:
        await use(turns, "greedy", 5.0)
        await use(turns, "modest", 0.05)
        [await begins(turns, "greedy") for _ in range(8)]
        assert (await begins(turns, "modest")).done()
        assert (await begins(turns, "new")).done()

    played(story)


def test_of_fifty_greedy_ones_none_keeps_a_modest_one_waiting() -> None:
    async def story(turns: Turns) -> None:
        for number in range(50):
            await use(turns, f"greedy-{number}", 0.2)
        await use(turns, "modest", 0.1)
        waiting = [await begins(turns, f"greedy-{number}") for number in range(50) for _ in range(8)]
        assert sum(task.done() for task in waiting) == 1
        assert (await begins(turns, "modest")).done()
        for task in waiting:
            task.cancel()

    played(story)


def test_those_who_wait_go_on_in_order_of_what_they_have_used() -> None:
    async def story(turns: Turns) -> list[str]:
        for address, seconds in (("much", 1.0), ("more", 1.1), ("most", 1.2)):
            await use(turns, address, seconds)
        order: list[str] = []
        tasks = [(address, await begins(turns, address)) for address in ("most", "more", "much")]
        while len(order) < 3:
            address, task = next((address, task) for address, task in tasks if task.done() and address not in order)
            order.append(address)
            turns.end(task.result(), 0.0)
            await asyncio.sleep(0)
        return order

    assert played(story) == ["most", "much", "more"], "the first one came while nobody else was there"


def test_a_second_of_waiting_makes_up_for_a_second_of_use() -> None:
    async def story(turns: Turns) -> None:
        for address, seconds in (("first", 1.0), ("busy", 0.9), ("other", 0.8)):
            await use(turns, address, seconds)
        first, busy = await begins(turns, "first"), await begins(turns, "busy")
        assert (first.done(), busy.done()) == (True, False)
        turns.clock.now = 0.5  # type: ignore[attr-defined]
        other = await begins(turns, "other")
        turns.end(first.result(), 0.1)
        # Modest requests came lately: the next one begins after a pause.
        await asyncio.wait([busy, other], return_when=asyncio.FIRST_COMPLETED)
        assert (busy.done(), other.done()) == (True, False), "it has waited for half a second longer"

    played(story)


def test_who_waits_for_an_engine_lets_another_one_compute() -> None:
    async def story(turns: Turns) -> None:
        await use(turns, "a", 1.0)
        first, second = await begins(turns, "a"), await begins(turns, "a")
        turns.give_way(first.result())
        await asyncio.sleep(0)
        assert second.done()
        turns.end(first.result(), 0.1)
        turns.end(second.result(), 0.1)
        assert (turns.computing, dict(turns.at_work)) == (0, {})

    played(story)


def test_an_address_has_so_many_requests_at_work_and_the_others_wait() -> None:
    async def story(turns: Turns) -> None:
        tasks = [await begins(turns, "a") for _ in range(5)]
        assert [task.done() for task in tasks] == [True, True, True, False, False]
        assert (await begins(turns, "b")).done()
        turns.end(tasks[0].result(), 0.0)
        await asyncio.sleep(0)
        assert tasks[3].done()

    played(story, of_one=3)


@pytest.mark.parametrize("begun", [False, True])
def test_who_goes_away_leaves_no_place_taken(begun: bool) -> None:
    async def story(turns: Turns) -> None:
        await use(turns, "a", 1.0)
        first, second = await begins(turns, "a"), await begins(turns, "a")
        if begun:
            turns.end(first.result(), 0.0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        if not begun:
            turns.end(first.result(), 0.0)
        assert (turns.computing, dict(turns.at_work), turns.waiting) == (0, {}, {})

    played(story)


def test_what_was_used_fades() -> None:
    async def story(turns: Turns) -> None:
        await use(turns, "a", 1.0)
        turns.clock.now = 10.0  # type: ignore[attr-defined]
        assert 0.36 < turns.used["a"].now(10.0) < 0.37
        turns.clock.now = 200.0  # type: ignore[attr-defined]
        turns._forget(200.0)
        assert turns.used == {}

    played(story)
