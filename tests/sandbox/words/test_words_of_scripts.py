"""The words of scripts are in tables: no script has sentences, and each call has its row and its places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.words.say import ROWS
from tests.sentences import places

FOLDER = Path(__file__).resolve().parents[3] / "static" / "js"
FILES = sorted(path.name for path in FOLDER.glob("*.js"))

SENTENCE = re.compile(r"\b[A-Za-z]{2,},? [a-z]{2,}\b(?!-)|[\d\ue000] [a-z]{2,}\b|[a-z]{2} \ue000|^[A-Z][a-z]+$")
GAP = "\ue000"
"""Stands for what a template literal fills in."""
CODE = re.compile(r"[\[\]#=]|^[.*$/]|^\(|:\S|::|\w\(|\ue000px|^(ed-line|toolbar|M|ws)\b")
"""In selectors, HTML, styles, paths and addresses."""
NAMES = {
    *("Accept", "End", "Enter", "Escape", "Files", "Home", "Object", "Space", "Tab", "Top", "Right", "Bottom", "Left"),
    *(
        "a",
        "button",
        "details",
        "dialog",
        "form",
        "input",
        "li",
        "path",
        "select",
        "summary",
        "svg",
        "table",
        "textarea",
    ),
}
"""Keys, types, headers and elements: names of the browser."""


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield place and text of the string literals in a script, without those of comments and internal errors."""
    place, before = 0, ""
    while place < len(source):
        sign = source[place]
        if source.startswith(("//", "/*"), place):
            end = "\n" if source[place + 1] == "/" else "*/"
            place = source.index(end, place) + len(end)
        elif sign in "'\"`":
            text, inside, end = literal(source, place)
            if not re.search(r"new \w*Error\($", source[:place]):
                yield place, text
            for start, code in inside:
                yield from ((start + at, each) for at, each in strings(code))
            place = end
            before = sign
            continue
        elif sign == "/" and before in "(,=:[!&|?{};\n":
            place = re.compile(r"/(?:\[(?:\\.|[^\]\\])*\]|\\.|[^/\\])+/").match(source, place).end()  # type: ignore[union-attr]
            before = "/"
            continue
        else:
            before = sign if not sign.isspace() else before
            place += 1


def literal(source: str, start: int) -> tuple[str, list[tuple[int, str]], int]:
    """Return the text of the literal at ``start``, the code within it with its place, and the end."""
    quote, place, text, inside = source[start], start + 1, "", []
    while source[place] != quote:
        if source[place] == "\\":
            text += source[place : place + 2]
            place += 2
        elif quote == "`" and source.startswith("${", place):
            end, depth = place + 2, 1
            while depth:
                if source[end] == "`":
                    end = literal(source, end)[2]
                    continue
                depth += {"{": 1, "}": -1}.get(source[end], 0)
                end += 1
            inside.append((place + 2, source[place + 2 : end - 1]))
            text += GAP
            place = end
        else:
            text += source[place]
            place += 1
    return text, inside, place + 1


def is_sentence(text: str) -> bool:
    words = re.findall(r"[\w-]+", text)
    return bool(SENTENCE.search(text)) and not CODE.search(text) and not all(word in NAMES for word in words)


@pytest.mark.parametrize("name", FILES)
def test_a_script_takes_its_words_from_the_table(name: str) -> None:
    source = (FOLDER / name).read_text()
    lines = ((source.count("\n", 0, place) + 1, text) for place, text in strings(source))
    assert [f"{line}: {text}" for line, text in lines if is_sentence(text)] == []


def arguments(source: str, start: int) -> list[str]:
    """Return the arguments of a call, or the entries of an object, whose bracket opens before ``start``."""
    parts, depth, place = [""], 1, start
    while depth:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(source[place], 0)
        end = literal(source, place)[2] if source[place] in "'`" else place + 1
        if source[place] == "," and depth == 1:
            parts.append("")
        elif depth:
            parts[-1] += source[place:end]
        place = end
    return [part.strip() for part in parts]


def calls(name: str) -> Iterator[tuple[list[str], set[str]]]:
    """Yield the keys that a call of ``say`` may have, and the places that it fills, if the call itself names them."""
    source = (FOLDER / name).read_text()
    for call in re.finditer(r"\bsay\(", source):
        key, *places = arguments(source, call.end())
        keys = re.findall(r"'((?:script|element)\.[\w-]+)'", key)
        if not places or places[0].startswith("{"):
            entries = arguments(places[0], 1) if places else []
            yield keys, {entry.partition(":")[0] for entry in entries}


@pytest.mark.parametrize("name", FILES)
def test_every_sentence_of_a_script_has_its_row_and_its_places(name: str) -> None:
    wrong = []
    for keys, filled in calls(name):
        for key in keys:
            row = ROWS.get(key, "{no row}")
            asked = {place for text in ([row] if isinstance(row, str) else row.values()) for place in places(text)}
            if not asked <= filled or (len(keys) == 1 and filled - asked - {"count"}):
                wrong.append(f"{key} has {sorted(asked)}, filled are {sorted(filled)}")
    assert wrong == []


def test_words_in_a_script_are_noticed() -> None:
    source = """// A comment's words
    const link = `<a title="${say('script.play')}">`; /* not read */ const no = /it's "a b"/;
    throw new Error(`${url} could not be read`);
    box.textContent = many ? `${many} pods` : 'Nothing waits'; box.querySelector('input, textarea');"""
    assert [text for _, text in strings(source) if is_sentence(text)] == [f"{GAP} pods", "Nothing waits"]
