"""Format the figures as Markdown tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.bench.ui.phases import ORDER, Step

BUDGETS_MS = {20: 50, 100: 100, 1000: 300, 5000: 1000}
MOST_PANELS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """The clicks in one sandbox.

    ``characters`` sent on the live line per step; ``cpu_ms`` of the server per step; ``memory``: bytes the server has
    grown by since before the sandbox; ``opened``: seconds until the page was connected.
    """

    nodes: int
    verb: str
    steps: list[Step]
    characters: float
    cpu_ms: float
    memory: int
    opened: float


@dataclass(frozen=True, slots=True)
class Crowded:
    """Many people who step once a second. Seconds count from the due click to the new panels."""

    site: str
    shown: list[float]
    refused: int
    cpu_ms: float
    characters: float


def percentile(values: Iterable[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def both(values: list[float]) -> str:
    """Format p50 / p95, in milliseconds."""
    return " / ".join(f"{percentile(values, percent):.{0 if max(values) >= 10 else 1}f}" for percent in (50, 95))


def lines(head: list[str], rows: Iterable[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]
    )


def name(row: Row) -> str:
    return f"{row.verb}, {row.nodes:,} nodes"


def of_steps(rows: list[Row]) -> str:
    head = ["one step", "p50 / p95 ms", "budget (p95)", "server CPU ms", "kB on the line", "page open s", "memory MB"]
    return lines(
        head,
        (
            [
                name(row),
                both([step.painted for step in row.steps]),
                str(BUDGETS_MS[row.nodes]),
                f"{row.cpu_ms:.1f}",
                f"{row.characters / 1000:.1f}",
                f"{row.opened:.1f}",
                f"{row.memory / 1e6:.0f}",
            ]
            for row in rows
        ),
    )


def of_phases(rows: list[Row]) -> str:
    body = [[phase, *(both([step.phases[phase] for step in row.steps]) for row in rows)] for phase in ORDER]
    return lines(["ms, p50 / p95", *map(name, rows)], body)


def of_panels(rows: list[Row]) -> str:
    """Return the drawing cost on the server of the most expensive panels."""
    body = []
    for row in rows:
        spent = Counter[str]()
        for step in row.steps:
            spent.update(step.panels)
        most = spent.most_common(MOST_PANELS)
        body.append([name(row), ", ".join(f"{panel} {taken / len(row.steps):.1f}" for panel, taken in most)])
    return lines(["one step", "drawing by panel, mean ms"], body)


def of_crowds(crowds: list[Crowded]) -> str:
    head = [
        "200 people, a step each second",
        "p50 / p95 ms",
        "budget (p95)",
        "refused",
        "server CPU ms",
        "kB on the line",
    ]
    return lines(
        head,
        (
            [
                crowd.site,
                both([seconds * 1000 for seconds in crowd.shown]),
                "250",
                f"{crowd.refused} of {crowd.refused + len(crowd.shown)}",
                f"{crowd.cpu_ms:.1f}",
                f"{crowd.characters / 1000:.1f}",
            ]
            for crowd in crowds
        ),
    )


def of_pages(sizes: list[tuple[str, int]]) -> str:
    return lines(["compressed", "kB"], ([what, f"{size / 1000:.0f}"] for what, size in sizes))


def written(document: str, tables: dict[str, str]) -> str:
    """Return ``document`` with each table written between the marks of its name."""
    for mark, table in tables.items():
        before, begin, rest = document.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {mark} -->")
        assert begin, f"the document has no place for {mark}"
        assert end, f"the document does not say where {mark} ends"
        document = f"{before}{begin}\n{table}\n\n{end}{after}"
    return document
