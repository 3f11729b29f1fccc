"""A pod's card in the queue as HTML.

Sixty of them are drawn at every step, so that they are made of f-strings: a template takes five times as long.
"""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.markup import LOCK, esc, icon

NOW = icon("caret", "i i-fill")


def card_html(card: dict[str, Any]) -> str:
    """``card`` as the queue panel describes it."""
    name, key = esc(card["name"]), esc(card["pod"])
    more = _more(card)
    command = f' data-command="{card["command"]}"' if card["command"] else ""
    classes = f"q app-{card['app']}{' is-now' if card['now'] else ''}{' is-error' if card.get('error') else ''}"
    return (
        f'<li><button type="button" class="{classes}" id="q:{key}" data-pod="{key}" data-lane="{card["lane"]}"'
        f'{command} title="{name}, priority {card["priority"]}, {esc(card["title"])}">'
        f'<span class="q-lead">{_lead(card)}</span>'
        f'<span class="q-name"><i class="sw"></i><span class="q-t">{name}</span><span class="prio">{card["priority"]}'
        f'</span></span><span class="q-age">{card["age"]}</span>{more}</button></li>'
    )


def _lead(card: dict[str, Any]) -> str:
    lead: str = card.get("lead", str(card["place"]))
    if lead == "ring":
        return (
            '<svg class="ring" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="7"/>'
            f'<circle cx="9" cy="9" r="7" pathLength="100" stroke-dasharray="{card["ring"]} 100"/></svg>'
        )
    return {"now": NOW, "lock": LOCK}.get(lead, lead)


def _more(card: dict[str, Any]) -> str:
    parts = [_span("just", card["moved"])] if card.get("moved") else []
    if card.get("detail"):
        parts.append(esc(card["detail"]))
    if card.get("by"):
        parts.append(_rejected(card))
    text = ", ".join(parts) + _hint(card.get("hint"))
    if card.get("wakes"):
        text += f'<span class="q-wakes">{"".join(_span("wake", wake) for wake in card["wakes"])}</span>'
    return f'<span class="q-more">{text}</span>' if text else ""


def _span(classes: str, text: str) -> str:
    return f'<span class="{classes}">{esc(text)}</span>'


def _rejected(card: dict[str, Any]) -> str:
    plugins = ", ".join(f'<span class="by" data-plugin="{esc(name)}">{esc(name)}</span>' for name in card["by"])
    others = f" and {card['by_more']} more" if card["by_more"] else ""
    return f"by {plugins}{others}{': ' + esc(card['why']) if card['why'] else ''}"


def _hint(hint: tuple[str, str, str, str] | None) -> str:
    if hint is None:
        return ""
    plugin, verdict, event, why = map(esc, hint)
    reason = f": {why}" if why else ""
    return (
        f'<span class="q-hint"><b class="is-{verdict}">{verdict}</b> to {event} by '
        f'<span data-plugin="{plugin}">{plugin}</span>{reason}</span>'
    )
