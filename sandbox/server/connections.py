"""Daphne's connections with limits for input, unread output and time.

Twisted stops reading from a client that does not read, but not during a request. It then continues with the next
buffered request, so a client that pipelines requests can make it store any number of answers. Daphne's own ``send``
never waits.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from functools import cache
from io import BytesIO
from math import inf
from tempfile import TemporaryFile
from typing import Any
from typing import Protocol as Shape

from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from autobahn.websocket.types import ConnectionDeny
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.template.loader import render_to_string
from twisted.internet.protocol import Protocol, connectionDone
from twisted.web.http import HTTPChannel

from sandbox.limits import addresses
from sandbox.limits.quotas import quotas
from sandbox.limits.server import Limits, Places
from sandbox.runtime import measures
from sandbox.web.access import API, problem_as_json
from sandbox.words.say import say

SANDBOX = re.compile(r"^/ws/s/([0-9a-fA-F-]{36})/")
IMPORT = b"/import/"
IMPORT_SLACK = 64 * 1024
"""Bytes that a form adds to its file."""
WAITING_MESSAGES = 32
"""Messages of one browser that may wait. With more, its live line is not read until the site has taken all."""
KERNEL_BYTES = 128 * 1024
"""Unsent bytes of a connection in the kernel. Its default is up to 4 MB."""
RETRY_SECONDS = 5
REASONS = {
    408: "Request Timeout",
    413: "Content Too Large",
    431: "Request Header Fields Too Large",
    507: "Insufficient Storage",
}


@cache
def refusal(status: int, message: str, to_api: bool = False) -> bytes:
    """Return a complete HTTP response that ends the connection. Page or API shows ``message`` as any other error."""
    if to_api:
        kind, body = "application/json", problem_as_json(status, message).content
    else:
        kind, body = "text/html", render_to_string("fragments/error.html", {"message": message}).encode()
    retry = f"Retry-After: {RETRY_SECONDS}\r\n" if status == 503 else ""
    return (
        f"HTTP/1.1 {status} {REASONS.get(status, 'Service Unavailable')}\r\nContent-Type: {kind}; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\n{retry}Connection: close\r\n\r\n"
    ).encode() + body


class Host(Shape):
    """What connections need from the server. ``channels``: all open ones. ``stalled``: those with unread output."""

    limits: Limits
    proxies: int
    stopping: bool
    channels: set[Channel]
    stalled: set[Channel]
    connected: Places
    bodies: Places
    senders: Places
    sandboxes: Places

    def keep_unread_within_limit(self) -> None: ...


class Channel(HTTPChannel):
    """One connection. It stays in use as a live line: Twisted still calls it to pause and resume output."""

    maxHeaders = 100
    factory: Factory
    transport: Any

    def connectionMade(self) -> None:
        super().connectionMade()
        self.server = self.factory.server
        self.limits = self.server.limits
        self.server.channels.add(self)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            self.transport.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, KERNEL_BYTES)
        self.room = asyncio.Event()
        self.room.set()
        self.refused = False
        self.crowded = False
        self.answered: WebRequest | None = None
        self.live_line: LiveLine | None = None
        self.read_by = self.write_by = inf
        self.wait_for_request()

    # --- input ---

    def wait_for_request(self) -> None:
        self.begun = False
        self.read_by = time.monotonic() + self.limits.idle_seconds

    def dataReceived(self, data: bytes) -> None:
        if self.refused:
            return
        if not self.begun:
            self.begun = True
            self.read_by = time.monotonic() + self.limits.header_seconds
        super().dataReceived(data)

    def rawDataReceived(self, data: bytes) -> None:
        if not self.refused:
            super().rawDataReceived(data)

    def lineLengthExceeded(self, line: bytes) -> None:
        self.refuse(431, "headers", say("limits.headers"))

    def allHeadersReceived(self) -> None:
        if (self.length or 0) > self.most_bytes:
            self.refuse_body()
            return
        super().allHeadersReceived()
        longest = self.most_bytes if self.length is None else self.length
        self.read_by = time.monotonic() + self.limits.body_seconds + longest / self.limits.slowest_bytes_per_second

    def allContentReceived(self) -> None:
        if not self.refused:
            self.read_by = inf
            super().allContentReceived()

    @property
    def imports(self) -> bool:
        """True if the request uploads a file to import."""
        command: Any = self._command
        path: Any = self._path
        return command == b"POST" and path.partition(b"?")[0] == IMPORT

    @property
    def most_bytes(self) -> int:
        """Limit of the request's body."""
        return self.limits.import_bytes + IMPORT_SLACK if self.imports else self.limits.body_bytes

    def refuse_body(self) -> None:
        if self.imports:
            self.refuse(413, "body", say("limits.import-body", most=self.limits.import_bytes))
        else:
            self.refuse(413, "body", say("errors.request-too-large", most=quotas().manifest_bytes))

    def refuse(self, status: int, limit: str, message: str, path: str = "") -> None:
        """Send a refusal, ignore further input, and close the connection after the client had time to read.

        ``limit``: the name under which it is counted. ``path``: of the request, if it is complete.
        """
        if self.refused:
            return
        self.refused = True
        measures.REFUSED.labels(limit).inc()
        begun: Any = getattr(self, "_path", b"")  # Twisted deletes it once a request is complete.
        as_json = path.startswith(API) or begun.startswith(API.encode())
        self.transport.write(refusal(status, message, as_json))
        self.transport.resumeProducing()
        # If closed at once, a client that still sends would see a broken connection instead of the refusal.
        self.transport.loseWriteConnection()
        self.end_within(self.limits.linger_seconds)

    # --- output ---

    @property
    def unread(self) -> int:
        """Bytes of output that the client has not read."""
        return len(self.transport.dataBuffer) - self.transport.offset + self.transport._tempDataLen

    def pauseProducing(self) -> None:
        """Called by Twisted when more than 64 KiB of output wait."""
        super().pauseProducing()
        if self.room.is_set():
            self.room.clear()
            allowed = self.limits.write_seconds + self.unread / self.limits.slowest_bytes_per_second
            self.write_by = min(self.write_by, time.monotonic() + allowed)
            self.server.stalled.add(self)
            self.server.keep_unread_within_limit()
        self.read_or_wait()

    def resumeProducing(self) -> None:
        """Called by Twisted when all output is sent."""
        super().resumeProducing()
        if not self.transport.disconnecting:
            self.write_by = inf
        self.server.stalled.discard(self)
        self.room.set()
        if self.answered is not None:
            answered, self.answered = self.answered, None
            self.requestDone(answered)
        self.read_or_wait()

    def read_or_wait(self) -> None:
        if self.room.is_set() and not self.crowded:
            if self.live_line is not None or not self._handlingRequest:
                self.transport.resumeProducing()
        else:
            self.transport.pauseProducing()

    def requestDone(self, request: WebRequest) -> None:
        if self._waitingForTransport and self.persistent:
            # The next request must wait until this answer is sent.
            self.answered = request
            return
        self.wait_for_request()
        super().requestDone(request)
        if self.server.stopping:
            self.loseConnection()

    # --- the end ---

    def check(self, now: float) -> None:
        """End the connection if the client reads or sends too slowly."""
        if now > self.write_by:
            if not self.refused and not self.room.is_set():
                measures.REFUSED.labels("slow-reader").inc()
            self.transport.abortConnection()
        elif now > self.read_by and not self.begun:
            self.loseConnection()
        elif now > self.read_by:
            self.refuse(408, "slow-request", say("limits.slow"))

    def end_within(self, seconds: float) -> None:
        self.read_by = inf
        self.write_by = min(self.write_by, time.monotonic() + seconds)

    def loseConnection(self) -> None:
        self.end_within(self.limits.write_seconds + self.unread / self.limits.slowest_bytes_per_second)
        super().loseConnection()

    def connectionLost(self, reason: Any = connectionDone) -> None:
        if self.answered is not None:
            self.requests.remove(self.answered)
        super().connectionLost(reason)
        self.release()

    def release(self) -> None:
        """Release the places of a connection or live line that has ended."""
        self.server.stalled.discard(self)
        self.room.set()
        self.server.channels.discard(self)
        for request in self.requests:
            if request.application_queue is None:
                request.release_body()
        self.requests.clear()
        self.server.connected.give_back(addresses.client_network("", self.getPeer().host, 0))


