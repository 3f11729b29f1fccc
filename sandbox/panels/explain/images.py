"""ImageLocality in words and numbers.

Source: upstream ``plugins/imagelocality``.
"""

from __future__ import annotations

from sandbox.panels.explain.model import Case, Explanation, Line, as_it_is
from sandbox.panels.words.phrases import plural

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
            lines.append(Line(name, "0", "not on this node"))
            continue
        size, holders = images[name]
        share = int(float(size) * (holders / nodes))
        total, found = total + share, found + 1
        lines.append(
            Line(
                name, f"{_mib(size)} × {holders} / {nodes} = {_mib(share)}", f"on {holders} of {plural(nodes, 'node')}"
            )
        )
    if not images:
        return as_it_is(
            f"{case.node.name} reports no images, so nothing speeds up the start.", [*lines, Line("Raw", "0")], 0
        )
    highest = HIGHEST_EACH * len(containers)
    kept = min(max(total, LOWEST), highest)
    raw = 100 * (kept - LOWEST) // (highest - LOWEST)
    note = f"{_mib(total)} in all, taken as at least 23 Mi and at most {plural(len(containers), 'container')} × 1000 Mi"
    lines.append(Line("Raw", f"({_mib(kept)} − 23 Mi) × 100 / ({_mib(highest)} − 23 Mi) = {raw}", note))
    text = f"{case.node.name} already has {found} of {plural(len(containers), 'image')} that {case.name} runs."
    return as_it_is(text if found else f"{case.node.name} has none of the images that {case.name} runs.", lines, raw)


def _normalized(name: str) -> str:
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def _mib(number: int) -> str:
    return f"{number / MIB:.1f}".removesuffix(".0") + " Mi"
