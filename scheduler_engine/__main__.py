"""The engine on the command line: ``python -m scheduler_engine COMMAND``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from scheduler_engine import bring, cli, validate
from scheduler_engine.conformance import runner as conformance

COMMANDS = (cli.register, bring.register, validate.register, conformance.register)
"""Each adds one subcommand and sets ``run``: (parsed arguments) → exit status."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler_engine", description="The Kubernetes v1.34 scheduler, as a model."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for register in COMMANDS:
        register(commands)
    arguments = parser.parse_args(argv)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
