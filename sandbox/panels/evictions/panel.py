"""Evictions requested from the API server, drains of nodes, evictions planned for taints, and evictions by kubelets."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.evictions.requests import row, stuck
from sandbox.panels.facts.budgets import Budgets
from sandbox.panels.facts.eviction_nodes import drain_row, flags, is_draining, plan_counts, plan_row, plans
from sandbox.panels.facts.kubelet_deeds import deed_row, deeds_of_all
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from scheduler_engine.trace import events as ev

PAGE = 50
MOST_DRAINS = 12


def stats(world: World, view: View) -> dict[str, Any]:
    log, budgets = world.evictions, Budgets(world)
    requests, planned = list(reversed(log.requests.values())), plans(world)
    drains = sorted(log.drains.values(), key=lambda drain: (drain.over, -drain.started_us))
    request_pages = pager(len(requests), view, "evictions.requests", PAGE)
    drain_pages = pager(len(drains), view, "evictions.drains", MOST_DRAINS)
    deeds = list(enumerate(deeds_of_all(world), 1))[::-1]
    deed_pages = pager(len(deeds), view, "evictions.kubelets", PAGE)
    plan_pages = pager(len(planned), view, "evictions.plans", PAGE)
    chosen, node = world.pods.get(view.pod), world.nodes.get(view.node)
    name = node.name if node and not node.ghost and not is_draining(world, node.name) else ""
    return {
        "empty": not (requests or drains or planned or deeds),
        "requests": [row(world, budgets, request) for request in on_page(requests, request_pages)],
        "request_count": len(requests),
        "stuck_count": sum(stuck(world, budgets, request) for request in log.open.values()),
        "drains": [drain_row(world, drain, view) for drain in on_page(drains, drain_pages)],
        "drain_count": len(drains),
        "plans": [plan_row(world, plan) for plan in on_page(planned, plan_pages)],
        "plan_counts": plan_counts(planned),
        "deeds": [deed_row(deed, number) for number, deed in on_page(deeds, deed_pages)],
        "evicted_count": sum(isinstance(deed.event, ev.PodEvicted) for _, deed in deeds),
        "pod": {"key": chosen.key, "name": short_name(chosen.key)} if chosen and chosen.node else None,
        "node": name,
        "flags": flags(world, name),
        "request_pages": request_pages,
        "drain_pages": drain_pages,
        "plan_pages": plan_pages,
        "deed_pages": deed_pages,
    }
