"""A folder for a server, with a database and static files, created once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.hostile.site import prepare


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    directory = tmp_path_factory.mktemp("site")
    return directory, prepare(directory)


@pytest.fixture
def environment(prepared: tuple[Path, dict[str, str]], tmp_path: Path) -> dict[str, str]:
    """Return the environment of a server with an empty database in ``tmp_path``."""
    directory, environment = prepared
    shutil.copy(directory / "db.sqlite3", tmp_path)
    return environment | {"DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}"}
