"""Threads for blocking work, and calls from them back to the serving event loop.

The threads stay, each with its database connection. So a request costs a switch of threads, not a new connection.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connections

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# Many threads, because they mostly wait for a worker or for the database.
# Separate pools, so that long commands cannot take all threads from pages, nor pages from live lines.
EXECUTING = ThreadPoolExecutor(160, thread_name_prefix="executing")
READING = ThreadPoolExecutor(96, thread_name_prefix="reading")
LIVE_LINES = ThreadPoolExecutor(64, thread_name_prefix="live-lines")
BACKGROUND = ThreadPoolExecutor(1, thread_name_prefix="background")
_served = threading.local()


async def in_thread(pool: ThreadPoolExecutor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call ``function`` in a thread of ``pool``, and return its result."""
    loop = asyncio.get_running_loop()

    def work() -> T:
        _served.loop = loop
        close_old_connections()
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await loop.run_in_executor(pool, work)


def in_background(pool: ThreadPoolExecutor, function: Callable[[], None]) -> None:
    """Call ``function`` in a thread of ``pool`` without waiting. Its errors are logged.

    If it is called in the serving loop, ``tell`` sends to that loop.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        loop = None

    def work() -> None:
        _served.loop = loop
        try:
            function()
        finally:
            connections.close_all()

    pool.submit(work).add_done_callback(_log_failure)


def tell(function: Callable[P, Coroutine[Any, Any, None]], *args: P.args, **kwargs: P.kwargs) -> None:
    """Run a coroutine on the serving loop without waiting for it. Without a server, run it to its end."""
    _tell(getattr(_served, "loop", None), function, *args, **kwargs)


def teller() -> Callable[..., None]:
    """Return ``tell`` bound to this thread's loop, for use in other threads."""
    return partial(_tell, getattr(_served, "loop", None))


def _tell(
    loop: asyncio.AbstractEventLoop | None,
    function: Callable[P, Coroutine[Any, Any, None]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    if loop is None or not loop.is_running():
        async_to_sync(function)(*args, **kwargs)
        return
    asyncio.run_coroutine_threadsafe(function(*args, **kwargs), loop).add_done_callback(_log_failure)


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.error("background work failed", exc_info=error)
