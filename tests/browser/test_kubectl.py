"""The Python client, kubectl, a watch of kubectl and a page on one sandbox: all change it, and all see the same."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from kubernetes import client, watch
from playwright.sync_api import Page

from tests.browser.conftest import Server
from tests.browser.workbench import Eventually, open_blank
from tests.sandbox.conftest import NODE
from tests.sandbox.kube.conftest import WEB, command, run

Pods = dict[str, str]
"""Name of a pod → its node, "" = none."""


@contextmanager
def watched(words: list[str], home: Path) -> Iterator[Callable[[], Pods]]:
    """Run a watch of pods. Yield a function that returns what it has printed."""
    printed = home / "watch"
    with printed.open("w") as out:
        process = subprocess.Popen(words, env={"HOME": str(home), "PATH": os.environ["PATH"]}, stdout=out)

        def seen() -> Pods:
            pods = Pods()
            for line in printed.read_text().splitlines():
                happened, name, *cells = line.split()
                pods[name] = cells[5].replace("<none>", "")
                if happened == "DELETED":
                    del pods[name]
            return pods

        try:
            yield seen
        finally:
            process.terminate()
            process.wait()


def on_page(page: Page) -> Pods:
    """Return the pods of the page: those in the queues, and those on cards of nodes."""
    pods = Pods()
    for place, node in (("#panel-queues .q", ""), *((f'.node[data-node="n{n}"] .pod', f"n{n}") for n in (1, 2))):
        keys = page.locator(f"{place}[data-pod]").evaluate_all("found => found.map(pod => pod.dataset.pod)")
        pods |= {key.removeprefix("default/"): node for key in keys}
    return pods


def test_everybody_sees_the_same(page: Page, server: Server, eventually: Eventually, tmp_path: Path) -> None:
    open_blank(page)
    base = page.url.removeprefix(server.url).partition("?")[0]
    kubectl = partial(run, server, base, tmp_path)
    with closing(client.ApiClient(client.Configuration(host=f"{server.url}{base}kube"))) as line:
        core, apps = client.CoreV1Api(line), client.AppsV1Api(line)
        following = ("get", "pods", "--watch", "--output-watch-events", "--output", "wide", "--no-headers")
        with watched(command(server, base, *following), tmp_path) as seen:

            def of_client() -> Pods:
                return {
                    pod.metadata.name: pod.spec.node_name or "" for pod in core.list_namespaced_pod("default").items
                }

            def of_kubectl() -> Pods:
                rows = kubectl("get", "pods", "--output", "wide", "--no-headers")
                return {cells[0]: cells[6].replace("<none>", "") for cells in map(str.split, rows.splitlines())}

            def all_see(where: list[str]) -> None:
                eventually(lambda: sorted(of_client().values()) == where)
                eventually(lambda: on_page(page) == of_client())
                eventually(lambda: seen() == of_client())
                assert of_kubectl() == of_client()

            for name in ("n1", "n2"):
                core.create_node({**NODE, "metadata": {"name": name}})
            begun = core.list_namespaced_pod("default").metadata.resource_version
            apps.create_namespaced_deployment("default", WEB | {"spec": WEB["spec"] | {"replicas": 2}})
            all_see(["", ""])

            page.locator("#do-settle").click()
            all_see(["n1", "n2"])
            events = watch.Watch().stream(
                core.list_namespaced_pod, "default", resource_version=begun, timeout_seconds=1
            )
            news = list(events)
            assert [event["type"] for event in news].count("ADDED") == 2
            assert {event["object"].spec.node_name for event in news if event["type"] == "MODIFIED"} >= {"n1", "n2"}

            core.patch_node("n1", {"metadata": {"labels": {"disk": "ssd"}}})
            assert "n1" in kubectl("get", "nodes", "--selector", "disk=ssd")
            apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 3}})
            all_see(["", "n1", "n2"])

            leaving = next(name for name, node in of_client().items() if node == "n1")
            eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name=leaving))
            core.create_namespaced_pod_eviction(leaving, "default", eviction)
            kubectl("scale", "deployment", "web", "--replicas=2")
            page.get_by_role("button", name="+10 s").click(click_count=4)
            eventually(lambda: leaving not in of_client())
            all_see(["n1", "n2"])

            apps.delete_namespaced_deployment("web", "default")
            page.get_by_role("button", name="+10 s").click(click_count=4)
            all_see([])
