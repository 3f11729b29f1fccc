from __future__ import annotations

import pytest

from sandbox.changes import store
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox

pytestmark = pytest.mark.django_db


def test_the_database_holds_no_token_that_opens_anything() -> None:
    sandbox, token = store.create("Test")
    kept = Sandbox.objects.filter(pk=sandbox.pk).values().get()
    assert not {token, tokens.view_token(token)} & {str(value) for value in kept.values()}


def test_the_edit_token_edits_and_the_view_token_only_watches() -> None:
    sandbox, token = store.create("Test")
    assert tokens.role(sandbox, token) == "edit"
    assert tokens.role(sandbox, tokens.view_token(token)) == "view"


@pytest.mark.parametrize("wrong", ["", "x", "ä", "\0", "\ud800", "🙂" * 40])
def test_any_other_text_opens_nothing(wrong: str) -> None:
    sandbox, token = store.create("Test")
    assert tokens.role(sandbox, wrong) == ""
    assert tokens.role(sandbox, token + wrong + "x") == ""


def test_the_hashes_themselves_are_not_tokens() -> None:
    sandbox, _ = store.create("Test")
    assert tokens.role(sandbox, sandbox.edit_token_hash) == ""


def test_two_sandboxes_never_share_a_token() -> None:
    assert len({tokens.new_token() for _ in range(1000)}) == 1000
