"""Draw hostile requests for the routes of the site: the same ones for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus

from sandbox.panels import PANELS
from tests.hostile import documented, oddities, of_kube
from tests.hostile.likely import DOCUMENTS, HEADERS, LIKELY, LONGEST_MESSAGE, PART_HEADERS, PLACES, QUERIES, TYPES
from tests.hostile.oddities import as_json, changed, command, document, text
from tests.hostile.routes import METHODS, TARGET, Form, Route
from tests.hostile.routes import PARAMETER as PLACE
from tests.hostile.wire import TEXT

FORM, JSON, PARTS = "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=B"
HEAVIER = {
    "/kube/<path:path>": 8,
    "/commands": 8,
    "/manifests": 3,
    "api/v1/sandboxes": 3,
    "/apply/": 3,
    "/check/": 2,
    "/configure/": 2,
}
"""End of a path → its weight; 1 for paths not listed."""
PARAMETER = re.compile(r"<(?:\w+:)?\w+>")
PARAMETER_NAME = re.compile(r"(\w+)>")
WHERE = {
    "sandbox": (("edit", 12), ("watch", 4), ("swapped", 1), ("nowhere", 1)),
    "room": (("trainer", 8), ("participant", 6), ("beamer", 2), ("running", 3), ("swapped", 1), ("nowhere", 1)),
}
"""Whose link a path has, and its weight. ``running``: the room in use, by a link that cannot do harm."""
RUNNING = ("guest", "running-beamer")
KUBE = "/kube/<path:path>"
"""End of the route of the API server of a sandbox."""
DOCUMENTED = 0.6
"""Probability that a call of the API is drawn from its document."""
BRACES = r"{\1}"
"""How the document writes a parameter."""


@dataclass(frozen=True, slots=True)
class Input:
    """What is sent. Names in braces in ``path`` and ``body`` stand for what exists only once a server runs."""

    number: int
    route: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""
    messages: tuple[tuple[int, bytes], ...] = ()
    """Kinds and payloads of frames, for a websocket."""
    socket: bool = False
    shows: bool = False
    """True if a workbench must answer with fragments."""

    @property
    def documented(self) -> str:
        """The path in the document of the API, if it has one."""
        return PLACE.sub(BRACES, f"/{self.route}")


SITES_OWN: tuple[dict[str, Any], ...] = (
    {"type": "sandbox.changed", "revision": 10**9, "expected_at": 0, "position": [0, 0, 0]},
    {"type": "sandbox.progress", "text": f"<{oddities.MARK}>"},
    {"type": "room.changed"},
    {"type": "websocket.disconnect", "code": 1000},
    {"type": "websocket.close"},
    {"ping": None, "type": "ping"},
)
"""Messages that only the site itself sends, and only inside. From a browser they are views without a meaning."""
LENGTHS = (LONGEST_MESSAGE - 11, LONGEST_MESSAGE, 30_000, 60_000)
"""Characters of a text in a message: about as many as a workbench reads, and more than the server takes."""
HUGE = 3 << 20
"""Bytes of a body that is too large for a form."""

Known = Mapping[Route, Sequence[tuple[Sequence[str], Form]]]
"""Route → parameters and fields of its forms on the site's pages."""


