"""How a simulation asks extenders: by transports that somebody gives it. The engine itself opens no connection.

The answers are kept in their order, so that a replay of the commands (to undo one, or to look back) asks nobody again.
Simulated extenders need no transport, and their answers are not kept: they follow from the configuration and the view.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from scheduler_engine.api.objects import Pod
from scheduler_engine.effort import Effort
from scheduler_engine.framework.extender_answers import ExtenderError
from scheduler_engine.framework.facts import Facts
from scheduler_engine.framework.node_info import NodeInfo

ANY = ""
"""The key of a transport for every extender that no other key names."""
TOO_LATE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
"""Go's words for a call whose time-out ends before the answer begins."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where and how an extender is reached: its ``urlPrefix``, the time-out of a call, and TLS as configured."""

    url: str
    timeout_ns: int
    enable_https: bool = False
    tls: Mapping[str, Any] = field(default_factory=dict)

    def verb_url(self, verb: str) -> str:
        """Return the URL of a verb."""
        return f"{self.url.rstrip('/')}/{verb}"


Transport = Callable[[Address, str, Mapping[str, Any]], Any]
"""(address, verb, arguments) → the answer, decoded from JSON. Raises ExtenderError with kube-scheduler's text."""


class View(NamedTuple):
    """What a call is about, beside its arguments: an extender of a cluster would watch the API server to know it.

    ``node``: name → the node as the snapshot has it, None if there is none. ``nodes``: their number. ``effort``
    counts what the call costs; None: it is only explained.
    """

    pod: Pod
    node: Callable[[str], NodeInfo | None]
    nodes: int
    effort: Effort | None = None


class Calls(Protocol):
    """The way to an extender."""

    def ask(self, address: Address, verb: str, arguments: Mapping[str, Any], view: View) -> Any:
        """Return the answer to a call, as decoded from JSON. Raises ExtenderError if it fails."""

    def explain_filter(self, view: View, node: str) -> Facts | None:
        """Return why it passes or refuses a node; None if it does not say."""

    def explain_score(self, view: View, node: str) -> Facts | None:
        """Return why it gives a node its score; None if it does not say."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to the ``question`` with this digest, or the text of the error."""

    question: str
    answer: Any
    error: str = ""


class ExtenderCalls:
    """``transports``: the ``urlPrefix`` of an extender, or ``ANY``, → its transport. ``answers`` so far; those from
    ``position`` on are the future that a replay repeats.
    """

    __slots__ = ("answers", "position", "transports")

    def __init__(
        self, transports: Mapping[str, Transport] | None = None, answers: Sequence[Answer] = (), position: int = 0
    ) -> None:
        self.transports = dict(transports or {})
        self.answers, self.position = list(answers), position

    def reaches(self, url: str) -> bool:
        """Return True if there is a transport for this ``urlPrefix``."""
        return url in self.transports or ANY in self.transports

    def rewound(self) -> ExtenderCalls:
        """Return a copy for a simulation that begins anew: it repeats the answers, and asks only after the last one."""
        return ExtenderCalls(self.transports, self.answers)

    def ask(self, address: Address, verb: str, arguments: Mapping[str, Any], view: View) -> Any:
        """Return the answer to a call. Raises ExtenderError if it fails. The transport knows no more than a server."""
        asked = json.dumps([address.url, verb, arguments], sort_keys=True)
        question = sha256(asked.encode()).hexdigest()
        if self.position >= len(self.answers) or self.answers[self.position].question != question:
            self.answers[self.position :] = [self._answer(question, address, verb, arguments)]
        answer = self.answers[self.position]
        self.position += 1
        if answer.error:
            raise ExtenderError(answer.error)
        return answer.answer

    def explain_filter(self, view: View, node: str) -> Facts | None:
        return None

    def explain_score(self, view: View, node: str) -> Facts | None:
        return None

    def _answer(self, question: str, address: Address, verb: str, arguments: Mapping[str, Any]) -> Answer:
        transport = self.transports.get(address.url) or self.transports[ANY]
        try:
            return Answer(question, transport(address, verb, arguments))
        except ExtenderError as problem:
            return Answer(question, None, str(problem))

    def __deepcopy__(self, memo: dict[int, object]) -> ExtenderCalls:
        copy = memo[id(self)] = ExtenderCalls(self.transports, self.answers, self.position)
        return copy


NO_CALLS = ExtenderCalls()
"""There is no transport, so no extender is asked."""
