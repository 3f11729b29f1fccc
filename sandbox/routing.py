"""Websocket URLs of the site."""

from django.urls import path

from sandbox.consumers import WorkbenchConsumer

websocket_urlpatterns = [
    path("ws/s/<uuid:sandbox_id>/<str:token>/", WorkbenchConsumer.as_asgi()),
]
