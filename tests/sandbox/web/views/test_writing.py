"""The page for writing a lesson: its starts, the lesson that runs, errors by line, and the file of a local site."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from sandbox.content.drafts import ELEMENTS, start_text
from sandbox.content.shelf import shelf
from sandbox.runtime.local import local
from sandbox.storage.models import Sandbox, Study
from sandbox.worker.jobs.teaching import LONGEST_LESSON
from tests.html import words

pytestmark = pytest.mark.django_db
TEXT = start_text(ELEMENTS) or ""


@pytest.mark.parametrize("start", ["", ELEMENTS, "three-queues"])
def test_the_page_has_the_text_of_its_start(start: str) -> None:
    html = Client().get("/write/", {"from": start}).content.decode()
    text = unescape(html.partition('<template id="write-original">')[2].partition("</template>")[0])
    assert text == start_text(start)
    selected = re.findall(r'<option value="([^"]*)" selected>', html)
    assert selected == [start]
    offered = re.findall(r'<option value="([^"]+)"', html)
    assert offered == [ELEMENTS, *(lesson.slug for lesson in shelf("lessons"))]
    assert Sandbox.objects.count() == 0


@pytest.mark.parametrize("start", ["no-such", "file", "../settings"])
def test_an_unknown_start_is_not_found(start: str) -> None:
    assert Client().get("/write/", {"from": start}).status_code == 404


@pytest.mark.parametrize(("part", "opened"), [("0", 0), ("4", 4), ("99", 9), ("x", 0)])
def test_a_lesson_runs_with_its_part_open(part: str, opened: int) -> None:
    answer = Client().post("/write/run/", {"text": TEXT, "part": part})
    html = answer.content.decode()
    assert answer.status_code == 200
    assert Study.objects.get().part == opened
    lines = [int(line) for line in re.findall(r'data-line="(\d+)"', html)]
    starts = [number for number, line in enumerate(TEXT.splitlines(), 1) if line.startswith("- title: ")]
    assert lines == starts
    address = re.findall(r'data-address="([^"]+)"', html)[0]
    panel = words(Client().get(f"{address}panel/lesson/").content.decode())
    assert f"Part {opened + 1} of 10" in panel


def test_a_part_has_the_cluster_that_it_expects() -> None:
    html = Client().post("/write/run/", {"text": TEXT, "part": "9"}).content.decode()
    address = re.findall(r'data-address="([^"]+)"', html)[0]
    cluster = words(Client().get(f"{address}panel/queues/").content.decode())
    assert "far" in cluster


def test_errors_have_lines_and_create_nothing() -> None:
    wrong = TEXT.replace("title: A task\n", "titel: A task\n").replace("says: is on no node", "says: something else")
    answer = Client().post("/write/run/", {"text": wrong})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert f'data-line="{wrong.splitlines().index("- titel: A task") + 1}"' in html
    assert 'unknown field "titel" (did you mean "title"?)' in words(html)
    played = Client().post("/write/run/", {"text": TEXT.replace("says: is on no node", "says: something else")})
    assert "parts[9].wrong[0].says" in words(played.content.decode())
    assert re.search(r'data-line="[1-9]', played.content.decode())
    assert Sandbox.objects.count() == 0


def test_a_text_that_is_too_long_is_refused() -> None:
    answer = Client().post("/write/run/", {"text": "a" * (LONGEST_LESSON + 1)})
    assert answer.status_code == 422
    assert "the limit is 200000" in words(answer.content.decode())


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Path]:
    """Return the file of a site on somebody's own machine."""
    local.lesson = tmp_path / "mine.lesson.yaml"
    local.lesson.write_text(TEXT)
    yield local.lesson
    local.lesson = None


def test_a_site_for_others_follows_no_file() -> None:
    assert Client().get("/write/file/").status_code == 404
    assert "mine.lesson.yaml" not in Client().get("/write/").content.decode()


def test_a_local_site_offers_its_file_and_sends_it_when_it_changes(followed: Path) -> None:
    client = Client()
    assert "Your file mine.lesson.yaml" in words(client.get("/write/").content.decode())
    assert "follows mine.lesson.yaml" in words(client.get("/write/", {"from": "file"}).content.decode())
    first = client.get("/write/file/")
    assert (first.status_code, first.content.decode()) == (200, TEXT)
    tag = first["ETag"]
    assert client.get("/write/file/", headers={"If-None-Match": tag}).status_code == 304
    followed.write_text(TEXT + "\n")
    os.utime(followed, ns=(1, 1))
    second = client.get("/write/file/", headers={"If-None-Match": tag})
    assert (second.status_code, second.content.decode()) == (200, TEXT + "\n")


def test_a_file_that_cannot_be_read_is_named(followed: Path) -> None:
    followed.write_bytes(b"\xff\xfe")
    answer = Client().get("/write/file/")
    assert answer.status_code == 422
    assert "The file mine.lesson.yaml cannot be read: invalid start byte." in words(answer.content.decode())
    followed.unlink()
    answer = Client().get("/write/file/")
    assert answer.status_code == 422
    assert "No such file or directory" in words(answer.content.decode())
