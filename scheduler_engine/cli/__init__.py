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
"""Exit statuses: success; something is wrong; a file or an option is invalid; Ctrl-C; nobody reads the output."""

COMMANDS = {
    "run": ("running", "Play a scenario, show what happens, and check what it expects."),
    "check": ("checking", "Play many scenarios, with one line for each."),
    "explain": ("explaining", "Explain why a pod is where it is, and why not elsewhere."),
    "diff": ("differing", "Compare two scenarios, or two configurations, and show why they differ."),
    "fit": ("fitting", "Count how many copies of a pod fit, and say why no more do."),
    "leave": ("leaving", "Tell what becomes of the pods if nodes are drained or lost."),
    "new": ("beginning", "Write a scenario to start with."),
    "new-plugin": ("new_plugin", "Write a small repository with a plugin of your own."),
    "import": ("bring", "Create a scenario from a dump of a cluster."),
    "export": ("exporting", "Write the result of a scenario: manifests, a snapshot, a trace, a scenario."),
    "schema": ("schema", "Print the JSON Schema of scenario files."),
    "validate": ("validate", "Report what the API server would say about manifests."),
    "convert-policy": ("policy", "Convert an old scheduling policy to a KubeSchedulerConfiguration."),
    "replay": ("replaying", "Replay a log of commands, and print its trace."),
    "conformance": ("conformance", "Compare the engine with recordings of the real scheduler."),
    "bench": ("bench", "Measure how many pods per second the engine schedules."),
    "completion": ("completion", "Print a script for completion in a shell."),
}
"""Command → its module, and its description."""


class Program(click.Group):
    """A group that lists its commands without importing them."""

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
    """Run, explain and test the scheduler of Kubernetes on a cluster in memory.

    Use - as a file name to read standard input.
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
        # Without this, Python reports an error at exit for the rest of the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return status if isinstance(status, int) else OK
