"""The binding cycles that run beside the scheduling cycle: the stage of each, what it waits for, and how long."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.blocks import block, gone_block
from sandbox.panels.facts.pod_groups import of_waiting
from sandbox.panels.model.state import Cycle
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import seconds, share, short_name
from sandbox.words.phrases import listed
from sandbox.words.say import say

NEXT = {
    "WaitOnPermit": "bindings.wait-on-permit-is-next",
    "PreBind": "bindings.pre-bind-is-next",
    "Bind": "bindings.bind-is-next",
    "PostBind": "bindings.post-bind-is-next",
}
WAITS = {"WaitOnPermit": "bindings.permit-waits", "PreBind": "bindings.pre-bind-waits", "Bind": "bindings.bind-waits"}


def stats(world: World, view: View) -> dict[str, Any]:
    rows = [_row(world, cycle) for cycle in world.binding.values()]
    return {"rows": rows, "count": len(rows)}


def _row(world: World, cycle: Cycle) -> dict[str, Any]:
    pod = world.pod_of(cycle)
    stage = cycle.next_stage
    by, since_us, until_us = _wait(world, cycle)
    left = max(0, until_us - world.clock_us)
    return {
        "pod": cycle.pod,
        "name": short_name(cycle.pod),
        "block": block(pod, "") if pod else gone_block(cycle.pod),
        "node": cycle.selected.node if cycle.selected else "",
        "cycle": cycle.number,
        "stage": stage,
        "text": say(WAITS[stage], by=by) if by else say("bindings.rejected" if cycle.wait_rejected else NEXT[stage]),
        "waits": bool(by),
        "group": of_waiting(world, cycle) if by else "",
        "allow": stage == "WaitOnPermit" and bool(cycle.waits),
        "left": say("bindings.left", left=seconds(left)) if until_us else "",
        "ring": share(left, until_us - since_us),
    }


def _wait(world: World, cycle: Cycle) -> tuple[str, int, int]:
    """Return (who makes it wait, since when, until when); times in simulated microseconds, 0 = unknown."""
    if cycle.next_stage == "WaitOnPermit":
        if not cycle.waits:
            return "", 0, 0
        names = [plugin for plugin, _ in cycle.waits]
        return listed(names), cycle.waits_since_us, min(until_us for _, until_us in cycle.waits)
    ran = cycle.plugins.get(cycle.next_stage)
    waiting = [verdict for verdict in ran.verdicts if verdict[1] == "Wait"] if ran else []
    if not waiting:
        return "", 0, 0
    plugin, _, reasons = waiting[0]
    fault = next((fault for fault in world.faults.values() if fault.pod == cycle.pod), None)
    since_us, until_us = (fault.since_us, fault.until_us) if fault else (0, 0)
    return f"{plugin}{', ' + '; '.join(reasons) if reasons else ''}", since_us, until_us
