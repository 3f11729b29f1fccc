"""Photograph and measure every state of the site: `python -m tests.screens [--only GROUP …] [--looks 390-dark …]`.

What is wrong is printed, and kept in `var/screens/findings.txt`; the exit code is 1 if anything is.

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
    given = parser.parse_args()
    looks = [one for one in LOOKS if not given.looks or one.name in given.looks]
    shutil.rmtree(given.out, ignore_errors=True)
    wrong: list[str] = []
    used: set[int] = set()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory), prepare(Path(directory) / "prepared"))
        try:
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(max_workers=min(4, os.cpu_count() or 1), mp_context=spawn) as pool:
                going = {group: pool.submit(travel, group, server.url, given.out, looks) for group in given.only}
                for group, done in going.items():
                    found, needed, seconds = done.result()
                    wrong += found
                    used |= needed
                    print(f"{group}: {len(found)} findings, {seconds:.0f} s", flush=True)
        finally:
            server.kill()
    if given.only == list(JOURNEYS) and not given.looks:
        wrong += [
            f"exceptions.py: nothing needs this row: {one.rule}, {one.where}"
            for number, one in enumerate(EXCEPTIONS)
            if number not in used
        ]
    (given.out / "findings.txt").write_text("\n".join([*wrong, ""]))
    print(*wrong, f"{len(wrong)} findings; pictures: {given.out}", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
