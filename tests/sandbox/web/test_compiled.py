"""Compiled templates on disk are used only where they are right, and nothing depends on them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from sandbox.web import compiled
from sandbox.web.jinja2 import Environment

TEMPLATE = "{{ say('errors.no-sandbox') }}"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def environment(cache: Any) -> Environment:
    made = Environment(bytecode_cache=cache, loader=None)
    made.globals["say"] = lambda key: key
    return made


def load(cache: Any) -> bytes | None:
    """Compile a template unless the cache has it. Return what it had."""
    made = environment(cache)
    bucket = cache.get_bucket(made, "page.html", None, TEMPLATE)
    found = bucket.code
    bucket.code = found or made.compile(TEMPLATE, "page.html")
    cache.set_bucket(bucket)
    return found


def test_the_next_process_finds_a_template() -> None:
    assert load(compiled.compiled_templates()) is None
    assert load(compiled.compiled_templates()) is not None


def test_other_sentences_make_another_template(monkeypatch: pytest.MonkeyPatch) -> None:
    load(compiled.compiled_templates())
    monkeypatch.setattr(compiled, "ROWS", {**compiled.ROWS, "errors.no-sandbox": "Gone."})
    assert load(compiled.compiled_templates()) is None


def test_a_full_disk_costs_only_time(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    cache = compiled.compiled_templates()

    def full(**_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    assert load(cache) is None
    assert "No space left" in caplog.text


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, caplog: Any) -> None:
    load(compiled.compiled_templates())
    (folder,) = tmp_path.iterdir()
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert compiled.compiled_templates() is None
    assert "compiled at each start" in caplog.text
