"""Entry point of the server: HTTP to Django, websockets to the consumers."""

import os

import django
from channels.routing import ProtocolTypeRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
# Loads the applications, which the handler and the consumers below need.
django.setup(set_prefix=False)

from sandbox.routing import websockets  # noqa: E402
from sandbox.runtime import logs  # noqa: E402
from sandbox.web.handler import OneThreadHandler  # noqa: E402

application = ProtocolTypeRouter({"http": OneThreadHandler(), "websocket": websockets})
logs.hide_in_access_log()
