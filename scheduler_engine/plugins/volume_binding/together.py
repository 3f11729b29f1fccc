"""What a pod's claims find on many nodes at once: only the reasons against the pod, as ``find_pod_volumes`` has them.

The volumes for the chosen node are looked for when the pod reserves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.interface import NodeInfoLister, PluginError
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.plugins.csi_nodes import CsiNodes
from scheduler_engine.plugins.csi_translation import Untranslatable
from scheduler_engine.plugins.volume_binding.finding import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_MISSING,
    PodVolumeClaims,
    UnboundClaim,
    find_unbound,
)
from scheduler_engine.plugins.volume_binding.matching import Candidate, as_on_node
from scheduler_engine.plugins.volume_binding.reach import Reach

PROBLEMS = ("", BIND_CONFLICT, NOT_ENOUGH_SPACE)
"""What can be wrong with unbound claims; arrays hold the place here."""
Problems = NDArray[np.int8]


def reasons_by_node(
    claims: PodVolumeClaims, nodes: Nodes, snapshot: NodeInfoLister, csi_nodes: Callable[[], CsiNodes]
) -> list[tuple[tuple[str, ...], Mask]]:
    """Return the different reasons against the pod, and which of the nodes have them.

    ``csi_nodes`` is called if in-tree volumes need it. Raises PluginError for a broken in-tree volume.
    """
    reach = Reach(snapshot.slots, nodes)
    conflict, missing = _bound(claims, nodes, reach, csi_nodes)
    problems = _unbound(claims, nodes, snapshot, reach)
    codes = 4 * problems + 2 * missing + conflict
    found: list[tuple[tuple[str, ...], Mask]] = []
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        problem, other = divmod(code, 4)
        parts = (NODE_CONFLICT if other & 1 else "", PROBLEMS[problem], VOLUME_MISSING if other & 2 else "")
        reasons = tuple(part for part in parts if part)
        if reasons:
            found.append((reasons, codes == code))
    return found


def _bound(claims: PodVolumeClaims, nodes: Nodes, reach: Reach, csi_nodes: Callable[[], CsiNodes]) -> tuple[Mask, Mask]:
    """Return where the first claim that fails has a volume out of reach, and where it has none."""
    conflict, missing, fine = reach.none(), reach.none(), reach.all()
    for _, item in claims.bound:
        if item is None:
            missing |= fine
            break
        reachable = _seen_from(item, nodes, reach, csi_nodes()) if item.plugin else reach.of(item.node_selector)
        conflict |= fine & ~reachable
        fine &= reachable
    return conflict, missing


def _seen_from(item: Candidate, nodes: Nodes, reach: Reach, csi_nodes: CsiNodes) -> Mask:
    """Return from where an in-tree volume can be reached: its topology depends on what the CSINode announces."""
    reachable, codes = reach.none(), csi_nodes.codes[nodes.slots]
    for code, csi_node in enumerate(csi_nodes.kinds):
        there = codes == code
        if there.any():
            try:
                seen = as_on_node(item, csi_node)
            except Untranslatable as problem:
                raise PluginError(f"could not translate pv: {problem}") from problem
            reachable |= there & reach.of(seen.node_selector)
    return reachable


def _unbound(claims: PodVolumeClaims, nodes: Nodes, snapshot: NodeInfoLister, reach: Reach) -> Problems:
    """Return the place in ``PROBLEMS`` for each node."""
    problems: Problems = np.zeros(len(nodes), dtype=np.int8)
    here = reach.all()
    for selected in dict.fromkeys(item.selected_node for item in claims.selected):
        info = snapshot.get(selected)
        here &= nodes.slots == info.slot if info is not None else False
    problems[~here] = PROBLEMS.index(BIND_CONFLICT)
    if len(claims.unbound) > 1:
        _one_by_one(claims, nodes, here, problems)
        return problems
    for item, needs in _to_provision(claims, reach):
        needs &= here & (problems == 0)
        possible = reach.possible(item.provisioning)
        problems[needs & ~possible] = PROBLEMS.index(BIND_CONFLICT)
        problems[needs & possible & ~reach.has_space(item.provisioning)] = PROBLEMS.index(NOT_ENOUGH_SPACE)
    return problems


def _to_provision(claims: PodVolumeClaims, reach: Reach) -> Iterator[tuple[UnboundClaim, Mask]]:
    """Yield the claims for which a volume must be created, in order, and on which nodes. At most one is undecided."""
    for item in claims.selected:
        yield item, reach.all()
    for item in claims.unbound:
        reserved = item.choice.reserved[:1]
        yield item, ~reach.of_any(reserved or item.choice.suitable)


def _one_by_one(claims: PodVolumeClaims, nodes: Nodes, here: Mask, problems: Problems) -> None:
    """Look for several claims, of which each takes its volume from the next ones, once for each set of labels."""
    known: dict[tuple[str | None, ...], int] = {}
    keys = [*dict.fromkeys(key for item in (*claims.selected, *claims.unbound) for key in item.labels_read())]
    for place in np.flatnonzero(here).tolist():
        node = nodes[place].node
        if node is None:
            continue
        labels = tuple(node.labels.get(key) for key in keys)
        problem = known.get(labels)
        if problem is None:
            findings = find_unbound(claims, node)
            problem = known[labels] = PROBLEMS.index(findings[-1].reason if findings else "")
        problems[place] = problem
