"""Django's HTTP handler for a site whose views and middleware are all synchronous."""

from __future__ import annotations

import asyncio
import os
import re
import time
from typing import IO, Any

from django.core.exceptions import BadRequest, RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import HttpResponse, HttpResponseBase
from django.urls import ResolverMatch, set_script_prefix
from django.utils.http import parse_header_parameters

from sandbox.limits.fairness import Turn, in_turn, kind_of, turns
from sandbox.limits.ratelimit import client_of
from sandbox.runtime import logs
from sandbox.runtime.callers import Caller, working_for
from sandbox.runtime.threads import EXECUTING, READING, in_thread
from sandbox.storage import failures

Message = dict[str, Any]
UTF_8 = ("utf-8", "utf8")
AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Request(ASGIRequest):
    """A request that ignores the headers for the length and the charset of its body.

    The length is that of the received body, the charset is UTF-8.
    """

    def __init__(self, scope: Any, body: IO[bytes]) -> None:
        super().__init__(scope, body)
        self.META["CONTENT_LENGTH"] = str(body.seek(0, os.SEEK_END))
        body.seek(0)

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Set them as Django does, but ignore the charset: Python knows some, such as ``hex``, that are none."""
        try:
            self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except ValueError:
            self.content_type, self.content_params = "", {}

    def _load_post_and_files(self) -> None:
        """Read the form. Raise ``BadRequest`` for a body that is not one, and what Django raises."""
        try:
            if (self.content_params or {}).get("charset", UTF_8[0]).lower() not in UTF_8:
                raise BadRequest("the body of a request must be UTF-8")
            super()._load_post_and_files()
        except (LookupError, ValueError) as error:
            # The headers of a part may name any charset.
            self._mark_post_parse_error()  # type: ignore[attr-defined]
            raise BadRequest("the body of a request could not be read") from error


class OneThreadHandler(ASGIHandler):
    """Run the middleware and the view of a request in one thread.

    Django's own handler starts a thread for each request, and switches between it and the event loop at every
    synchronous middleware. Each switch takes more than a millisecond.
    """

    request_class = Request

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        except OSError as error:
            for message in _answer(HttpResponse(f"{failures.no_room(error)}\n", "text/plain; charset=utf-8", 507)):
                await send(message)
            return
        # Daphne takes the root path from a header of the client, but links are rendered once for all clients.
        scope = scope | {"root_path": ""}
        with body:
            pool = READING if scope["method"] in ("GET", "HEAD") else EXECUTING
            turn, seconds = await turns.begin(client_of(scope), kind_of(scope["method"], scope["path"])), 0.0
            caller = Caller()
            # A change goes on without its client: the log will have it.
            leaving = asyncio.create_task(_watch(receive, caller)) if pool is READING else None
            try:
                messages, seconds = await in_thread(
                    pool, self.answer_in_turn, turn, caller, asyncio.get_running_loop(), scope, body
                )
            finally:
                if leaving is not None:
                    leaving.cancel()
                turns.end(turn, seconds)
            for message in messages:
                await send(message)

    def answer_in_turn(
        self, turn: Turn, caller: Caller, loop: asyncio.AbstractEventLoop, scope: Any, body: IO[bytes]
    ) -> tuple[list[Message], float]:
        """Return the messages that answer the request, and the CPU time in seconds."""
        begun = time.thread_time()
        with in_turn(turn, loop), working_for(caller):
            return self.answer(scope, body), time.thread_time() - begun

    def answer(self, scope: Any, body: IO[bytes]) -> list[Message]:
        """Return the messages that answer the request."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        facts: logs.Facts | None = scope.get("facts")
        with logs.about(facts):
            request, refusal = self.create_request(scope, body)
            response = refusal if request is None else self.get_response(request)
            assert response is not None, "create_request returns one of the two"
            if facts is not None and request is not None and request.resolver_match is not None:
                _note_route(facts, request.resolver_match)
            try:
                return _answer(response)
            finally:
                response.close()


def _note_route(facts: logs.Facts, match: ResolverMatch) -> None:
    """Note the name of the route. Of its parameters, only an id: others are tokens and texts of visitors."""
    facts.route = match.view_name or match.route
    ids = (str(match.kwargs.get(name, "")) for name in ("sandbox_id", "room_id"))
    facts.sandbox = next(filter(AN_ID.fullmatch, ids), "")


async def _watch(receive: Any, caller: Caller) -> None:
    """Wait until the client closes the connection, and stop what works for it alone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    caller.leave()


def _answer(response: HttpResponseBase) -> list[Message]:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"Set-Cookie", cookie.OutputString().encode("ascii")) for cookie in response.cookies.values()]
    head = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    return [head, {"type": "http.response.body", "body": b"".join(response)}]
