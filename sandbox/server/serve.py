"""Daphne's server with the limits of ``Limits``, and the way it stops.

After SIGTERM it is no longer ready, but serves for ``drain_seconds``, so that proxies notice. Then it refuses new
connections, closes live lines, and ends when running requests are answered. SIGINT skips the first part, and a second
signal ends everything at once.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from functools import partial
from math import inf
from socket import socket
from typing import Any

from daphne.server import Server as DaphneServer
from daphne.server import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import LoopingCall
from twisted.logger import LogEvent, LogLevel, STDLibLogObserver, globalLogBeginner

from sandbox.limits.server import Limits, Places
from sandbox.runtime import measures
from sandbox.server.connections import Channel, Factory, LiveLine, LiveLineFactory, Request
from sandbox.server.probes import PATHS
from sandbox.web.streams import sandbox_of
from sandbox.words.say import say

CHECK_SECONDS = 0.5
CHORE_SECONDS = 600
LARGEST_MESSAGE_OUT = 1024 * 1024
GOING_AWAY = 1001

_to_logging = STDLibLogObserver("twisted")


def _log_errors(event: LogEvent) -> None:
    """Log only errors: Twisted and Autobahn write a line for each odd client."""
    if event["log_level"] >= LogLevel.error:
        _to_logging(event)


class Server(DaphneServer):
    """Serves ``application`` on a listening socket.

    ``proxies``: number of proxies in front that write X-Forwarded-For. Connections then come from the proxy, so they
    have no limit per address.
    """

    def __init__(self, application: Any, limits: Limits, proxies: int = 0) -> None:
        super().__init__(
            application,
            endpoints=["a socket that is already bound"],
            request_buffer_size=limits.body_bytes,
            ping_interval=limits.ping_seconds,
            server_name="",
        )
        self.limits, self.proxies = limits, proxies
        self.connections: dict[Any, dict[str, Any]] = {}
        self.draining = False
        """A signal came: the server is not ready for more."""
        self.stopping = False
        self.hurry = asyncio.Event()
        """Set by the second signal."""
        self.channels: set[Channel] = set()
        self.stalled: set[Channel] = set()
        """Channels with more than 64 KiB that the client has not read."""
        self.connected = Places(limits.connections, limits.connections if proxies else limits.connections_per_address)
        self.requests = Places(limits.requests, limits.requests_per_address)
        self.bodies = Places(limits.bodies_bytes, limits.bodies_bytes_per_address)
        self.senders = Places(inf, limits.sockets_per_address)
        self.sandboxes = Places(inf, limits.sockets_per_sandbox)
        self.streams: set[asyncio.Future[Any]] = set()
        """Requests whose answers go on. They have places as live lines do."""

    def serve(
        self, listener: socket, begin: Callable[[], None], ready: Callable[[], None], chore: Callable[[], None]
    ) -> None:
        """Serve until SIGTERM or SIGINT. Takes over ``listener``.

        ``begin`` is called in the loop before the first request, ``ready`` when requests can be answered. ``chore`` is
        called now and every ten minutes, and must return at once.
        """
        globalLogBeginner.beginLoggingTo([_log_errors], redirectStandardIO=False, discardBuffer=True)  # type: ignore[list-item]
        self.ws_factory = LiveLineFactory(self)
        self.ws_factory.setProtocolOptions(
            autoPingTimeout=self.limits.pong_seconds,
            allowNullOrigin=True,
            openHandshakeTimeout=self.websocket_handshake_timeout,
            maxMessagePayloadSize=LARGEST_MESSAGE_OUT,
            maxFramePayloadSize=self.limits.message_bytes,
        )
        asyncio.set_event_loop(reactor._asyncioEventloop)
        self.port = reactor.adoptStreamPort(listener.fileno(), listener.family, Factory(self))
        listener.close()
        for seconds, check in ((1, self.application_checker), (2, self.timeout_checker)):
            reactor.callLater(seconds, check)
        LoopingCall(self.check_channels).start(CHECK_SECONDS)
        reactor.callLater(0, begin)
        # In the loop: what it deletes, it tells the live lines.
        reactor.callLater(0, LoopingCall(chore).start, CHORE_SECONDS)
        reactor.addSystemEventTrigger("before", "shutdown", self.kill_all_applications)
        reactor.callWhenRunning(ready)
        for number, drain in ((signal.SIGTERM, self.limits.drain_seconds), (signal.SIGINT, 0.0)):
            reactor._asyncioEventloop.add_signal_handler(number, self.stop_after, drain)
        reactor.run(installSignalHandlers=False)

    def stop_after(self, seconds: float) -> None:
        """Stop in ``seconds``. The second call stops at once, and lets nothing finish."""
        if not self.draining:
            self.draining = True
            self.drained = reactor.callLater(seconds, reactor.stop)
            return
        self.hurry.set()
        if self.drained.active():
            self.drained.reset(0)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> asyncio.Queue[Any] | None:
        """Start the site on a request or live line, and return its queue of messages. None: it was refused."""
        http = isinstance(protocol, Request)
        followed = sandbox_of(scope)
        # A probe must learn that a busy process is alive.
        counted = http and not followed and scope["path"] not in PATHS
        if counted and (self.stopping or not self.requests.take(protocol.sender)):
            protocol.channel.refuse(503, "requests", say("limits.requests"), scope["path"])
            return None
        if followed and not self._take_line(protocol.sender, followed):
            protocol.channel.refuse(503, "sockets", say("limits.requests"), scope["path"])
            return None
        queue: asyncio.Queue[Any] = asyncio.Queue()

        async def receive() -> Any:
            message = await queue.get()
            if not http:
                protocol.message_taken()
            return message

        def done(_: asyncio.Future[Any]) -> None:
            if counted:
                self.requests.give_back(protocol.sender)
            if followed:
                self.streams.discard(task)
                self.senders.give_back(protocol.sender)
                self.sandboxes.give_back(followed)
            if http:
                protocol.release_body()

        scope["asgi"] = {"version": "3.0"}
        task = asyncio.ensure_future(self.application(scope, receive, partial(self.handle_reply, protocol)))
        self.connections[protocol]["application_instance"] = task
        if followed:
            self.streams.add(task)
        task.add_done_callback(done)
        return queue

    def _take_line(self, sender: str, sandbox: str) -> bool:
        """Take the places of a live line to a sandbox. Return True if there were some."""
        if self.stopping or not self.senders.take(sender):
            return False
        if self.sandboxes.take(sandbox):
            return True
        self.senders.give_back(sender)
        return False

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message, and wait until the client has read enough for more."""
        await super().handle_reply(protocol, message)
        if message["type"] == "websocket.send" or message.get("more_body"):
            channel: Channel | None = getattr(protocol, "channel", None)
            if channel is not None:
                await channel.room.wait()

    def check_channels(self) -> None:
        now = time.monotonic()
        for channel in list(self.channels):
            channel.check(now)

    def keep_unread_within_limit(self) -> None:
        """Drop the connections with the most unread output until the rest is within the limit."""
        unread = {channel: channel.unread for channel in self.stalled}
        over = sum(unread.values()) - self.limits.unread_bytes
        for channel in sorted(unread, key=unread.__getitem__, reverse=True):
            if over <= 0:
                return
            over -= unread[channel]
            self.stalled.discard(channel)
            measures.REFUSED.labels("unread").inc()
            channel.transport.abortConnection()

    def kill_all_applications(self) -> Deferred[None]:
        return Deferred.fromFuture(asyncio.ensure_future(self.end()))

    async def end(self) -> None:
        """Refuse new connections, close live lines, and give running requests ``stop_seconds`` to finish."""
        self.stopping = True
        self.port.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, LiveLine):
                protocol.serverClose(GOING_AWAY)
        for stream in list(self.streams):
            stream.cancel()
        for channel in list(self.channels):
            if not channel.requests:
                channel.loseConnection()
        tasks = [task for connection in self.connections.values() if (task := connection.get("application_instance"))]
        if tasks:
            finished, hurry = asyncio.ensure_future(asyncio.wait(tasks)), asyncio.ensure_future(self.hurry.wait())
            await asyncio.wait([finished, hurry], timeout=self.limits.stop_seconds, return_when=asyncio.FIRST_COMPLETED)
            for task in (*tasks, finished, hurry):
                task.cancel()
