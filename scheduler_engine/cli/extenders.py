"""The option that lets a command ask extenders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from scheduler_engine.cli.extender_http import OVER_HTTP
from scheduler_engine.own_plugins import OwnPlugins


def with_extenders(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option ``--allow-extenders``. It changes the argument ``plugins`` of the function."""

    @click.option(
        "--allow-extenders",
        is_flag=True,
        help="Ask the extenders in the configuration over HTTP. They get your pods and nodes.",
    )
    @wraps(function)
    def with_allowed(*arguments: Any, allow_extenders: bool, plugins: OwnPlugins, **options: Any) -> int:
        own = replace(plugins, extenders=OVER_HTTP) if allow_extenders else plugins
        return function(*arguments, plugins=own, **options)

    return with_allowed
