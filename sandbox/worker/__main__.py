"""Starts the engines' processes: ``python -m sandbox.worker ADDRESS``. The key to it comes on standard input."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402

from sandbox.runtime import memory  # noqa: E402
from sandbox.worker import nursery  # noqa: E402
from sandbox.worker.process import Engine  # noqa: E402
from sandbox.worker.ready import make_ready  # noqa: E402

memory.give_back_what_is_freed()
make_ready()
memory.keep_what_is_loaded()
key = bytes.fromhex(sys.stdin.readline())
found = nursery.engine(sys.argv[1], key)
if found is not None:
    line, lane = found
    Engine(sys.argv[1], key, line, lane, settings.ENGINE_MEMORY, settings.ENGINE_MEMORY // 3).serve()
