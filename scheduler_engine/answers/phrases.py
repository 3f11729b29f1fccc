"""The words for what a comparison of two runs shows, one phrase at a time, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from scheduler_engine.answers.comparing import COUNT, SECONDS, Comparison, Evicted, Number, Waiting
from scheduler_engine.answers.exercised import RuleUse
from scheduler_engine.answers.parting import Decision, Parting, ScoreChange
from scheduler_engine.answers.profiles import PluginChange, SettingChange
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import Verdict
from scheduler_engine.words import say

ABOUT = {"zone": ("resource", "zone"), "skew": ("namespace", "key", "selector", "when", "most")}
"""Figure → what the parts of its ``about`` are, if it is not a resource alone."""
INDENTED = ("fullest", "emptiest", "deviation", "zone", "largest-piece")
"""Figures below the utilisation of their resource."""


def kinds_of(parting: Parting) -> str:
    """Return what differs in an attempt."""
    return ", ".join(say(f"comparison.kind-{kind}", pod=parting.instead) for kind in parting.kinds)


def decision(item: Decision | None) -> str:
    if item is None:
        return say("comparison.no-attempt")
    if item.abandoned:
        text = say("decision.abandoned", why=item.abandoned)
    elif item.node:
        places = {"node": item.node, "feasible": item.feasible, "ties": len(item.ties)}
        text = say(f"comparison.node-{item.how}", **places)
    elif item.victims:
        text = say("comparison.nominated", victims=", ".join(item.victims), node=item.nominated)
    else:
        text = say(f"comparison.ended-{item.outcome or 'running'}")
    if item.message:
        text = say("comparison.quoted", text=text, message=item.message)
    return say("comparison.at", seconds=item.at_us / SECOND_US, text=text)


def upgrade(comparison: Comparison) -> str:
    """Return that pods notice nothing of another version, or ""."""
    return say("comparison.nothing-changes") if comparison.rules and comparison.decides_alike else ""


RULES: dict[str, Callable[[RuleUse], bool]] = {
    "met": lambda use: use.exercised,
    "unmet": lambda use: use.possible and not use.exercised,
    "impossible": lambda use: not use.possible,
}
"""Heading → the rules under it."""


def rules(comparison: Comparison) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield headings, each with its (name, sentence) of rules that differ between the versions. None without rules."""
    for name, belongs in RULES.items():
        uses = [use.rule for use in comparison.rules if belongs(use)]
        if uses:
            heading = say(f"comparison.rules-{name}", count=len(uses), of=len(comparison.rules))
            yield heading, tuple((rule, say(f"versions.{rule}")) for rule in uses)


def draw(parting: Parting) -> str:
    """Return that only the choice among equals differs, or ""."""
    first, second = parting.first, parting.second
    if parting.contest is None or not parting.contest.only_drawn or first is None or second is None:
        return ""
    if first.how != second.how:
        return say("comparison.one-draws")
    return say("comparison.drawn" if first.how == "draw" else "comparison.other-first")


def verdict(item: Verdict | None) -> str:
    if item is None:
        return say("comparison.unchecked")
    plugin, _, reasons = item
    return say("comparison.refuses", plugin=plugin, reasons="; ".join(reasons)) if plugin else say("comparison.passes")


def score_change(scored: ScoreChange) -> str:
    text = say("comparison.score-change", plugin=scored.plugin, count=scored.nodes)
    most = say("comparison.score-most", node=scored.node, first=scored.first, second=scored.second)
    return f"{text} {most}"


def change(item: PluginChange) -> Iterator[str]:
    """Yield how a plugin differs. Extension points say less than being off, and are left out then."""
    plugin = item.plugin
    if not item.second:
        yield say("comparison.change-off", plugin=plugin)
    elif not item.first:
        yield say("comparison.change-on", plugin=plugin)
    elif item.first != item.second:
        first, second = ", ".join(item.first), ", ".join(item.second)
        yield say("comparison.change-points", plugin=plugin, first=first, second=second)
    elif item.weights[0] != item.weights[1]:
        first, second = map(str, item.weights)
        yield say("comparison.change-weight", plugin=plugin, first=first, second=second)
    for argument in item.arguments:
        yield say("comparison.change-argument", plugin=plugin, setting=setting(argument))


def setting(item: SettingChange) -> str:
    none = say("comparison.none")
    return say("comparison.setting", path=item.path, first=item.first or none, second=item.second or none)


def settings_of(parting: Parting) -> list[str]:
    """Return all that differs between the configurations of both attempts."""
    return [*(text for item in parting.changes for text in change(item)), *map(setting, parting.settings)]


def labels(name: str, about: tuple[str, ...], pod: str) -> list[str]:
    """Return the label of a figure, and for a skew its constraint. ``pod``: the one whose copies are counted."""
    places = dict(zip(ABOUT.get(name, ("resource",)), about, strict=False))
    key = "no-zone" if name == "zone" and not places["zone"] else name
    first = say(f"comparison.{key}", pod=pod, **places)
    return [first, say("comparison.skew-of", **places)] if name == "skew" else [first]


def formatted(unit: str, value: Number, sign: str = "") -> str:
    """Format a value by its unit. ``sign`` + shows the sign of a positive number, too."""
    if value is None:
        return say("comparison.none")
    if unit == COUNT:
        return f"{value:{sign},g}" if value != int(value) else f"{int(value):{sign},}"
    if unit == SECONDS:
        return f"{value:{sign},.3f} s"
    return f"{100 * value:{sign}.1f}%"


def place(node: str | None) -> str:
    return say("comparison.gone") if node is None else node or say("comparison.without-node")


def eviction(item: Evicted) -> str:
    """Return by whom or what a pod was evicted."""
    return say(f"comparison.evicted-{item.how}", by=item.by)


def reason(waiting: Waiting | None) -> str:
    """Return why a pod waits."""
    if waiting is None:
        return say("comparison.not-waiting")
    return waiting.message or say("comparison.not-tried")
