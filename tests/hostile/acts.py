"""What hostile strangers do: the table of acts.

Each act runs until it is done or its time is over. Then its sockets are cut. It may only talk to the site.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.hostile import acts_on_sockets as sockets
from tests.hostile import acts_on_the_engine as engine
from tests.hostile.stranger import Stranger

ACTS: dict[str, Callable[[Stranger], Awaitable[None]]] = {
    "ReplicaSet on a node that evicts at once": engine.pinned_replica_set,
    "StatefulSet on a node that evicts at once": engine.pinned_stateful_set,
    "tolerationSeconds 0": engine.tolerates_for_no_time,
    "Job with 2147483647 completions": engine.giant_job,
    "500 equal ports": engine.checked(engine.EQUAL_PORTS),
    "8,000 unknown fields": engine.checked(engine.UNKNOWN_FIELDS),
    "37e99998 a hundred times": engine.checked(engine.QUANTITIES),
    "hours with pods on a missing node": engine.missing_node,
    "4,500 pods settle on 1,000 nodes": engine.long_settle,
    "to and fro in a large sandbox": engine.to_and_fro,
    "ticks of play that merge": engine.long_play,
    "108,000 ConfigMaps": engine.config_maps,
    "a megabyte applied again and again": engine.large_applies,
    "6,000 nodes by the form": engine.many_copies,
    "thousands of new sandboxes": engine.creates,
    "twenty windows on one sandbox": engine.many_windows,
    "a flood of reads": engine.reads,
    "a flood of probes": engine.probes,
    "300 MB by Content-Length": sockets.body_by_length,
    "300 MB in chunks": sockets.body_in_chunks,
    "pipelines that nobody reads": sockets.pipelines,
    "live lines that nobody reads": sockets.silent_lines,
    "200 heads letter by letter": sockets.slow_heads,
    "100 bodies letter by letter": sockets.slow_bodies,
    "connections cut at once": sockets.comings_and_goings,
    "odd frames": sockets.odd_frames,
    "odd requests": sockets.odd_requests,
}