class Request(WebRequest):
    """A request whose body counts towards the limits while it arrives.

    The body stays in memory, so a full disk does not matter. Only an import goes to an unnamed temporary file.
    """

    body_bytes = 0
    sender = ""

    def __init__(self, channel: Channel, queued: object) -> None:
        # Django parses forms. Twisted would parse them too, would block the loop, and crashes on some.
        super().__init__(channel, queued, parsePOSTFormSubmission=False)

    def gotLength(self, length: int | None) -> None:
        # Twisted closes it with the request.
        self.content = TemporaryFile() if self.channel.imports else BytesIO()  # noqa: SIM115
        forwarded = ",".join(self.requestHeaders.getRawHeaders("X-Forwarded-For", []))
        self.sender = addresses.client_network(forwarded, self.client.host, self.server.proxies)

    def handleContentChunk(self, data: bytes) -> None:
        if self.channel.refused:
            return
        if self.body_bytes + len(data) > self.channel.most_bytes:
            self.channel.refuse_body()
        elif not self.server.bodies.take(self.sender, len(data)):
            self.channel.refuse(503, "bodies", say("limits.bodies"))
        else:
            self.body_bytes += len(data)
            try:
                super().handleContentChunk(data)
            except OSError:
                self.channel.refuse(507, "disk", say("limits.disk-of-file"))

    def release_body(self) -> None:
        self.server.bodies.give_back(self.sender, self.body_bytes)
        self.body_bytes = 0

    def process(self) -> Any:
        # Daphne takes a path prefix from this header, which any client can send.
        self.requestHeaders.removeHeader("Daphne-Root-Path")
        return super().process()

    def handle_exception(self, exception: Exception) -> None:
        if self._response_started:
            self.transport.abortConnection()
        else:
            super().handle_exception(exception)


