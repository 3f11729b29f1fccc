"""The real kubectl reads a sandbox of a real server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.sandbox.kube.conftest import PROGRAM, WEB, Fresh, Kubectl, command
from tests.test_documents import block
from tests.waiting import PATIENCE


def numbers(text: str) -> list[str]:
    """Return the revisions in a history."""
    return [row[0] for row in rows(text) if row and row[0].isdigit()]


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
    assert shown["spec"]["template"]["metadata"] == {"labels": {"app": "web"}}
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
    pod = kubectl("get", "pods", "--output", "name").split()[0]
    assert "runs no containers" in kubectl("logs", pod, fails=True)


MANIFEST = json.dumps(WEB)


def test_objects_are_created_applied_compared_and_edited(fresh: Fresh) -> None:
    _, _, kubectl = fresh
    assert kubectl("create", "--save-config", "-f", "-", stdin=MANIFEST) == "deployment.apps/web created\n"
    assert "AlreadyExists" in kubectl("create", "-f", "-", stdin=MANIFEST, fails=True)
    assert kubectl("apply", "-f", "-", stdin=MANIFEST) == "deployment.apps/web unchanged\n"
    more = MANIFEST.replace('"replicas": 3', '"replicas": 4')
    assert "+  replicas: 4" in run_diff(kubectl, more)
    assert kubectl("apply", "-f", "-", stdin=more) == "deployment.apps/web configured\n"
    assert kubectl("scale", "deployment", "web", "--replicas", "1") == "deployment.apps/web scaled\n"
    assert kubectl("set", "image", "deployment/web", "main=web:2") == "deployment.apps/web image updated\n"
    pause = '[{"op":"add","path":"/spec/paused","value":true}]'
    assert kubectl("patch", "deploy", "web", "--type", "json", "-p", pause) == "deployment.apps/web patched\n"
    shown = yaml.safe_load(kubectl("get", "deploy", "web", "-o", "yaml"))
    assert (shown["spec"]["replicas"], shown["spec"]["paused"]) == (1, True)
    assert shown["spec"]["template"]["spec"]["containers"][0]["image"] == "web:2"
    again = kubectl("get", "node", "node-0", "-o", "yaml")
    assert kubectl("replace", "-f", "-", stdin=again) == "node/node-0 replaced\n"
    assert kubectl("get", "node", "node-0", "-o", "yaml") == again


def test_who_applies_on_the_server_manages_the_fields(fresh: Fresh) -> None:
    _, _, kubectl = fresh
    apply = partial(kubectl, "apply", "--server-side", "-f", "-")
    done = "deployment.apps/web serverside-applied\n"
    assert apply(stdin=MANIFEST) == done
    kubectl("scale", "deployment", "web", "--replicas", "1")
    refused = apply(stdin=MANIFEST, fails=True)
    assert 'conflict with "kubectl" with subresource "scale" using apps/v1' in refused
    assert ".spec.replicas" in refused
    assert apply("--dry-run=server", "--force-conflicts", stdin=MANIFEST) == done.replace("\n", " (server dry run)\n")
    assert apply("--force-conflicts", stdin=MANIFEST) == done
    assert apply("--field-manager=tuner", stdin=MANIFEST) == done
    assert "managedFields" not in kubectl("get", "deploy", "web", "-o", "yaml")
    shown = yaml.safe_load(kubectl("get", "deploy", "web", "-o", "yaml", "--show-managed-fields"))
    assert [entry["manager"] for entry in shown["metadata"]["managedFields"]] == ["kubectl", "tuner"]
    assert shown["spec"]["replicas"] == 3


def test_kubectl_goes_on_on_the_server(fresh: Fresh) -> None:
    _, _, kubectl = fresh
    kubectl("apply", "-f", "-", stdin=MANIFEST)
    more = MANIFEST.replace('"replicas": 3', '"replicas": 4')
    assert kubectl("apply", "--server-side", "-f", "-", stdin=more) == "deployment.apps/web serverside-applied\n"
    assert kubectl("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}") == "4"


def run_diff(kubectl: Kubectl, manifest: str) -> str:
    """Return what ``kubectl diff`` prints. It fails when there is a difference."""
    assert isinstance(kubectl, partial)
    site, base, home = kubectl.args
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    differing = command(site, base, "diff", "-f", "-")
    done = subprocess.run(differing, env=env, input=manifest, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_nodes_are_labelled_tainted_cordoned_and_drained(fresh: Fresh) -> None:
    site, base, kubectl = fresh
    kubectl("apply", "-f", "-", stdin=MANIFEST)
    assert site.ask("POST", f"{base}do/run/")[0] == 204
    kubectl("label", "node", "node-0", "disk=ssd")
    kubectl("annotate", "node", "node-0", "why=test")
    kubectl("taint", "node", "node-0", "dedicated=gold:NoSchedule")
    node = yaml.safe_load(kubectl("get", "node", "node-0", "-o", "yaml"))
    assert (node["metadata"]["labels"]["disk"], node["spec"]["taints"][0]["value"]) == ("ssd", "gold")
    kubectl("taint", "node", "node-0", "dedicated-")
    before = kubectl("get", "pods,nodes", "--output", "yaml")
    kubectl("drain", "node-1", "--dry-run=server")
    kubectl("drain", "node-1", "--dry-run=server", "--disable-eviction")
    kubectl("delete", "node", "node-1", "--dry-run=server")
    assert kubectl("get", "pods,nodes", "--output", "yaml") == before
    # Time passes only when somebody steps, so the pods stay as terminating.
    text = kubectl("drain", "node-1", "--timeout", "2s", fails=True)
    assert "to terminate: context deadline exceeded" in text
    states = [row[1] for row in rows(kubectl("get", "nodes", "--no-headers"))]
    assert states == ["Unknown", "Unknown,SchedulingDisabled"]
    assert site.ask("POST", f"{base}do/advance/", "seconds=31")[0] == 204
    assert "node/node-1 drained" in kubectl("drain", "node-1", "--timeout", "60s")
    kubectl("uncordon", "node-1")


def test_what_the_page_does_is_seen_by_a_watch_and_the_other_way_round(fresh: Fresh) -> None:
    site, base, kubectl = fresh
    assert isinstance(kubectl, partial)
    env = {"HOME": str(kubectl.args[2]), "PATH": os.environ["PATH"]}
    watching = command(site, base, "get", "pods", "--watch", "--output-watch-events", "--no-headers")
    seen: list[list[str]] = []
    with subprocess.Popen(watching, env=env, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None
        kubectl("apply", "-f", "-", stdin=MANIFEST)
        while len(seen) < 3:
            seen.append(watch.stdout.readline().split())
        assert {row[0] for row in seen} == {"ADDED"}
        assert site.ask("POST", f"{base}do/run/")[0] == 204
        assert kubectl("rollout", "status", "deploy/web", "--timeout", "1s", fails=True)  # One of three has no room.
        while sum(row[3] == "Running" for row in seen) < 2:
            seen.append(watch.stdout.readline().split())
        kubectl("delete", "deployment", "web")
        assert site.ask("POST", f"{base}do/advance/", "seconds=60")[0] == 204
        while sum(row[0] == "DELETED" for row in seen) < 3:
            seen.append(watch.stdout.readline().split())
        watch.terminate()


def test_waiting_ends_when_the_page_steps(fresh: Fresh) -> None:
    site, base, kubectl = fresh
    assert isinstance(kubectl, partial)
    env = {"HOME": str(kubectl.args[2]), "PATH": os.environ["PATH"]}
    kubectl("apply", "-f", "-", stdin=MANIFEST.replace('"replicas": 3', '"replicas": 1'))
    waiting = command(site, base, "wait", "--for=condition=Available", "deployment/web", "--timeout=600s")
    with subprocess.Popen(waiting, env=env, stdout=subprocess.PIPE, text=True) as wait:
        assert site.ask("POST", f"{base}do/run/")[0] == 204
        assert wait.stdout is not None
        assert wait.stdout.read() == "deployment.apps/web condition met\n"


@pytest.fixture
def start(fresh: Fresh) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Yield a function that starts kubectl. What still runs at the end is ended."""
    site, base, kubectl = fresh
    assert isinstance(kubectl, partial)
    env = {"HOME": str(kubectl.args[2]), "PATH": os.environ["PATH"]}
    with ExitStack() as stack:

        def begin(*arguments: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(command(site, base, *arguments), env=env, stdout=subprocess.PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def test_a_watch_and_a_wait_go_on_when_somebody_goes_back(
    fresh: Fresh, start: Callable[..., subprocess.Popen[str]]
) -> None:
    site, base, kubectl = fresh
    kubectl("apply", "-f", "-", stdin=MANIFEST.replace('"replicas": 3', '"replicas": 1'))
    watch = start("get", "deployments", "--watch", "--output-watch-events", "--no-headers").stdout
    wait = start("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    status = start("rollout", "status", "deployment/web", "--timeout=60s")
    assert watch is not None
    assert status.stdout is not None
    assert watch.readline().split()[:3] == ["ADDED", "web", "0/1"]
    assert "0 of 1 updated replicas are available" in status.stdout.readline()
    kubectl("scale", "deployment", "web", "--replicas", "2")
    while watch.readline().split()[:3] != ["MODIFIED", "web", "0/2"]:
        pass
    assert site.ask("POST", f"{base}do/back/")[0] in (200, 204)
    while watch.readline().split()[:3] != ["MODIFIED", "web", "0/1"]:
        pass
    assert site.ask("POST", f"{base}do/run/")[0] == 204
    assert wait.communicate(timeout=PATIENCE)[0] == "deployment.apps/web condition met\n"
    assert status.communicate(timeout=PATIENCE)[0].endswith("successfully rolled out\n")


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_a_rollout_has_a_history_and_is_undone(fresh: Fresh, kind: str) -> None:
    _, _, kubectl = fresh
    name = f"{kind.lower()}/web"
    spec = {name: part for name, part in WEB["spec"].items() if (kind, name) != ("DaemonSet", "replicas")}
    kubectl("apply", "-f", "-", stdin=json.dumps({**WEB, "kind": kind, "spec": spec}))
    image = ("get", name, "--output", "jsonpath={.spec.template.spec.containers[0].image}")
    kubectl("set", "image", name, "main=web:2")
    kubectl("set", "image", name, "main=web:3")
    assert numbers(kubectl("rollout", "history", name)) == ["1", "2", "3"]
    assert "web:2" in kubectl("rollout", "history", name, "--revision", "2")
    assert kubectl("rollout", "undo", name).endswith("rolled back\n")
    assert kubectl(*image) == "web:2"
    assert numbers(kubectl("rollout", "history", name)) == ["1", "3", "4"]
    kubectl("rollout", "undo", name, "--to-revision", "1")
    assert kubectl(*image) == "web:1"
    head, *revisions = rows(kubectl("get", "controllerrevisions", "--sort-by", ".revision"))
    assert (head, [row[1:3] for row in revisions]) == (
        ["NAME", "CONTROLLER", "REVISION", "AGE"],
        [[f"{kind.lower()}.apps/web", number] for number in ("3", "4", "5")],
    )


def test_forms_of_create_that_send_protobuf(fresh: Fresh) -> None:
    _, _, kubectl = fresh
    kubectl("create", "namespace", "team-a")
    create = ("create", "deployment", "web", "--namespace", "team-a")
    assert kubectl(*create, "--image", "web:1", "--replicas", "0", "--port", "80") == "deployment.apps/web created\n"
    shown = yaml.safe_load(kubectl("get", "deployment", "web", "--namespace", "team-a", "--output", "yaml"))
    (container,) = shown["spec"]["template"]["spec"]["containers"]
    assert (shown["spec"]["replicas"], container["image"], container["ports"][0]["containerPort"]) == (0, "web:1", 80)
    assert shown["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
    kubectl("create", "priorityclass", "high", "--value", "1000", "--preemption-policy", "Never")
    held = yaml.safe_load(kubectl("get", "priorityclass", "high", "--output", "yaml"))
    assert (held["value"], held["preemptionPolicy"]) == (1000, "Never")
    kubectl("create", "poddisruptionbudget", "b", "--selector", "app=web", "--max-unavailable", "50%")
    held = yaml.safe_load(kubectl("get", "poddisruptionbudget", "b", "--output", "yaml"))
    assert held["spec"]["maxUnavailable"] == "50%"
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"


def test_kubectl_explains_fields(kubectl: Kubectl) -> None:
    assert "maxSkew" in kubectl("explain", "pod.spec.topologySpreadConstraints")
    assert "targetPort\t<IntOrString>" in kubectl("explain", "service.spec.ports")
    assert kubectl("explain", "pods").startswith("KIND:       Pod\nVERSION:    v1\n")


def test_the_document_works_as_written(fresh: Fresh, tmp_path: Path) -> None:
    site, base, _ = fresh
    script = block("docs/kubectl.md", "bash")
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    env = {"SANDBOX": f"http://127.0.0.1:{site.port}{base}", "HOME": str(tmp_path), "PATH": path}
    shell = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(shell, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "pod/web created" in done.stdout
    assert [row[:3] for row in rows(done.stdout)][-1] == ["web", "0/1", "Pending"]
