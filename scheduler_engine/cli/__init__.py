"""The command line of the engine. Each command is a module; only the one requested is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from scheduler_engine import ENGINE_VERSION
from scheduler_engine.errors import Rejected

NAME = "scheduler-sandbox"
PACKAGE = "scheduler_engine.cli"
OK, DIFFERENT, UNUSABLE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
"""Exit statuses: as expected; not so; a file or an option cannot be used; Ctrl-C; the reader of the output is gone."""

COMMANDS = {
    "run": ("running", "Play a scenario, tell what happens, and check what it expects."),
    "check": ("checking", "Play many scenarios, a line each."),
    "explain": ("explaining", "Tell why a pod is where it is, and why not elsewhere."),
    "diff": ("differing", "Tell what differs between two scenarios, or between two configurations."),
    "new": ("beginning", "Write a scenario to begin with."),
    "import": ("bring", "Make a scenario of a dump of a cluster."),
    "export": ("exporting", "Write what a scenario leads to: manifests, a snapshot, a trace, a scenario."),
    "schema": ("schema", "Print the JSON Schema of scenario files."),
    "validate": ("validate", "Say what the API server would say about manifests."),
    "convert-policy": ("policy", "Make a KubeSchedulerConfiguration of an old scheduling policy."),
    "replay": ("replaying", "Replay a log of commands, and print its trace."),
    "conformance": ("conformance", "Run recordings of the real scheduler, and report what differs."),
    "bench": ("bench", "Measure how many pods the engine schedules in a second."),
    "completion": ("completion", "Print the script that completes commands in a shell."),
}
"""Command → its module, and its description."""


class Program(click.Group):
    """Knows its commands by name before any of them is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, about = COMMANDS[cmd_name]
        command: click.Command = import_module(f"{PACKAGE}.{module}").command
        command.name, command.short_help = cmd_name, about
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(ENGINE_VERSION, prog_name=NAME)
def program() -> None:
    """The scheduler of Kubernetes v1.34, to be run, explained and tested on a cluster in memory.

    A file may be named - to read standard input.
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit status of the command line ``argv``, or of ``sys.argv`` by default."""
    try:
        status = program.main(args=None if argv is None else [*argv], prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Rejected as refusal:
        print(*refusal.errors, sep="\n", file=sys.stderr)
        return UNUSABLE
    except BrokenPipeError:
        # Otherwise Python would complain about the rest of the buffer at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status if isinstance(status, int) else OK
