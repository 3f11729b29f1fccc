"""The real kubectl on sandboxes of a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import quote_plus

import pytest

from tests.engine.controllers import deployment
from tests.sandbox.served import Served, served

PROGRAM = Path(sys.executable).parent / "kubectl"
EDITOR = "sed -i s/web:1/web:3/"
"""A command in the place of an editor."""
WEB = deployment("web", 3, image="web:1", cpu="3")


class Server(Protocol):
    """A running server."""

    port: int


Kubectl = Callable[..., str]
Fresh = tuple[Served, str, Kubectl]


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """Yield a function that runs kubectl on a sandbox: two nodes, and three replicas of which two have room."""
    home = tmp_path_factory.mktemp("home")
    with served(tmp_path_factory.mktemp("site")) as site:
        base = site.sandbox(nodes=2)
        assert site.ask("POST", f"{base}apply/", f"manifests={quote_plus(json.dumps(WEB))}")[0] == 204
        assert site.ask("POST", f"{base}do/run/")[0] == 204
        yield partial(run, site, base, home)


def command(site: Server, base: str, *arguments: str, program: Path = PROGRAM) -> list[str]:
    return [str(program), "--server", f"http://127.0.0.1:{site.port}{base}kube", *arguments]


def run(
    site: Server, base: str, home: Path, *arguments: str, fails: bool = False, stdin: str = "", program: Path = PROGRAM
) -> str:
    """Run kubectl on a sandbox. Return what it prints; its errors if it should fail."""
    done = subprocess.run(
        command(site, base, *arguments, program=program),
        env={"HOME": str(home), "PATH": os.environ["PATH"], "KUBE_EDITOR": EDITOR},
        cwd=home,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture
def fresh(kubectl: Kubectl) -> Fresh:
    """Return the site, the path of a new sandbox with two nodes, and a function that runs kubectl on it."""
    assert isinstance(kubectl, partial)
    site, _, home = kubectl.args
    base = site.sandbox(nodes=2)
    return site, base, partial(run, site, base, home)
