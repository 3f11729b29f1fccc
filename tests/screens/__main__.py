"""Photograph and measure every state of the site: `python -m tests.screens [--only GROUP …] [--looks 390-dark …]`.

Problems are printed and saved in `var/screens/findings.txt`. The exit code is 1 if there are any.

Single pictures go to `var/screens/<group>/`, contact sheets to `var/screens/<group>-1.png` and so on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.browser.conftest import ROOT, Server, prepare
from tests.screens.camera import travel
from tests.screens.exceptions import EXCEPTIONS
from tests.screens.looks import LOOKS
from tests.screens.states import JOURNEYS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=JOURNEYS, default=list(JOURNEYS), help="groups of pictures")
    parser.add_argument("--looks", nargs="+", choices=[one.name for one in LOOKS], help="sizes and colours")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "screens")
    arguments = parser.parse_args()
    looks = [one for one in LOOKS if not arguments.looks or one.name in arguments.looks]
    shutil.rmtree(arguments.out, ignore_errors=True)
    wrong: list[str] = []
    used: set[int] = set()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), prepare(Path(directory) / "prepared"))
        try:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(max_workers=min(4, os.cpu_count() or 1), mp_context=spawn) as pool:
                going = {
                    group: pool.submit(travel, group, server.url, arguments.out, looks) for group in arguments.only
                }
                for group, done in going.items():
                    problems, needed, seconds = done.result()
                    wrong += problems
                    used |= needed
                    print(f"{group}: {len(problems)} findings, {seconds:.0f} s", flush=True)
        finally:
            server.kill()
    if arguments.only == list(JOURNEYS) and not arguments.looks:
        wrong += [
            f"exceptions.py: nothing needs this row: {one.rule}, {one.where}"
            for number, one in enumerate(EXCEPTIONS)
            if number not in used
        ]
    (arguments.out / "findings.txt").write_text("\n".join([*wrong, ""]))
    print(*wrong, f"{len(wrong)} findings; pictures: {arguments.out}", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
