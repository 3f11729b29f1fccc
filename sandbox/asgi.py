"""The ASGI application: HTTP goes to Django, websockets go to the consumers."""

import os

import django
from channels.routing import ProtocolTypeRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
# The handler and the consumers imported below need the loaded Django apps.
django.setup(set_prefix=False)

from sandbox.routing import websockets  # noqa: E402
from sandbox.runtime import logs  # noqa: E402
from sandbox.web.handler import OneThreadHandler  # noqa: E402
from sandbox.web.streams import with_streams  # noqa: E402

application = ProtocolTypeRouter({"http": with_streams(OneThreadHandler()), "websocket": websockets})
logs.hide_in_access_log()
