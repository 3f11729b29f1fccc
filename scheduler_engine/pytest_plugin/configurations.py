"""Configurations of the scheduler, from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scheduler_engine.api.loading import read_documents
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import FieldError, Rejected


def read_configuration(path: Path) -> dict[str, Any]:
    """A KubeSchedulerConfiguration that the engine takes. Raises Rejected, with the file's name, when it is none."""
    try:
        text = path.read_text(encoding="utf-8")
        load_configuration(text)
    except OSError as problem:
        raise Rejected(f"{path}: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise Rejected(f"{path}: this is no text in UTF-8") from problem
    except Rejected as refusal:
        raise Rejected("\n".join(_told(path, error) for error in refusal.errors)) from refusal
    found: dict[str, Any] = read_documents(text)[0].data
    return found


def _told(path: Path, error: FieldError) -> str:
    return f"{path}:{error.line}:{error.column}: {error}" if error.line else f"{path}: {error}"
