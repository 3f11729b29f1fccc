"""Plugins in one line, to start from. docs/plugins.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.words.say import say


@dataclass(frozen=True, slots=True)
class Example:
    """``name``: of the plugin; ``args``: its expressions and messages. ``says``: in one sentence, what it does."""

    slug: str
    name: str
    says: str
    args: Mapping[str, str | int]


EXAMPLES: tuple[Example, ...] = (
    Example(
        "small-nodes",
        "OnlySmallNodes",
        say("presets.small-nodes"),
        {"filter": "allocatable.cpu <= 4000", "message": "node is too large"},
    ),
    Example(
        "room-left",
        "KeepRoom",
        say("presets.room-left"),
        {
            "filter": "requested.cpu + podRequests.cpu <= allocatable.cpu * 8 / 10",
            "message": "node would be more than 80% full",
        },
    ),
    Example(
        "one-of-each",
        "OneOfEachApp",
        say("presets.one-of-each"),
        {
            "filter": 'pods.all(p, p.metadata.?labels.app.orValue("") != pod.metadata.?labels.app.orValue("none"))',
            "message": "node has a pod of this app",
        },
    ),
    Example(
        "few-pods",
        "FewPods",
        say("presets.few-pods"),
        {"filter": "pods.size() < 3", "messageExpression": '"node has " + string(pods.size()) + " pods"'},
    ),
    Example(
        "team-nodes",
        "TeamNodes",
        say("presets.team-nodes"),
        {
            "filter": (
                'node.metadata.?labels.team.orValue("") == "" || '
                "node.metadata.?labels.team == pod.metadata.?labels.team"
            ),
            "messageExpression": '"node belongs to team " + node.metadata.labels.team',
        },
    ),
    Example(
        "needs-a-team",
        "NeedsATeam",
        say("presets.needs-a-team"),
        {"preFilter": "pod.metadata.?labels.team.hasValue()", "message": "pod has no label team"},
    ),
    Example(
        "gpu-nodes",
        "GPUNodes",
        say("presets.gpu-nodes"),
        {
            "filter": 'allocatable["nvidia.com/gpu"] == 0 || podRequests["nvidia.com/gpu"] > 0',
            "message": "node is for pods that request GPUs",
        },
    ),
    Example(
        "maintenance",
        "NoMaintenance",
        say("presets.maintenance"),
        {
            "filter": "!node.metadata.?annotations.maintenance.hasValue()",
            "messageExpression": '"maintenance on " + node.metadata.annotations.maintenance',
        },
    ),
    Example(
        "cheapest",
        "Cheapest",
        say("presets.cheapest"),
        {"score": '100 - int(node.metadata.?labels.price.orValue("100"))'},
    ),
    Example(
        "fullest",
        "Fullest",
        say("presets.fullest"),
        {"score": "allocatable.cpu == 0 ? 0 : requested.cpu * 100 / allocatable.cpu"},
    ),
    Example(
        "in-pairs",
        "InPairs",
        say("presets.in-pairs"),
        {
            "permit": "waiting.exists(p, p.metadata.?labels.app == pod.metadata.?labels.app)",
            "permitTimeoutSeconds": 60,
        },
    ),
)
