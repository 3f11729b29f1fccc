"""Read the Dockerfile, and do in a folder what it does in an image, as far as that needs no Docker.

``pip install`` is left out: the folder gets the environment of the tests, which has the same lock file.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from tests.sandbox.served import ROOT

IN_IMAGE, DATA = "/srv/sandbox", "/data"
INSTALLS = "-m pip install"


@dataclass
class Stage:
    """A stage of the Dockerfile. ``steps``: instruction and the rest of its line, in their order."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def all(self, instruction: str) -> list[str]:
        return [rest for name, rest in self.steps if name == instruction]

    def words(self, instruction: str) -> list[str]:
        """Return the last CMD or similar, which must be a JSON list."""
        return list(json.loads(self.all(instruction)[-1]))

    def copies(self) -> list[tuple[list[str], str]]:
        """Return sources and target of each COPY from the project."""
        parts = [rest.split() for rest in self.all("COPY") if not rest.startswith("--from")]
        return [(words[:-1], words[-1]) for words in parts]


def stages(text: str) -> dict[str, Stage]:
    """Return the stages by name."""
    result: dict[str, Stage] = {}
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        instruction, _, rest = line.strip().partition(" ")
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            stage = result[name] = Stage(name, base)
        elif instruction:
            stage.steps.append((instruction, rest.strip()))
    return result


DOCKERFILE = stages((ROOT / "deploy" / "Dockerfile").read_text())


def is_sent(path: str) -> bool:
    """Return True if .dockerignore lets a file of the project into the build."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        whole = [Path(path), *Path(path).parents[:-1]]
        if pattern.startswith("**/"):
            matches = any(fnmatch(one.name, pattern.removeprefix("**/")) for one in whole)
        else:
            matches = any(fnmatch(str(one), pattern) for one in whole)
        sent = line.startswith("!") if matches else sent
    return sent


def placed(word: str, folder: Path) -> str:
    """Return a text of the Dockerfile with the folders of a test."""
    return word.replace(IN_IMAGE, str(folder / "srv")).replace(DATA, str(folder / "data"))


def build(folder: Path) -> Path:
    """Do the steps of the stage ``build``. Return the folder that stands for /srv/sandbox."""
    srv = folder / "srv"
    srv.mkdir()
    (folder / "data").mkdir()
    for instruction, rest in DOCKERFILE["build"].steps:
        if instruction == "COPY":
            *sources, target = rest.split()
            for source in sources:
                _copy(ROOT / source, srv / target / source if target.endswith("/") else srv / target, srv)
        elif instruction == "RUN" and INSTALLS in rest:
            (srv / ".venv").symlink_to(sys.prefix)
        elif instruction == "RUN":
            subprocess.run(
                ["/bin/sh", "-euc", placed(rest, folder)], cwd=srv, check=True, env={"PATH": "/usr/bin:/bin"}
            )
    return srv


def _copy(source: Path, target: Path, srv: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, srv if target == srv / "." else target)
