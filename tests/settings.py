"""The site's settings as tests need them: no manifest of collected static files, no key file."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")

from sandbox.settings import *  # noqa: F403
from sandbox.settings import STORAGES

# Nothing that no test asks for happens beside it.
PRUNE_DAYS = ROOM_DAYS = 0
# Tests look into the simulations, unless they say otherwise; those of a whole server have its processes.
ENGINE_PROCESSES = int(os.environ.get("ENGINE_PROCESSES", "0"))

# Engines stand back only a little: beside other tests they would hardly get anywhere.
ENGINE_NICE, ENGINE_NICER = 1, 0

STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
