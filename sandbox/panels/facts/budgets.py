"""PodDisruptionBudgets: which pods they select, what they allow, and what blocks an eviction.

Source: seed 002 §9 and §11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from sandbox.panels.model.state import PodState
from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.phrases import listed, plural
from sandbox.words.say import say
from scheduler_engine.api.budgets import Selection, selection
from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import KubeObject

KIND = "PodDisruptionBudget"


class Budget:
    """One budget. ``needed``, ``healthy``, ``expected``: numbers of pods; ``allowed``: how many may be evicted now."""

    def __init__(self, world: World, stored: KubeObject) -> None:
        self.world, self.stored = world, stored
        self.key, self.name, self.spec, status = stored.key, stored.name, stored.spec, stored.status
        self.needed = int(status.get("desiredHealthy") or 0)
        self.healthy = int(status.get("currentHealthy") or 0)
        self.allowed = int(status.get("disruptionsAllowed") or 0)
        self.expected = int(status.get("expectedPods") or 0)

    @property
    def rule(self) -> str:
        """Return the rule, such as ``maxUnavailable 1``; a budget without a rule needs one pod."""
        rules = (f"{name} {self.spec[name]}" for name in ("minAvailable", "maxUnavailable") if name in self.spec)
        return next(rules, "minAvailable 1")

    @property
    def text(self) -> str:
        """Return the numbers in words: ``2 healthy, 2 needed, none may be evicted``."""
        if self.allowed == 0:
            return say("budgets.none-may-go", healthy=self.healthy, needed=self.needed)
        return say("budgets.may-go", healthy=self.healthy, needed=self.needed, allowed=self.allowed)

    @cached_property
    def selection(self) -> Selection:
        return selection(self.stored)

    def covers(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return self.selection.holds(namespace, labels)

    def selects(self, pod: PodState) -> bool:
        return self.covers(pod.pod.namespace, pod.pod.labels)

    @cached_property
    def pods(self) -> list[PodState]:
        return [pod for pod in self.world.pods.values() if not pod.pod.finished and self.selects(pod)]

    @cached_property
    def leaving(self) -> list[PodState]:
        """Return the pods whose controllers wait until they are gone, and then replace them: more may go then."""
        return [pod for pod in self.terminating if self.world.witness.is_replaced_later(pod.key)]

    @property
    def is_changing(self) -> bool:
        """Return True if pods are being replaced: some are leaving, or their successors are not ready."""
        controlled = any(pod.pod.controller_ref is not None for pod in self.terminating)
        return bool(self.leaving) or (controlled and bool(self.unready))

    @cached_property
    def terminating(self) -> list[PodState]:
        return [pod for pod in self.pods if pod.state == "terminating"]

    @cached_property
    def staying(self) -> list[PodState]:
        return [pod for pod in self.pods if pod.state != "terminating"]

    @cached_property
    def lasting(self) -> int:
        """Return how many pods there will be once the leaving ones are gone or replaced.

        If minAvailable is a number, the pods that exist count; for any other rule, those that their controllers want.
        """
        if isinstance(self.spec.get("minAvailable"), int):
            return len(self.staying) + len(self.leaving)
        return max(self.expected, len(self.staying))

    @cached_property
    def unready(self) -> list[str]:
        """Return the names of pods that stay and do not count as healthy."""
        return [short_name(pod.key) for pod in self.staying if not is_ready(pod.pod)]


class Budgets:
    """The budgets of one moment. Each is computed once, because a drain asks about hundreds of pods."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.by_key: dict[str, Budget] = {}

    def named(self, keys: Iterable[str]) -> list[Budget]:
        """Return the budgets of ``keys`` that still exist."""
        manifests = self.world.objects.get(KIND, {})
        return [self._of(key, manifests[key]) for key in keys if key in manifests]

    def of(self, pod: PodState) -> list[Budget]:
        """Return the budgets that select a pod."""
        return [item for item in self.named(self.world.objects.get(KIND, {})) if item.selects(pod)]

    def _of(self, key: str, manifest: dict[str, Any]) -> Budget:
        if key not in self.by_key:
            self.by_key[key] = Budget(self.world, KubeObject(manifest))
        return self.by_key[key]


def ways_out(pod: PodState, budget: Budget) -> list[str]:
    """Return sentences on what would let a refused pod go, which has one budget; the likeliest first."""
    name, unready, leaving = budget.name, budget.unready, [short_name(other.key) for other in budget.leaving]
    ways = []
    if budget.allowed > 0:
        ways.append(say("budgets.ask-again", budget=name, pods=plural(budget.allowed, "pod")))
    if unready:
        named = listed(unready)
        ways.append(say("budgets.not-ready", count=len(unready), pods=named, budget=name, healthy=budget.healthy))
    if leaving:
        ways.append(say("budgets.wait", count=len(leaving), pods=listed(leaving)))
    if budget.staying and budget.lasting <= budget.needed:
        ways.append(say("budgets.fix", budget=name, needed=budget.needed, pods=plural(budget.lasting, "pod")))
    if not is_ready(pod.pod) and budget.spec.get("unhealthyPodEvictionPolicy") != "AlwaysAllow":
        ways.append(say("budgets.itself-not-ready", pod=short_name(pod.key), budget=name))
    return ways
