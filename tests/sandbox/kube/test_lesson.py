"""The lesson that is taken in a terminal, taken with the real kubectl: its tasks see what kubectl changed."""

from __future__ import annotations

from functools import partial
from html import unescape
from pathlib import Path

from tests.sandbox.kube.conftest import Fresh, Kubectl, run


def test_the_lesson_is_taken_with_kubectl(fresh: Fresh, tmp_path: Path) -> None:
    site, _, _ = fresh
    base = site.ask("POST", "/new/", "lesson=a-lesson-in-a-terminal")[2]
    kubectl: Kubectl = partial(run, site, base, tmp_path)

    def post(path: str, body: str = "") -> None:
        assert site.ask("POST", f"{base}{path}/", body)[0] == 204

    def done(ending: str) -> bool:
        return ending in unescape(site.ask("GET", f"{base}panel/lesson/")[1])

    assert "didn't match Pod's node affinity/selector" in kubectl("describe", "pod", "report-1")
    post("lesson/answer", "named=NodeAffinity")
    assert done("shows that no node has the label")

    post("lesson/turn", "part=1")
    kubectl("label", "node", "node-a1", "disk=ssd")
    assert not done("The new label is an event")
    post("do/settle")
    assert done("The new label is an event")

    post("lesson/turn", "part=2")
    post("lesson/answer", "named=One")
    post("lesson/step", "part=2")
    assert "1/3" in kubectl("get", "deployments")

    post("lesson/turn", "part=3")
    kubectl("taint", "node", "node-b1", "repair-")
    post("do/advance", "seconds=5")
    assert done("now ends at once")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/shop")

    post("lesson/turn", "part=4")
    kubectl("scale", "deployment", "shop", "--replicas=1")
    assert "Terminating" in kubectl("get", "pods")
    assert not done("a controller made it")
    post("do/advance", "seconds=30")
    assert done("a controller made it")
