"""Evictions that the API server was asked for, drains of nodes, and evictions that taints have planned."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.evictions.requests import row, stuck
from sandbox.panels.facts.budgets import Budgets
from sandbox.panels.facts.eviction_nodes import counted, drain_row, draining, plan_row, plans
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import short_name

PAGE = 50
MOST_DRAINS = 12


def stats(world: World, view: View) -> dict[str, Any]:
    log, budgets = world.evictions, Budgets(world)
    requests, planned = list(reversed(log.requests.values())), plans(world)
    drains = sorted(log.drains.values(), key=lambda drain: (drain.over, -drain.started_us))
    pages = pager(max(len(requests), len(planned)), PAGE, view.page)
    chosen, node = world.pods.get(view.pod), world.nodes.get(view.node)
    return {
        "empty": not (requests or drains or planned),
        "requests": [row(world, budgets, request) for request in on_page(requests, PAGE, pages["page"])],
        "request_count": len(requests),
        "stuck_count": sum(stuck(world, budgets, request) for request in log.open.values()),
        "drains": [drain_row(world, drain) for drain in drains[:MOST_DRAINS]],
        "drain_count": len(drains),
        "drains_more": max(0, len(drains) - MOST_DRAINS),
        "plans": [plan_row(world, plan) for plan in on_page(planned, PAGE, pages["page"])],
        "plan_counts": counted(planned),
        "pod": {"key": chosen.key, "name": short_name(chosen.key)} if chosen and chosen.node else None,
        "node": node.name if node and not node.ghost and not draining(world, node.name) else "",
        **pages,
    }
