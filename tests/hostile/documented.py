"""Calls of the API drawn from its document by schemathesis, and a check of every answer against the document."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.transport import Response

from tests.hostile import oddities
from tests.hostile.likely import LIKELY, PLACES
from tests.hostile.wire import Answer

DRAWN, RENEWED = 12, 2000
"""Calls of one operation that are drawn at once, and inputs after which others are drawn."""
SITE = "http://site"
NOBODY = {**dict.fromkeys(("sandbox_id", "room_id"), str(UUID(int=0))), "token": "token"}
LINK = f"{NOBODY['sandbox_id']}/{NOBODY['token']}"
"""The link of a sandbox or a room in a drawn path. It is replaced by somebody's."""
BEFORE_THE_SITE = (408, 413, 431, 503)
"""Statuses with which the server refuses a request before the site sees it, as a line of text."""
JSON = "application/json"
BODY = ""
"""The name of the body among values."""
KEPT_HEADERS = ("content-type",)
BODIES: Mapping[str, st.SearchStrategy[Any]] = {
    "execute": st.sampled_from(oddities.commands())
    | st.integers(0, 2**30).map(lambda number: oddities.command(random.Random(number))),
    "apply": st.integers(0, 2**30).map(lambda number: oddities.document(random.Random(number))),
    "go_to": st.fixed_dictionaries({"to": st.integers(0, 9)}),
    **dict.fromkeys(("lesson_step", "lesson_turn"), st.fixed_dictionaries({"part": st.integers(0, 9)})),
    **dict.fromkeys(
        ("lesson_answer", "predict"),
        st.fixed_dictionaries({"answers": st.none() | st.lists(st.sampled_from(LIKELY["node"] + LIKELY["pod"]))}),
    ),
    "create_room": st.sampled_from([{}, {"scenario": "node-selector"}, {"lesson": "backoff"}]),
    "join_room": st.fixed_dictionaries({"code": st.just("{code}"), "name": st.text(max_size=50)}),
    "room_send": st.sampled_from([{"scenario": "node-selector"}, {"own": 1}, {"copy_mine": True, "at": "1.0"}]),
    **dict.fromkeys(
        ("room_rename", "room_remove"), st.sampled_from(['{"who": {person}, "name": "Ada"}', '{"who": {person}}'])
    ),
    **dict.fromkeys(("room_end", "room_reveal", "room_put_away"), st.fixed_dictionaries({"number": st.integers(1, 3)})),
    "room_answer": st.fixed_dictionaries({"number": st.integers(1, 3), "chosen": st.sampled_from([["a"], ["b"], []])}),
}
"""Operation → bodies that mean something in a sandbox or a room: schemathesis knows no manifests and no names."""


@dataclass(frozen=True, slots=True)
class Call:
    """``path`` has ``LINK`` where the link of a sandbox or a room belongs."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@cache
def document() -> dict[str, Any]:
    """Return the document as the site serves it. Django must be set up."""
    from sandbox.web.api.routes import api

    served: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return served


@cache
def operations() -> dict[str, list[Any]]:
    """Return path → its operations as schemathesis reads them."""
    found: dict[str, list[Any]] = {}
    for result in schemathesis.openapi.from_dict(document()).get_all_operations():
        operation = result.ok()
        found.setdefault(operation.path, []).append(operation)
    return found


def draw(seed_: int, number: int, drawn: random.Random, path: str) -> Call:
    """Return a call of a path of the document. The same arguments return the same call."""
    operation = drawn.choice(operations()[path])
    negative = drawn.random() < 0.3 and bool(operation.definition.raw.get("parameters") or operation.body)
    calls = _calls(
        seed_, number // RENEWED, operation, GenerationMode.NEGATIVE if negative else GenerationMode.POSITIVE
    )
    return drawn.choice(calls)


@cache
def _calls(seed_: int, batch: int, operation: Any, mode: GenerationMode) -> list[Call]:
    calls: list[Call] = []

    @seed(seed_ * 1_000_003 + batch)
    @settings(
        max_examples=DRAWN,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), _meant(operation))
    def collect(case: Case, meant: Mapping[str, Any]) -> None:
        calls.append(_as_sent(case, meant))

    collect()
    return calls


def _meant(operation: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return values that mean something in a sandbox, in place of some of those that schemathesis drew."""
    names = [parameter["name"] for parameter in operation.definition.raw.get("parameters", ())]
    known = {name: st.sampled_from(LIKELY[name]) for name in names if name in LIKELY}
    places = {name: st.sampled_from(PLACES[name]) for name in names if name in PLACES}
    body = BODIES.get(operation.definition.raw["operationId"])
    return st.fixed_dictionaries({}, optional={**known, **places, **({BODY: body} if body is not None else {})})


def _as_sent(case: Case, meant: Mapping[str, Any]) -> Call:
    """Return a case as an HTTP client would send it."""
    values = {**(case.path_parameters or {}), **NOBODY}
    case.path_parameters = {
        name: meant.get(name, value) for name, value in values.items() if f"{{{name}}}" in case.operation.path
    }
    in_query = {name: value for name, value in meant.items() if name != BODY and name not in case.path_parameters}
    case.query = {**(case.query or {}), **in_query}
    prepared = requests.Request(**case.as_transport_kwargs(base_url=SITE)).prepare()
    body = prepared.body or b""
    if BODY in meant:
        body = meant[BODY] if isinstance(meant[BODY], str) else oddities.as_json(meant[BODY])
    kept = {name: str(value) for name, value in prepared.headers.items() if name.lower() in KEPT_HEADERS}
    return Call(
        case.method.upper(), prepared.path_url, kept, body.encode(errors="replace") if isinstance(body, str) else body
    )


def judged(path: str, method: str, answer: Answer) -> str:
    """Say where an answer is not as the document says; "" if it is, or if the document does not have the method."""
    operation = next((one for one in operations().get(path, ()) if one.method.upper() == method), None)
    if operation is None:
        return ""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if answer.status in BEFORE_THE_SITE and kind != JSON:
        return ""
    described = operation.definition.raw["responses"]
    if str(answer.status) not in described:
        return f"status {answer.status} is not documented: {answer.text[:200]}"
    known = described[str(answer.status)].get("content")
    if known and kind not in known:
        return f"{answer.status} has the type {kind}, not {list(known)}: {answer.text[:200]}"
    # The document calls files in YAML and JSON lines texts.
    return _wrong_with(operation, answer) if kind == JSON else ""


def _wrong_with(operation: Any, answer: Answer) -> str:
    packed = answer.headers.get("content-encoding") == "gzip"
    response = Response(
        answer.status,
        {name: [value] for name, value in answer.headers.items()},
        gzip.decompress(answer.body) if packed else answer.body,
        requests.Request(operation.method.upper(), SITE).prepare(),
        0,
        False,
    )
    try:
        operation.validate_response(response)
    except (Failure, FailureGroup) as failure:
        return f"{answer.status} is not as documented: {str(failure)[:600]}"
    return ""
