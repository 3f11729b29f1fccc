"""Small pieces of HTML that appear in several panels or by the hundred, as f-strings.

A ``Markup`` is a string that Django's templates do not escape again (they honour ``__html__``). Everything that comes
from outside goes through ``esc``.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from sandbox.panels.model.state import PodState
from sandbox.panels.words.amounts import short_name

STRIP = 200
"""Most marks in a strip; with more nodes several share one."""

FULL = 84.0
"""Where a bar's limit mark stands, in percent of its width; the rest shows what is too much."""


class Markup(str):
    """HTML that is already safe."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def esc(text: object) -> str:
    return escape(str(text), quote=True)


def join(parts: Iterable[str]) -> Markup:
    return Markup("".join(parts))


def icon(name: str) -> str:
    return f'<svg class="i" aria-hidden="true"><use href="#i-{name}"/></svg>'


NO = icon("no")


def pod_block(pod: PodState, *, state: str = "", count: str = "", tag: str = "button") -> str:
    """A pod as a block: left edge and tint = app, number = priority; the border tells its state."""
    state = state or pod.state
    priority = pod.pod.priority
    name = esc(short_name(pod.key))
    said = f", {state}" if state != "bound" else ""
    extra = f'<span class="count">{esc(count)}</span>' if count else ""
    kind = f' id="p:{esc(pod.key)}" type="button"' if tag == "button" else ""
    return (
        f'<{tag}{kind} class="pod app-{pod.app} is-{state}" data-pod="{esc(pod.key)}" '
        f'title="{name}, priority {priority}{said}"><span class="pn">{name}</span>'
        f'<span class="prio">{priority}</span>{extra}</{tag}>'
    )


def gone_block(key: str, tag: str = "span") -> str:
    """A pod that is no longer there."""
    name = esc(short_name(key))
    return (
        f'<{tag} class="pod is-gone" data-pod="{esc(key)}" title="{name}, gone"><span class="pn">{name}</span></{tag}>'
    )


def rect(classes: str, x: float, width: float, y: float, height: float, fill: str = "") -> str:
    painted = f' fill="url(#{fill})"' if fill else ""
    return f'<rect class="{classes}" x="{x:.2f}%" y="{y}" width="{max(width, 0):.2f}%" height="{height}"{painted}/>'


def bar(parts: list[tuple[int, int, str]], asked: int, total: int, height: int = 6) -> Markup:
    """One resource of one node.

    ``parts`` are (app, amount, state) in order; ``asked`` is what the pod in question asks for, 0 = nothing. Up to
    ``total`` it is amber, what goes beyond is hatched.
    """
    scale = FULL / total if total > 0 else 0.0
    drawn = [rect("cap", 0, FULL, 0.5, height + 1)]
    x = 0.0
    for app, number, state in parts:
        width = min(number * scale, 100 - x)
        drawn.append(rect(f"seg app-{app}" if app else "seg seg-plain", x + 0.3, width - 0.6, 1, height))
        if state in ("nominated", "terminating"):
            fill = "p-hatch" if state == "nominated" else "p-stripe"
            drawn.append(rect("", x + 0.3, width - 0.6, 1, height, fill))
        x += width
    if asked > 0:
        drawn.extend(_asked(x, asked * scale if scale else 100 - x, height))
    drawn.append(f'<rect class="limr" x="{FULL:.0f}%" y="-1" width="1.5" height="{height + 4}"/>')
    return Markup(f'<svg class="bar-svg" aria-hidden="true">{"".join(drawn)}</svg>')


def _asked(x: float, width: float, height: int) -> list[str]:
    end = min(x + width, 100.0)
    over_from = max(x, FULL)
    drawn = []
    if end > FULL:
        drawn.append(rect("over", over_from, end - over_from, 0.5, height + 1))
    if x < FULL:
        drawn.append(rect("need", x, min(end, FULL) - x, 0.5, height + 1))
    return drawn


def strip(places: list[int], total: int, classes: str) -> Markup:
    """Marks in a band: where in the visiting order (1…total) these nodes stand."""
    if total > STRIP:
        places, total = sorted({1 + (place - 1) * STRIP // total for place in places}), STRIP
    step = 100 / total if total else 100
    width = max(step * 0.8, 0.5)
    marks = "".join(
        f'<rect class="{classes}" x="{(place - 1) * step:.2f}%" y="1" width="{width:.2f}%" height="12"/>'
        for place in places
    )
    return Markup(f'<svg class="strip" aria-hidden="true"><rect class="bg" width="100%" height="14"/>{marks}</svg>')


def token(node: str, note: str = "", classes: str = "tok") -> str:
    """A node's name as a small button."""
    after = f" <i>{esc(note)}</i>" if note else ""
    return f'<button type="button" class="{classes}" data-node="{esc(node)}">{esc(node)}{after}</button>'


def camel(name: str) -> Markup:
    """A plugin's name that may break between its words."""
    broken = "".join(f"<wbr>{char}" if char.isupper() and index else char for index, char in enumerate(esc(name)))
    return Markup(broken)
