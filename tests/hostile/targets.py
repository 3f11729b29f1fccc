"""Targets of strangers' inputs: a sandbox and a room of theirs, and a place in the room in use."""

from __future__ import annotations

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlsplit

from scheduler_engine.testing import Builder, make_node, make_pod
from tests.hostile import oddities
from tests.hostile.room_pages import BEAMER, FORM, LATER, ROOM_CODE, ROW, THINKS
from tests.hostile.rooms import FILE, Room
from tests.hostile.routes import PARAMETER, TARGET, Route
from tests.hostile.rows import Rows
from tests.hostile.wire import Answer, Connection

INPUTS, IN_ROOM = 150, 100
"""Inputs to a sandbox and to a room before a new one replaces it: this keeps replays short."""
GONE = (404, 409, 410, 423)
NEW = "/api/v1/sandboxes"
URLENCODED = {"Content-Type": "application/x-www-form-urlencoded"}
FORMS = (b"lesson=three-queues", b"", b"scenario=three-zones-one-gpu-pool", b"")
JSON = {"Content-Type": "application/json"}
DEPLOYMENT = Builder("apps/v1", "Deployment", "app", "default").spec(
    replicas=2,
    selector={"matchLabels": {"app": "app"}},
    template={"metadata": {"labels": {"app": "app"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}},
)
CLUSTER = [
    *(
        make_node(f"n{number}").capacity(cpu="4", memory="8Gi", pods="20").zone("ab"[number % 2]).obj()
        for number in (1, 2, 3)
    ),
    *(make_pod(f"web-{number}").cpu("500m").obj() for number in range(4)),
    DEPLOYMENT.obj(),
]
COMMANDS = [{"kind": "apply", "manifests": CLUSTER}, {"kind": "pod"}, *[{"kind": "stage"}] * 3]


class Targets:
    """One stranger's targets. ``names`` maps the names in braces of an input to their present values."""

    def __init__(self, port: int, number: int, running: Callable[[], Room], patience: float, database: Rows) -> None:
        """``patience``: seconds until an unanswered request counts as hanging."""
        self.database = database
        self.http = Connection(port, f"127.0.30.{1 + number}", patience)
        self.running = running
        self.names: dict[str, str] = {}
        self.in_sandbox = self.in_room = self.sandbox_count = 0
        self.guest_of: Room | None = None

    def rows(self) -> dict[str, Sequence[Any]]:
        """Return the rows of the stranger's sandbox and room."""
        return self.database.of(*(self.names[whose].split("/")[0] for whose in ("edit", "trainer")))

    async def renew(self) -> None:
        await self._new_sandbox()
        await self._new_room()
        await self._join()

    async def renew_if_used(self) -> None:
        if self.in_sandbox >= INPUTS:
            await self._new_sandbox()
        if self.in_room >= IN_ROOM:
            await self._new_room()
        if self.guest_of is not self.running():
            await self._join()

    async def _new_sandbox(self) -> None:
        """Create a sandbox: by the API, from a scenario, or from a lesson, in turn."""
        self.in_sandbox, self.sandbox_count = 0, self.sandbox_count + 1
        if form := FORMS[self.sandbox_count % len(FORMS)]:
            path = (await self._done("POST", "/new/", form, URLENCODED)).headers["location"]
        else:
            body = json.dumps({"title": f"<{oddities.MARK}>", "commands": COMMANDS}).encode()
            path = urlsplit(json.loads((await self._done("POST", NEW, body, JSON)).text)["edit"]).path
        self.names["edit"] = _link(path)
        sandbox, token = self.names["edit"].split("/")
        self.names["watch"] = f"{sandbox}/{urlsafe_b64encode(sha256(f'view:{token}'.encode()).digest()[:24]).decode()}"
        dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}).encode()
        draft = await self._done("POST", "/import/", b"text=" + quote(dump).encode(), URLENCODED)
        self.names["draft"] = draft.text.strip().split("/")[-2]

    async def _new_room(self) -> None:
        self.in_room = 0
        answer = await self._done("POST", "/workshop/open/", f"text={quote(FILE)}".encode(), FORM)
        base = answer.headers["hx-redirect"]
        page = (await self._done("GET", base)).text
        beamer, code = BEAMER.search(page), ROOM_CODE.search(page)
        assert beamer, "the trainer's page lacks the projector's link"
        assert code, "the trainer's page lacks the code"
        self.names |= {"trainer": _link(base), "beamer": _link(beamer[1]), "code": code[1]}
        joined = await self._done("POST", "/join/", f"code={self.names['code']}&name=Ada".encode(), FORM)
        self.names["participant"] = _link(joined.headers["hx-redirect"])
        for path, body in (("ask", b"ask=Which?&choices=*a%0Ab"), ("take", b""), ("hand", b"on=1")):
            whose = "trainer" if path == "ask" else "participant"
            await self._done("POST", f"/w/{self.names[whose]}/{path}/", body, FORM)
        page = (await self._done("GET", base)).text
        self.names["person"] = ROW.findall(page)[0][0]
        self.names["swapped"] = f"{self.names['trainer'].split('/')[0]}/{self.names['edit'].split('/')[1]}"

    async def _join(self) -> None:
        """Join the room in use as a guest, whose acts are not recorded."""
        room = self.guest_of = self.running()
        joined = await self.http.post("/join/", code=room.code, name=f"Guest {self.http.address}")
        path = joined.headers.get("hx-redirect", "")
        self.names |= {"running-trainer": _link(room.base), "running-beamer": _link(room.beamer)}
        self.names["guest"] = _link(path) if path else self.names["swapped"]

    async def _done(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        answer = await self.http.ask(method, path, body, headers)
        while answer.status in LATER:
            await asyncio.sleep(THINKS)
            answer = await self.http.ask(method, path, body, headers)
        assert answer.status < 400, f"{method} {path[:20]} was answered {answer.status} {answer.text[:300]}"
        return answer

    def saw(self, item: Any, status: int) -> None:
        """Count the inputs. One answered as if its target were gone counts for ten."""
        used = 1 if status not in GONE else 10
        self.in_sandbox += used * ("{edit}" in item.path)
        self.in_room += used * ("{trainer}" in item.path or "{participant}" in item.path)

    def filled(self, path: str) -> str:
        for name, meant in self.names.items():
            path = path.replace(f"{{{name}}}", meant).replace(quote(f"{{{name}}}"), meant)
        return path

    def filled_body(self, body: bytes) -> bytes:
        for name in ("code", "person"):
            meant = self.names[name].encode()
            body = body.replace(f"{{{name}}}".encode(), meant).replace(f"%7B{name}%7D".encode(), meant)
        return body

    def pages(self, route: Route) -> Iterator[str]:
        """Yield the paths of pages of a route, with ``x`` for each further parameter."""
        whose = {"sandbox": ("edit",), "room": ("trainer", "participant", "beamer")}
        target = TARGET.search(route.path)
        for link in whose[target[1]] if target else ("",):
            path = route.path.replace(target[0], self.names[link]) if target else route.path
            if not route.socket:
                yield "/" + PARAMETER.sub("x", path)


def _link(path: str) -> str:
    """Return ``id/token`` of the path of a page of a room, or of a sandbox."""
    return "/".join(path.split("/")[2:4])
