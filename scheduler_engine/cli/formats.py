"""The option ``--output``: an answer in words, or as data for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
import yaml

TEXT, JSON, YAML = FORMATS = ("text", "json", "yaml")

in_a_format = click.option(
    "--output", "-o", type=click.Choice(FORMATS), default=TEXT, show_default=True, help="The format of the answer."
)
"""Gives a command the option, and its function the argument ``output``."""


def echo_data(output: str, answer: Mapping[str, Any]) -> None:
    """Print an answer, of mappings, lists, texts and numbers, as JSON or YAML."""
    text = json.dumps(answer, indent=2, ensure_ascii=False)
    if output == YAML:
        text = yaml.safe_dump(json.loads(text), sort_keys=False, allow_unicode=True, width=100).rstrip("\n")
    click.echo(text)
