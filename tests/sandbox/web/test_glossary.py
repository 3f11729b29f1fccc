"""The glossary: each term is explained, leads to a tab of the page, and has its name in the code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils.module_loading import import_string

from sandbox.panels import TABS
from sandbox.web.glossary import TERMS, Term
from sandbox.words.say import ROWS

ROOT = Path(__file__).resolve().parents[3]
HEAD = (
    "# Glossary",
    "",
    "The terms of the page, of these documents and of the code. The page's help (key `?`) has the same list.",
    "",
    "| term | what it means | in the code |",
    "|---|---|---|",
)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_is_explained_in_a_sentence_and_leads_to_a_tab_of_the_page(term: Term) -> None:
    assert term.meaning.endswith(".")
    assert term.tab in {"", *TABS}


def test_terms_stand_in_the_order_of_the_alphabet_and_each_once() -> None:
    names = [term.name.casefold() for term in TERMS]
    assert names == sorted(set(names))


def test_every_explanation_belongs_to_one_term() -> None:
    for table in ("glossary.", "terms."):
        assert sorted(term.key for term in TERMS) == sorted(
            key.removeprefix(table) for key in ROWS if key.startswith(table)
        )


@pytest.mark.parametrize("term", [term for term in TERMS if term.code], ids=lambda term: term.name)
def test_the_code_has_a_term_of_the_product_under_its_name(term: Term) -> None:
    assert import_string(term.code)


def test_the_documents_have_the_same_glossary(golden: Callable[[Path, str], None]) -> None:
    rows = [f"| {term.name} | {term.meaning} | {f'`{term.code}`' if term.code else ''} |" for term in TERMS]
    golden(ROOT / "docs/glossary.md", "\n".join([*HEAD, *rows, ""]))
