"""A real nginx with the configuration of ``deploy/``, in front of web processes."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import PATIENCE, free_port, until

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"


def placed(folder: Path, port: int, static: Path, webs: list[int]) -> Path:
    """Write the configuration with the ports and folders of a test, and nothing else changed. Return its path."""
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in {
        "/var/log/nginx/": f"{folder}/",
        "/srv/sandbox/var/static/": f"{static}/",
        "listen 8080;": f"listen 127.0.0.1:{port};",
    }.items():
        assert old in text
        text = text.replace(old, new)
    line = next(line for line in (DEPLOY / "upstream.conf").read_text().splitlines() if ":8001" in line)
    (folder / "upstream.conf").write_text("".join(line.replace("8001", f"{web}") + "\n" for web in webs))
    path = folder / "nginx.conf"
    path.write_text(text)
    return path


def command(folder: Path, path: Path) -> list[str]:
    program = shutil.which("nginx")
    assert program, "nginx is not installed"
    # Folders of tests belong to root alone.
    user = " user root;" if os.geteuid() == 0 else ""
    return [program, "-p", str(folder), "-c", str(path), "-g", f"daemon off; pid {folder}/pid;{user}"]


@contextmanager
def nginx(folder: Path, static: Path, webs: list[int]) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Run nginx in front of the web processes at the ports ``webs``. Yield its port and process."""
    port = free_port()
    process = subprocess.Popen(command(folder, placed(folder, port, static, webs)), text=True)
    try:
        until(lambda: process.poll() is not None or (folder / "pid").exists())
        assert process.poll() is None
        yield port, process
    finally:
        process.terminate()
        process.wait(PATIENCE)
