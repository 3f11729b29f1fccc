"""The site's settings as tests need them: no manifest of collected static files, no key file."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests")

from sandbox.settings import *  # noqa: F403
from sandbox.settings import STORAGES

STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
