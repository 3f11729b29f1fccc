"""Capability tokens: knowing the URL of a sandbox is the only right to use it."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from django.utils.crypto import salted_hmac

from sandbox.storage.models import Sandbox


def new_token() -> str:
    """Return a random edit token of 192 bits."""
    return secrets.token_urlsafe(24)


def view_token(edit_token: str) -> str:
    """Return the view token of an edit token. The edit token cannot be computed from it.

    It is derived, not random: the database has only hashes, and the edit page must still show the link for viewing.
    """
    return urlsafe_b64encode(sha256(b"view:" + edit_token.encode()).digest()[:24]).decode()


def seat_token(owner_token: str, number: int) -> str:
    """Return the edit token of sandbox ``number`` in a workshop. It is derived, so the owner's page can link to it."""
    return urlsafe_b64encode(sha256(f"seat {number}:{owner_token}".encode()).digest()[:24]).decode()


def assistant_token(trainer_token: str, number: int) -> str:
    """Return the token of assistant ``number`` of a workshop. It is derived, so the trainer's page can link to it."""
    return urlsafe_b64encode(sha256(f"assistant {number}:{trainer_token}".encode()).digest()[:24]).decode()


def code_of(token: str) -> str:
    """Return the four digits of a workshop token, for a person to remember."""
    return f"{int.from_bytes(sha256(b'code:' + token.encode()).digest()[:8]) % 10_000:04}"


def seal(token: str) -> str:
    """Return ``token`` encrypted with its code, for the database. ``unseal`` decrypts it.

    The pad is used once and needs the server's secret key: without that, all four-digit codes could be tried quickly.
    """
    salt = secrets.token_hex(8)
    return f"{salt}{_xor(token.encode(), salt, code_of(token)).hex()}"


def unseal(sealed_token: str, code: str, token_hash: str) -> str | None:
    """Return the token that ``seal`` encrypted, whose hash is ``token_hash``. None if ``code`` is not its code."""
    if not (sealed_token and len(code) == 4 and code.isascii() and code.isdigit()):
        return None
    salt, encrypted = sealed_token[:16], bytes.fromhex(sealed_token[16:])
    token = _xor(encrypted, salt, code).decode("latin-1")
    return token if secrets.compare_digest(digest(token), token_hash) else None


def _xor(text: bytes, salt: str, code: str) -> bytes:
    pad = salted_hmac(f"code {salt}", code, algorithm="sha256").digest()
    return bytes(letter ^ of_pad for letter, of_pad in zip(text, pad, strict=True))


def digest(token: str) -> str:
    """Return the hash of a token for the database. Tokens are random, so one round of SHA-256 is enough."""
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def role(sandbox: Sandbox, token: str) -> str:
    """Return what ``token`` allows in ``sandbox``: ``edit``, ``view`` or ``""``. Compares in constant time."""
    token_hash = digest(token)
    may_edit = secrets.compare_digest(token_hash, sandbox.edit_token_hash)
    may_view = secrets.compare_digest(token_hash, sandbox.view_token_hash)
    return "edit" if may_edit else "view" if may_view else ""