class Drawer:
    """Draw the inputs of one seed."""

    def __init__(
        self, seed: int, routes: Sequence[Route], forms: Known, methods: Mapping[Route, Sequence[str]]
    ) -> None:
        """``methods``: what a route accepts, if the site was asked; preferred to the usual ones."""
        self.seed, self.routes, self.forms, self.methods = seed, routes, forms, methods
        self.weights = [_weight(route) for route in routes]

    def input(self, number: int) -> Input:
        drawn = random.Random(f"input {number} of {self.seed}")
        # Every route has its turn before random choice.
        whole = number < len(self.routes)
        route = self.routes[number] if whole else drawn.choices(self.routes, self.weights)[0]
        return _of_socket(drawn, number, route) if route.socket else self._of_request(drawn, number, route)

    def _of_request(self, drawn: random.Random, number: int, route: Route) -> Input:
        if route.path.endswith(KUBE):
            method, path, headers, body = of_kube.request(drawn)
            base = f"/s/{_link(drawn, 'sandbox', method)}/"
            return Input(number, route.path, method, base + path, headers, body)
        if f"/{PLACE.sub(BRACES, route.path)}" in documented.operations() and drawn.random() < DOCUMENTED:
            return self._as_documented(drawn, number, route)
        usual = self.methods.get(route, route.usual)
        method = drawn.choice(usual) if drawn.random() < 0.93 else drawn.choice(METHODS)
        forms = self.forms.get(route)
        parameters, form = drawn.choice(forms) if forms and drawn.random() < 0.7 else ((), {})
        path = "/" + _filled(drawn, route, parameters, method)
        fields = _fields(drawn, route, form)
        headers: dict[str, str] = {}
        body = b""
        if method in ("GET", "HEAD") or drawn.random() < 0.1:
            path += f"?{_encoded(fields)}" if drawn.random() < 0.8 else drawn.choice(QUERIES)
        if method not in ("GET", "HEAD"):
            headers["Content-Type"], body = _body(drawn, route, fields)
        if drawn.random() < 0.15:
            headers |= drawn.choice(HEADERS)
        if drawn.random() < 0.05:
            headers["Content-Type"] = drawn.choice(TYPES)
        if method == "POST" and drawn.random() < 0.3:
            headers.setdefault("HX-Request", "true")
        return Input(number, route.path, method, path, headers, body)

    def _as_documented(self, drawn: random.Random, number: int, route: Route) -> Input:
        """Return a call that schemathesis drew from the document of the API, with somebody's link."""
        call = documented.draw(self.seed, number, drawn, f"/{PLACE.sub(BRACES, route.path)}")
        link = _link(drawn, "room" if "room_id" in route.path else "sandbox", call.method)
        return Input(number, route.path, call.method, call.path.replace(documented.LINK, link), call.headers, call.body)


def _weight(route: Route) -> int:
    return next((weight for end, weight in HEAVIER.items() if route.path.endswith(end)), 1)


def _filled(drawn: random.Random, route: Route, parameters: Sequence[str], method: str) -> str:
    """Return the route's path for somebody's link. ``parameters``: those of a form of the site, link included."""
    path = route.path
    if target := TARGET.search(path):
        parameters = parameters[2:]
        path = path.replace(target[0], _link(drawn, target[1], method))
    left = list(parameters)

    def parameter(match: re.Match[str]) -> str:
        name = PARAMETER_NAME.findall(match[0])[0]
        if name == "key" and drawn.random() < 0.5:
            return "{draft}"
        likely = left.pop(0) if left else text(drawn)
        if likely not in parameters and drawn.random() < 0.8:
            known = PLACES.get(name, ())
            likely = drawn.choice(known) if known and drawn.random() < 0.8 else _word(drawn, route.words)
        return quote(likely, safe="", errors="surrogatepass") or "%00"

    return PARAMETER.sub(parameter, path)


def _link(drawn: random.Random, target: str, method: str) -> str:
    """Return somebody's link of a sandbox or a room, as a name in braces, or one that leads nowhere."""
    whose, weights = zip(*WHERE[target], strict=True)
    chosen = drawn.choices(whose, weights)[0]
    if chosen == "running":
        chosen = drawn.choice((*RUNNING, "running-trainer") if method in ("GET", "HEAD") else RUNNING)
    odd = quote(text(drawn), safe="", errors="surrogatepass")
    return f"{odd}/{odd}" if chosen == "nowhere" else f"{{{chosen}}}"


def _word(drawn: random.Random, words: Sequence[str]) -> str:
    """Prefer the first words, which are the view's own."""
    return words[int(len(words) * drawn.random() ** 2)] if words else text(drawn)


