"""DefaultBinder: tells the API server which node the pod runs on.

Source: seed 002 §6; upstream ``plugins/defaultbinder/default_binder.go``.
"""

from __future__ import annotations

from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.framework.status import Status, error


class DefaultBinder(Plugin):
    name = "DefaultBinder"

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        try:
            self.handle.api.bind(pod.key, pod.uid, node_name)
        except ApiError as refusal:
            return error(str(refusal))
        return None
