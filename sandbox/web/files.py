"""Exports as files: their names, content types, and the answer that a browser saves."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.text import slugify

from sandbox.worker.jobs.exporting import Exported

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class File:
    """The ending and content type of an export, and terminal commands that use the file."""

    ending: str
    content_type: str
    lines: tuple[str, ...] = ()


FILES = {
    "scenario": File(".scenario.yaml", "application/yaml", ("pytest {}", "scheduler-sandbox run {}")),
    "manifests": File(".yaml", "application/yaml", ("kubectl apply --filename {}",)),
    "snapshot": File(".snapshot.json", "application/json"),
    "trace": File(".trace.jsonl", "application/x-ndjson"),
}
"""Form of an export → its file."""


def attachment(exported: Exported, form: str, title: str) -> HttpResponse:
    """Return an export as an answer that a browser saves."""
    return HttpResponse(
        exported.text,
        content_type=f"{FILES[form].content_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{file_name(form, title)}"'},
    )


def file_name(form: str, title: str) -> str:
    """Return the name of the file for an export of a sandbox with this title."""
    return plain_name(title) + FILES[form].ending


def plain_name(title: str) -> str:
    """Return a title in letters that every file system accepts."""
    return slugify(title)[:LONGEST_NAME].strip("-_") or "sandbox"
