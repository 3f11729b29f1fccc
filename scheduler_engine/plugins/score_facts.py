"""The last line of every score's facts: how the raw score is normalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_engine.framework.facts import Fact, Facts, cut, fact
from scheduler_engine.plugins.normalize_score import default_normalize_score


def as_it_is(says: Fact, shown: Sequence[Fact], raw: int) -> Facts:
    """Return the facts of a score that its plugin does not normalize."""
    return Facts(says, (*shown, fact("scores.normalized-already", raw=raw)), raw=raw, normalized=raw)


def scaled(
    says: Fact, shown: Sequence[Fact], raw: int, node: str, scores: Mapping[str, int], *, reverse: bool
) -> Facts:
    """Return the facts of a score scaled by ``default_normalize_score``. ``scores``: the raw ones of all nodes."""
    after = dict(scores)
    default_normalize_score(after, reverse)
    highest, normalized = max(scores.values()), after[node]
    key = "scores.normalized-by-highest-reversed" if reverse else "scores.normalized-by-highest"
    if not highest:
        key = "scores.normalized-all-zero"
    (remark,) = cut(100 * raw % highest if highest else 0)
    last = fact(key, raw=raw, highest=highest, normalized=normalized, cut=remark)
    return Facts(says, (*shown, last), raw=raw, normalized=normalized)
