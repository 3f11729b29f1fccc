"""What one command applied, and what became of each object."""

from __future__ import annotations

from dataclasses import dataclass, field

Named = tuple[str, str]
"""(kind, key)"""


@dataclass(slots=True)
class Applied:
    """``objects``: what was applied → ``added``, ``changed`` or ``unchanged``. ``written``: all that the API server
    wrote meanwhile → ``added`` or ``changed``.
    """

    objects: dict[Named, str] = field(default_factory=dict)
    written: dict[Named, str] = field(default_factory=dict)
