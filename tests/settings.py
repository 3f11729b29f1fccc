"""The site's settings as tests need them: no manifest of collected static files, no key file."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")

from sandbox.settings import STORAGES
from tests.served_settings import *  # noqa: F403

# Nothing runs beside a test unless the test asks for it.
PRUNE_DAYS = ROOM_DAYS = 0
# Tests read the simulations in this process, unless they say otherwise; tests of a whole server have its processes.
ENGINE_PROCESSES = int(os.environ.get("ENGINE_PROCESSES", "0"))

STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

# Each test client would read the whole folder of collected files, if somebody has served the site from here.
STATIC_ROOT = VAR_DIR / "no-static"  # noqa: F405
