"""Jobs of the API server that kubectl sees."""

from __future__ import annotations

import json

from sandbox.kube import reading as kube
from sandbox.storage.records import Position
from sandbox.worker.job import listing
from sandbox.worker.live import Live
from scheduler_engine.versions import release_of


@listing
def kube_read(live: Live, position: Position, request: kube.Request) -> str:
    """Return the JSON document that answers a request. Raises ``kube.Refused``."""
    live.move_to(position)
    simulation = live.simulation
    release = release_of(simulation.rules.kubernetes)
    found = kube.answer(live.world, request, simulation.api.resource_version, release)
    return json.dumps(found, separators=(",", ":"))
