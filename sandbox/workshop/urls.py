"""URLs of workshops. A URL below ``w/<id>/<token>/`` is a capability: anybody who knows it has its role."""

from __future__ import annotations

from django.urls import include, path

from sandbox.workshop.views import asking, doors, participant, trainer

room_patterns = [path("", doors.page, name="room"), *trainer.urlpatterns, *participant.urlpatterns, *asking.urlpatterns]
urlpatterns = [
    path("workshop/", doors.workshops, name="workshops"),
    path("workshop/open/", doors.open_room, name="room-open"),
    path("join/", doors.join, name="join"),
    path("join/<str:code>/", doors.join, name="join-code"),
    path("w/<uuid:room_id>/<str:token>/", include(room_patterns)),
]
