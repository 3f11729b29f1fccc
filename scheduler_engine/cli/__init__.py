"""The command line of the engine. Each command is a module; only the one requested is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from shutil import get_terminal_size
from typing import Any

import click

from scheduler_engine import ENGINE_VERSION
from scheduler_engine.errors import Rejected

NAME = "scheduler-sandbox"
PACKAGE = "scheduler_engine.cli"
OK, DIFFERENT, UNUSABLE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
HELP = ["-h", "--help"]
WIDEST, NARROW = 100, 80
"""The longest line of a help text, and the width below which its lists are set differently."""
STATUSES = {
    OK: "success",
    DIFFERENT: "something is wrong: an expectation fails, or two runs differ",
    UNUSABLE: "a file or an option is invalid; standard error says where",
    INTERRUPTED: "interrupted by Ctrl-C",
    PIPE_CLOSED: "nobody reads the output any more, as after … | head",
}
"""Exit status → what it means."""

COMMANDS = {
    "run": ("running", "Play a scenario, show what happens, and check what it expects."),
    "check": ("checking", "Play many scenarios, with one line for each."),
    "explain": ("explaining", "Explain why a pod is where it is, and why not elsewhere."),
    "diff": ("differing", "Compare two scenarios, or two configurations, and show why they differ."),
    "fit": ("fitting", "Count how many copies of a pod fit, and say why no more do."),
    "leave": ("leaving", "Tell what becomes of the pods if nodes are drained or lost."),
    "new": ("beginning", "Write a scenario to start with."),
    "new-lesson": ("new_lesson", "Write a lesson to start with."),
    "new-plugin": ("new_plugin", "Write a small repository with a plugin of your own."),
    "import": ("bring", "Create a scenario from a dump of a cluster."),
    "export": ("exporting", "Write the result of a scenario: manifests, a snapshot, a trace, a scenario."),
    "schema": ("schema", "Print the JSON Schema of scenarios, lessons or figures."),
    "validate": ("validate", "Report what the API server would say about manifests."),
    "convert-policy": ("policy", "Convert an old scheduling policy to a KubeSchedulerConfiguration."),
    "replay": ("replaying", "Replay a log of commands, and print its trace."),
    "conformance": ("conformance", "Compare the engine with recordings of the real scheduler."),
    "bench": ("bench", "Measure how many pods per second the engine schedules."),
    "completion": ("completion", "Print a script for completion in a shell."),
}
"""Command → its module, and its description."""


class PipeClosed(Exception):
    """Nobody reads the output any more. Click would exit with status 1 if it saw the BrokenPipeError itself."""


class HelpFormatter(click.HelpFormatter):
    """Gives the left column of a list less room in a narrow terminal, so that the right one breaks no words."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, self.width // 4) if self.width < NARROW else col_max, col_spacing)


class Context(click.Context):
    formatter_class = HelpFormatter


class Program(click.Group):
    """A group that lists its commands without importing them."""

    context_class = Context

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        with _telling_of_a_closed_pipe():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with _telling_of_a_closed_pipe():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, about = COMMANDS[cmd_name]
        command: click.Command = import_module(f"{PACKAGE}.{module}").command
        command.name, command.short_help, command.context_class = cmd_name, about, Context
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])
        with formatter.section("Exit status"):
            formatter.write_dl([(str(status), meaning) for status, meaning in STATUSES.items()])


@contextmanager
def _telling_of_a_closed_pipe() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as problem:
        raise PipeClosed from problem


@click.group(cls=Program, context_settings={"help_option_names": HELP})
@click.version_option(ENGINE_VERSION, prog_name=NAME)
def program() -> None:
    """Run, explain and test the scheduler of Kubernetes on a cluster in memory.

    Use - as a file name to read standard input. A folder means the YAML files in it and below.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the command line ``argv``, or of ``sys.argv`` by default."""
    try:
        # None: colours in a terminal. https://no-color.org
        color = False if os.environ.get("NO_COLOR") else None
        arguments = None if argv is None else [*argv]
        # Click does not make lines of help shorter than 50.
        width = min(get_terminal_size().columns, WIDEST)
        status = program.main(arguments, NAME, standalone_mode=False, color=color, terminal_width=width)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Rejected as refusal:
        print(*refusal.errors, sep="\n", file=sys.stderr)
        return UNUSABLE
    except (BrokenPipeError, PipeClosed):
        # Without this, Python reports an error at exit for the rest of the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status if isinstance(status, int) else OK
