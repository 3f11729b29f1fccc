"""Errors that have several lines."""

from __future__ import annotations

from django.template import engines

from scheduler_engine.api.cel.devices import compile_selector


def drawn(text: str) -> str:
    return str(engines["jinja2"].env.get_template("fragments/error_text.html").module.draw(text))  # type: ignore[attr-defined]


def test_an_error_of_one_line_is_drawn_as_it_is() -> None:
    assert drawn("a < b") == "a &lt; b"


def test_further_lines_keep_their_columns() -> None:
    error = compile_selector("true &&\n\tnosuch").error
    assert error.partition("\n")[2] == " |  nosuch\n | .^"
    assert drawn(error).endswith('<span class="err-at" tabindex="0"> |  nosuch\n | .^</span>')


def test_a_mark_after_wide_signs_stands_behind_the_same_signs() -> None:
    error = compile_selector("true &&\n'\u00e4\u6f22' == nosuch").error
    assert error.endswith(" | .\uff0e\uff0e.....^")
    quoted = "&#39;\u00e4\u6f22&#39; == "
    assert drawn(error).endswith(f' | {quoted}nosuch\n | <span class="err-pad">{quoted}</span>^</span>')
