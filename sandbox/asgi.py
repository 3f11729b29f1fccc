"""Entry point of the server: HTTP to Django, websockets to the consumers."""

import os

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
# Loads the applications, which the handler and the consumers below need.
django.setup(set_prefix=False)

from sandbox.handler import OneThreadHandler  # noqa: E402
from sandbox.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": OneThreadHandler(),
        "websocket": AllowedHostsOriginValidator(URLRouter(websocket_urlpatterns)),
    }
)
