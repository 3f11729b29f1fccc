"""The options for a version of Kubernetes and its feature gates, for every command that follows one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from scheduler_engine.errors import Rejected
from scheduler_engine.scenario.version import Version
from scheduler_engine.versions import VERSIONS, Rules, named, read_gates, version_named
from scheduler_engine.words import say

KNOWN = ", ".join(VERSIONS)


def parsed(read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a callback that reads the text of an option, or each of several. What ``read`` refuses is its error."""

    def callback(context: click.Context, option: click.Parameter, value: Any) -> Any:
        try:
            return tuple(map(read, value)) if isinstance(value, tuple) else None if value is None else read(value)
        except Rejected as refusal:
            raise click.BadParameter(str(refusal), context, option) from refusal

    return callback


def completed_version(context: click.Context, option: click.Parameter, begun: str) -> list[str]:
    """Return the versions that a shell offers. ``begun``: with or without the ``v``."""
    names = VERSIONS if begun.startswith("v") or not begun else [name.removeprefix("v") for name in VERSIONS]
    return [name for name in names if name.startswith(begun)]


def by_rules(rules: Rules) -> str:
    """Return the line that names the version by which something was decided."""
    return say("versions.by", version=named(rules))


def version_data(rules: Rules) -> dict[str, Any]:
    """Return the version as JSON shows it: its name, and the gates that differ from its defaults."""
    return {"kubernetes": rules.kubernetes, "feature_gates": dict(rules.feature_gates)}


PLAY, JUDGE, IMPORT = (
    "Play it under this version of Kubernetes",
    "Judge by this version of Kubernetes",
    "Follow this version of Kubernetes. Default: that of the kubelets",
)
"""What the option means to a command."""


def versioned(function: Callable[..., int], meaning: str = PLAY) -> Callable[..., int]:
    """Give a command the options, and its function the argument ``version``. ``meaning``: of ``--kubernetes``."""

    @click.option(
        "--kubernetes",
        callback=parsed(version_named),
        metavar="VERSION",
        shell_complete=completed_version,
        help=f"{meaning}: {KNOWN}.",
    )
    @click.option(
        "--feature-gates",
        callback=parsed(read_gates),
        metavar="GATES",
        help="Feature gates that differ from the defaults of the version, such as OpportunisticBatching=false.",
    )
    @wraps(function)
    def with_version(
        *arguments: Any, kubernetes: str | None, feature_gates: Mapping[str, bool] | None, **options: Any
    ) -> int:
        return function(*arguments, version=Version(kubernetes, feature_gates), **options)

    return with_version
