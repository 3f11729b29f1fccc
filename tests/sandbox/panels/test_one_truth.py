"""The panels repeat no decision of the engine: they do not match labels, tolerate taints or add up requests."""

from __future__ import annotations

import ast
from pathlib import Path

import sandbox.panels

ROOT = Path(sandbox.panels.__file__).parent
DECIDES = {
    *("selector_from", "selector_from_set", "first_untolerated", "pod_requests", "required_node_affinity"),
    *("matches", "tolerates", "counts_node", "lacking_resources", "node_selector_matches"),
}
ALLOWED = {
    ("inspector/pod_facts.py", "selector_from"): "writes the selectors of a pod's own terms",
}
"""File and name → why it decides nothing."""


def test_no_panel_calls_deciding_code() -> None:
    results = set()
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name in DECIDES:
                results.add((str(path.relative_to(ROOT)), name))
    assert results == {*ALLOWED}
