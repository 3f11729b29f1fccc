"""The terms of the page: each is explained, and leads to a tab that there is."""

from __future__ import annotations

import pytest

from sandbox.panels import TABS
from sandbox.web.glossary import TERMS, Term
from sandbox.words.say import ROWS, say


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_term_is_explained_in_a_sentence_and_leads_to_a_tab_of_the_page(term: Term) -> None:
    assert say(term.key).endswith(".")
    assert term.tab in {"", *TABS}


def test_terms_stand_in_the_order_of_the_alphabet_and_each_once() -> None:
    names = [term.name.casefold() for term in TERMS]
    assert names == sorted(set(names))


def test_every_explanation_belongs_to_one_term() -> None:
    explained = [key for key in ROWS if key.startswith("glossary.")]
    assert sorted(term.key for term in TERMS) == sorted(explained)
