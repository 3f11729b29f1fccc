"""Events of the API: the state of a sandbox now and after each change, as server-sent events."""

from __future__ import annotations

import json
import re

from sandbox.kube.watches import SANDBOX
from sandbox.limits import ratelimit
from sandbox.web.access import TOO_OFTEN, Access, problem_data
from sandbox.web.api.access import access_to
from sandbox.web.api.states import event_of
from sandbox.web.errors import RateExceeded, refusal_of
from sandbox.web.following import Following, Part, Refusal
from sandbox.words.say import say


class EventStream(Following):
    path = re.compile(rf"/api/v1/sandboxes/{SANDBOX}/events")
    content_type = "text/event-stream"
    space = ":\n\n"

    def admit(self) -> Access:
        self.http.get_host()
        if seconds := ratelimit.wait("address", ratelimit.client(self.http)):
            raise RateExceeded(say(TOO_OFTEN["address"]), seconds)
        return access_to(self.http, self.sandbox_id, self.token, False)

    def read(self, access: Access) -> Part:
        revision, text = event_of(access)
        return Part([] if revision == self.seen else [text], revision)

    def refusal(self, error: Exception) -> Refusal:
        refusal = refusal_of(error)
        body = problem_data(refusal.message, refusal.errors)
        return Refusal(refusal.status, json.dumps(body), "" if refusal.wait is None else str(refusal.wait))
