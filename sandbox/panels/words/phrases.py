"""Words for what the trace says: short reasons for a cell, names of outcomes, the message cut into phrases."""

from __future__ import annotations

import re
from functools import lru_cache

from sandbox.panels.words.amounts import TITLES
from sandbox.panels.words.say import say
from scheduler_engine.api.taints import Taint

SHORT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Too many pods", "pods"),
        (r"node\(s\) were unschedulable", "cordoned"),
        (r"node\(s\) had untolerated taint \{([^:]*/)?([^:}]+): ?\}", r"\2 taint"),
        (r"node\(s\) had untolerated taint \{[^:]+: ?([^}]+)\}", r"\1 taint"),
        (r"didn't match scheduler-enforced node affinity", "enforced affinity"),
        (r"didn't match Pod's node affinity/selector", "selector"),
        (r"didn't match pod topology spread constraints \(missing required label\)", "label missing"),
        (r"didn't match pod topology spread constraints", "spread"),
        (r"didn't satisfy existing pods anti-affinity rules", "kept off"),
        (r"didn't match pod anti-affinity rules", "anti-affinity"),
        (r"didn't match pod affinity rules", "affinity"),
        (r"didn't have free ports", "port taken"),
        (r"didn't match the requested node name", "other node"),
        (r"exceed max volume count", "volume count"),
        (r"no available volume zone", "volume zone"),
        (r"had no available disk", "disk in use"),
        (r"PersistentVolume's node affinity", "volume elsewhere"),
        (r"didn't find available persistent volumes", "no volume"),
        (r"enough free storage", "storage"),
        (r"unbound immediate PersistentVolumeClaims", "claim unbound"),
        (r'persistentvolumeclaim "[^"]*" not found', "no claim"),
        (r"cannot allocate all claims", "devices"),
        (r"didn't satisfy plugin\(s\)", "left out"),
    )
)
INSUFFICIENT = re.compile(r"Insufficient (\S+)")
HISTOGRAM = re.compile(r"^0/(\d+) nodes are available: ")
OUTCOMES = {
    "bound": "bound",
    "unschedulable": "no node fits",
    "nominated": "nominated",
    "error": "error",
    "skipped": "skipped",
    "deleted": "deleted",
    "abandoned": "abandoned",
}
LEAVES = {
    "unschedulable": "it goes back to the queue",
    "nominated": "back to the queue, nominated",
    "error": "it goes back to the queue",
    "bound": "it runs",
    "skipped": "it was left out",
    "deleted": "it is gone",
    "abandoned": "the scheduler is gone, and this attempt with it",
}


@lru_cache(4096)
def short_reason(reasons: tuple[str, ...]) -> str:
    """Two words for a refusal: ``cpu + mem``, ``gpu taint``, ``spread``."""
    lacking = [match.group(1) for reason in reasons if (match := INSUFFICIENT.match(reason))]
    if lacking:
        return " + ".join(TITLES.get(name, name.rpartition("/")[2]) for name in lacking)
    for reason in reasons:
        for pattern, words in SHORT:
            match = pattern.search(reason)
            if match:
                return match.expand(words)
    return " ".join(reasons[0].split()[:3]) if reasons else "no"


def taint_text(taint: Taint) -> str:
    """As kubectl writes it: ``dedicated=gpu:NoSchedule``."""
    return f"{taint.key}{'=' + taint.value if taint.value else ''}:{taint.effect}"


def helps(code: str) -> str:
    """Whether evicting pods may change the verdict."""
    return "eviction may help" if code == "Unschedulable" else "eviction cannot help"


def plural(number: int, thing: str) -> str:
    """``3 nodes``; ``thing`` is a row of ``en/things.yaml``."""
    return say(f"things.{thing}", count=number)


def listed(names: list[str], most: int = 3) -> str:
    """``a, b and c`` or ``a, b, c and 4 more``."""
    if len(names) > most:
        return say("lists.more", names=", ".join(names[:most]), count=len(names) - most)
    if len(names) < 2:
        return "".join(names)
    return say("lists.last", names=", ".join(names[:-1]), name=names[-1])


def phrases(message: str) -> tuple[str, list[tuple[str, str]], str]:
    """A FailedScheduling message as (head, [(count, reason), …], what PostFilter added)."""
    head = HISTOGRAM.match(message)
    if head is None:
        return message, [], ""
    body, dot, after = message[head.end() :].partition(". ")
    parts = []
    for part in body.rstrip(".").split(", "):
        count, space, reason = part.partition(" ")
        if space and count.isdigit():
            parts.append((count, reason))
        elif parts:
            parts[-1] = (parts[-1][0], f"{parts[-1][1]}, {part}")
    return f"0/{head.group(1)} nodes are available:", parts, after.strip() if dot else ""


def zone_title(key: str) -> str:
    """A nodeTree zone key (``region:\\x00:zone``) as people call it."""
    region, _, zone = key.partition(":\x00:")
    return zone or region or "no zone"
