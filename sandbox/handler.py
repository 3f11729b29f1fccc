"""Django's HTTP handler for a site whose views and middleware are all synchronous."""

from __future__ import annotations

from typing import IO, Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.http import HttpResponseBase
from django.urls import set_script_prefix

from sandbox.threads import EXECUTING, READING, in_thread

Message = dict[str, Any]


class OneThreadHandler(ASGIHandler):
    """A request goes through middleware and view in one thread.

    Django's own handler starts a thread for each request and changes between it and the event loop at every middleware
    that is not asynchronous: more than a millisecond each time.
    """

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            pool = READING if scope["method"] in ("GET", "HEAD") else EXECUTING
            for message in await in_thread(pool, self.answer, scope, body):
                await send(message)

    def answer(self, scope: Any, body: IO[bytes]) -> list[Message]:
        """The messages that answer the request."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response = refusal if request is None else self.get_response(request)
        assert response is not None, "create_request gives one of the two"
        try:
            return [_head(response), {"type": "http.response.body", "body": b"".join(response)}]
        finally:
            response.close()


def _head(response: HttpResponseBase) -> Message:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"Set-Cookie", cookie.OutputString().encode("ascii")) for cookie in response.cookies.values()]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}
