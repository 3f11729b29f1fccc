"""The table of sentences and the code agree: every key and every place is there, and no row is left over."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jinja2
import pytest
from jinja2 import nodes as jinja
from markupsafe import Markup

from sandbox.web.jinja2 import say_html
from sandbox.web.schema.help import HELP
from sandbox.words.say import ROWS, around, say
from tests.sentences import SENTENCE, modules, said_keys, shown_texts, wrong_calls, wrong_in

ROOT = Path(__file__).parents[3] / "sandbox"
TEMPLATES = ROOT.parent / "templates"
SCRIPTS = ROOT.parent / "static" / "js"


@cache
def calls_of_templates() -> list[tuple[Path, str, jinja.Call]]:
    """Template, name of the function, call."""
    read = jinja2.Environment()
    return [
        (path, call.node.name, call)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for call in read.parse(path.read_text()).find_all(jinja.Call)
        if isinstance(call.node, jinja.Name) and call.node.name in {"say", "say_html"}
    ]


def test_every_row_is_said_by_somebody() -> None:
    named = said_keys(ROOT, ROWS) | {f"fields.{field}" for field in HELP}
    for script in SCRIPTS.glob("*.js"):
        named |= set(re.findall(r"'((?:script|element)\.[\w-]+)'", script.read_text()))
    for _, _, call in calls_of_templates():
        match call.args[0]:
            case jinja.Const(value=key):
                named.add(key)
            case jinja.Concat(nodes=[jinja.Const(value=start), *_]):
                # say("export." ~ form): what begins so.
                named |= {key for key in ROWS if key.startswith(start)}
    assert [key for key in ROWS if key not in named] == []


def test_every_sentence_that_is_said_has_its_row_and_its_places() -> None:
    wrong = wrong_calls(ROOT, ROWS, "say", "around")
    assert not wrong, "\n".join(wrong)


def test_every_sentence_of_a_template_has_its_row_and_its_places() -> None:
    wrong = []
    for path, _, call in calls_of_templates():
        key = call.args[0]
        if isinstance(key, jinja.Const) and (
            said := wrong_in(ROWS, key.value, {keyword.key for keyword in call.kwargs})
        ):
            wrong.append(f"{path.name}:{call.lineno}: {said}")
    assert not wrong, "\n".join(wrong)


def test_only_say_html_says_a_row_with_marks() -> None:
    marked = {key for key, row in ROWS.items() if re.search(r"\*\*|`", str(row))}
    said = [(path, call.args[0]) for path, name, call in calls_of_templates() if name == "say"]
    assert [path.name for path, key in said if isinstance(key, jinja.Const) and key.value in marked] == []


def test_marks_of_a_row_become_elements_and_its_places_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS, "some.row", "**{pod}** & `kubectl` on {node}")
    said = say_html("some.row", pod="<a>", node=Markup("<i>n1</i>"))
    assert said == "<b>&lt;a&gt;</b> &amp; <code>kubectl</code> on <i>n1</i>"


KUBERNETES_WORDS = (
    *("nodes are available", "missing required label", "untolerated taint", "looking up PVC"),
    *("No preemption victims", "Preemption is not helpful", "already exists"),
)
"""In messages that a panel compares with, or makes as the API server does; ``cache/dump.py`` has nothing else."""
WITHOUT_PAGE = {
    *("cache/dump.py", "lessons/markdown.py", "storage/statements.py", "web/consumers.py", "words/phrases.py"),
    *("content/shelf.py", "sandbox/settings.py"),
    *("kube/patching.py", "kube/protobuf.py", "kube/reading.py", "kube/reviews.py", "kube/selecting.py"),
    *("kube/statuses.py", "kube/watching.py", "kube/bodies.py", "kube/strictness.py", "kube/writing.py"),
    *(
        "kube/managers.py",
        "kube/plans.py",
        "kube/pod_actions.py",
        "kube/list_options.py",
        "kube/scaling.py",
        "web/kube_errors.py",
    ),
    *("server/__main__.py", "server/backups.py", "server/copies.py", "server/site.py", "server/startup.py"),
    *("server/combinations.py", "server/local.py", "server/metrics.py", "server/postgres.py", "server/requests.py"),
    *("runtime/measures.py", "web/snippets.py"),
    *("commands/backup.py", "commands/prune.py", "commands/restore.py"),
}
"""Modules with other texts: Kubernetes' messages, HTML, SQL, and what a terminal or a program shows."""
UNSEEN_CALLS = {"AssertionError", "ConnectionDeny", "TypeError", "debug", "error", "exception", "info", "warning"}
"""Functions whose arguments no visitor reads."""


def test_no_module_writes_a_sentence_itself() -> None:
    wrong = []
    for path, module in modules(ROOT).items():
        if "migrations" in path.parts or "/".join(path.parts[-2:]) in WITHOUT_PAGE:
            continue
        for line, text, begins in shown_texts(module, UNSEEN_CALLS):
            if begins and SENTENCE.search(text) and not any(words in text for words in KUBERNETES_WORDS):
                wrong.append(f"{path.name}:{line}: {text}")
    assert not wrong, "\n".join(wrong)


def test_a_number_chooses_between_one_and_many() -> None:
    assert [say("things.pod", count=number) for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]


def test_a_sentence_is_cut_at_the_place_that_the_page_fills() -> None:
    assert around("lists.last", "name", names="a, b") == ("a, b and ", "")


def test_a_place_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("lists.last", names="a")
