"""Start the nursery of the workers: ``python -m sandbox.worker ADDRESS``. It reads the key from standard input.

The places of plugins follow the address if the web process is one for this machine alone.
"""

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

memory.return_freed_memory()
if sys.argv[2:]:
    from sandbox.worker import local_plugins

    local_plugins.use(sys.argv[2:])
make_ready()
memory.freeze_loaded()
key = bytes.fromhex(sys.stdin.readline())
assignment = nursery.engine(sys.argv[1], key)
if assignment is not None:
    line, lane = assignment
    Engine(sys.argv[1], key, line, lane, settings.ENGINE_MEMORY, settings.ENGINE_MEMORY // 3).serve()
