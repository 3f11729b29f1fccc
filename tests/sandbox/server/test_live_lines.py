"""A live line that Daphne has dropped can still close."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from sandbox.server.connections import LiveLine


@pytest.mark.parametrize("known", [True, False], ids=["known", "forgotten"])
def test_the_end_of_a_refused_handshake_is_reported_once(known: bool) -> None:
    line: Any = LiveLine()
    host = Mock(connections={line: {}} if known else {})
    line.places, line.server, line.client_addr = ("127.0.0.1", ""), host, None
    line.path, line.muted, line.request = b"/ws/", True, Mock()
    line.factory = SimpleNamespace(server_class=host)
    line.onClose(False, 1006, "")
    assert host.protocol_disconnected.called == known
