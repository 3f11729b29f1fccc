"""The manual page and the completions that an installation brings: ``make golden`` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

import scheduler_engine
from scheduler_engine.cli import COMMANDS, NAME, STATUSES, program
from scheduler_engine.cli.completion import SHELLS, script
from scheduler_engine.cli.manual import page
from scheduler_engine.versions import VERSIONS

SHARE = Path(scheduler_engine.__file__).parent / "cli" / "share"
MANUAL = SHARE / "man" / "man1" / f"{NAME}.1"
COMPLETIONS = {
    "bash": SHARE / "bash-completion" / "completions" / NAME,
    "zsh": SHARE / "zsh" / "site-functions" / f"_{NAME}",
    "fish": SHARE / "fish" / "vendor_completions.d" / f"{NAME}.fish",
}


def test_the_page_is_that_of_the_commands(golden: Callable[[Path, str], None]) -> None:
    golden(MANUAL, page())


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_is_that_of_the_command(shell: str, golden: Callable[[Path, str], None]) -> None:
    golden(COMPLETIONS[shell], script(shell) + "\n")


def test_the_page_has_every_command_option_and_exit_status() -> None:
    shown = page().replace("\\-", "-")
    context = click.Context(program, info_name=NAME)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        options = [option for item in command.params if isinstance(item, click.Option) for option in item.opts]
        assert [option for option in [name, *options] if option not in shown] == []
    assert [text for text in STATUSES.values() if text.replace("…", "...") not in shown] == []
    assert scheduler_engine.ENGINE_VERSION in shown


def test_a_shell_completes_files_and_versions() -> None:
    offers = ShellComplete(program, {}, NAME, "").get_completions
    for name in ("run", "check", "explain", "validate", "diff", "import"):
        assert [item.type for item in offers([name], "p")] == ["file"], name
    for arguments in (["check", "a.yaml", "--junitxml"], ["diff", "a.yaml", "--config"]):
        assert [item.type for item in offers(arguments, "p")] == ["file"]
    assert [item.value for item in offers(["run", "a.yaml", "--kubernetes"], "")] == [*VERSIONS]
    assert [item.value for item in offers(["run", "a.yaml", "--kubernetes"], "1.3")] == [name[1:] for name in VERSIONS]
