"""The parts of a pod's requests as facts: sidecars, init containers, requests of the whole pod, overhead.

Source: seed 002 §3 and §6; upstream ``component-helpers/resource/helpers.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_engine.api.pod_resources import RequestParts, amount
from scheduler_engine.framework.facts import Amount, Fact, fact


def request_facts(parts: RequestParts, resources: Iterable[str]) -> Iterator[Fact]:
    """Explain each resource's sum, as far as it is more than plain containers."""
    for name in resources:
        if name in parts.pod_level:
            yield fact("requests.pod-level", resource=name, asked=Amount(name, amount(name, parts.pod_level[name])))
        else:
            yield from _of_containers(parts, name)
        if parts.overhead.get(name):
            yield _overhead(parts, name)


def ignored_pod_level(parts: RequestParts, resources: Iterable[str]) -> Iterator[Fact]:
    """Return the requests of the whole pod, if a score omits them; ``parts`` have them."""
    for name in resources:
        if name in parts.pod_level:
            asked = Amount(name, amount(name, parts.pod_level[name]))
            yield fact("requests.pod-level-ignored", resource=name, asked=asked)


def _of_containers(parts: RequestParts, name: str) -> Iterator[Fact]:
    nano, of_sidecars = parts.running.get(name, 0), parts.sidecars.get(name, 0)
    running = amount(name, nano)
    if of_sidecars:
        containers = amount(name, nano - of_sidecars)
        numbers = {"containers": containers, "sidecars": running - containers, "running": running}
        amounts = {word: Amount(name, number) for word, number in numbers.items()}
        yield fact("requests.sidecars", resource=name, **amounts)
    steps = [(step[name], container) for container, step in parts.steps if step.get(name)]
    if steps:
        largest, container = max(steps, key=lambda item: item[0])
        counts = parts.containers()[name] > nano
        yield fact(
            "requests.init-container" if counts else "requests.init-container-covered",
            resource=name,
            container=container,
            step=Amount(name, amount(name, largest)),
            running=Amount(name, running),
        )


def _overhead(parts: RequestParts, name: str) -> Fact:
    """Explain the overhead as the rest of the sum, so that a part of a unit is rounded once."""
    needed = amount(name, {**parts.containers(), **parts.pod_level}.get(name, 0))
    asked = amount(name, parts.total()[name])
    numbers = {"needed": needed, "overhead": asked - needed, "asked": asked}
    return fact("requests.overhead", resource=name, **{word: Amount(name, number) for word, number in numbers.items()})
