"""Loads before the fork what a worker would load on first use, so that no visitor waits for it."""

from uuid import UUID

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.panels import PANELS
from sandbox.panels.view import View
from sandbox.storage.records import QUEUE_RULES, START, Database, Plan
from sandbox.worker import rendering
from sandbox.worker.live import Live


def make_ready() -> None:
    """Compile the templates, and read the files of scenarios and lessons.

    Reading them takes longer than the quick lane allows. The sandbox that needs them first would move to the slow lane,
    and the other workers would still not have read them.
    """
    empty = Live(Plan(UUID(int=0), 0, "null", QUEUE_RULES[0], ""), Database())
    rendering.fragments(empty, START, View(), PANELS, True)
    rendering.cache = rendering.FragmentCache()
    scenarios()
    lessons()
