"""What a process would make on first use is made before it is forked, so that no visitor waits for it."""

from uuid import UUID

from sandbox.library.scenarios import scenarios
from sandbox.library.shelf import lessons
from sandbox.panels import PANELS
from sandbox.panels.view import View
from sandbox.storage.records import QUEUE_RULES, START, Database, Plan
from sandbox.worker import rendering
from sandbox.worker.live import Live


def make_ready() -> None:
    """Compile the templates, and read the files of scenarios and lessons.

    Reading them takes longer than a blink. The sandbox that needs them first would move to a process of its own, and
    the processes that serve the others would still not have read them.
    """
    empty = Live(Plan(UUID(int=0), 0, "null", QUEUE_RULES[0], ""), Database())
    rendering.fragments(empty, START, View(), PANELS, True)
    rendering.cache = rendering.FragmentCache()
    scenarios()
    lessons()
