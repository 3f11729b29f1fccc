"""Turn a sandbox into a scenario: its log of commands, cut in two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_engine import ENGINE_VERSION, commands
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.model import Scenario
from scheduler_engine.scenario.steps import without_defaults
from scheduler_engine.shapes import Data
from scheduler_engine.versions import DEFAULT
from scheduler_engine.words import say


def from_log(
    seed: int,
    configuration: Mapping[str, Any] | None,
    queue_rules: str,
    log: Iterable[Command | Mapping[str, Any]],
    *,
    kubernetes: str = DEFAULT,
    feature_gates: Mapping[str, bool] | None = None,
    setup: int | None = None,
    title: str = "A sandbox",
    slug: str = "sandbox",
    about: str = "",
    outcome: str = "",
    tab: str = "",
    expect: Sequence[Data] = (),
    held: Mapping[int, Sequence[Data]] | None = None,
    words: Mapping[int, Data] | None = None,
) -> Scenario:
    """Return the scenario that replays the trace of this log. ``log``: commands, or their JSON forms.

    The first ``setup`` of them (None: all) are executed when it is opened, the others become ``then``. ``held``:
    expectations by number of commands; none may be within the setup. ``words``: number of a step's command → its
    ``name`` and ``say``. The rest is as in ``Scenario``. Raises Rejected for an invalid command.
    """
    parsed = [item if not isinstance(item, Mapping) else commands.from_json(item) for item in log]
    steps = [_step(command) for command in parsed]
    cut = len(steps) if setup is None else setup
    holds = held or {}
    if any(not cut <= after <= len(steps) for after in holds):
        raise Rejected(say("scenario-errors.expected-too-early", first=cut, last=len(steps)))
    then = [
        step | (words or {}).get(n, {}) | ({"expect": [*holds[n]]} if holds.get(n) else {})
        for n, step in enumerate(steps[cut:], start=cut + 1)
    ]
    return Scenario(
        slug,
        title,
        seed=seed,
        configuration=None if configuration is None else dict(configuration),
        queue_rules=queue_rules,
        kubernetes=kubernetes,
        feature_gates=dict(feature_gates) if feature_gates else None,
        setup=tuple(steps[:cut]),
        then=tuple(then),
        expect=tuple(expect),
        opened=tuple(holds.get(cut, ())),
        about=about,
        outcome=outcome,
        tab=tab,
        engine=ENGINE_VERSION,
    )


def _step(command: Command) -> Data:
    step = without_defaults(command)
    if isinstance(step.get("rate"), float) and step["rate"].is_integer():
        # The trace keeps it as written, and YAML has no 2.0.
        step["rate"] = str(step["rate"])
    return step
