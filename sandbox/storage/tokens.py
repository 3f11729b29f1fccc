"""Capability tokens: who knows a sandbox's URL may use it, and nothing else gives authority."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from django.utils.crypto import salted_hmac

from sandbox.storage.models import Sandbox


def new_token() -> str:
    """An unguessable edit token (192 bits)."""
    return secrets.token_urlsafe(24)


def view_token(edit_token: str) -> str:
    """The view token that belongs to ``edit_token``; the way back does not exist.

    Derived rather than drawn, so that whoever may edit can be shown the link to pass on although only hashes are kept.
    """
    return urlsafe_b64encode(sha256(b"view:" + edit_token.encode()).digest()[:24]).decode()


def seat_token(owner_token: str, number: int) -> str:
    """The edit token of a sandbox in a workshop, which its owner's page can therefore always link to."""
    return urlsafe_b64encode(sha256(f"seat {number}:{owner_token}".encode()).digest()[:24]).decode()


def code_of(token: str) -> str:
    """Four digits that belong to a token of a workshop, for a person to remember."""
    return f"{int.from_bytes(sha256(b'code:' + token.encode()).digest()[:8]) % 10_000:04}"


def sealed(token: str) -> str:
    """What the database keeps so that ``code_of(token)`` leads to the token: neither of them can be read from it.

    The pad is used once, and needs the server's secret key: four digits alone would be tried out at once.
    """
    salt = secrets.token_hex(8)
    return f"{salt}{_padded(token.encode(), salt, code_of(token)).hex()}"


def unsealed(kept: str, code: str, token_hash: str) -> str | None:
    """The token whose hash is ``token_hash``; None when ``code`` is not its code."""
    if not (kept and len(code) == 4 and code.isascii() and code.isdigit()):
        return None
    salt, hidden = kept[:16], bytes.fromhex(kept[16:])
    token = _padded(hidden, salt, code).decode("latin-1")
    return token if secrets.compare_digest(digest(token), token_hash) else None


def _padded(text: bytes, salt: str, code: str) -> bytes:
    pad = salted_hmac(f"code {salt}", code, algorithm="sha256").digest()
    return bytes(letter ^ of_pad for letter, of_pad in zip(text, pad, strict=True))


def digest(token: str) -> str:
    """What the database keeps of a token. Tokens are random, so that one round of SHA-256 is enough."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def role(sandbox: Sandbox, token: str) -> str:
    """``edit``, ``view`` or ``""``: what ``token`` allows in ``sandbox``, compared in constant time."""
    given = digest(token)
    may_edit = secrets.compare_digest(given, sandbox.edit_token_hash)
    may_view = secrets.compare_digest(given, sandbox.view_token_hash)
    return "edit" if may_edit else "view" if may_view else ""
