"""Pods that wait on Permit: who may let them continue, and who may reject them.

Source: upstream ``framework/runtime/waiting_pods_map.go``.
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.timeline import Timers
from scheduler_engine.trace.events import PermitWait, Recorder


class PermitWaits:
    """The part of a scheduler that ends waits on Permit. ``bindings``: its binding cycles, oldest first."""

    bindings: list[Cycle]
    recorder: Recorder
    timeline: Timers

    def wait(self, cycle: Cycle, duration_us: int) -> None:
        """Let ``cycle`` wait; a timer makes sure that time stops there."""
        cycle.wait_until_us = self.timeline.now_us + duration_us
        self.timeline.after(duration_us, self.wake)

    def wake(self) -> None:
        """Do nothing: the wait is over, and whoever moved the clock settles next."""

    def waiting_pods(self) -> list[Pod]:
        """Return the assumed pods that wait on Permit. A pod whose wait has ended is not among them."""
        return [binding.placed for binding in self.bindings if binding.waits_on_permit]

    def waiting_for(self, plugin: str, framework: object) -> list[tuple[Pod, str]]:
        """Return the pods of a profile in use that wait on Permit for ``plugin``, oldest first, with their nodes."""
        return [
            (binding.placed, binding.host)
            for binding in self.bindings
            if binding.waits_on_permit and plugin in binding.waits and binding.framework is framework
        ]

    def allow_waiting(self, uid: str, plugin: str) -> bool:
        """Let one plugin allow a waiting pod, which then waits only for the others. Return False if it does not wait
        for this plugin.
        """
        for binding in self.bindings:
            if not (binding.placed.uid == uid and binding.waits_on_permit and plugin in binding.waits):
                continue
            assert binding.wait_until_us is not None
            began_us = binding.wait_until_us - min(binding.waits.values())
            del binding.waits[plugin]
            ends = tuple((name, began_us + timeout_us) for name, timeout_us in binding.waits.items())
            self.recorder.add(PermitWait(binding.number, binding.pod.key, ends))
            binding.wait_until_us = None
            if ends:
                self.wait(binding, min(at_us for _, at_us in ends) - self.timeline.now_us)
            return True
        return False

    def reject_waiting_pod(self, uid: str, plugin: str, reason: str) -> bool:
        """End the wait of a pod on Permit. The first reason counts. Return False if it is not waiting.

        ``plugin`` rejects the pod; it is "" if the pod is deleted.
        """
        for binding in self.bindings:
            if binding.waits and binding.placed.uid == uid:
                if not binding.rejected_because:
                    binding.rejected_because, binding.rejected_by = reason, plugin
                self.recorder.add(PermitWait(binding.number, binding.pod.key, (), binding.rejected_because))
                binding.wait_until_us = self.timeline.now_us
                return True
        return False

    def preempt_binding_pod(self, uid: str, plugin: str) -> bool:
        """End the binding cycle of a pod that waits on Permit or in PreBind, so that it is tried again after its
        backoff. Return False if it does neither.
        """
        for binding in self.bindings:
            if binding.placed.uid != uid or binding.stage not in ("WaitOnPermit", "PreBind"):
                continue
            if binding.waits and not binding.rejected_because:
                binding.preempted = self.reject_waiting_pod(uid, plugin, "preempted")
                return True
            if binding.stage == "PreBind" and binding.works_in_pre_bind and binding.rules.preempts_in_pre_bind:
                binding.preempted, binding.rejected_by = True, plugin
                binding.wait_until_us = self.timeline.now_us
                return True
        return False

    def allow_waiting_pod(self, pod_key: str) -> bool:
        """Let every plugin allow the waiting pod; return False if it is not waiting."""
        for binding in self.bindings:
            if binding.waits and not binding.rejected_because and binding.pod.key == pod_key:
                binding.waits = {}
                self.recorder.add(PermitWait(binding.number, pod_key, ()))
                binding.wait_until_us = None
                return True
        return False