def _fields(drawn: random.Random, route: Route, form: Form) -> list[tuple[str, str]]:
    """Return the fields of a form of the site with a few of them changed, or some that the view could know."""
    names = list(form) if form and drawn.random() < 0.8 else [_name(drawn, route) for _ in range(drawn.randrange(7))]
    values = {name: form.get(name, "") or _likely(drawn, route, name) for name in names}
    for name in drawn.sample(names, min(len(names), drawn.choice((0, 0, 1, 1, 1, 1, 2, 3)))):
        values[name] = _odd(drawn, name)
    pairs = list(values.items())
    kind = drawn.random()
    if kind < 0.03:
        pairs += [(text(drawn), text(drawn))]
    elif kind < 0.06 and pairs:
        pairs += [(drawn.choice(pairs)[0], text(drawn))] * drawn.choice((1, 2, 500))
    elif kind < 0.07:
        pairs += [(f"field-{place}", "") for place in range(1500)]
    elif kind < 0.1 and pairs:
        pairs.pop(drawn.randrange(len(pairs)))
    return pairs


def _name(drawn: random.Random, route: Route) -> str:
    if route.fields and drawn.random() < 0.9:
        return drawn.choice(route.fields)
    return drawn.choice(list(LIKELY)) if drawn.random() < 0.3 else _word(drawn, route.words)


def _likely(drawn: random.Random, route: Route, name: str) -> str:
    if name in DOCUMENTS[:5] and drawn.random() < 0.7:
        return drawn.choice((as_json(drawn.choice(oddities.manifests())), drawn.choice(oddities.files())))
    return drawn.choice(LIKELY[name]) if name in LIKELY else _word(drawn, route.words)


def _odd(drawn: random.Random, name: str) -> str:
    return document(drawn) if name in DOCUMENTS and drawn.random() < 0.85 else text(drawn)


def _encoded(pairs: Sequence[tuple[str, str]]) -> str:
    def one(text: str) -> str:
        return quote_plus(text[:3000], errors="surrogatepass")

    return "&".join(f"{one(name)}={one(value)}" for name, value in pairs[:200])


def _body(drawn: random.Random, route: Route, pairs: list[tuple[str, str]]) -> tuple[str, bytes]:
    """Return content type and body."""
    kind = drawn.random()
    if route.path.startswith("api/"):
        return (JSON if kind < 0.95 else drawn.choice(TYPES)), _of_api(drawn, route)
    if kind < 0.002:
        return FORM, b"text=" + b"x" * HUGE
    if kind < 0.7:
        whole = "&".join(f"{_plus(name)}={_plus(value)}" for name, value in pairs)
        return FORM, whole.encode()
    if kind < 0.85:
        return PARTS, _parts(drawn, pairs)
    if kind < 0.9:
        return drawn.choice(TYPES), _bytes(drawn)
    if kind < 0.95:
        return FORM, _bytes(drawn)
    return JSON, as_json(dict(pairs)).encode()


def _plus(text: str) -> str:
    return quote_plus(text, errors="surrogatepass")


def _parts(drawn: random.Random, pairs: list[tuple[str, str]]) -> bytes:
    """Return the parts of a multipart form, sometimes with an invalid one."""
    lines = []
    for name, value in pairs:
        file = f'; filename="{_line(text(drawn))}"' if name == "file" or drawn.random() < 0.1 else ""
        extra = drawn.choice(PART_HEADERS)
        lines.append(f'--B\r\nContent-Disposition: form-data; name="{_line(name)}"{file}\r\n{extra}\r\n{value}\r\n')
    whole = ("".join(lines) + "--B--\r\n").encode(errors="surrogatepass")
    kind = drawn.random()
    if kind < 0.1:
        return whole[: drawn.randrange(len(whole))]
    return whole.replace(b"\r\n", b"\n") if kind < 0.15 else whole


