"""Each command that the page and the document list does what they say, with kubectl of today and of Debian."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sandbox.kube.commands import CHANGE, NEVER, READ, WAIT
from tests.conftest import kubectl_of_debian
from tests.sandbox.kube.conftest import PROGRAM, WEB, Fresh, Kubectl, run
from tests.sandbox.served import Served
from tests.waiting import until

SINCE = {"events": 26, "explain": 27}
"""Command → the minor version that first has it, or reads the documents from which it works here."""
MANIFEST = json.dumps(WEB).replace('"replicas": 3', '"replicas": 1')
NODE = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}, "spec": {"unschedulable": True}})
DEPLOYMENT = "deployment/web"
ON_FILE: dict[str, str] = {"apply": MANIFEST, "diff": MANIFEST, "replace": MANIFEST, "create": NODE}
"""Command → what it reads."""
FILE = ("-f", "-")
TRIED: dict[str, tuple[str, ...]] = {
    "get": ("pods,nodes,deployments",),
    "describe": (DEPLOYMENT,),
    "explain": ("pod.spec.nodeName",),
    "events": (),
    "api-resources": (),
    "api-versions": (),
    "cluster-info": (),
    "version": (),
    "auth can-i": ("create", "pods"),
    "rollout history": (DEPLOYMENT,),
    "create": FILE,
    "apply": FILE,
    "diff": FILE,
    "replace": FILE,
    "run": ("one", "--image=nginx"),
    "expose": (DEPLOYMENT, "--port=80"),
    "edit": (DEPLOYMENT,),
    "patch": (DEPLOYMENT, "-p", '{"spec":{"minReadySeconds":1}}'),
    "set": ("image", DEPLOYMENT, "main=web:2"),
    "label": (DEPLOYMENT, "tier=front"),
    "annotate": (DEPLOYMENT, "why=test"),
    "scale": (DEPLOYMENT, "--replicas=2"),
    "rollout restart": (DEPLOYMENT,),
    "rollout undo": (DEPLOYMENT,),
    "rollout pause": (DEPLOYMENT,),
    "rollout resume": (DEPLOYMENT,),
    "cordon": ("node-0",),
    "uncordon": ("node-0",),
    "taint": ("node", "node-0", "dedicated=gold:NoSchedule"),
    "wait": ("--for=condition=Available", DEPLOYMENT),
    "rollout status": (DEPLOYMENT,),
    "drain": ("node-0", "node-1", "--force"),
    "delete": ("pod", "one"),
    "logs": ("one",),
    "exec": ("one", "--", "true"),
    "attach": ("one",),
    "port-forward": ("pod/one", "18080:80"),
    "cp": ("one:/etc/hosts", "hosts"),
    "debug": ("one", "--image=busybox"),
    "top": ("nodes",),
    "autoscale": (DEPLOYMENT, "--min=1", "--max=2"),
}
"""Command → further words with which it is tried."""
Tried = tuple[Served, str, Callable[..., str]]


@pytest.fixture(params=["ours", pytest.param("Debian's", marks=pytest.mark.debian_kubectl)])
def program(request: pytest.FixtureRequest) -> Path:
    of_debian = kubectl_of_debian()
    return of_debian if request.param == "Debian's" and of_debian else PROGRAM


@pytest.fixture
def tried(fresh: Fresh, program: Path, tmp_path: Path) -> Tried:
    """Return the site, a sandbox with two nodes and a pod without a node, and what tries a command there."""
    site, base, _ = fresh
    kubectl: Kubectl = partial(run, site, base, tmp_path, program=program)

    def attempt(name: str, fails: bool = False) -> str:
        return kubectl(*name.split(), *TRIED[name], fails=fails, stdin=ON_FILE.get(name, ""))

    attempt("run")
    return site, base, attempt


def minor(program: Path) -> int:
    said = subprocess.run([program, "version", "--client", "-o", "json"], capture_output=True, text=True, check=True)
    return int(re.sub(r"\D", "", json.loads(said.stdout)["clientVersion"]["minor"]))


def known(names: tuple[str, ...], program: Path) -> list[str]:
    version = minor(program)
    return [name for name in names if SINCE.get(name, 0) <= version]


def test_every_command_is_tried() -> None:
    assert sorted(TRIED) == sorted((*READ, *CHANGE, *WAIT, *NEVER))


def test_these_read(tried: Tried, program: Path) -> None:
    _, _, attempt = tried
    attempt("apply")
    for name in known(READ, program):
        assert attempt(name).strip(), name


def test_these_change_something_at_once(tried: Tried) -> None:
    site, base, attempt = tried
    for name in CHANGE:
        if name == "run":
            continue
        before = site.trace(base)
        attempt(name, fails=name == "diff")  # So it says that there is a difference.
        assert (site.trace(base) == before) == (name == "diff"), name


def test_these_wait_for_play(tried: Tried, program: Path, tmp_path: Path) -> None:
    site, base, attempt = tried
    attempt("apply")
    for name in WAIT:
        if name == "rollout status":
            attempt("rollout restart")
        words = [str(program), "--server", f"http://127.0.0.1:{site.port}{base}kube", *name.split(), *TRIED[name]]
        env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        asked = len(site.trace(base))
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as waits:
            if name in ("delete", "drain"):
                until(lambda: len(site.trace(base)) > asked)  # noqa: B023 – it is called in this round.
            with pytest.raises(subprocess.TimeoutExpired):
                waits.wait(1)
            assert site.ask("POST", f"{base}do/run/")[0] == 204
            assert site.ask("POST", f"{base}do/advance/", "seconds=60")[0] == 204
            assert waits.wait(60) == 0, waits.stdout and waits.stdout.read()


def test_these_cannot_work(tried: Tried) -> None:
    _, _, attempt = tried
    attempt("apply")
    for name in NEVER:
        assert attempt(name, fails=True), name


@pytest.mark.parametrize("names", [READ, CHANGE, WAIT, NEVER], ids=["read", "change", "wait", "never"])
def test_the_document_lists_them(names: tuple[str, ...]) -> None:
    text = Path(__file__).parents[3].joinpath("docs/kubectl.md").read_text()
    listed = next(line for line in text.splitlines() if f"`{names[0]}`, `{names[1]}`" in line)
    assert [name for name in names if f"`{name}`" not in listed] == []
