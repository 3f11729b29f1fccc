"""Read an uploaded file, and create the sandbox of an import. The page and the API do this."""

from __future__ import annotations

import logging
from pathlib import Path

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest
from django.http.multipartparser import MultiPartParserError

from sandbox.changes import store
from sandbox.limits import quotas, ratelimit
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.web import uploads
from sandbox.web.executing import execute_all
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError
from sandbox.worker.jobs.importing import GONE, ImportedCluster, UploadedScenario
from scheduler_engine.errors import Rejected
from scheduler_engine.importing import Choices

log = logging.getLogger(__name__)


def read(request: HttpRequest) -> tuple[str, UploadedScenario | None]:
    """Read the uploaded file. Return the key of its draft, and the scenario instead if the file is one.

    Raises ``Rejected`` with the lines of the errors, ``OverQuota`` for a file that is too large or has no space.
    """
    if not 0 <= int(request.META.get("CONTENT_LENGTH") or 0) <= settings.IMPORT_BYTES + settings.IMPORT_SLACK:
        raise quotas.OverQuota(say("import.too-large", most=settings.IMPORT_BYTES), 413)
    file, address = _file(request), ratelimit.client(request)
    quotas.check_import(file.size or 0)
    key, path = uploads.new_draft(address)
    try:
        with file:
            scenario = engines.of_file(jobs.import_read, uploads.descriptor_path(file), str(path), file.name or "")
        uploads.check_space(address)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return key, scenario


def path_of(key: str) -> str:
    """Return the path of a draft. Raise ``Http404`` if it is gone."""
    path = uploads.draft_path(key)
    if path is None:
        raise Http404(GONE)
    return str(path)


def _file(request: HttpRequest) -> UploadedFile:
    """Return the uploaded file, else the pasted text as a file. Raise ``OverQuota`` or ``Rejected``."""
    try:
        file, text = request.FILES.get("file"), request.POST.get("text", "")
    except RequestDataTooBig:
        raise quotas.OverQuota(say("import.pasted-too-long"), 413) from None
    except (BadRequest, TooManyFieldsSent, TooManyFilesSent, MultiPartParserError):
        raise Rejected(say("errors.unreadable")) from None
    if file is None and text.strip():
        return uploads.upload_of_text(text)
    if file is None or not file.size:
        raise Rejected(say("import.no-file"))
    return file


def create(path: str, choices: Choices) -> tuple[Sandbox, str, ImportedCluster]:
    """Create the sandbox of a draft, and remove the draft. Return the sandbox, its edit token and what was imported.

    If ``choices`` name a pod, step to where the scheduler refuses it.
    """
    imported = engines.of_file(jobs.import_commands, path, choices)
    sandbox, token = store.create(
        say("titles.imported"),
        configuration=imported.configuration,
        setup=imported.commands,
        kubernetes=imported.preview.kubernetes,
    )
    remove(path)
    if imported.pod:
        _step_to(sandbox, imported.pod)
    return sandbox, token, imported


def remove(path: str) -> None:
    Path(path).unlink(missing_ok=True)


def _step_to(sandbox: Sandbox, pod: str) -> None:
    try:
        way = engines.read(sandbox, jobs.way_to, pod)
        if way:
            execute_all(sandbox, way)
    except (Rejected, EngineError) as error:
        # The sandbox exists, so show it. The visitor can do the first steps.
        log.info("an import did not reach the chosen pod: %s", error)
