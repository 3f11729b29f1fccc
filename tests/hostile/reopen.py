"""Every sandbox opens again: ``python -m tests.hostile.reopen`` sends random histories to the real site by its forms.

It records what each sandbox shows and kills the server. A fresh process must show the same, byte for byte.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.commands import Command, to_json
from tests.engine import histories
from tests.hostile.audit import gaps, logs, replays
from tests.hostile.site import Site, end_in_order, prepare
from tests.hostile.wire import Answer, Connection, enter, served, yaml

AT_ONCE = 6
NO_PROFILES = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
"""The default configuration, as a person writes it."""
Fields = dict[str, Any]


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _as_named(path: str, **names: str) -> Callable[[Fields], tuple[str, Fields]]:
    """Send the command's fields to ``path``, renamed by ``names``. Fields that are None are left out."""
    return lambda data: (path, {names.get(key, key): _text(value) for key, value in data.items() if value is not None})


def _step(verb: str) -> Callable[[Fields], tuple[str, Fields]]:
    return _as_named(f"do/{verb}/")


def _as_yaml(data: Fields, name: str) -> str:
    return "" if data["configuration"] is None else yaml([data[name]])


def _replicas(data: Fields) -> tuple[str, Fields]:
    """Leave out boxes that are not ticked."""
    boxes = {"leader_elect": data.pop("leader_elect"), "release": data.pop("release_on_cancel")}
    ticked = {name: "on" for name, on in boxes.items() if on}
    kept = {name: str(value) for name, value in data.items() if value is not None}
    return "replicas/", {"form": "1", **kept, **ticked}


def _replica(data: Fields) -> tuple[str, Fields]:
    seconds = data.pop("seconds")
    return "replica/", {**data, "minutes": str(abs(seconds) / 60), "way": "back" if seconds < 0 else "forward"}


FORMS: dict[str, Callable[[Fields], tuple[str, Fields]]] = {
    **{verb: _step(verb) for verb in ("stage", "pod", "settle", "run", "advance")},
    "apply": lambda data: ("apply/", {"manifests": yaml(data["manifests"])}),
    "delete": _as_named("delete/", object_kind="kind", propagation_policy="policy"),
    "cordon": _as_named("cordon/"),
    "taint": _as_named("taint/"),
    "scale": _as_named("scale/", object_kind="kind"),
    "rollout-restart": _as_named("rollout/", object_kind="kind"),
    "configure": lambda data: ("configure/", {"configuration": yaml([data["configuration"] or NO_PROFILES])}),
    "fault": _as_named("break/"),
    "allow": _as_named("allow/"),
    "admission": lambda data: ("do/admission/", {"plugin": data["plugin"], "enabled": "1" if data["enabled"] else ""}),
    "kubernetes": lambda data: ("do/kubernetes/", {"version": data["version"]}),
    "node-condition": _as_named("node-condition/"),
    "usage": _as_named("usage/"),
    "kubelet": lambda data: ("kubelet/", {"node": data["node"], "configuration": _as_yaml(data, "configuration")}),
    "evict": _as_named("evict/"),
    "drain": _as_named("drain/"),
    "replicas": _replicas,
    "replica": _replica,
    "back": _step("back"),
    "forward": _step("forward"),
    "goto": _step("goto"),
}
"""Command → the path below a sandbox, and the fields, as the page's form sends them."""


Move = tuple[str, Fields]
MOVES: st.SearchStrategy[Move] = st.one_of(
    st.just(("back", {})),
    st.just(("back", {})),
    st.just(("forward", {})),
    st.builds(lambda n: ("goto", {"n": n}), st.integers(0, 30)),
)
TICKS: st.SearchStrategy[Command] = st.builds(
    commands.Advance, st.sampled_from([1, 20, 0.1, 1.4e-6, 700]), st.just(True)
)
COMMANDS: st.SearchStrategy[Command] = st.one_of(
    histories.STEPS,
    histories.STEPS,
    histories.LONGER,
    histories.NEW_PODS,
    histories.VIPS,
    histories.WRITES,
    histories.TROUBLE,
    histories.AROUND,
    histories.faults(),
    histories.REPLICAS,
    histories.MISHAPS,
    histories.MISTAKES,
    TICKS,
    st.builds(commands.Configure, histories.CONFIGURATIONS),
    histories.UPGRADES,
)


def _move_of(command: Command) -> Move:
    data = to_json(command)
    return data.pop("kind"), data


STEPS: st.SearchStrategy[Move] = st.one_of(*[COMMANDS.map(_move_of)] * 4, MOVES)


