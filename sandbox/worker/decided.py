"""How the marks of one command differ, in words."""

from __future__ import annotations

from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace.decisions import ENDS, differing, ends_of, first_difference


def difference(before: str, now: str) -> str:
    """Return what differs between two comparable marks of one command, as far as they say."""
    found, (shown, whole) = first_difference(before, now), ends_of(min(before, now, key=lambda mark: ends_of(mark)[1]))
    if found is not None:
        then, end = (text or say("sentence.no-cycle-ends") for text in found)
        return say("sentence.ends-differ", before=then, now=end)
    topics = differing(before, now)
    if ENDS in topics and not whole:
        return say("sentence.later-ends-differ", count=len(shown))
    return say(
        "sentence.topics-differ", topics=listed([say(f"sentence.topic-{topic}") for topic in topics], len(topics))
    )
