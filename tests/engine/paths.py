"""Compare the fast path of the scheduler with the plain one: the same commands must leave the same trace.

By hand, as long as you like: ``python -m tests.engine.paths --decisions 100000``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from scheduler_engine.commands import Command
from scheduler_engine.framework import filter_run, score_run
from scheduler_engine.framework.faults import TOGETHER
from scheduler_engine.framework.interface import Handle
from scheduler_engine.plugins.registry import REGISTRY, registry_for
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import DEFAULT, VERSIONS, rules_for
from tests.engine.device_histories import devices
from tests.engine.random_clusters import CONFIGURATIONS, cluster, configuration, crowded, run
from tests.engine.restless_clusters import restless
from tests.engine.volume_histories import volumes

History = Callable[[int], list[Command]]
Configurations = Sequence[dict[str, Any] | None]
HISTORIES: tuple[History, ...] = (cluster, crowded, restless, volumes, devices)
PLUGINS = tuple(
    dict.fromkeys(
        plugin for name in VERSIONS for plugin in (*REGISTRY.values(), *registry_for(rules_for(name)).values())
    )
)
"""The plugins of all versions."""
SIGNABLE = configuration(PodTopologySpread={"defaultingType": "List", "defaultConstraints": []})
"""A profile in which a pod can take its node from an earlier ranking."""
IN_VERSIONS = (*CONFIGURATIONS, SIGNABLE)


@contextmanager
def plainly() -> Iterator[None]:
    """Let every plugin be asked about every node in every cycle, one after the other, and keep nothing."""
    with pytest.MonkeyPatch.context() as patch:
        for plugin in PLUGINS:
            patch.setattr(plugin, "sign", lambda self, pod: None)
            for method in TOGETHER:
                patch.delattr(plugin, method, raising=False)
        patch.setattr(Handle, "counts_together", lambda self, nodes: None)
        yield


@contextmanager
def together(nodes: int = 1) -> Iterator[Counter[str]]:
    """Let the plugins judge so many nodes at once, or more. Return how often they did: plugin and method → count."""
    used: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for module in (filter_run, score_run):
            patch.setattr(module, "WORTHWHILE", nodes)
        for plugin in PLUGINS:
            for method in TOGETHER:
                original = getattr(plugin, method, None)
                if original is not None:
                    patch.setattr(plugin, method, _counted(original, f"{plugin.name} {method}", used))
        yield used


def _counted(original, name, used):  # type: ignore[no-untyped-def]
    def asked(*arguments):  # type: ignore[no-untyped-def]
        answer = original(*arguments)
        used[name] += answer is not None
        return answer

    return asked


def played(
    seed: int,
    full: bool,
    history: History = cluster,
    configurations: Configurations = CONFIGURATIONS,
    kubernetes: str = DEFAULT,
) -> Simulation:
    """Play one random history, with the next configuration."""
    settings = configurations[seed % len(configurations)]
    simulation = Simulation(seed=seed, configuration=settings, full=full, kubernetes=kubernetes)
    run(simulation, history(seed))
    return simulation


def differs(
    seed: int,
    full: bool,
    history: History = cluster,
    configurations: Configurations = CONFIGURATIONS,
    kubernetes: str = DEFAULT,
) -> tuple[bool, int]:
    """Return whether the paths differ, and the number of decisions compared."""
    with together(1 + seed % 3):
        fast = played(seed, full, history, configurations, kubernetes)
    with plainly():
        plain = played(seed, full, history, configurations, kubernetes)
    decisions = sum(isinstance(entry.event, ev.FilterRan | ev.HostSelected) for entry in plain.recorder.entries)
    return trace_digest(fast) != trace_digest(plain), decisions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 30))
    arguments = parser.parse_args()
    seed, compared = arguments.seed, 0
    while compared < arguments.decisions:
        for history in HISTORIES:
            kubernetes = VERSIONS[seed // len(IN_VERSIONS) % len(VERSIONS)]
            wrong, decisions = differs(seed, seed % 5 == 0, history, IN_VERSIONS, kubernetes)
            compared += decisions
            if wrong:
                print(f"seed {seed}, {history.__name__}, {kubernetes}: the traces differ")
                return 1
        seed += 1
    print(f"seeds {arguments.seed} to {seed - 1}: {compared} decisions, all the same")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