class LiveLine(WebSocketProtocol):
    """A websocket that counts towards the limits, and is read no faster than the site takes its messages."""

    channel: Channel
    places: tuple[str, str] | None = None

    def connectionMade(self) -> None:
        self.channel = self.transport.producer
        self.channel.live_line = self
        self.channel.read_by = inf
        super().connectionMade()

    def onConnect(self, request: Any) -> Any:
        server = self.factory.server_class
        if not request.headers.get("sec-websocket-protocol", "").isascii():
            raise ConnectionDeny(400, "Sec-WebSocket-Protocol must be ASCII.")
        forwarded = request.headers.get("x-forwarded-for", "")
        sender = addresses.client_network(forwarded, self.transport.getPeer().host, server.proxies)
        match = SANDBOX.match(request.path)
        sandbox = match[1].lower() if match else ""
        if server.stopping:
            raise ConnectionDeny(503, "The server is stopping.")
        if not server.senders.take(sender):
            measures.REFUSED.labels("sockets-per-address").inc()
            raise ConnectionDeny(503, "Too many live lines from this address.")
        if not server.sandboxes.take(sandbox):
            server.senders.give_back(sender)
            measures.REFUSED.labels("sockets-per-sandbox").inc()
            raise ConnectionDeny(503, "Too many live lines to this sandbox.")
        self.places = sender, sandbox
        return super().onConnect(request)

    def onMessageFrameBegin(self, length: int) -> None:
        super().onMessageFrameBegin(length)
        # Autobahn has only one limit for both directions.
        longest = self.channel.limits.message_bytes
        if self.message_data_total_length > longest and not self.failedByMe:
            self._max_message_size_exceeded(self.message_data_total_length, longest, "the message is too long")

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        super().onMessage(payload, isBinary)
        if self.application_queue.qsize() >= WAITING_MESSAGES:
            self.channel.crowded = True
            self.channel.read_or_wait()

    def message_taken(self) -> None:
        """Read from the browser again once the site has taken all its messages."""
        if self.channel.crowded and self.application_queue.empty():
            self.channel.crowded = False
            self.channel.read_or_wait()

    def serverSend(self, content: Any, binary: bool = False) -> None:
        # The site may not know yet that the line is closing.
        if self.state == self.STATE_OPEN:
            super().serverSend(content, binary)

    def serverClose(self, code: int | None = None) -> None:
        # Autobahn's sendClose refuses codes that RFC 6455 reserves for servers, such as 1001 and 1011.
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=1000 if code is None else code)

    def dropConnection(self, abort: bool = False) -> None:
        self.channel.end_within(self.channel.limits.linger_seconds)
        super().dropConnection(abort)

    def onClose(self, wasClean: bool, code: int, reason: str) -> None:
        # Without a handshake there is no application to notify. For a refused one Autobahn calls this twice, and the
        # second time Daphne may have dropped the connection already.
        if self.places is not None and self in self.factory.server_class.connections:
            super().onClose(wasClean, code, reason)

    def connectionLost(self, reason: Any) -> None:
        super().connectionLost(reason)
        if self.places is not None:
            sender, sandbox = self.places
            self.channel.server.senders.give_back(sender)
            self.channel.server.sandboxes.give_back(sandbox)
        self.channel.release()


class LiveLineFactory(WebSocketFactory):
    protocol = LiveLine
    server: Host

    def __init__(self, server: Host) -> None:
        super().__init__(server, server="")
        self.setProtocolOptions(perMessageCompressionAccept=self.accept_compression)

    def accept_compression(self, offers: list[Any]) -> PerMessageDeflateOfferAccept | None:
        """Accept compression: panels shrink to an eighth, for 64 KiB of memory per line.

        Decompressed messages of a browser have the same limit as plain ones.
        """
        for offer in offers:
            if isinstance(offer, PerMessageDeflateOffer):
                limit = self.server_class.limits.message_bytes
                return PerMessageDeflateOfferAccept(offer, window_bits=13, mem_level=6, max_message_size=limit)
        return None


class Refused(Protocol):
    """A connection over the limit: send a refusal and close it."""

    transport: Any

    def connectionMade(self) -> None:
        self.transport.write(refusal(503, say("limits.connections")))
        self.transport.loseConnection()


class Factory(HTTPFactory):
    """Creates a ``Channel`` for each connection within the limits."""

    protocol = Channel
    server: Host

    def __init__(self, server: Host) -> None:
        super().__init__(server)
        # ``Channel`` has its own time limits.
        self.timeOut = None

    def buildProtocol(self, addr: Any) -> Any:
        if not self.server.connected.take(addresses.client_network("", addr.host, 0)):
            measures.REFUSED.labels("connections").inc()
            return Refused()
        channel = super().buildProtocol(addr)
        channel.requestFactory = Request
        return channel
