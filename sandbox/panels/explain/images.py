"""ImageLocality in words and numbers.

Source: upstream ``plugins/imagelocality``.
"""

from __future__ import annotations

from sandbox.panels.explain.model import Case, Explanation, Line, as_it_is
from sandbox.panels.words.phrases import plural
from sandbox.panels.words.say import say

MIB = 1 << 20
LOWEST = 23 * MIB
HIGHEST_EACH = 1000 * MIB


def image_score(case: Case) -> Explanation:
    """Sizes count in proportion to how many nodes have the image, so that one node does not draw everybody."""
    images = case.seen.images.get(case.node.name, {})
    containers = (*case.pod.init_containers, *case.pod.containers)
    nodes = len(case.seen.nodes)
    lines, total, found = [], 0, 0
    for container in containers:
        name = _normalized(container.get("image") or "")
        if name not in images:
            lines.append(Line(name, "0", say("images.not-here")))
            continue
        size, holders = images[name]
        share = int(float(size) * (holders / nodes))
        total, found = total + share, found + 1
        formula = f"{_mib(size)} × {holders} / {nodes} = {_mib(share)}"
        lines.append(Line(name, formula, say("images.holders", holders=holders, nodes=plural(nodes, "node"))))
    if not images:
        text = say("images.nothing-reported", node=case.node.name)
        return as_it_is(text, [*lines, Line(say("explain.raw"), "0")], 0)
    highest = HIGHEST_EACH * len(containers)
    kept = min(max(total, LOWEST), highest)
    raw = 100 * (kept - LOWEST) // (highest - LOWEST)
    note = say("images.limits", total=_mib(total), containers=plural(len(containers), "container"))
    formula = f"({_mib(kept)} − 23 Mi) × 100 / ({_mib(highest)} − 23 Mi) = {raw}"
    lines.append(Line(say("explain.raw"), formula, note))
    return as_it_is(_sentence(case, found, len(containers)), lines, raw)


def _sentence(case: Case, found: int, wanted: int) -> str:
    if not found:
        return say("images.has-none", node=case.node.name, pod=case.name)
    return say("images.has-some", node=case.node.name, found=found, images=plural(wanted, "image"), pod=case.name)


def _normalized(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def _mib(number: int) -> str:
    return f"{number / MIB:.1f}".removesuffix(".0") + " Mi"