@dataclass
class History:
    name: str
    moves: list[Move]
    base: str = ""
    answers: Counter[int] = field(default_factory=Counter)
    shown: dict[str, str] = field(default_factory=dict)


def tick(seconds: float) -> Move:
    return "advance", {"seconds": seconds, "play": True}


NAMED = (
    ("ticks that merge to more than a day", [tick(20_000)] * 6),
    ("forty ticks of parts of a microsecond", [_move_of(histories.START), *[tick(1.4e-6)] * 40, ("stage", {})]),
)
"""Short histories after which a sandbox once did not open again, or opened with another state."""
LONG = (("ticks that merge to more than replicas may wait", [_move_of(commands.Replicas(5)), *[tick(6250)] * 6]),)
"""Histories that take the engine many seconds, as does each replay."""


def random_histories(number: int, longest: int, start: int) -> list[History]:
    """Return ``number`` histories of up to ``longest`` moves, the same ones for the same ``start``."""
    results: list[list[Move]] = []

    @hypothesis.seed(start)
    @hypothesis.settings(
        max_examples=number,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(st.lists(STEPS, min_size=longest // 2, max_size=longest))
    def draw(moves: list[Move]) -> None:
        results.append([_move_of(histories.START), *moves])

    draw()
    return [History(f"history {n}", moves) for n, moves in enumerate(results)]


@dataclass
class Outcome:
    histories: list[History]
    wrong: list[str] = field(default_factory=list)


def run(histories: list[History], directory: Path, environment: dict[str, str]) -> Outcome:
    """Execute the histories, kill the server, and compare."""
    outcome, site = Outcome(histories), Site(directory, environment)
    site.start()
    try:
        asyncio.run(_all(outcome, site.port, _live))
        site.kill()
        site.start()
        asyncio.run(_all(outcome, site.port, _look_again))
    finally:
        site.end()
    database = environment["DATABASE_URL"]
    outcome.wrong += gaps(logs(database).values()) + replays(database)
    return outcome


async def _all(outcome: Outcome, port: int, act: Callable[[History, Connection], Any]) -> None:
    doors = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, history: History) -> None:
        # Everybody has an address, as rate limits count by address.
        connection = Connection(port, f"127.0.{40 + number // 200}.{1 + number % 200}", timeout=600)
        async with doors:
            outcome.wrong += [f"{history.name}: {text}" for text in await act(history, connection)]
        connection.close()

    await asyncio.gather(*(one(number, history) for number, history in enumerate(outcome.histories)))


async def _live(history: History, connection: Connection) -> list[str]:
    """Execute the history and record what is shown after it."""
    wrong = []
    history.base = await enter(connection)
    for kind, data in history.moves:
        answer = await _ask(connection, history.base, kind, data)
        history.answers[answer.status] += 1
        if answer.status not in (200, 204, 400, 413, 422):
            wrong.append(f"{kind} {str(data)[:80]} was answered {answer.status} {answer.text[:200]}")
    history.shown = await served(connection, history.base)
    return wrong + [f"{panel} cannot be shown" for panel, html in history.shown.items() if not _well(html)]


async def _ask(connection: Connection, base: str, kind: str, data: Fields) -> Answer:
    """Wait for rate limits: they are not tested here."""
    path, fields = FORMS[kind](dict(data))
    while True:
        answer = await connection.post(f"{base}{path}", **fields)
        if answer.status not in (429, 503):
            return answer
        await asyncio.sleep(float(answer.headers.get("retry-after", 1)))


def _well(html: str) -> bool:
    return html.startswith("200") and "cannot be shown" not in html


async def _look_again(history: History, connection: Connection) -> list[str]:
    now = await served(connection, history.base)
    changed = [panel for panel in now if now[panel] != history.shown[panel]]
    return [f"after a restart: {panel} {now[panel][:3]}, and not as before" for panel in changed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--longest", type=int, default=60, help="moves of a history at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    end_in_order()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        named = [History(name, moves) for name, moves in (*LONG, *NAMED)]
        drawn = random_histories(options.histories, options.longest, options.seed)
        outcome = run([*named, *drawn], directory, prepare(directory))
    answers = sum((history.answers for history in outcome.histories), Counter())
    print(f"{len(outcome.histories)} histories, {dict(sorted(answers.items()))}, {time.monotonic() - begun:.0f} s")
    print(*(f"FAILED: {text}" for text in outcome.wrong), sep="\n")
    sys.exit(bool(outcome.wrong))


if __name__ == "__main__":
    main()
