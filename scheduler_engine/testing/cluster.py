"""A cluster under a test's control: apply manifests, let the scheduler continue, check the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from scheduler_engine import commands
from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.objects import Pod
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.extender_calls import ExtenderCalls, Transport
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.own_plugins import checked, enabling
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.decision import MOST_NODES, decision
from scheduler_engine.scenario.expectations import failures_of
from scheduler_engine.scenario.failing import reasons, why_not
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing.builders import Builder, Data
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.versions import DEFAULT, chosen_rules

MOST_STEPS = 10_000
"""The most stages to wait for."""


class Cluster:
    """An in-memory cluster and its scheduler, which pauses until told to continue.

    ``configuration``: a KubeSchedulerConfiguration as a mapping, None for the default one. ``seed`` decides draws among
    equal nodes. ``kubernetes``: the version whose rules hold, with ``feature_gates`` that differ from its defaults. A
    pod is named ``name``, in the namespace default, or ``namespace/name``. ``plugins``: your own, subclasses of
    ``plugin_api.Plugin``. Without a configuration, they are enabled at all their extension points with weight 1.
    ``extenders``: the ``urlPrefix`` of an extender → your answers, a function of (address, verb, arguments).

    Commands raise Rejected, with all errors, if Kubernetes would refuse them; then nothing has changed.
    """

    def __init__(
        self,
        configuration: Data | None = None,
        *,
        seed: int = 42,
        kubernetes: str = DEFAULT,
        feature_gates: Mapping[str, bool] | None = None,
        plugins: Sequence[type[Plugin]] = (),
        extenders: Mapping[str, Transport] | None = None,
    ) -> None:
        chosen_rules(kubernetes, feature_gates)
        self.simulation = Simulation(
            seed=seed,
            configuration=enabling(checked(plugins)) if plugins and configuration is None else configuration,
            kubernetes=kubernetes,
            feature_gates=feature_gates,
            plugins=plugins,
            extenders=ExtenderCalls(extenders),
        )

    # --- actions ---

    def apply(self, *sources: Data | Builder | str | Path) -> Self:
        """Apply manifests: mappings, builders, YAML texts of any number of documents, and files of these."""
        manifests = [manifest for item in sources for manifest in _manifests(item)]
        return self.execute(commands.Apply(tuple(manifests)))

    def run(self, cycles: int = 1000) -> Self:
        """Run up to ``cycles`` scheduling cycles, while there are pods to schedule now."""
        return self.execute(commands.Run(cycles))

    def stage(self) -> Self:
        """Run one stage of a cycle, such as Filter."""
        return self.execute(commands.Stage())

    def settle(self) -> Self:
        """Run everything that can happen without time passing."""
        return self.execute(commands.Settle())

    def advance(self, seconds: float) -> Self:
        """Let simulated seconds pass, with everything that falls due in them."""
        return self.execute(commands.Advance(seconds))

    def delete(self, kind: str, name: str) -> Self:
        """Delete an object: ``delete("Node", "node-a")``, ``delete("Pod", "web")``."""
        return self.execute(commands.Delete(kind, _key(name) if kind == "Pod" else name))

    def execute(self, command: Command | Data) -> Self:
        """Execute any other command, such as ``{"kind": "cordon", "node": "node-a"}``."""
        self.simulation.execute(command if not isinstance(command, dict) else commands.from_json(command))
        return self

    def step_until(self, holds: Callable[[Cluster], object]) -> Self:
        """Run stage by stage until ``holds`` is true of this cluster. Raises AssertionError when it stays false."""
        for _ in range(MOST_STEPS):
            if holds(self):
                return self
            before = len(self.simulation.recorder.entries)
            try:
                self.stage()
            except Rejected as refusal:
                raise AssertionError(f"it never holds: {refusal}") from refusal
            if len(self.simulation.recorder.entries) == before:
                break
        raise AssertionError("it never holds")

    # --- state ---

    @property
    def seconds(self) -> float:
        """Return simulated seconds since the start."""
        return self.simulation.now_us / SECOND_US

    def pod(self, name: str) -> Pod:
        """Return the pod. Raises KeyError when there is none."""
        pod = self.simulation.api.pod(_key(name))
        if pod is None:
            raise KeyError(name)
        return pod

    def node_of(self, name: str) -> str:
        """Return the node that a pod is bound to, "" if pending. Raises KeyError when there is no such pod."""
        return self.pod(name).node_name

    def attempts(self, name: str) -> list[Attempt]:
        """Return the attempts for a pod, oldest first."""
        return RunView(self.simulation).attempts.get(_key(name), [])

    def explain(self, name: str) -> str:
        """Return the last attempt's results for a pod on each node, as a table, and why no other node was chosen."""
        attempts = self.attempts(name)
        if not attempts:
            return f"{_key(name)}: no attempt was made"
        last = attempts[-1]
        # Nodes with a total come first: of many, the nearest are enough.
        nodes = last.ranked[:MOST_NODES] if last.filter is not None else [""]
        words = [text for node in nodes for text in why_not(self.simulation, last, node)]
        return "\n".join([*decision(last), *(f"  {text}" for text in words)])

    def expect(self, *expectations: Data) -> Self:
        """Check expectations as in scenario files, such as ``{"pod": "default/web", "node": "node-a"}``.

        Raises AssertionError with everything that does not hold, and why.
        """
        view = RunView(self.simulation)
        lines: list[str] = []
        for expectation in expectations:
            if failures := failures_of(view, [expectation]):
                lines += [*failures, *(f"  {text}" for text in reasons(view, expectation))]
        if lines:
            raise AssertionError("\n".join(lines))
        return self


def _key(name: str) -> str:
    return name if "/" in name else f"default/{name}"


def _manifests(source: Data | Builder | str | Path) -> list[Data]:
    if isinstance(source, Builder):
        return [source.obj()]
    if isinstance(source, Path):
        source = source.read_text(encoding="utf-8")
    if isinstance(source, str):
        return [document.data for document in read_documents(source) if document.data is not None]
    return [source]
