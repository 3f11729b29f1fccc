"""The progress of a long job in words."""

from __future__ import annotations

from sandbox.storage.records import Position
from sandbox.words.amounts import clock
from sandbox.words.phrases import plural
from sandbox.words.say import say
from sandbox.worker.live import Live


def progress(live: Live, position: Position) -> str:
    """Report the progress of a running job at ``position``. The values change while it runs."""
    pods = live.simulation.api.pods()
    bound = sum(bool(pod.node_name) for pod in pods)
    so_far = say("progress.so-far", bound=bound, pods=plural(len(pods), "pod"), clock=clock(live.simulation.now_us))
    if live.n >= position.head:
        return so_far
    return say("progress.again", n=live.n + 1, head=position.head, so_far=so_far)
