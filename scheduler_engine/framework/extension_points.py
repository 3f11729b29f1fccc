"""THE table of stages, and the extension points that plugins implement.

The same table drives the runtime, the configuration check, stepping and the ribbon in the workbench.
Source: seed 002 §6 and 004; upstream ``framework/interface.go`` and ``schedule_one.go``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a pod's scheduling.

    ``binding``: runs in the binding cycle. ``optional``: only some pods reach it. ``says`` is one sentence for
    learners.
    """

    name: str
    title: str
    binding: bool
    optional: bool
    says: str


STAGES: tuple[Stage, ...] = (
    Stage("Pop", "Pop", False, False, "The first pod of activeQ leaves the queue."),
    Stage("Snapshot", "Snapshot", False, False, "The cache is copied, so that all plugins see the same cluster."),
    Stage("PreFilter", "PreFilter", False, False, "Plugins look at the pod once and may skip or narrow the search."),
    Stage("Filter", "Filter", False, False, "Node by node: may the pod run here? The first no ends it."),
    Stage("PostFilter", "PostFilter", False, True, "Nothing fits: would evicting lower-priority pods help?"),
    Stage("PreScore", "PreScore", False, True, "Plugins prepare what they need for scoring."),
    Stage("Score", "Score", False, True, "Every plugin gives every feasible node a raw score."),
    Stage("NormalizeScore", "Normalize", False, True, "Plugins convert raw scores to 0 to 100; weights multiply them."),
    Stage("SelectHost", "Select", False, False, "The highest total wins; a draw decides among equals."),
    Stage("Assume", "Assume", False, False, "The cache counts the pod on the node before the API server knows."),
    Stage("Reserve", "Reserve", False, False, "Plugins set things aside for the pod."),
    Stage("Permit", "Permit", False, False, "Plugins may approve, deny or make the pod wait."),
    Stage("WaitOnPermit", "Wait", True, True, "A pod that was told to wait stays here until it is allowed."),
    Stage("PreBind", "PreBind", True, False, "What must be ready before binding, such as volumes."),
    Stage("Bind", "Bind", True, False, "The API server learns where the pod runs."),
    Stage("PostBind", "PostBind", True, False, "Clean-up after a successful bind."),
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
