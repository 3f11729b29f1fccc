"""Import a cluster: the file, the preview, the new sandbox, and refusals."""

from __future__ import annotations

import asyncio
import gc
import gzip
import io
import json
import os
import re
import resource
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.runtime.threads import BACKGROUND
from sandbox.server import pruning
from sandbox.storage.models import Sandbox
from sandbox.web import uploads
from sandbox.web.handler import OneThreadHandler
from sandbox.web.views.importing import KUBECTL
from sandbox.worker import jobs
from tests.engine import dumps

pytestmark = pytest.mark.django_db

OBJECTS = dumps.cluster(1, nodes=6, pods=40).objects
BROWSER = {"accept": "text/html,application/xhtml+xml"}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path / "imports"


def bring(content: bytes, name: str = "cluster.yaml", **headers: Any) -> Any:
    return Client(headers=headers).post("/import/", {"file": SimpleUploadedFile(name, content)})


def uploaded(content: bytes = b"") -> str:
    """Upload a dump. Return the path of the preview."""
    answer = bring(content or dumps.as_yaml(OBJECTS))
    assert answer.status_code == 201, answer.content.decode()
    return answer.content.decode().strip().removeprefix("http://testserver")


def opened(path: str, **choices: Any) -> tuple[Sandbox, str]:
    answer = Client(headers=BROWSER).post(f"{path}open/", choices)
    assert answer.status_code == 302, answer.content.decode()
    match = re.match(r"/s/([0-9a-f-]+)/", answer["Location"])
    assert match is not None
    return Sandbox.objects.get(pk=match[1]), answer["Location"]


def test_the_first_page_has_the_line_to_copy_and_the_door() -> None:
    html = Client().get("/").content.decode()
    assert KUBECTL.replace(">", "&gt;") in html
    assert 'action="/import/"' in html


def test_curl_gets_the_address_and_a_browser_is_redirected() -> None:
    assert re.fullmatch(r"/import/[\w-]{32}/", uploaded())
    answer = bring(dumps.as_json(OBJECTS), **BROWSER)
    assert answer.status_code == 302
    assert re.fullmatch(r"/import/[\w-]{32}/", answer["Location"])


def test_a_dump_written_by_powershell_is_read() -> None:
    text = dumps.as_yaml(OBJECTS).decode().replace("\n", "\r\n")
    html = Client().get(uploaded(b"\xff\xfe" + text.encode("utf-16-le"))).content.decode()
    assert "<b>6</b>" in html


def test_a_packed_scenario_opens_at_once() -> None:
    text = "title: Packed\nsetup:\n- run: {}\n"
    answer = bring(gzip.compress(b"\xff\xfe" + text.encode("utf-16-le")), "a.yaml.gz", **BROWSER)
    assert answer["Location"].startswith("/s/")
    assert Sandbox.objects.get().title == "Packed"


def test_unknown_fields_are_named_on_the_page() -> None:
    html = Client().get(uploaded()).content.decode()
    assert "Node: status.someNewField" in html


def test_a_pasted_text_is_a_file_too() -> None:
    answer = Client().post("/import/", {"text": dumps.as_yaml(OBJECTS[:6]).decode()})
    assert answer.status_code == 201


def test_the_page_lists_what_will_be_imported_and_what_will_not() -> None:
    html = Client().get(uploaded()).content.decode()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))
    assert "6 nodes" in text
    assert "finished and were left out" in text
    assert "Lease" in text
    assert "the sandbox keeps its own" in text
    assert "team-1/gated" in text
    assert dumps.SECRET not in html


def test_choices_stay_on_the_page_and_change_it() -> None:
    path = uploaded()
    html = Client().get(path, {"without": "team-1", "without-kind": "Service", "names": "made-up"}).content.decode()
    assert re.search(r'value="team-1"[^>]*checked', html)
    assert re.search(r'value="Service"[^>]*checked', html)
    assert re.search(r'value="made-up" selected', html)
    assert "team-1/gated" not in html


def test_the_sandbox_has_the_pods_where_they_were(trace: Any) -> None:
    sandbox, location = opened(uploaded())
    page = Client().get(location)
    assert page.status_code == 200
    lines = "\n".join(trace(sandbox))
    assert "ip-10-0-0-1.eu-west-1.compute.internal" in lines
    assert dumps.SECRET not in lines
    assert Sandbox.objects.get(pk=sandbox.pk).log_bytes > 1000


