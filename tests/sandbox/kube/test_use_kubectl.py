"""The page that shows how to use kubectl: its commands run, and its picture shows what they print."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from sandbox.kube import commands
from sandbox.storage import tokens
from sandbox.web.views.kube import PICTURE
from tests.sandbox.conftest import Visitor
from tests.sandbox.kube.conftest import PROGRAM, Fresh, run

FIELD = re.compile(r'id="command-\d" readonly value="([^"]*)"')
CREATE = ("create", "deployment", "web", "--image=nginx", "--replicas=3")
LIST = ("get", "pods")


def on_page(text: str) -> list[str]:
    return [html.unescape(found) for found in FIELD.findall(text)]


def test_the_picture_shows_what_kubectl_prints(fresh: Fresh, golden: Callable[[Path, str], None]) -> None:
    site, base, kubectl = fresh

    def moment(*shell: tuple[str, ...]) -> dict[str, object]:
        printed = [
            {"command": " ".join(("kubectl", *words)), "output": re.sub(" +$", "", kubectl(*words), flags=re.M).strip()}
            for words in shell
        ]
        pods = {
            item["metadata"]["name"]: item["spec"].get("nodeName", "")
            for item in json.loads(kubectl(*LIST, "--output", "json"))["items"]
        }
        nodes = {node: [pod for pod, at in pods.items() if at == node] for node in ("node-0", "node-1")}
        return {"shell": printed, "waiting": [pod for pod, at in pods.items() if not at], "nodes": nodes}

    before = moment(CREATE, LIST)
    assert site.ask("POST", f"{base}do/run/")[0] == 204
    picture = [before, moment(LIST)]
    golden(PICTURE, json.dumps(picture, indent=2) + "\n")


def test_the_commands_of_the_page_run_as_copied(fresh: Fresh, tmp_path: Path) -> None:
    site, base, kubectl = fresh
    kubectl("run", "one", "--image=nginx")
    _, _, sandbox, token, _ = base.split("/")
    for link, says in (
        (token, "deployment.apps/web created"),
        (tokens.view_token(token), "kubernetes.io/unreachable:NoExecute"),
    ):
        lines = on_page(site.ask("GET", f"/s/{sandbox}/{link}/kubectl/")[1])
        assert len(lines) == 3
        env = {"HOME": str(tmp_path), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
        shell = ["bash", "-euo", "pipefail", "-c", "\n".join(lines)]
        done = subprocess.run(shell, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "node/node-1" in done.stdout
        assert says in done.stdout


def test_a_view_only_link_is_told_what_it_may_do(visitor: Visitor) -> None:
    edits, reads = (who.get("kubectl/").content.decode() for who in (visitor, visitor.watching()))
    assert "Whoever has this file can edit the sandbox." in edits
    assert "With this view-only link kubectl only reads." in reads
    listed = [f"<code>{name}</code>" for name in (*commands.CHANGE, *commands.WAIT)]
    assert all(name in edits and name not in reads for name in listed)
    assert all(f"<code>{name}</code>" in page for page in (edits, reads) for name in (*commands.READ, *commands.NEVER))
    assert visitor.token not in reads


def test_the_dialog_share_links_to_the_page(visitor: Visitor) -> None:
    assert 'href="kubectl/"' in visitor.get().content.decode()
    assert 'href="kubectl/"' in visitor.watching().get().content.decode()


def test_a_view_only_link_reads_only(fresh: Fresh, tmp_path: Path) -> None:
    site, base, _ = fresh
    _, _, sandbox, token, _ = base.split("/")
    link = f"/s/{sandbox}/{tokens.view_token(token)}/"
    assert "node-0" in run(site, link, tmp_path, "get", "nodes")
    assert "This link is view-only." in run(site, link, tmp_path, "label", "node", "node-0", "a=b", fails=True)
