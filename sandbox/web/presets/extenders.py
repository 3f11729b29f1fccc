"""Simulated extenders to start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.words.say import say
from scheduler_engine.plugins.expressions import SCHEME


@dataclass(frozen=True, slots=True)
class Example:
    """``fields``: what the extender has beside its address. ``says``: in one sentence, what it does."""

    name: str
    says: str
    fields: Mapping[str, Any]

    def at(self, name: str) -> dict[str, Any]:
        """Return the extender under a name."""
        return {"urlPrefix": f"{SCHEME}{name}", **self.fields}


POWER = Example(
    "power",
    say("presets.extender-power"),
    {
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 2,
        "nodeCacheCapable": True,
        "simulated": {
            "filter": "requested.cpu + podRequests.cpu <= allocatable.cpu * 3 / 4",
            "message": "too little power",
            "prioritize": "requested.cpu >= allocatable.cpu ? 0 : 10 - requested.cpu * 10 / allocatable.cpu",
        },
    },
)
DOWN = Example(
    "down",
    say("presets.extender-down"),
    {"filterVerb": "filter", "nodeCacheCapable": True, "simulated": {"failure": "EOF"}},
)
EXTENDERS: tuple[Example, ...] = (POWER, DOWN)
