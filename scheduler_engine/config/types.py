"""The scheduler's settings, once a configuration is decoded, defaulted, validated and built.

Source: seed 004; upstream ``pkg/scheduler/apis/config/types.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_engine.framework.extender import Extender
from scheduler_engine.framework.interface import Plugin


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler name with its plugins.

    ``plugins``: extension point → ((plugin, weight), …) in running order; the weight is 0 everywhere but at ``score``.
    ``args``: plugin → its defaulted arguments in v1 form. ``registry``: all plugins that it may name, also those that
    it declares by expressions. ``percentage_of_nodes_to_score``: None = the global one.
    """

    scheduler_name: str
    plugins: dict[str, tuple[tuple[str, int], ...]]
    args: dict[str, dict[str, Any]]
    registry: Mapping[str, type[Plugin]]
    percentage_of_nodes_to_score: int | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A whole configuration. ``defaulted`` is its v1 form with every default set. Backoffs are in seconds.

    ``source`` is what was loaded: other versions of Kubernetes have other defaults. ``extenders`` in the order in which
    they are asked.
    """

    profiles: tuple[Profile, ...]
    percentage_of_nodes_to_score: int | None
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    parallelism: int
    defaulted: dict[str, Any]
    source: Any
    extenders: tuple[Extender, ...] = ()

    def profile(self, scheduler_name: str) -> Profile | None:
        """Return the profile of ``scheduler_name``, None if there is none."""
        return next((profile for profile in self.profiles if profile.scheduler_name == scheduler_name), None)
