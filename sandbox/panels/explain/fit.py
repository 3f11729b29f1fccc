"""NodeResourcesFit's filter in words and numbers.

Source: seed 002 §8; upstream ``plugins/noderesources/fit.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.panels.explain.model import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Case,
    Explanation,
    Line,
    names,
    passes,
    refuses,
    written,
)
from sandbox.panels.words.phrases import plural
from scheduler_engine.api.pod_resources import Resource, is_extended_resource, pod_requests, resource_of

BASIC = ("cpu", "memory", "ephemeral-storage")


def held(resource: Resource, name: str) -> int:
    """Millicores of cpu, bytes or whole units of the rest."""
    if name == "cpu":
        return resource.milli_cpu
    if name == "memory":
        return resource.memory
    if name == "ephemeral-storage":
        return resource.ephemeral_storage
    return resource.scalar.get(name, 0)


@dataclass(frozen=True, slots=True)
class Check:
    """``reason`` "" = there is enough. ``hopeless``: the whole node has less than is asked."""

    name: str
    line: Line
    reason: str = ""
    hopeless: bool = False


def fit_filter(case: Case) -> Explanation:
    asked = resource_of(pod_requests(case.pod, use_status=False))
    checks = [_pods(case), *(_resource(case, name, held(asked, name)) for name in BASIC if held(asked, name) > 0)]
    lines = [check.line for check in checks]
    for name, number in sorted(asked.scalar.items()):
        if number and _ignored(case, name):
            lines.append(Line(name, f"{number} asked", "not checked: the profile ignores this resource"))
        elif number:
            checks.append(_resource(case, name, number))
            lines.append(checks[-1].line)
    if len(lines) == 1:
        lines.append(Line("Requests", "none", "a pod that asks for nothing needs only a free place"))
    lines += _overhead(case)
    lacking = [check for check in checks if check.reason]
    if not lacking:
        return passes(f"Everything that {case.name} asks for is free on {case.node.name}.", lines)
    hopeless = [check.name for check in lacking if check.hopeless]
    code = UNRESOLVABLE if hopeless else UNSCHEDULABLE
    return refuses(_sentence(case, lacking, hopeless), lines, *(check.reason for check in lacking), code=code)


def _sentence(case: Case, lacking: list[Check], hopeless: list[str]) -> str:
    if hopeless:
        return f"{case.node.name} is too small: {case.name} asks for more {names(hopeless)} than the whole node has."
    short = [check.name for check in lacking if check.name != "pods"]
    if not short:
        return f"{case.node.name} already runs as many pods as it may."
    text = f"{case.node.name} does not have enough {names(short)} left for {case.name}"
    return text + (", and no place for another pod." if len(short) < len(lacking) else ".")


def _pods(case: Case) -> Check:
    there, allowed = len(case.here) - len(case.nominated), case.info.allocatable.allowed_pod_number
    extra = (
        f" + {len(case.nominated)} nominated ({names(info.pod.key for info in case.nominated)})"
        if case.nominated
        else ""
    )
    whole = len(case.here) + 1
    full = whole > allowed
    formula = f"{there} there{extra} + 1 = {whole} {'>' if full else '≤'} {allowed}"
    return Check(
        "pods", Line("pods", formula, "as many as the node may run" if full else ""), "Too many pods" if full else ""
    )


def _resource(case: Case, name: str, asked: int) -> Check:
    have, used = held(case.info.allocatable, name), held(case.info.requested, name)
    waiting = [(info.pod.key, held(info.resource.request, name)) for info in case.nominated]
    there = used - sum(number for _, number in waiting)
    numbers = written(
        name, there, asked, used + asked, have, abs(have - used - asked), *(number for _, number in waiting)
    )
    taken, wish, whole, total, rest, *reserved = numbers
    extra = "".join(f" + {text} nominated ({names([key])})" for (key, _), text in zip(waiting, reserved, strict=True))
    lacks = asked > have - used
    formula = f"{taken} used{extra} + {wish} asked = {whole} {'>' if lacks else '≤'} {total} allocatable"
    if not lacks:
        return Check(name, Line(name, formula, f"{rest} stay free"))
    hopeless = asked > have
    note = f"{rest} too much" + (
        "; evicting pods cannot help, the whole node has less than is asked" if hopeless else ""
    )
    return Check(name, Line(name, formula, note), f"Insufficient {name}", hopeless)


def _ignored(case: Case, name: str) -> bool:
    groups = case.args.get("ignoredResourceGroups") or ()
    return is_extended_resource(name) and (
        name in (case.args.get("ignoredResources") or ()) or name.split("/")[0] in groups
    )


def _overhead(case: Case) -> Iterator[Line]:
    overhead = case.pod.spec.get("overhead")
    if overhead:
        listed = ", ".join(f"{name} {quantity}" for name, quantity in overhead.items())
        yield Line("Overhead", listed, "of the pod's RuntimeClass, counted in what is asked")
    started = [item for item in case.pod.init_containers if item.get("restartPolicy") != "Always"]
    if started:
        yield Line(
            "Init containers",
            plural(len(started), "container"),
            "they run one by one before the others: only the largest counts",
        )
