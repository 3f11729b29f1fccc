"""The manual page ``scheduler-sandbox.1``, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

import click

from scheduler_engine import ENGINE_VERSION
from scheduler_engine.cli import COMMANDS, HELP, NAME, STATUSES, program

VARIABLES = {
    "NO_COLOR": "If it is not empty, output has no colours in a terminal either.",
    "COLUMNS": "The width of the terminal, if it is not the real one.",
}
"""Environment variable → what it does."""


def page() -> str:
    """Return the manual page, in the macros of man(7)."""
    context = click.Context(program, info_name=NAME, help_option_names=HELP)
    about, *rest = _paragraphs(program)
    lines = [
        f'.TH "{NAME.upper()}" 1 "" "{NAME} {ENGINE_VERSION}" "User Commands"',
        *_section("NAME"),
        f"{_text(NAME)} \\- {_text(about[0].lower() + about[1:].rstrip('.'))}",
        *_section("SYNOPSIS"),
        f".B {_text(NAME)}",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        *_section("DESCRIPTION"),
        *_joined([about, *rest]),
        *_section("OPTIONS"),
        *_options(program, context),
        *_section("COMMANDS"),
    ]
    for name in COMMANDS:
        lines += _command(name, context)
    lines += [*_section("EXIT STATUS"), *_listed((str(status), text) for status, text in STATUSES.items())]
    lines += [*_section("ENVIRONMENT"), *_listed(VARIABLES.items())]
    return "\n".join(lines) + "\n"


def _command(name: str, above: click.Context) -> list[str]:
    command = program.get_command(above, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=above)
    usage = " ".join(command.collect_usage_pieces(context))
    return [f".SS {_text(name)} {_text(usage)}", *_joined(_paragraphs(command)), *_options(command, context)]


def _paragraphs(command: click.Command) -> list[str]:
    """Return the help text in paragraphs, each in one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")) if part]


def _joined(paragraphs: list[str]) -> Iterator[str]:
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ".PP"
        yield _text(paragraph)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    records = (parameter.get_help_record(context) for parameter in command.get_params(context))
    return _listed(record for record in records if record is not None and record[1])


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in rows:
        yield from (".TP", f".B {_text(term)}", _text(meaning))


def _section(title: str) -> list[str]:
    return [f".SH {title}"]


def _text(text: str) -> str:
    """Return a text as troff shows it unchanged, in one line."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")
    return f"\\&{text}" if text.startswith((".", "'")) else text
