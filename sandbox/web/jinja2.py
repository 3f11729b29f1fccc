"""The environment of all templates: Jinja2, which draws a panel in about half the time of Django's own templates.

A name that is not given is an error where something is asked of it, and nothing where it is only shown or tested.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

import jinja2
from django.conf import settings
from django.template import defaultfilters
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import json_script
from django_htmx.jinja import htmx_script
from markupsafe import Markup

from sandbox.words.amounts import short_name
from sandbox.words.say import say

FILTERS = ("capfirst", "default_if_none", "escapejs", "pluralize", "slugify", "urlencode", "yesno")
"""Django's, by the names that they have there."""


class Environment(jinja2.Environment):
    """Panels are described by dicts: their keys come before their methods, also because that is much faster."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def environment(**options: Any) -> Environment:
    """What ``TEMPLATES`` names. ``options`` as for ``jinja2.Environment``."""
    made = Environment(**options)
    made.filters |= {name: getattr(defaultfilters, name) for name in FILTERS}
    made.filters |= {"json_script": json_script, "short_name": short_name}
    made.globals |= {"drawn": _drawn(made), "htmx_script": htmx_script, "say": say, "static": static, "url": reverse}
    # Milliseconds that a page waits for an answer: longer than any command may take.
    made.globals["patience"] = int((settings.COMMAND_SECONDS + 10) * 1000)
    return made


def _drawn(made: Environment) -> Callable[[str, Hashable], Markup]:
    """``drawn("pod", block)`` is what the macro ``draw`` of ``fragments/pod.html`` makes of the block.

    For what there are hundreds of: most are as they were a step before, so that they are drawn once.
    """

    @lru_cache(20_000)
    def drawn(name: str, item: Hashable) -> Markup:
        return made.get_template(f"fragments/{name}.html").module.draw(item)  # type: ignore[attr-defined]

    return drawn