def _line(text: str) -> str:
    return text.replace("\r", "").replace("\n", "")[:200]


def _bytes(drawn: random.Random) -> bytes:
    whole = drawn.choice((document(drawn), as_json(oddities.value(drawn)), text(drawn))).encode(errors="surrogatepass")
    return drawn.choice((whole, b"\xff\xfe" + whole, b"\x00" * 50, drawn.randbytes(200), b"\x1f\x8b" + whole, b""))


def _of_api(drawn: random.Random, route: Route) -> bytes:
    end = route.path.rpartition("/")[2]
    if end == "manifests":
        return document(drawn).encode(errors="surrogatepass")
    if drawn.random() < 0.05:
        return _bytes(drawn)
    shapes: dict[str, Any] = {
        "commands": lambda: command(drawn),
        "head": lambda: changed(drawn, {"to": 1}),
        "sandboxes": lambda: changed(drawn, _new(drawn)),
    }
    body = shapes.get(end, lambda: {name: oddities.value(drawn) for name in route.fields} or oddities.value(drawn))()
    text = as_json(body)
    if drawn.random() < 0.05:
        text = re.sub(r'"(\w+)":', r'"\1": 1, "\1":', text, count=1)
    return text.encode()


def _new(drawn: random.Random) -> dict[str, Any]:
    whole = {
        "title": "Mine",
        "seed": 7,
        "queue_rules": "v1.34",
        "kubernetes": "v1.36",
        "feature_gates": {"OpportunisticBatching": False},
        "priority_numbers": True,
        "configuration": oddities.CONFIGURATION,
        "commands": [command(drawn), {"kind": "stage"}],
    }
    kind = drawn.random()
    if kind < 0.1:
        return {"file": document(drawn)}
    return {"scenario": "node-selector"} if kind < 0.15 else whole


def _of_socket(drawn: random.Random, number: int, route: Route) -> Input:
    path = "/" + _filled(drawn, route, (), "GET") if route.path else "/ws/" + quote(text(drawn), errors="surrogatepass")
    headers = dict(drawn.choice(HEADERS)) if drawn.random() < 0.2 else {}
    messages = [_message(drawn, route) for _ in range(drawn.choice((1, 1, 2, 4)))]
    shows = ("{edit}" in path or "{watch}" in path) and all(map(_is_text, messages)) and any(map(_is_view, messages))
    return Input(number, route.path or "ws/", "GET", path, headers, messages=tuple(messages), socket=True, shows=shows)


def _is_text(message: tuple[int, bytes]) -> bool:
    return message[0] == TEXT


def _is_view(message: tuple[int, bytes]) -> bool:
    try:
        view = json.loads(message[1])
    except (ValueError, RecursionError):
        return False
    return isinstance(view, dict) and "ping" not in view and len(message[1]) <= LONGEST_MESSAGE


def _message(drawn: random.Random, route: Route) -> tuple[int, bytes]:
    kind = drawn.random()
    if kind < 0.08:
        return drawn.choice((TEXT, 0x82, 0x01, 0x80, 0x89, 0x8A, 0x83, 0xC1)), _bytes(drawn)[:120]
    if kind < 0.2:
        return TEXT, as_json(oddities.value(drawn)).encode()
    if kind < 0.3:
        return TEXT, as_json(drawn.choice(SITES_OWN) | {"open": " ".join(PANELS)}).encode()
    if kind < 0.32:
        return TEXT, as_json({"find": "x" * drawn.choice(LENGTHS)}).encode()
    view: dict[str, Any] = {"open": " ".join(PANELS), "follow": True, "order": "name", "find": "a", "pages": "filter:2"}
    view |= {name: drawn.choice(values) for name, values in LIKELY.items() if name in ("pod", "node", "at", "tab")}
    names = [name for name in route.words if name not in view]
    view |= dict.fromkeys(drawn.sample(names, min(len(names), 3)), "1")
    return TEXT, json.dumps(changed(drawn, view)).encode()
