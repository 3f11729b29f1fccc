"""The sandbox's own annotations: which exist, where, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.api import simulated
from scheduler_engine.api.loading import load_manifests, located
from scheduler_engine.api.validation import validate
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import Cluster, make_deployment, make_node, make_pod

ROOT = Path(__file__).parents[2]
NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: a
  annotations:
    {}
"""
POD = NODE.replace("Node", "Pod") + "spec: {{containers: [{{name: c, image: x}}]}}\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: a, annotations: {{}}}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    metadata:
      labels: {{a: b}}
      annotations:
        {}
    spec: {{containers: [{{name: c, image: x}}]}}
"""
NEAR = 'the sandbox has no such annotation (did you mean "sandbox/{}"?)'
ON_PODS = "this annotation belongs on pods, also in the template of a workload (spec.template.metadata.annotations)"
REFUSED = {
    "a misspelt name": (POD, "sandbox/usage-memroy: 1Gi", 6, NEAR.format("usage-memory")),
    "a misspelt name in a template": (DEPLOYMENT, 'sandbox/durations: "5"', 10, NEAR.format("duration")),
    "one of nodes on a pod": (POD, "sandbox/imagefs: 1Gi", 6, "this annotation belongs on nodes"),
    "one of pods on a node": (NODE, 'sandbox/ready: "false"', 6, ON_PODS),
    "a flag": (POD, 'sandbox/ready: "no"', 6, 'must be "true" or "false"'),
    "an amount": (NODE, "sandbox/imagefs: much", 6, "quantities must match the regular expression"),
    "a negative amount": (POD, "sandbox/usage-memory: -1Gi", 6, "must be greater than or equal to 0"),
    "seconds": (POD, 'sandbox/duration: "99999999999"', 6, "must be at most 31622400 seconds"),
    "a configuration": (NODE, 'sandbox/kubelet-configuration: "["', 6, "must be a KubeletConfiguration as JSON"),
}


@pytest.mark.parametrize(("text", "written", "line", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_annotation_is_an_error_at_its_line(text: str, written: str, line: int, problem: str) -> None:
    manifests = load_manifests(text.format(written))
    (error,) = located(validate(manifests[0].data), manifests)
    assert error.line == line
    assert f"annotations[{written.partition(':')[0]}]: Invalid value: " in str(error)
    assert problem in str(error)


@pytest.mark.parametrize("text", [NODE, POD, DEPLOYMENT])
def test_annotations_of_others_may_say_anything(text: str) -> None:
    (manifest,) = load_manifests(text.format("example.com/sandbox: much"))
    assert validate(manifest.data) == []


def annotated(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest whose own metadata has an annotation of pods."""
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {"sandbox/usage-memory": "1Gi"}}}


def test_an_annotation_of_pods_on_a_workload_is_refused_because_nothing_reads_it() -> None:
    cluster = Cluster().apply(make_node("a"))
    with pytest.raises(Rejected, match="belongs on pods"):
        cluster.apply(annotated(make_deployment("web", 1, make_pod("any")).obj()))
    assert [*cluster.simulation.api.list("Deployment")] == []


def test_the_document_lists_every_annotation_with_its_kinds_and_values() -> None:
    text = (ROOT / "docs" / "manifests.md").read_text()
    rows = re.findall(r"^\| `(sandbox/[a-z-]+)` \| ([a-z, ]+) \| ([A-Za-z ]+) \|", text, re.MULTILINE)
    words = {"Pod": "pods", "Node": "nodes"}
    names = [*dict.fromkeys(name for names in simulated.KNOWN.values() for name in names)]
    values = {
        **dict.fromkeys(simulated.AMOUNTS, "amount"),
        **dict.fromkeys(simulated.SECONDS, "seconds"),
        **dict.fromkeys(simulated.FLAGS, "true or false"),
        simulated.KUBELET_CONFIGURATION: "JSON",
    }
    kinds = {name: [words[kind] for kind, known in simulated.KNOWN.items() if name in known] for name in names}
    assert sorted(rows) == sorted((name, ", ".join(kinds[name]), values[name]) for name in names)


def test_every_annotation_that_the_engine_names_is_in_the_table() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "scheduler_engine").rglob("*.py"))
    named = {*re.findall(r'"(sandbox/[a-z-]+)"', sources)}
    assert named == {name for names in simulated.KNOWN.values() for name in names}
