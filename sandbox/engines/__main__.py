"""Starts the engines' processes: ``python -m sandbox.engines ADDRESS``. The key to it comes on standard input."""

import os
import sys
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402

from sandbox import memory, rendering  # noqa: E402
from sandbox.engine import QUEUE_RULES  # noqa: E402
from sandbox.engines import nursery  # noqa: E402
from sandbox.engines.process import Engine  # noqa: E402
from sandbox.live import Live  # noqa: E402
from sandbox.panels import PANELS  # noqa: E402
from sandbox.panels.view import View  # noqa: E402
from sandbox.records import START, Database, Plan  # noqa: E402

memory.give_back_what_is_freed()
# What is made on first use, the templates above all, is made before the first visitor waits for it.
empty = Live(Plan(UUID(int=0), 0, "null", QUEUE_RULES[0], ""), Database())
rendering.fragments(empty, START, View(), PANELS, True)
rendering.cache = rendering.FragmentCache()
memory.keep_what_is_loaded()
key = bytes.fromhex(sys.stdin.readline())
found = nursery.engine(sys.argv[1], key)
if found is not None:
    line, lane = found
    Engine(sys.argv[1], key, line, lane, settings.ENGINE_MEMORY, settings.ENGINE_MEMORY // 3).serve()
