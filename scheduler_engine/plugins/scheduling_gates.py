"""SchedulingGates: a pod with ``spec.schedulingGates`` does not enter the queues until the last gate is gone.

Source: upstream ``plugins/schedulinggates/scheduling_gates.go``.
"""

from __future__ import annotations

from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import EventRegistration, Hint, Plugin
from scheduler_engine.framework.status import Status, unresolvable


class SchedulingGates(Plugin):
    name = "SchedulingGates"

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        gates_eliminated = ClusterEvent("Pod", ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (EventRegistration(gates_eliminated, self.after_gates_eliminated),)

    def after_gates_eliminated(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        if new is None or new.uid != pod.uid:
            return Hint.SKIP, "hints.gates-of-another-pod"
        return Hint.QUEUE, "hints.last-gate-gone"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        if not pod.scheduling_gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(pod.scheduling_gates)}]")
