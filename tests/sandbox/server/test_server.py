"""Strangers can use only a bounded amount of the real server's memory, connections and time."""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from sandbox.limits.addresses import client_network
from sandbox.limits.server import Limits, Places, from_environment
from tests.sandbox.served import (
    CLOSE,
    PING,
    UPGRADE,
    Served,
    frame,
    head,
    send_what_goes,
    served,
    static_files,
    to_the_end,
)
from tests.waiting import PATIENCE, until

LIMITS = {
    "SERVER_CONNECTIONS_PER_ADDRESS": "100",
    "SERVER_SOCKETS_PER_SANDBOX": "12",
    "SERVER_SOCKETS_PER_ADDRESS": "20",
    "SERVER_REQUESTS_PER_ADDRESS": "8",
    "SERVER_IDLE_SECONDS": "4",
    "SERVER_HEADER_SECONDS": "2",
    "SERVER_BODY_SECONDS": "2",
    "SERVER_SLOWEST_BYTES_PER_SECOND": "100000000",
    "SERVER_WRITE_SECONDS": "3",
    "SERVER_LINGER_SECONDS": "1",
    "SERVER_PING_SECONDS": "2",
    "SERVER_PONG_SECONDS": "2",
}
MOST_GROWTH = 150
"""MiB. Without limits the same requests take gigabytes."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("server"), **LIMITS) as running:
        yield running
        # Whatever the tests did to it, the server logs nothing and still serves.
        assert running.ask("GET", "/")[0] == 200
        assert "Traceback" not in (running.directory / "log").read_text()


def plotly() -> str:
    (file,) = static_files().glob("plotly/plotly.min.*.js")
    return f"/static/plotly/{file.name}"


def test_a_client_that_pipelines_requests_and_reads_nothing_is_cut_off(server: Served) -> None:
    before = server.rss
    requests = f"GET {plotly()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 500
    with server.connect() as connection:
        most = before
        while send_what_goes(connection, requests):
            most = max(most, server.rss)
    assert most - before < MOST_GROWTH


def test_pipelined_requests_of_a_client_that_reads_are_all_answered(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 29)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert to_the_end(connection).count(b"HTTP/1.1 200 ") == 30


def test_live_lines_that_change_their_view_and_read_nothing_are_cut_off(server: Served) -> None:
    base = server.sandbox(nodes=100)
    before = most = server.rss
    views = [json.dumps({"open": panels, "node": "node-1"}).encode() for panels in ("cluster inspector", "status")]
    with ExitStack() as stack:
        open_lines = []
        for _ in range(8):
            line, answer = server.live_line(base, buffer=4096)
            assert answer.startswith(b"HTTP/1.1 101 ")
            open_lines.append(stack.enter_context(line))
        while open_lines:
            for view in views:
                open_lines = [line for line in open_lines if send_what_goes(line, frame(view))]
            most = max(most, server.rss)
    assert most - before < MOST_GROWTH


def test_a_live_line_that_sends_pings_and_reads_nothing_is_cut_off(server: Served) -> None:
    line, _ = server.live_line(server.sandbox(), buffer=4096)
    before = most = server.rss
    with line:
        while send_what_goes(line, frame(b"x" * 100, PING) * 1000):
            most = max(most, server.rss)
    assert most - before < MOST_GROWTH


def test_an_abandoned_live_line_is_cut_off(server: Served) -> None:
    line, _ = server.live_line(server.sandbox())
    with line:
        # The server's pings come in, and are not answered.
        to_the_end(line)


def test_of_many_clients_that_do_not_read_those_that_hold_most_are_cut_off(tmp_path: Path) -> None:
    with ExitStack() as stack:
        small = stack.enter_context(served(tmp_path, SERVER_UNREAD_BYTES="1000000"))
        ask = f"GET {plotly()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        lines = [stack.enter_context(small.connect(buffer=4096)) for _ in range(40)]
        for line in lines:
            line.sendall(ask)
        ended = select.poll()
        for line in lines:
            ended.register(line, select.POLLHUP)
        # Long before they are too slow: with 64 KiB or more of each, there is room for 15 at most.
        until(lambda: len(ended.poll(0)) >= 25)


SLOW = {
    "a request line that does not end": b"GET / HTTP/1.1\r\nHost: local",
    "headers that do not end": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n",
    "a body that does not come": b"POST /new/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "a body in pieces that does not end": b"POST /new/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
}


@pytest.mark.parametrize("start", SLOW.values(), ids=SLOW)
def test_a_slow_request_is_ended_with_a_message(server: Served, start: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(start)
        answer = to_the_end(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"took too long to arrive" in answer


def test_a_client_that_sends_a_byte_now_and_then_is_ended_as_well(server: Served) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        connection.settimeout(0.2)
        answer = b""
        while not answer:
            connection.sendall(b"a")
            with suppress(TimeoutError):
                answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"], ids=["from the start", "later"])
def test_a_connection_on_which_nothing_is_asked_ends(server: Served, before: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(before)
        answer = to_the_end(connection)
    assert answer.count(b"HTTP/1.1 200 ") == bool(before)


TOO_LARGE = {
    "a length that is too large": (b"Content-Length: 300000000\r\n\r\n", b"", b"413"),
    "a length of many digits": (b"Content-Length: " + b"9" * 60 + b"\r\n\r\n", b"", b"413"),
    "pieces that become too large": (
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"10000\r\n" + b"x" * 0x10000 + b"\r\n",
        b"413",
    ),
    "a header that is too long": (b"X-A: ", b"a" * 1000, b"4"),
    "too many headers": (b"", b"X-A: b\r\n" * 100, b"400"),
}


@pytest.mark.parametrize(("start", "more", "status"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_an_oversized_request_is_refused_before_it_is_read(
    server: Served, start: bytes, more: bytes, status: bytes
) -> None:
    before = server.rss
    with server.connect() as connection:
        connection.sendall(b"POST /new/ HTTP/1.1\r\nHost: localhost\r\n" + start)
        sent = 0
        while more and sent < 300_000_000 and send_what_goes(connection, more):
            sent += len(more)
        answer = to_the_end(connection)
    # A client that continues to send may lose the connection before it reads the answer.
    assert answer.startswith(b"HTTP/1.1 " + status) or more
    assert server.rss - before < MOST_GROWTH


REFUSED_CALLS = {
    "a body that is too large": (b"POST /api/v1/sandboxes HTTP/1.1\r\nContent-Length: 300000000\r\n\r\n", 413),
    "a header that is too long": (b"GET /api/v1/sandboxes HTTP/1.1\r\nX-A: " + b"a" * 100_000, 431),
    "a body that does not arrive": (b"POST /api/v1/sandboxes HTTP/1.1\r\nContent-Length: 9\r\n\r\n", 408),
}


@pytest.mark.parametrize(("request_start", "status"), REFUSED_CALLS.values(), ids=REFUSED_CALLS)
def test_a_call_of_the_api_is_refused_by_json(server: Served, request_start: bytes, status: int) -> None:
    with server.connect() as connection:
        connection.sendall(request_start)
        headers, _, body = to_the_end(connection).partition(b"\r\n\r\n")
    assert headers.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"Content-Type: application/json" in headers
    problem = json.loads(body)
    assert (bool(problem.pop("message")), problem) == (True, {"errors": []})


BODIES = {
    "/import/": (40, b"422"),
    "/import/?a=b": (60, b"413"),
    "/import/x/open/": (3, b"413"),
    "/new/": (3, b"413"),
}


@pytest.mark.parametrize("path", BODIES)
def test_only_an_imported_file_may_be_larger_and_is_stored_on_disk(server: Served, path: str) -> None:
    (millions, status), before = BODIES[path], server.rss
    start = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.yaml"\r\n\r\nkind: ['
    end = b"\r\n--x--\r\n"
    length = len(start) + millions * 1_000_000 + len(end)
    form = "Content-Type: multipart/form-data; boundary=x"
    with server.connect() as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{form}\r\n".encode())
        connection.sendall(f"Connection: close\r\nContent-Length: {length}\r\n\r\n".encode())
        with suppress(ConnectionError):
            connection.sendall(start)
            for _ in range(millions):
                connection.sendall(b" " * 1_000_000)
            connection.sendall(end)
        answer = to_the_end(connection)
    # A client that continues to send may lose the connection before it reads the answer.
    assert answer.startswith(b"HTTP/1.1 " + status) or (not answer and status == b"413")
    assert server.rss - before < MOST_GROWTH


def test_a_body_that_is_just_not_too_large_reaches_the_site(server: Served) -> None:
    status, text, _ = server.ask("POST", f"{server.sandbox()}apply/", "manifests=" + "x" * 1_900_000)
    assert status == 413
    assert "1,048,576 bytes" in text


MESSAGES = {
    "one frame that says it is a gigabyte long": b"\x81\xff" + (1 << 30).to_bytes(8, "big") + bytes(4),
    "many frames that become one long message": frame(b"x" * 9000, final=False) + frame(b"x" * 9000, 0, False) * 4,
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_that_is_too_long_ends_the_live_line(server: Served, message: bytes) -> None:
    line, answer = server.live_line(server.sandbox())
    with line:
        assert answer.startswith(b"HTTP/1.1 101 ")
        line.sendall(message)
        to_the_end(line)


DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate\r\n"
COMPRESSED = 0x40


def deflated(payload: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH)
    data = bytearray(frame(packed.removesuffix(b"\x00\x00\xff\xff")))
    data[0] |= COMPRESSED
    return bytes(data)


def exactly(line: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        piece = line.recv(size - len(received))
        assert piece, "the live line ended"
        received += piece
    return received


def test_panels_are_compressed_for_clients_that_accept_it(server: Served) -> None:
    line, answer = server.live_line(server.sandbox(nodes=20), headers=DEFLATE)
    with line:
        assert b"permessage-deflate" in answer
        line.sendall(deflated(json.dumps({"open": "cluster status"}).encode()))
        kind, size = exactly(line, 2)
        assert kind & COMPRESSED
        (length,) = struct.unpack(">H", exactly(line, 2)) if size == 126 else (size,)
        html = zlib.decompressobj(-15).decompress(exactly(line, length) + b"\x00\x00\xff\xff").decode()
        assert 'id="panel-cluster"' in html
        assert "node-19" in html
        assert length < len(html) / 4


def test_a_message_that_is_small_and_becomes_large_ends_the_live_line(server: Served) -> None:
    line, _ = server.live_line(server.sandbox(), headers=DEFLATE)
    before = server.rss
    with line:
        bomb = deflated(b" " * (8 << 20))
        assert len(bomb) < 9000
        line.sendall(bomb)
        to_the_end(line)
    assert server.rss < before + 8


def test_connections_of_one_address_have_an_end_and_leave_others_their_place(server: Served) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(server.connect()) for _ in range(100)]
        refused = to_the_end(stack.enter_context(server.connect()))
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: " in refused
        assert b"Too many connections. Wait a moment and try again." in refused
        other = stack.enter_context(server.connect("127.0.0.2"))
        other.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert head(other).startswith(b"HTTP/1.1 200 ")
        assert len(held) == 100
    assert until(lambda: server.ask("GET", "/")[0] == 200), "their connections are free again"


SOCKETS: dict[str, tuple[int, Callable[[Served], Callable[[], str]]]] = {
    "of one sandbox": (12, lambda server: (lambda base: lambda: base)(server.sandbox())),
    "of one address": (20, lambda server: server.sandbox),
}


@pytest.mark.parametrize(("most", "bases"), SOCKETS.values(), ids=SOCKETS)
def test_live_lines_have_an_end(server: Served, most: int, bases: Callable[[Served], Callable[[], str]]) -> None:
    base = bases(server)
    with ExitStack() as stack:

        def opened() -> bytes:
            line, answer = server.live_line(base(), "127.0.0.3")
            stack.enter_context(line)
            return answer[9:12]

        answers = [opened() for _ in range(most + 1)]
    assert answers == [b"101"] * most + [b"503"]
    line, _ = server.live_line(server.sandbox(), "127.0.0.3")
    line.close()


def test_a_live_line_of_an_unknown_protocol_is_refused(server: Served) -> None:
    with server.connect() as connection:
        odd = f"GET /ws/s/x/y/ HTTP/1.1\r\nHost: localhost\r\n{UPGRADE}Sec-WebSocket-Protocol: \xe9\r\n\r\n"
        connection.sendall(odd.encode("latin-1"))
        assert to_the_end(connection).startswith(b"HTTP/1.1 400 ")


def test_requests_that_wait_have_an_end(tmp_path: Path) -> None:
    def ask(connection: socket.socket) -> bytes:
        connection.sendall(f"GET {base} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return to_the_end(connection)

    with ExitStack() as stack, ThreadPoolExecutor(60) as threads:
        # The time limits of the other tests would end connections whose threads get no time on a busy machine.
        patient = stack.enter_context(served(tmp_path, SERVER_REQUESTS_PER_ADDRESS="8"))
        base = patient.sandbox(nodes=100)
        answers = list(threads.map(ask, [stack.enter_context(patient.connect()) for _ in range(60)]))
    statuses = {answer[9:12] for answer in answers}
    # On a busy machine, the page of a sandbox that is still opening may come first.
    assert {b"503"} < statuses <= {b"200", b"202", b"503"}
    assert all(b"too busy" in answer and b"Retry-After" in answer for answer in answers if answer[9:12] == b"503")


def test_told_to_stop_it_sends_browsers_away_and_ends_well(tmp_path: Path) -> None:
    with served(tmp_path) as stopped:
        line, _ = stopped.live_line(stopped.sandbox())
        idle = stopped.connect()
        with line, idle:
            stopped.process.send_signal(signal.SIGTERM)
            # Code 1001, going away: the page connects again.
            assert to_the_end(line).endswith(bytes([0x80 | CLOSE, 2]) + (1001).to_bytes(2, "big"))
            assert to_the_end(idle) == b""
        assert stopped.process.wait(PATIENCE) == 0
        assert "Traceback" not in (tmp_path / "log").read_text()


def test_behind_a_proxy_live_lines_count_for_the_address_that_it_names() -> None:
    assert client_network("1.2.3.4, 5.6.7.8", "10.0.0.1", 1) == "5.6.7.8"
    assert client_network("1.2.3.4, 5.6.7.8", "10.0.0.1", 2) == "1.2.3.4"
    assert client_network("5.6.7.8", "10.0.0.1", 2) == "10.0.0.1"
    assert client_network("5.6.7.8", "10.0.0.1", 0) == "10.0.0.1"


HOLDERS = {
    "10.1.2.3": "10.1.2.3",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:db8:1:2::": "2001:db8:1:2::/64",
    "::ffff:10.1.2.3": "10.1.2.3",
    "unknown": "unknown",
}


@pytest.mark.parametrize(("address", "counts_for"), HOLDERS.items(), ids=HOLDERS)
def test_an_address_counts_for_its_owner(address: str, counts_for: str) -> None:
    assert client_network("", address, 0) == counts_for


def test_places_end_for_one_and_for_all_and_come_back() -> None:
    places = Places(in_all=5, of_one=3)
    assert [places.take("a"), places.take("a", 2), places.take("a")] == [True, True, False]
    assert [places.take("b", 2), places.take("c")] == [True, False]
    places.give_back("a", 3)
    assert places.take("c", 3)
    assert set(places.by_holder) == {"b", "c"}


def test_limits_come_from_the_environment() -> None:
    limits = from_environment({"SERVER_CONNECTIONS": "10", "SERVER_IDLE_SECONDS": "1.5"})
    assert (limits.connections, limits.idle_seconds) == (10, 1.5)


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", ""])
def test_limits_that_are_none_are_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"SERVER_CONNECTIONS must be a positive number, not {text!r}.")):
        from_environment({"SERVER_CONNECTIONS": text})


def test_a_process_that_may_open_few_files_takes_fewer_connections() -> None:
    limits = Limits().within(1024)
    assert (limits.connections, limits.connections_per_address) == (768, 576)
