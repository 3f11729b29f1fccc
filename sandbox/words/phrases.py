"""Words for what the trace says: short reasons for a cell, names of outcomes, a message cut into phrases."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from sandbox.words.amounts import TITLES
from sandbox.words.say import say

SHORT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"Too many pods", "phrases.too-many-pods"),
        (r"node\(s\) were unschedulable", "phrases.cordoned"),
        (r"node\(s\) had untolerated taint \{(?:[^:]*/)?(?P<taint>[^:}]+):", "phrases.tainted"),
        (r"didn't match scheduler-enforced node affinity", "phrases.enforced-affinity"),
        (r"didn't match Pod's node affinity/selector", "phrases.selector"),
        (r"didn't match pod topology spread constraints \(missing required label\)", "phrases.spread-label-missing"),
        (r"didn't match pod topology spread constraints", "phrases.spread"),
        (r"didn't satisfy existing pods anti-affinity rules", "phrases.kept-off"),
        (r"didn't match pod anti-affinity rules", "phrases.anti-affinity"),
        (r"didn't match pod affinity rules", "phrases.affinity"),
        (r"didn't have free ports", "phrases.port-taken"),
        (r"didn't match the requested node name", "phrases.other-node"),
        (r"exceed max volume count", "phrases.volume-count"),
        (r"no available volume zone", "phrases.volume-zone"),
        (r"had no available disk", "phrases.disk-in-use"),
        (r"PersistentVolume's node affinity", "phrases.volume-elsewhere"),
        (r"didn't find available persistent volumes", "phrases.no-volume"),
        (r"enough free storage", "phrases.storage"),
        (r"unbound immediate PersistentVolumeClaims", "phrases.claim-unbound"),
        (r'persistentvolumeclaim "[^"]*" not found', "phrases.no-claim"),
        (r"cannot allocate all claims", "phrases.devices"),
        (r"didn't satisfy plugin\(s\)", "phrases.left-out"),
    )
)
INSUFFICIENT = re.compile(r"Insufficient (\S+)")
CAMEL = re.compile(r"(?<=.)(?=[A-Z])")
LOGGED = re.compile(r"; (?=Pod \S+ is already present in |error updating the pod's status: )")
HISTOGRAM = re.compile(r"^0/(\d+) nodes are available: ")
OUTCOMES = {
    "bound": "phrases.bound",
    "unschedulable": "phrases.unschedulable",
    "nominated": "phrases.nominated",
    "error": "phrases.error",
    "skipped": "phrases.skipped",
    "deleted": "phrases.deleted",
    "abandoned": "phrases.abandoned",
}
"""Outcome of an attempt → key of its name."""
LEAVES = {
    "unschedulable": "phrases.after-unschedulable",
    "nominated": "phrases.after-nominated",
    "error": "phrases.after-error",
    "bound": "phrases.after-bound",
    "skipped": "phrases.after-skipped",
    "deleted": "phrases.after-deleted",
    "abandoned": "phrases.after-abandoned",
}
"""Outcome of an attempt → key of where its pod is then."""

FEW_WORDS = 4
"""Words of a reason that no pattern shortens, such as that of somebody's own plugin."""


@lru_cache(4096)
def short_reason(reasons: tuple[str, ...]) -> str:
    """Return a refusal in a word or two: ``cpu + mem``, ``gpu taint``, ``spread``."""
    lacking = [match.group(1) for reason in reasons if (match := INSUFFICIENT.match(reason))]
    if lacking:
        return " + ".join(TITLES.get(name, name.rpartition("/")[2]) for name in lacking)
    for reason in reasons:
        for pattern, key in SHORT:
            match = pattern.search(reason)
            if match:
                return say(key, **match.groupdict())
    words = reasons[0].removeprefix("node(s) ").split() if reasons else say("phrases.refused").split()
    return " ".join(words[:FEW_WORDS]) + ("…" if len(words) > FEW_WORDS else "")


def plural(number: int, thing: str) -> str:
    """Return ``3 nodes``; ``thing`` is a row of ``en/things.yaml``."""
    return say(f"things.{thing}", count=number)


def listed(names: list[str], most: int = 3) -> str:
    """Return ``a, b and c``, or ``a, b, c and 4 more``."""
    if len(names) > most:
        return say("lists.more", names=", ".join(names[:most]), count=len(names) - most)
    if len(names) < 2:
        return "".join(names)
    return say("lists.last", names=", ".join(names[:-1]), name=names[-1])


def without_log(message: str) -> tuple[str, str]:
    """Split the message of a failed attempt: what the event says, and what only the scheduler's log adds."""
    event_message, *rest = LOGGED.split(message, maxsplit=1)
    return event_message, "".join(rest)


def phrases(message: str) -> tuple[str, list[tuple[str, str]], str]:
    """Split a FailedScheduling message into (head, [(count, reason), …], what PostFilter added).

    The count is "" if PreFilter refused the pod for all nodes at once.
    """
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
        elif part:
            parts.append(("", part))
    return f"0/{head.group(1)} nodes are available:", parts, after.strip() if dot else ""


def camel(name: str) -> list[str]:
    """Return the words of a plugin's name: ``["Node", "Resources", "Fit"]``; a line may break between them."""
    return CAMEL.split(name)


def zone_title(key: str) -> str:
    r"""Return the name that people use for a nodeTree zone key (``region:\x00:zone``)."""
    region, _, zone = key.partition(":\x00:")
    return zone or region or say("phrases.no-zone")


def zone_titles(keys: Iterable[str]) -> dict[str, str]:
    """Return key → title of nodeTree zones that are shown together, with the region if zones share a name."""
    titles = {key: zone_title(key) for key in keys}
    shared = Counter(titles.values())
    return {key: _zone_in_region(key) if shared[title] > 1 else title for key, title in titles.items()}


def _zone_in_region(key: str) -> str:
    zone, region = zone_and_region(key)
    return say("phrases.zone-in-region", zone=zone, region=region) if region else zone


def zone_and_region(key: str) -> tuple[str, str]:
    """Return (zone, region) of a nodeTree zone; a zone without a name gets a title, a missing region is ""."""
    region, _, zone = key.partition(":\x00:")
    return zone or say("phrases.no-zone"), region
