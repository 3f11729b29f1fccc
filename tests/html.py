"""The words of an HTML answer, as a reader sees them."""

from __future__ import annotations

import re
from html import unescape


def words(html: str) -> str:
    """Return the text without its tags, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
