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
from sandbox.panels.words.say import say
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
            lines.append(Line(name, say("fit.asked", amount=number), say("fit.ignored")))
        elif number:
            checks.append(_resource(case, name, number))
            lines.append(checks[-1].line)
    if len(lines) == 1:
        lines.append(Line(say("fit.requests"), say("fit.no-requests"), say("fit.no-requests-note")))
    lines += _overhead(case)
    lacking = [check for check in checks if check.reason]
    if not lacking:
        return passes(say("fit.fits", pod=case.name, node=case.node.name), lines)
    hopeless = [check.name for check in lacking if check.hopeless]
    code = UNRESOLVABLE if hopeless else UNSCHEDULABLE
    return refuses(_sentence(case, lacking, hopeless), lines, *(check.reason for check in lacking), code=code)


def _sentence(case: Case, lacking: list[Check], hopeless: list[str]) -> str:
    node, pod = case.node.name, case.name
    if hopeless:
        return say("fit.too-small", node=node, pod=pod, resources=names(hopeless))
    short = [check.name for check in lacking if check.name != "pods"]
    if not short:
        return say("fit.no-place", node=node)
    if len(short) < len(lacking):
        return say("fit.not-enough-and-no-place", node=node, resources=names(short), pod=pod)
    return say("fit.not-enough", node=node, resources=names(short), pod=pod)


def _pods(case: Case) -> Check:
    there, allowed = len(case.here) - len(case.nominated), case.info.allocatable.allowed_pod_number
    whole = len(case.here) + 1
    full = whole > allowed
    sign, note = (">", say("fit.places-full")) if full else ("≤", "")
    if case.nominated:
        formula = say(
            "fit.places-with-nominated",
            there=there,
            nominated=len(case.nominated),
            names=names(info.pod.key for info in case.nominated),
            whole=whole,
            sign=sign,
            allowed=allowed,
        )
    else:
        formula = say("fit.places", there=there, whole=whole, sign=sign, allowed=allowed)
    return Check("pods", Line("pods", formula, note), "Too many pods" if full else "")


def _resource(case: Case, name: str, asked: int) -> Check:
    have, used = held(case.info.allocatable, name), held(case.info.requested, name)
    waiting = [(info.pod.key, held(info.resource.request, name)) for info in case.nominated]
    there = used - sum(number for _, number in waiting)
    numbers = written(
        name, there, asked, used + asked, have, abs(have - used - asked), *(number for _, number in waiting)
    )
    taken, wish, whole, total, rest, *reserved = numbers
    summands = [
        say("fit.used", amount=taken),
        *(
            say("fit.nominated", amount=amount, pod=names([key]))
            for (key, _), amount in zip(waiting, reserved, strict=True)
        ),
        say("fit.asked", amount=wish),
    ]
    lacks = asked > have - used
    formula = say("fit.sum", summands=" + ".join(summands), whole=whole, sign=">" if lacks else "≤", total=total)
    if not lacks:
        return Check(name, Line(name, formula, say("fit.stays-free", amount=rest)))
    hopeless = asked > have
    note = say("fit.too-much-for-the-node" if hopeless else "fit.too-much", amount=rest)
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
        yield Line(say("fit.overhead"), listed, say("fit.overhead-note"))
    started = [item for item in case.pod.init_containers if item.get("restartPolicy") != "Always"]
    if started:
        yield Line(say("fit.init-containers"), plural(len(started), "container"), say("fit.init-containers-note"))
