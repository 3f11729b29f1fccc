"""What a person reads on a page is in the word tables: templates have only names of Kubernetes and signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes

FOLDER = Path(__file__).resolve().parents[3] / "templates"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
ENVIRONMENT = jinja2.Environment()

READ = {
    *("alt", "aria-description", "aria-label", "aria-valuetext", "hx-confirm", "label", "placeholder", "title"),
    *("data-confirm", "data-is", "data-label", "data-t", "data-title", "data-wait"),
}
"""Attributes that are shown or read aloud."""

CODE = "\ue000"
"""Stands for what Jinja fills in; it is no letter, and no template has it."""

NAMES = {
    *("Scheduler", "Sandbox", "YAML", "JSON", "CSV", "SVG", "PNG", "PDB", "cpu"),
    *("Filter", "Score", "Select", "Reserve", "Permit", "Bind", "Pop", "Lease", "Guaranteed", "Burstable"),
    *("Background", "Foreground", "Orphan", "FRAME_ANCESTORS"),
}
"""Names that are one plain word. Others are known by their form: nodeName, NoExecute, spec.nodeName, oom_score_adj."""
NAME = re.compile(r"[a-z][A-Z]|[A-Za-z0-9][._/][A-Za-z0-9]")
SAMPLES: dict[str, tuple[str, ...]] = {
    "before.html": (r'pods "db-1" is forbidden: .*', "leases"),
    "fragments/draft_check.html": ("kubectl replace --force",),
    "fragments/inspector_requests.html": ("kubectl patch --subresource resize",),
    # A tag whose name is chosen, in pieces.
    "fragments/pod.html": (r".*",),
    # Names in a drawing of the workbench.
    "fragments/still.html": (r"(api|batch|cart|node|web)-\w+", r"eu-\w", r"[\d.]+ s"),
    # A key.
    "panels/sentence.html": ("End",),
}
"""Commands and the like, which are the same in every language."""


def without_code(source: str) -> str:
    """Return the template as HTML, with one sign for each piece of Jinja."""
    source = re.sub(r"\{#.*?#\}", "", source, flags=re.DOTALL)
    return re.sub(r"\{%.*?%\}|\{\{.*?\}\}", CODE, source, flags=re.DOTALL)


class Reader(HTMLParser):
    """Collects what a person reads."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.texts += [value for name, value in attributes.items() if name in READ]
        if tag == "meta" and attributes.get("name") == "description":
            self.texts.append(attributes["content"])
        if tag in {"kbd", "script", "style"}:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        # In a macro or block that fills a tag, attributes look like text.
        if not self.inside:
            self.texts += re.split(r'\s*[\w-]+="[^"]*"|--\S*?;|>', data)


def is_name(word: str) -> bool:
    return word.strip(".") in NAMES or bool(NAME.search(word))


def words_of(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\s,;:()]+", text) if re.search(r"[^\W\d_]", word)]


def written(name: str) -> Iterator[str]:
    """What the template says without a table."""
    source = (FOLDER / name).read_text()
    reader = Reader()
    reader.feed(without_code(source))
    reader.close()
    samples = SAMPLES.get(name, ())
    for text in reader.texts:
        text = " ".join(text.replace(CODE, " ").split())
        if not all(is_name(word) for word in words_of(text)) and not any(re.fullmatch(one, text) for one in samples):
            yield text
    for constant in ENVIRONMENT.parse(source).find_all(nodes.Const):
        if isinstance(constant.value, str) and re.search(r"[A-Za-z]{2,},? [a-z]{2,}", constant.value):
            yield constant.value


@pytest.mark.parametrize("name", FILES)
def test_a_template_takes_its_words_from_the_tables(name: str) -> None:
    assert list(written(name)) == []


def test_words_in_a_template_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    source = """<p title="{% if a %}One thing{% endif %}" class="not read">{{ say("a.b") }}, nodeName</p>"""
    (tmp_path / "some.html").write_text(source + """{{ c or "two things" }}""")
    assert list(written("some.html")) == ["One thing", "two things"]
