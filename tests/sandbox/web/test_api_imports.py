"""A dump becomes a sandbox by the API, and things are found in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.storage.models import Sandbox
from scheduler_engine.testing import make_node, make_pod
from tests.engine import dumps

pytestmark = pytest.mark.django_db
IMPORT = "/api/v1/import"
SAID = {"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available: 1 Insufficient cpu."}
TOO_LARGE = make_pod("big").cpu("9").status(phase="Pending", conditions=[SAID]).obj()
SMALL = dumps.as_yaml([make_node("n1").capacity(cpu="4").obj(), make_pod("web").cpu("1").obj(), TOO_LARGE])
SCENARIO = b"apiVersion: scheduler-sandbox/v1\nkind: Scenario\ntitle: Mine\nkubernetes: v1.35\n"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path / "imports"


def bring(content: bytes, query: str = "") -> Any:
    file = SimpleUploadedFile("cluster.yaml", content)
    return Client(enforce_csrf_checks=True).post(f"{IMPORT}{query}", {"file": file})


def test_a_dump_becomes_a_sandbox_at_the_refusal_of_the_chosen_pod(own_folder: Path) -> None:
    created = bring(SMALL, "?pod=default/big&kubernetes=v1.36").json()
    assert (created["pod"], created["kubernetes"]) == ("default/big", "v1.36")
    assert {"key": "default/big", "message": SAID["message"]} in created["waiting"]
    assert "v1.36" in created["version"]
    base = urlsplit(created["api"]).path
    state = Client().get(base).json()
    assert (state["cycle"], state["kubernetes"]) == (1, "v1.36")
    found = Client().get(f"{base}/panels/filter", {"pod": "default/big"}).json()
    assert "Insufficient cpu" in str(found["facts"])
    assert list(own_folder.iterdir()) == [], "no draft is left"


def test_choices_leave_things_out_and_make_names_up() -> None:
    created = bring(SMALL, "?without_kind=Node&without=default")
    assert created.status_code == 422
    made_up = bring(SMALL, "?made_up=true&pod=default/big").json()
    base = urlsplit(made_up["api"]).path
    assert made_up["pod"] not in ("", "default/big")
    assert Client().get(f"{base}/explain", {"pod": made_up["pod"]}).status_code == 200
    assert "big" not in Client().get(f"{base}/objects/Pod").content.decode()


def test_a_scenario_opens() -> None:
    created = bring(SCENARIO).json()
    assert (created["kubernetes"], created["notices"], created["waiting"]) == ("v1.35", [], [])
    assert Client().get(urlsplit(created["api"]).path).json()["title"] == "Mine"


REFUSED: dict[str, tuple[bytes, str, int, str]] = {
    "an empty file": (b"", "", 422, "There is no file"),
    "a cut file": (SMALL[:-3] + b"\n  - {", "", 422, "line"),
    "no pod of this name": (SMALL, "?pod=default/none", 422, "default/none"),
    "an unknown version": (SMALL, "?kubernetes=v1.2", 422, "kubernetes"),
}


@pytest.mark.parametrize(("content", "query", "status", "said"), REFUSED.values(), ids=REFUSED)
def test_a_refused_file_creates_nothing(own_folder: Path, content: bytes, query: str, status: int, said: str) -> None:
    answer = bring(content, query)
    assert (answer.status_code, answer["Content-Type"].split(";")[0]) == (status, "application/json")
    assert said in str(answer.json())
    assert not Sandbox.objects.exists()
    assert not own_folder.exists() or list(own_folder.iterdir()) == []


def test_a_request_without_a_form_is_refused_in_words() -> None:
    for content_type in ("application/json", "multipart/form-data; boundary=x", "multipart/form-data"):
        answer = Client().post(IMPORT, "{}", content_type=content_type)
        assert answer.status_code == 422, content_type
        assert answer.json()["message"]


def test_things_are_found_now_and_in_the_past() -> None:
    base = urlsplit(bring(SMALL).json()["api"]).path
    Client().post(f"{base}/commands", {"kind": "run"}, content_type="application/json")
    found = Client().get(f"{base}/find", {"q": "BIG"}).json()
    assert [(hit["kind"], hit["text"], hit["leads"]["pod"]) for hit in found["hits"]][:1] == [
        ("pod", "big", "default/big")
    ]
    assert any(hit["kind"] == "event" for hit in found["hits"])
    past = Client().get(f"{base}/find", {"q": "big", "at": "1.0"}).json()
    assert not any(hit["kind"] == "event" for hit in past["hits"])
    for wrong in ({}, {"q": "  "}, {"q": "x" * 81}, {"q": "a", "at": "soon"}):
        assert Client().get(f"{base}/find", wrong).status_code == 422, wrong


@pytest.mark.parametrize(("page", "lead"), [("edit", "edit"), ("watch", "read")])
def test_a_hit_leads_to_what_the_link_may_open(page: str, lead: str) -> None:
    created = bring(SMALL).json()
    _, _, sandbox, token, _ = urlsplit(created[page]).path.split("/")
    hits = Client().get(f"/api/v1/sandboxes/{sandbox}/{token}/find", {"q": "kube-system"}).json()["hits"]
    assert hits[0]["leads"] == {lead: "Namespace", "key": "kube-system"}
