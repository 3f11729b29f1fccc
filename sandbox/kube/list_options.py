"""What a list or a watch asks for, beside selectors: a version of all objects, and a part of a long list.

Source: upstream ``apimachinery/pkg/apis/meta/internalversion/validation``, ``apiserver/pkg/storage`` (``continue.go``,
``interfaces.go``, ``errors.go``) and ``apiserver/pkg/storage/{cacher,etcd3}``.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.kube.statuses import RETRY_AFTER, Refused, invalid
from sandbox.kube.versions import LONGEST, Versions
from scheduler_engine.errors import FieldError

EXACT, NOT_OLDER = "Exact", "NotOlderThan"
MATCH, INITIAL = "resourceVersionMatch", "sendInitialEvents"
WITH_CONTINUE = "resourceVersionMatch is forbidden when continue is provided"
TOKEN_VERSION = "meta.k8s.io/v1"
LATEST = -1
"""Version in a token that continues with the present objects."""
TOO_OLD_LIST = "The resourceVersion for the provided list is too old."
TOO_OLD_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter."
)


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of which list. ``version``: that of all objects, None = the present one; ``start``: first key."""

    version: int | None = None
    start: str = ""
    too_old: str = TOO_OLD_LIST


def check_list(query: Mapping[str, str]) -> None:
    """Raise ``Refused`` if the options of a list contradict each other."""
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    rows = (
        (
            match and not version,
            MATCH,
            _forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"),
        ),
        (match and query.get("continue"), MATCH, _forbidden(WITH_CONTINUE)),
        (match not in ("", EXACT, NOT_OLDER), MATCH, _unsupported(match, EXACT, NOT_OLDER, "")),
        (
            (match, version) == (EXACT, "0"),
            MATCH,
            _forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
        ),
        (INITIAL in query, INITIAL, _forbidden("sendInitialEvents is forbidden for list")),
    )
    _refuse(rows)


def check_watch(query: Mapping[str, str]) -> None:
    """Raise ``Refused`` if the options of a watch contradict each other."""
    match = query.get("resourceVersionMatch", "")
    rows = (
        (
            INITIAL in query and match != NOT_OLDER,
            MATCH,
            _forbidden(f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}"),
        ),
        (
            match and INITIAL not in query,
            MATCH,
            _forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"),
        ),
        (match not in ("", NOT_OLDER), MATCH, _unsupported(match, NOT_OLDER)),
        (match and query.get("continue"), MATCH, _forbidden(WITH_CONTINUE)),
    )
    _refuse(rows)


def _forbidden(text: str) -> tuple[str, str]:
    return "FieldValueForbidden", f"Forbidden: {text}"


def _unsupported(value: str, *supported: str) -> tuple[str, str]:
    listed = ", ".join(f'"{one}"' for one in supported)
    return "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {listed}'


def _refuse(rows: tuple[tuple[object, str, tuple[str, str]], ...]) -> None:
    errors = [FieldError(path, *error) for wrong, path, error in rows if wrong]
    if errors:
        raise invalid("ListOptions", "meta.k8s.io", "", errors)


def check_reached(number: int, versions: Versions) -> None:
    """Raise ``Refused`` if a client asks for at least a version that is not there yet."""
    if number > versions.here:
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        text = f"Timeout: Too large resource version: {number}, current: {versions.here}"
        raise Refused(504, text, {"causes": [cause], RETRY_AFTER: 1})


def part_of(query: Mapping[str, str], number: int, limit: int) -> Part:
    """Return which part of which list is asked for. ``number``: the resource version. Raises ``Refused``."""
    token = query.get("continue", "")
    if token:
        version, start = _read_token(token)
        if number:
            raise Refused(400, "specifying resource version is not allowed when using continue")
        return Part(None if version == LATEST else version, start, TOO_OLD_CONTINUE)
    match = query.get("resourceVersionMatch", "")
    return Part(number) if number and (match == EXACT or (not match and limit)) else Part()


def token_after(key: str, version: int) -> str:
    """Return the token with which a list continues after a key."""
    token = {"v": TOKEN_VERSION, "rv": version, "start": f"{key}\0"}
    return urlsafe_b64encode(json.dumps(token, separators=(",", ":")).encode()).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, str]:
    try:
        data = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError) as problem:
        raise _not_a_token() from problem
    match data:
        case {"v": version} if version != TOKEN_VERSION:
            raise _not_a_token(f": server does not recognize this encoded version {version}")
        case {"v": _, "rv": int(number), "start": str(start)} if number and abs(number) < 10**LONGEST and start:
            return max(number, LATEST), start
        case _:
            raise _not_a_token()


def _not_a_token(why: str = "") -> Refused:
    return Refused(400, f"invalid continue token: continue key is not valid{why}")
