"""THE table of stages, and the extension points that plugins implement.

The same table drives the runtime, the configuration check, stepping and the ribbon in the workbench.
Source: seed 002 §6 and 004; upstream ``framework/interface.go`` and ``schedule_one.go``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a pod's scheduling.

    ``binding``: runs in the binding cycle. ``optional``: only some pods reach it.
    """

    name: str
    title: str
    binding: bool
    optional: bool


STAGES: tuple[Stage, ...] = (
    Stage("Pop", "Pop", False, False),
    Stage("Snapshot", "Snapshot", False, False),
    Stage("PreFilter", "PreFilter", False, False),
    Stage("Filter", "Filter", False, False),
    Stage("PostFilter", "PostFilter", False, True),
    Stage("PreScore", "PreScore", False, True),
    Stage("Score", "Score", False, True),
    Stage("NormalizeScore", "Normalize", False, True),
    Stage("SelectHost", "Select", False, False),
    Stage("Assume", "Assume", False, False),
    Stage("Reserve", "Reserve", False, False),
    Stage("Permit", "Permit", False, False),
    Stage("WaitOnPermit", "Wait", True, True),
    Stage("PreBind", "PreBind", True, False),
    Stage("Bind", "Bind", True, False),
    Stage("PostBind", "PostBind", True, False),
)
STAGE_INDEX: dict[str, int] = {stage.name: index for index, stage in enumerate(STAGES)}

EXTENSION_POINTS: dict[str, str] = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "less",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
"""Name in KubeSchedulerConfiguration → the method that a plugin implements."""

PLACEMENT_POINTS: dict[str, tuple[str, ...]] = {"placementGenerate": (), "placementScore": ("NodeResourcesFit",)}
"""Extension points that only pod groups run → the in-tree plugins there. By the rule ``placement_points``, profiles
list them.
"""
