"""The origin of a simulation: its arguments and its commands. They are its truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_engine.commands import Command
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.versions import DEFAULT_RULES, Rules


@dataclass(slots=True)
class History:
    """The arguments of a ``Simulation`` and its executed commands. Copies share the commands."""

    seed: int
    configuration: Mapping[str, Any] | None
    full: bool
    queue_rules: str
    allow_privileged: bool = True
    priority_numbers: bool = True
    rules: Rules = DEFAULT_RULES
    plugins: tuple[type[Plugin], ...] = ()
    commands: list[Command] = field(default_factory=list)

    def note(self, command: Command, in_place_of_last: bool) -> None:
        """Note an executed command; a tick of playing replaces the one that it merges with."""
        if in_place_of_last:
            self.commands[-1] = command
        else:
            self.commands.append(command)

    def __deepcopy__(self, memo: dict[int, object]) -> History:
        copy = replace(self, commands=list(self.commands))
        memo[id(self)] = copy
        return copy