def test_with_invented_names_no_real_one_remains(trace: Any) -> None:
    sandbox, _ = opened(uploaded(), names="made-up")
    lines = "\n".join(trace(sandbox))
    assert "node-1" in lines
    assert "compute.internal" not in lines


def test_the_configuration_of_a_snapshot_is_that_of_the_sandbox() -> None:
    configuration = {"profiles": [{"schedulerName": "acme-scheduler"}]}
    sandbox, _ = opened(uploaded(json.dumps(dumps.as_snapshot(OBJECTS, configuration)).encode()))
    assert json.loads(sandbox.configuration)["profiles"] == configuration["profiles"]


POD: dict[str, Any] = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "64"}}}]}


def waiting(name: str, **spec: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "message": f"{name} found no node"}
    status = {"phase": "Pending", "conditions": [condition]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": POD | spec, "status": status}


def test_my_pod_is_pending_opens_at_its_failed_filter() -> None:
    important = {"priority": 1000}
    others = [waiting("first"), waiting("loud", **important), waiting("mine"), waiting("last")]
    path = uploaded(dumps.as_json([*OBJECTS, *others]))
    html = Client().get(path).content.decode()
    assert html.index("mine found no node") < html.index("team-1/elsewhere"), "refused pods come first"
    sandbox, location = opened(path, pod="default/mine")
    assert location.endswith("?pod=default%2Fmine")
    kinds = [json.loads(item)["kind"] for item in sandbox.records.order_by("n").values_list("command", flat=True)]
    assert kinds[-4:] == ["stage"] * 4, "Pop, Snapshot, PreFilter, Filter"
    drawn = engines.read(sandbox, jobs.fragments, View(pod="default/mine"), ["filter", "inspector"], True, False, {})
    assert "Insufficient cpu" in drawn["filter"].html
    assert "mine" in drawn["inspector"].html


@pytest.mark.parametrize("pod", ["team-1/gated", "team-1/elsewhere"])
def test_a_pod_whose_turn_never_comes_is_still_shown(pod: str) -> None:
    _, location = opened(uploaded(), pod=pod)
    assert location.endswith(f"?pod={pod.replace('/', '%2F')}")
    assert Client().get(location).status_code == 200


# --- refusals ---------------------------------------------------------------------------------------------------------


def zipped(name: str, content: bytes = b"{}") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


REFUSED: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "a truncated file": (lambda: dumps.as_json(OBJECTS)[:5000], "line 1"),
    "truncated YAML": (lambda: dumps.as_yaml(OBJECTS)[:5000], "line 185: invalid YAML"),
    "a message of kubectl": (
        b"error: You must be logged in to the server (Unauthorized)\n",
        "line 1: this is a message, not an object: “error: You must be logged in to the server (Unauthorized)”. Log in",
    ),
    "a picture": (b"\x89PNG\r\n\x1a\n\xff", "line 1: the text is not UTF-8"),
    "a YAML bomb": (b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*d]\n", "line 3, column 5: unknown anchor"),
    "an anchor that holds itself": (b"a: &a\n- *a\n", "line 2, column 3: unknown anchor"),
    "a name that is markup": (
        b'{"kind": "<script>alert(1)</script>", "metadata": {"name": "<img>"}}',
        "has no object",
    ),
    "a zip entry outside of the folder": (zipped("../../etc/passwd.json"), "leads out of the archive"),
    "a zip in a zip": (zipped("a.zip"), "it is an archive in the archive"),
    "a zip bomb": (lambda: zipped("a.json", b" " * (97 * 2**20)), "more than 96 MiB"),
    "a packed bomb": (lambda: gzip.compress(b" " * (97 * 2**20)), "more than 96 MiB"),
    "nothing": (b"", "There is no file in this request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unusable_object_gets_its_reason_and_leaves_nothing(name: str, own_folder: Path) -> None:
    upload, reason = REFUSED[name]
    content = upload() if callable(upload) else upload
    answer = bring(content)
    assert answer.status_code == 422
    assert answer["Content-Type"].startswith("text/plain")
    assert reason in answer.content.decode()
    page = bring(content, **BROWSER)
    assert page.status_code == 422
    assert "<script>alert" not in page.content.decode()
    assert "could not be imported" in page.content.decode()
    assert not Sandbox.objects.exists()
    assert not own_folder.exists() or list(own_folder.iterdir()) == []


def test_names_with_markup_are_shown_as_they_are_written() -> None:
    odd = {"apiVersion": "example.com/v1", "kind": "<b>Odd</b>", "metadata": {"name": "<script>alert(1)</script>"}}
    html = Client().get(uploaded(dumps.as_json([*OBJECTS, odd]))).content.decode()
    assert "&lt;script&gt;alert(1)" in html
    assert "<script>alert" not in html


@override_settings(IMPORT_BYTES=1000)
def test_a_file_that_is_too_large_is_refused_and_says_how_large_one_may_be(own_folder: Path) -> None:
    answer = bring(b" " * 1001)
    assert answer.status_code == 413
    assert "the limit is 1,000 bytes" in answer.content.decode()
    assert not own_folder.exists() or list(own_folder.iterdir()) == []


def test_a_pasted_text_that_is_too_long_for_a_form_is_refused() -> None:
    answer = Client().post("/import/", {"text": "x" * 3_000_000})
    assert answer.status_code == 413
    assert "Save it as a file" in answer.content.decode()


def test_a_cluster_larger_than_a_sandbox_is_refused_with_the_limit(own_folder: Path, settings: Any) -> None:
    settings.QUOTAS = {"pods": 10}
    answer = Client().post(f"{uploaded()}open/")
    assert answer.status_code == 422
    assert "The limit is 10 pods in one sandbox" in answer.content.decode()
    assert not Sandbox.objects.exists()


def test_excluding_everything_creates_nothing() -> None:
    path = uploaded(dumps.as_json([waiting("mine")]))
    answer = Client().post(f"{path}open/", {"without": "default"})
    assert answer.status_code == 422
    assert "Nothing is left to import" in answer.content.decode()
    assert Client().post(f"{path}open/", {"pod": "default/nobody"}).status_code == 422
    assert not Sandbox.objects.exists()


def test_a_stored_file_is_readable_by_its_process_alone_and_deleted_after_an_hour(own_folder: Path) -> None:
    path = uploaded()
    (kept,) = own_folder.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert own_folder.stat().st_mode & 0o777 == 0o700
    assert path.split("/")[2] not in kept.name
    os.utime(kept, (0, 0))
    assert Client().get(path).status_code == 404
    assert list(own_folder.iterdir()) == []


def test_the_server_deletes_unused_drafts(own_folder: Path) -> None:
    uploaded()
    (kept,) = own_folder.iterdir()
    os.utime(kept, (0, 0))
    pruning.chore()
    BACKGROUND.submit(int).result()
    assert list(own_folder.iterdir()) == []


def test_the_folder_has_a_size_limit(monkeypatch: pytest.MonkeyPatch, own_folder: Path) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", uploads.LEAST_BYTES - 1)
    answer = bring(dumps.as_yaml(OBJECTS))
    assert answer.status_code == 507
    assert "too many imports" in answer.content.decode()
    assert list(own_folder.iterdir()) == []


def test_one_address_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch, own_folder: Path) -> None:
    uploaded()
    (first,) = own_folder.iterdir()
    monkeypatch.setattr(uploads, "MOST_OF_ONE", first.stat().st_size * 3 // 2)
    answer = bring(dumps.as_yaml(OBJECTS))
    assert answer.status_code == 429
    assert "Your address has uploaded too many clusters" in answer.content.decode()
    assert list(own_folder.iterdir()) == [first]
    file = SimpleUploadedFile("cluster.yaml", dumps.as_yaml(OBJECTS))
    assert Client(REMOTE_ADDR="192.0.2.7").post("/import/", {"file": file}).status_code == 201


def test_the_draft_of_an_address_does_not_name_it(own_folder: Path) -> None:
    uploaded()
    (kept,) = own_folder.iterdir()
    assert "127.0.0.1" not in kept.name
    assert re.fullmatch("[0-9a-f]{16}-[0-9a-f]{64}", kept.name)


def test_an_import_is_forgotten_when_it_is_opened(own_folder: Path) -> None:
    path = uploaded()
    opened(path)
    assert list(own_folder.iterdir()) == []
    for answer in (Client().get(path), Client(headers=BROWSER).post(f"{path}open/")):
        assert answer.status_code == 404
        assert "Upload the file again" in answer.content.decode()


def test_an_import_that_a_sandbox_has_no_room_for_can_be_tried_again(settings: Any) -> None:
    path = uploaded()
    settings.QUOTAS = {"pods": 10}
    assert Client().post(f"{path}open/").status_code == 422
    settings.QUOTAS = {}
    opened(path)


@pytest.fixture
def full_disk() -> Iterator[None]:
    """Limit the files of this process to 1,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_takes_no_upload_and_says_so(own_folder: Path) -> None:
    for headers in ({}, BROWSER):
        answer = bring(dumps.as_yaml(OBJECTS), **headers)
        assert answer.status_code == 507
        assert "disk is full or cannot be written" in answer.content.decode()
    answer = Client().post("/import/", {"text": dumps.as_yaml(OBJECTS[:6]).decode()})
    assert answer.status_code == 507
    assert not own_folder.exists() or list(own_folder.iterdir()) == []


@pytest.mark.usefixtures("full_disk")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_takes_no_body_and_says_so() -> None:
    """Django then leaves its temporary file to the garbage collector, hence the warning."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * 3_000_000}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/import/", "headers": [], "query_string": b""}
    asyncio.run(OneThreadHandler()(scope, receive, send))
    gc.collect()
    assert sent[0]["status"] == 507
    assert b"disk is full" in sent[1]["body"]


def test_a_full_disk_takes_no_draft_and_says_so(own_folder: Path, full_disk: None) -> None:
    plenty = gzip.compress(
        b"\n".join(b'{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n%d"}}' % n for n in range(200))
    )
    assert len(plenty) < 700, "the upload itself has room"
    answer = bring(plenty, "nodes.json.gz")
    assert (answer.status_code, "disk is full" in answer.content.decode()) == (507, True)
    assert list(own_folder.iterdir()) == []


@pytest.mark.parametrize("key", ["x", "a" * 32, "..%2f..%2fetc%2fpasswd", "%00"])
def test_a_wrong_key_opens_nothing(key: str) -> None:
    assert Client().get(f"/import/{key}/").status_code == 404
    assert Client().post(f"/import/{key}/open/").status_code == 404


def test_the_pages_of_an_import_are_not_cached() -> None:
    for answer in (Client().get(uploaded()), bring(b"")):
        assert (answer["Cache-Control"], answer["X-Robots-Tag"]) == ("no-store", "noindex, nofollow")
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert not answer.cookies


def test_the_document_has_the_line_of_the_first_page() -> None:
    assert KUBECTL in (Path(__file__).resolve().parents[4] / "docs" / "import.md").read_text()


def of_kubelets(version: str) -> bytes:
    return dumps.as_yaml(OBJECTS).replace(b"kubeletVersion: v1.34.1", f"kubeletVersion: {version}".encode())


def test_the_page_proposes_the_version_of_the_kubelets_and_another_can_be_chosen() -> None:
    path = uploaded(of_kubelets("v1.35.2"))
    html = Client().get(path).content.decode()
    assert "The nodes run v1.35, so this follows Kubernetes v1.35.6." in html
    assert '<option value="v1.35" selected>v1.35.6</option>' in html
    html = Client().get(path, {"kubernetes": "v1.36"}).content.decode()
    assert "The nodes run v1.35. This follows Kubernetes v1.36.2, as you chose." in html
    assert '<option value="v1.36" selected>' in html
    sandbox, _ = opened(path, kubernetes="v1.36")
    assert sandbox.kubernetes == "v1.36"


def test_without_a_choice_the_sandbox_follows_the_kubelets() -> None:
    sandbox, _ = opened(uploaded(of_kubelets("v1.36.0")))
    assert sandbox.kubernetes == "v1.36"


def test_an_import_refuses_an_unknown_version() -> None:
    answer = Client(headers=BROWSER).post(f"{uploaded()}open/", {"kubernetes": "v1.33"})
    assert answer.status_code == 422
    assert "v1.33" in answer.content.decode()
    assert not Sandbox.objects.exists()
