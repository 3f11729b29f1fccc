"""Watches of kubectl: a line for each change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.kube.reading import Request
from sandbox.kube.statuses import failure, no_resource
from sandbox.kube.watches import WATCHED, is_watch
from sandbox.limits import ratelimit
from sandbox.pool import engines
from sandbox.web.access import Access, open_access
from sandbox.web.following import Following, Part, Refusal
from sandbox.web.kube_errors import as_refused, check_rate, retry_after
from sandbox.worker import jobs


class KubeWatch(Following):
    path = WATCHED
    content_type = "application/json"
    space = " "
    """An empty line is an event without a type to the Python client."""

    @classmethod
    def asked_by(cls, scope: Mapping[str, Any]) -> bool:
        return super().asked_by(scope) and is_watch(scope["query_string"])

    def admit(self) -> Access:
        self.http.get_host()
        check_rate("address", ratelimit.client(self.http))
        access = open_access(self.sandbox_id, self.token)
        if access is None:
            raise no_resource()
        check_rate("look", f"{self.sandbox_id} {access.can_edit}")
        self.request = Request(self.named["path"], self.http.GET.dict(), self.http.headers.get("Accept", ""))
        return access

    def read(self, access: Access) -> Part:
        news = engines.read_with_turns(access.sandbox, jobs.kube_watch, self.request, self.seen)
        return Part(news.lines, news.seen, news.over)

    def refusal(self, error: Exception) -> Refusal:
        refused = as_refused(error)
        document = failure(refused.code, refused.message, refused.details, refused.reason)
        return Refusal(refused.code, json.dumps(document), retry_after(refused) or "")

    def longest(self) -> float:
        return min(self.request.number("timeoutSeconds") or super().longest(), super().longest())
