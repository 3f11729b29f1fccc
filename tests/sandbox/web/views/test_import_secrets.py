"""Only allow-listed fields of a dump are written: to files, the database, exports, pages and the log."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.panels import PANELS
from sandbox.storage.models import Sandbox
from sandbox.web import uploads
from sandbox.worker.jobs.exporting import FORM_NAMES
from scheduler_engine.importing.draft import ORDER
from tests.engine import dumps
from tests.engine.marked import Markers, objects

pytestmark = pytest.mark.django_db

BROWSER = {"accept": "text/html"}


def files(folder: Path) -> str:
    """Return the text of all files, unpacked."""
    held = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return "".join((gzip.decompress(item) if item[:2] == b"\x1f\x8b" else item).decode("latin-1") for item in held)


def rows() -> str:
    """Return everything in the database."""
    return "\n".join(repr(row) for model in apps.get_models() for row in model._base_manager.values())


WRITE = {"JSON": dumps.as_json, "YAML": dumps.as_yaml, "packed": lambda items: gzip.compress(dumps.as_json(items))}


@pytest.mark.parametrize("names", ["real", "made-up"])
@pytest.mark.parametrize("form", WRITE)
def test_a_cluster_full_of_secrets_leaves_none(
    form: str, names: str, tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.VAR_DIR = tmp_path
    caplog.set_level(logging.DEBUG)
    markers = Markers()
    items = [markers.filled(item, item["kind"]) for item in objects()]
    upload = SimpleUploadedFile("cluster", WRITE[form](items))
    answer = Client().post("/import/", {"file": upload})
    assert answer.status_code == 201, answer.content.decode()
    path = answer.content.decode().strip().removeprefix("http://testserver")
    draft = files(tmp_path)
    assert "topologySpreadConstraints" in draft, "the draft is the previewed one"
    page = Client().get(path, {"names": names}).content.decode()
    assert "0/1 nodes are available." in page or names == "made-up"
    location = Client(headers=BROWSER).post(f"{path}open/", {"names": names})["Location"]
    exported = [Client().get(f"{location}export/{name}/") for name in FORM_NAMES]
    panels = [Client().get(f"{location}panel/{panel}/") for panel in PANELS]
    assert {answer.status_code for answer in (*exported, *panels)} == {200}
    text = json.dumps([answer.content.decode() for answer in (*exported, *panels)])
    stores = {"files": draft + files(tmp_path), "database": rows(), "pages": page + text, "log": caplog.text}
    assert {name: markers.places_in(held) for name, held in stores.items()} == {name: set() for name in stores}
    assert "nodes are available" not in rows()
    sandbox = Sandbox.objects.get()
    taken = {item["kind"] for row in sandbox.records.all() for item in json.loads(row.command).get("manifests", ())}
    assert taken == set(ORDER)


def test_an_upload_has_no_name_anywhere_while_it_is_read() -> None:
    file = uploads.upload_of_text("kind: Secret")
    assert Path(uploads.descriptor_path(file)).read_bytes() == b"kind: Secret"
    assert "(deleted)" in str(Path(uploads.descriptor_path(file)).readlink())
    file.close()
