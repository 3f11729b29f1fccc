"""What an explanation is, what it is made from, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

from sandbox.panels.model.seen import Seen
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.phrases import listed
from sandbox.panels.words.say import say
from scheduler_engine import wording
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.framework.node_info import NodeInfo, PodInfo

UNSCHEDULABLE = "Unschedulable"
UNRESOLVABLE = "UnschedulableAndUnresolvable"
SUCCESS = "Success"
BINARY = (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
MOST_NAMES = 6
Line = wording.Line


@dataclass(frozen=True, slots=True)
class Explanation:
    """``sentence`` is for everyone, ``lines`` for those who want to check it.

    The rest is what the arithmetic came to, to be compared with the trace: ``code`` and ``reasons`` of a filter
    (Success without reasons = the node passes), ``raw`` and ``normalized`` of a score (None = not worked out).
    ``brief``: the sentence in two or three words, "" where there are none.
    """

    sentence: str
    lines: tuple[Line, ...] = ()
    code: str = ""
    reasons: tuple[str, ...] = ()
    raw: int | None = None
    normalized: int | None = None
    brief: str = ""


@dataclass(frozen=True)
class Case:
    """One pod before one node. ``nominated`` pods are counted on the node as if they were there.

    ``args``: the plugin's arguments. ``feasible``: the nodes that passed Filter; ``raws``: the plugin's raw scores.
    """

    seen: Seen
    node: Node
    args: Mapping[str, Any]
    nominated: tuple[PodInfo, ...] = ()
    feasible: tuple[str, ...] = ()
    raws: Mapping[str, int] = field(default_factory=dict)

    @property
    def pod(self) -> Pod:
        return self.seen.pod

    @property
    def name(self) -> str:
        """The pod's name for sentences."""
        return short_name(self.pod.key)

    @cached_property
    def here(self) -> tuple[PodInfo, ...]:
        """Pods on the node, the nominated ones last."""
        return (*self.seen.pods_on.get(self.node.name, ()), *self.nominated)

    @cached_property
    def info(self) -> NodeInfo:
        """The node with its pods' requests added up, the nominated ones included."""
        info = NodeInfo()
        info.set_node(self.node)
        for pod in self.here:
            info.add_pod_info(pod)
        return info


def passes(sentence: str, lines: Sequence[Line] = ()) -> Explanation:
    return Explanation(sentence, tuple(lines), SUCCESS)


def refuses(sentence: str, lines: Sequence[Line], *reasons: str, code: str = UNSCHEDULABLE) -> Explanation:
    return Explanation(sentence, tuple(lines), code, reasons)


def scored(sentence: str, lines: Sequence[Line], raw: int, normalized: int | None) -> Explanation:
    return Explanation(sentence, tuple(lines), raw=raw, normalized=normalized)


def as_it_is(sentence: str, lines: Sequence[Line], raw: int) -> Explanation:
    """A score of a plugin that does not normalize."""
    line = Line(say("explain.normalized"), str(raw), say("explain.normalized-already"))
    return scored(sentence, [*lines, line], raw, raw)


def written(resource: str, *numbers: int) -> list[str]:
    """Amounts of one resource, exact and all in one unit: ``2100m``, ``712Mi``, ``3``."""
    if resource == "cpu":
        return [f"{number}m" for number in numbers]
    if resource not in ("memory", "ephemeral-storage") and not resource.startswith("hugepages-"):
        return [str(number) for number in numbers]
    unit, size = next(((unit, size) for unit, size in BINARY if not any(number % size for number in numbers)), ("B", 1))
    return [f"{number // size}{unit}" if number else "0" for number in numbers]


def bare(resource: str, *numbers: int) -> tuple[list[str], str]:
    """As ``written``, without the unit, and the unit."""
    texts = written(resource, *numbers)
    unit = next((text.lstrip("0123456789−-") for text in texts if text != "0"), "")
    return [text.removesuffix(unit) if unit else text for text in texts], unit


def names(keys: Iterable[str], most: int = MOST_NAMES) -> str:
    """``a, b and c`` or ``a, b and 4 more``; pods of the default namespace without it."""
    shown = [short_name(key) for key in keys]
    return listed(shown, most if len(shown) <= most else most - 1)


def any_of(parts: Sequence[str]) -> str:
    """``a or b or c``."""
    return reduce(lambda this, that: say("explain.this-or-that", this=this, that=that), parts) if parts else ""


def label_of(labels: Mapping[str, str], key: str) -> str:
    """``disktype=hdd`` or ``no label disktype``."""
    return f"{key}={labels[key]}" if key in labels else say("explain.no-label", key=key)


def domain(key: str) -> str:
    """What one domain of a topology key is called: ``zone`` for ``topology.kubernetes.io/zone``, ``node``."""
    return say("explain.domain-node") if key == HOSTNAME else key.rpartition("/")[2]


def signed(number: int) -> str:
    """With a real minus sign."""
    return str(number).replace("-", "−")
