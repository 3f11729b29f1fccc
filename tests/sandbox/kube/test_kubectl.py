"""The real kubectl reads a sandbox of a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote_plus

import pytest
import yaml

from tests.sandbox.served import served

PROGRAM = Path(sys.executable).parent / "kubectl"
LABELS = {"app": "web"}
WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "3"}}}]},
        },
    },
}
Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """Yield a function that runs kubectl on a sandbox: two nodes, and three replicas of which two have room."""
    home = tmp_path_factory.mktemp("home")
    with served(tmp_path_factory.mktemp("site")) as site:
        base = site.sandbox(nodes=2)
        assert site.ask("POST", f"{base}apply/", f"manifests={quote_plus(json.dumps(WEB))}")[0] == 204
        assert site.ask("POST", f"{base}do/run/")[0] == 204

        def run(*arguments: str, fails: bool = False) -> str:
            done = subprocess.run(
                [PROGRAM, "--server", f"http://127.0.0.1:{site.port}{base}kube", *arguments],
                env={"HOME": str(home), "PATH": os.environ["PATH"]},
                capture_output=True,
                text=True,
                check=False,
            )
            assert bool(done.returncode) == fails, done.stdout + done.stderr
            return done.stderr if fails else done.stdout

        yield run


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_version_and_resources(kubectl: Kubectl) -> None:
    assert "Server Version: v1.34.1" in kubectl("version")
    listed = {row[-1]: row for row in rows(kubectl("api-resources"))}
    assert listed["Deployment"] == ["deployments", "deploy", "apps/v1", "true", "Deployment"]


def test_get_prints_tables(kubectl: Kubectl) -> None:
    assert [row[:2] for row in rows(kubectl("get", "nodes", "--no-headers"))] == [
        ["node-0", "Unknown"],
        ["node-1", "Unknown"],
    ]
    head, *pods = rows(kubectl("get", "pods", "--all-namespaces", "--output", "wide"))
    assert head[:6] == ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert sorted((pod[3], pod[7]) for pod in pods) == [
        ("Pending", "<none>"),
        ("Running", "node-0"),
        ("Running", "node-1"),
    ]
    assert rows(kubectl("get", "deploy", "web", "--no-headers"))[0][:4] == ["web", "2/3", "3", "2"]
    assert len(rows(kubectl("get", "all", "--no-headers"))) == 5


def test_get_prints_manifests_and_names(kubectl: Kubectl) -> None:
    shown = yaml.safe_load(kubectl("get", "deployment", "web", "--output", "yaml"))
    assert shown["spec"]["template"]["metadata"] == {"labels": LABELS}
    assert shown["status"]["readyReplicas"] == 2
    assert kubectl("get", "nodes", "--output", "name").split() == ["node/node-0", "node/node-1"]
    assert len(kubectl("get", "pods", "--selector", "app=web", "--output", "name").split()) == 3
    assert kubectl("get", "pods", "--selector", "app=db", "--output", "name") == ""
    pending = kubectl("get", "pods", "--field-selector", "status.phase=Pending", "--output", "name").split()
    assert len(pending) == 1
    assert kubectl("get", "pods", "--chunk-size", "1", "--output", "name").split()[2:] != []


def test_describe_tells_why_a_pod_is_pending(kubectl: Kubectl) -> None:
    (pending,) = kubectl("get", "pods", "--field-selector", "status.phase=Pending", "--output", "name").split()
    text = kubectl("describe", pending)
    assert "FailedScheduling" in text
    assert "default-scheduler" in text
    assert "0/2 nodes are available: 2 Insufficient cpu." in text
    assert "Non-terminated Pods:" in kubectl("describe", "node", "node-0")


def test_what_is_not_there_or_not_possible_is_said_in_words(kubectl: Kubectl) -> None:
    assert kubectl("get", "pod", "nothing", fails=True) == 'Error from server (NotFound): pods "nothing" not found\n'
    assert "(MethodNotAllowed)" in kubectl("delete", "node", "node-0", fails=True)
    assert "MethodNotAllowed" in kubectl("create", "namespace", "mine", fails=True)
