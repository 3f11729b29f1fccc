"""What expressions can read: name, type, and the value at one moment.

Amounts are whole numbers: millicores of cpu, bytes of memory and ephemeral-storage, whole units of anything else. An
amount that is missing is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from scheduler_engine.api.cel.types import DYN, INT, STRING, Type
from scheduler_engine.api.cel.values import WithDefault
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import BASIC, Resource, pod_resource
from scheduler_engine.framework.node_info import NodeInfo

AMOUNTS: Type = ("map", STRING, INT)
PODS = "pods"


class Amounts(WithDefault):
    """Resource → amount."""

    default: ClassVar[Any] = 0


class Moment(NamedTuple):
    """What an evaluation is about. ``node``: as the cycle sees it, None for a pod alone. ``waiting``: other pods that
    wait on Permit for the plugin. ``victims``: manifests of the pods that preemption would evict from the node.
    """

    pod: Pod
    node: NodeInfo | None = None
    waiting: tuple[Pod, ...] = ()
    victims: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """``of_node``: its value depends on the node; ``of_pods``: on the pods there, so that evictions can change it."""

    type: Type
    read: Callable[[Moment], Any]
    of_node: bool = True
    of_pods: bool = False


def _amounts(resource: Resource, pods: int) -> Amounts:
    plain = {name: getattr(resource, place) for name, place in BASIC.items()}
    return Amounts(plain | {PODS: pods} | resource.scalar)


def _node(moment: Moment) -> NodeInfo:
    assert moment.node is not None
    return moment.node


def _manifest(moment: Moment) -> Mapping[str, Any]:
    node = _node(moment).node
    assert node is not None
    return node.manifest


VARIABLES: dict[str, Variable] = {
    "pod": Variable(DYN, lambda moment: moment.pod.manifest, of_node=False),
    "podRequests": Variable(AMOUNTS, lambda moment: _amounts(pod_resource(moment.pod).request, 1), of_node=False),
    "node": Variable(DYN, _manifest),
    "allocatable": Variable(
        AMOUNTS, lambda moment: _amounts(_node(moment).allocatable, _node(moment).allocatable.allowed_pod_number)
    ),
    "requested": Variable(
        AMOUNTS, lambda moment: _amounts(_node(moment).requested, len(_node(moment).pods)), of_pods=True
    ),
    PODS: Variable(("list", DYN), lambda moment: [info.pod.manifest for info in _node(moment).pods], of_pods=True),
}
OF_POD = {name: variable for name, variable in VARIABLES.items() if not variable.of_node}
"""The variables that need no node."""
ON_PERMIT = VARIABLES | {
    "waiting": Variable(("list", DYN), lambda moment: [pod.manifest for pod in moment.waiting]),
}
"""The variables on Permit."""
ON_PREEMPT = VARIABLES | {"victims": Variable(("list", DYN), lambda moment: [*moment.victims])}
"""The variables about a candidate of preemption."""
