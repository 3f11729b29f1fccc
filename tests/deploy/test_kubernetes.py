"""The Kubernetes manifest: valid for v1.34 and for the engine, and in agreement with the site and its images."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

from sandbox.limits.server import from_environment
from sandbox.server.probes import PATHS
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.cli import program
from tests.deploy.image import DOCKERFILE
from tests.sandbox.served import ROOT

MANIFEST = ROOT / "deploy" / "kubernetes.yaml"
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all(MANIFEST.read_text()))
UNKNOWN_TO_THE_ENGINE = {"NetworkPolicy"}
VERSION = "1.34"
OF_THE_SITE = 250 * 2**20
"""Bytes of a web process without its workers: docs/scaling-out.md."""


def named(kind: str, name: str) -> dict[str, Any]:
    return next(one for one in OBJECTS if (one["kind"], one["metadata"]["name"]) == (kind, name))


SETTINGS: dict[str, str] = named("ConfigMap", "sandbox")["data"]
WEB = named("StatefulSet", "sandbox-web")["spec"]
PROXY = named("Deployment", "sandbox-proxy")["spec"]
PODS = {"web": WEB["template"]["spec"], "proxy": PROXY["template"]["spec"]}


@pytest.mark.parametrize("one", OBJECTS, ids=lambda one: f"{one['kind']} {one['metadata']['name']}")
def test_an_object_is_valid_in_kubernetes(one: dict[str, Any]) -> None:
    kubernetes_validate.validate(one, VERSION, strict=True)


def test_a_wrong_field_is_noticed() -> None:
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(named("Service", "sandbox") | {"spec": {"prots": []}}, VERSION, strict=True)


def test_the_engine_accepts_all_kinds_that_it_knows(tmp_path: Path) -> None:
    known = [one for one in OBJECTS if one["kind"] not in UNKNOWN_TO_THE_ENGINE]
    assert len(known) == len(OBJECTS) - 1
    (tmp_path / "known.yaml").write_text(yaml.safe_dump_all(known))
    result = CliRunner().invoke(program, ["validate", str(tmp_path / "known.yaml")])
    assert result.output.splitlines()[0] == f"{len(known)} objects, 0 errors, 0 warnings"


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
def test_pods_run_without_rights(pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*pod["containers"], *pod.get("initContainers", ())):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= container["resources"].keys()
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


@pytest.mark.parametrize(("part", "spec"), [("web", WEB), ("proxy", PROXY)], ids=PODS)
def test_one_node_that_fails_does_not_take_all_pods(part: str, spec: dict[str, Any]) -> None:
    (spread,) = PODS[part]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"] == spec["selector"]
    assert spec["replicas"] > 1


def test_somebody_collects_the_ends_of_workers() -> None:
    assert PODS["web"]["shareProcessNamespace"] is True


def test_images_and_commands_are_those_of_the_dockerfile() -> None:
    images = {container["image"].split(":")[0] for pod in PODS.values() for container in pod["containers"]}
    assert images == {"scheduler-sandbox-web", "scheduler-sandbox-proxy"}
    web = DOCKERFILE["web"]
    assert str(PODS["web"]["securityContext"]["runAsUser"]) == web.all("USER")[0]
    assert [str(port["containerPort"]) for port in PODS["web"]["containers"][0]["ports"]] == web.all("EXPOSE")
    assert PODS["web"]["initContainers"][0]["command"][:2] == [".venv/bin/python", "manage.py"]
    assert "8080" in DOCKERFILE["proxy"].all("EXPOSE")


def test_probes_ask_what_the_site_answers() -> None:
    (web,) = PODS["web"]["containers"]
    asked = {name: web[name]["httpGet"]["path"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert asked == {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    assert set(asked.values()) < set(PATHS)


def test_a_pod_has_time_to_stop_and_memory_for_its_workers() -> None:
    limits = from_environment(SETTINGS)
    assert limits.drain_seconds + limits.stop_seconds < PODS["web"]["terminationGracePeriodSeconds"]
    notices = PODS["web"]["containers"][0]["readinessProbe"]
    assert limits.drain_seconds >= notices["periodSeconds"] * notices["failureThreshold"]
    workers = int(SETTINGS["ENGINE_PROCESSES"]) + 1 + int(SETTINGS["ENGINE_LONG"])
    most = parse_quantity(PODS["web"]["containers"][0]["resources"]["limits"]["memory"])
    assert OF_THE_SITE + workers * int(SETTINGS["ENGINE_MEMORY_MB"]) * 2**20 <= most.value()


def test_every_setting_is_one_that_the_documents_explain() -> None:
    documents = "".join(path.read_text() for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
    secret = re.findall(r"--from-literal=(\w+)=", MANIFEST.read_text())
    assert secret == ["SECRET_KEY", "DATABASE_URL", "REDIS_URL"]
    assert [name for name in (*SETTINGS, *secret) if f"`{name}`" not in documents] == []


def test_nginx_knows_a_service_for_each_web_process() -> None:
    upstream = named("ConfigMap", "sandbox-proxy")["data"]["upstream.conf"]
    servers = re.findall(r"server (\S+):8000 max_fails=3 .*;", upstream)
    assert servers == [f"sandbox-web-{number}" for number in range(WEB["replicas"])]
    for server in servers:
        service = named("Service", server)["spec"]
        assert service["selector"] == {"statefulset.kubernetes.io/pod-name": server}
        assert [port["port"] for port in service["ports"]] == [8000]
    mounts = {mount["mountPath"] for mount in PODS["proxy"]["containers"][0]["volumeMounts"]}
    assert "/etc/nginx/upstream.conf" in mounts


def test_selectors_find_the_pods() -> None:
    labels = {"web": WEB["template"]["metadata"]["labels"], "proxy": PROXY["template"]["metadata"]["labels"]}
    assert WEB["selector"]["matchLabels"] == labels["web"]
    assert PROXY["selector"]["matchLabels"] == labels["proxy"]
    assert WEB["serviceName"] == named("Service", "sandbox-web")["metadata"]["name"]
    assert named("Service", "sandbox")["spec"]["selector"] == labels["proxy"]
    for part, found in labels.items():
        assert named("PodDisruptionBudget", f"sandbox-{part}")["spec"]["selector"]["matchLabels"] == found
    policy = named("NetworkPolicy", "sandbox-web")["spec"]
    assert policy["podSelector"]["matchLabels"] == labels["web"]
    assert policy["ingress"][0]["from"][0]["podSelector"]["matchLabels"] == labels["proxy"]
