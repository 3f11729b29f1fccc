"""An uploaded scenario file: its sandbox, its steps, its expectations, and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.worker import jobs
from sandbox.worker.jobs.exporting import ExportOptions
from scheduler_engine.scenario import FOLDER

pytestmark = pytest.mark.django_db

FILES = {path.name: path.read_text() for path in sorted(FOLDER.glob("*.yaml"))}
STEPPED = FILES["80-toleration-seconds.yaml"]
BROWSER = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path / "imports"


def bring(text: str, name: str = "my.scenario.yaml", **headers: Any) -> Any:
    return Client(headers=headers).post("/import/", {"file": SimpleUploadedFile(name, text.encode())})


def opened(text: str) -> tuple[Sandbox, str]:
    """Return the sandbox, and the path of its page."""
    answer = bring(text, **BROWSER)
    assert answer.status_code == 302, answer.content.decode()
    match = re.match(r"/s/([0-9a-f-]+)/", answer["Location"])
    assert match is not None
    return Sandbox.objects.get(pk=match[1]), answer["Location"]


def exported(sandbox: Sandbox, **wanted: Any) -> str:
    text: str = engines.read(sandbox, jobs.export, ExportOptions("scenario", **wanted), sandbox.title, None).text
    return text


def test_a_scenario_file_becomes_a_sandbox_with_its_steps(own_folder: Path) -> None:
    sandbox, path = opened(STEPPED)
    html = Client().get(path).content.decode()
    assert "Step 1 of" in html
    assert sandbox.title in html
    assert sandbox.head > 0
    assert list(own_folder.iterdir()) == []
    number = 1
    while Client().post(f"{path}step/", {"n": number}).status_code == 204:
        number += 1
    assert number > 2
    fragments = engines.read(sandbox, jobs.fragments, View(), ["sentence", "expectations"], True, False, {})
    assert "steps done" in fragments["sentence"].html
    assert "verd-no" not in fragments["expectations"].html
    assert "verd-yes" in fragments["expectations"].html


def test_the_page_of_an_own_scenario_has_its_description() -> None:
    text = STEPPED.replace("about: >-", "about: >-\n  Quite my own story.")
    assert "Quite my own story." in Client().get(opened(text)[1]).content.decode()


def test_a_command_line_gets_the_address() -> None:
    answer = bring(STEPPED)
    assert answer.status_code == 201
    address = answer.content.decode().strip()
    assert Client().get(address.removeprefix("http://testserver")).status_code == 200


def test_a_fork_of_an_own_scenario_keeps_its_steps() -> None:
    _, path = opened(STEPPED)
    answer = Client().post(f"{path}fork/")
    fork = Sandbox.objects.exclude(pk=path.split("/")[2]).get()
    assert answer.status_code < 400
    assert fork.story
    assert fork.story == Sandbox.objects.get(pk=path.split("/")[2]).story


@pytest.mark.parametrize("name", [name for place, name in enumerate(FILES) if place % 6 == 0])
def test_an_export_can_be_imported_unchanged(name: str) -> None:
    first, _ = opened(FILES[name])
    text = exported(first)
    second, _ = opened(text)
    assert exported(second) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: t\nsetup:\n- aply: []\n", 'line 3, column 3: setup[0].aply: unknown field "aply"'),
        ("apiVersion: scheduler-sandbox/v9\nkind: Scenario\ntitle: t\n", "this engine reads scheduler-sandbox/v1"),
        ("title: t\nsetup:\n- delete: {object_kind: Pod, key: default/x}\n", "not found"),
        ("apiVersion: scheduler-sandbox/v1\ntitle: t\nthen: [{stage: {}, say: " + "x" * 61 + "}]\n", "Too long"),
    ],
)
def test_an_error_is_reported_with_its_line_and_nothing_is_created(text: str, said: str, own_folder: Path) -> None:
    answer = bring(text)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Sandbox.objects.count() == 0
    assert list(own_folder.iterdir()) == []


def test_a_story_that_is_too_long_is_refused() -> None:
    steps = "".join(f"- stage: {{}}\n  name: step {n} {'x' * 80}\n" for n in range(2000))
    answer = bring(f"apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: t\nthen:\n{steps}")
    assert answer.status_code == 422
    assert "the limit is 200000" in answer.content.decode()


def test_the_interface_for_programs_takes_a_file() -> None:
    body = {"file": STEPPED}
    answer = Client().post("/api/v1/sandboxes", body, content_type="application/json")
    assert answer.status_code == 201
    assert Sandbox.objects.get(pk=answer.json()["id"]).story
    both = Client().post("/api/v1/sandboxes", {**body, "seed": 1}, content_type="application/json")
    assert both.status_code == 422
    wrong = Client().post("/api/v1/sandboxes", {"file": "title: t\nsetup: 3"}, content_type="application/json")
    assert wrong.status_code == 422
    assert "setup" in wrong.content.decode()
