"""URLs of workshops. A URL below ``w/<id>/<token>/`` is a capability: anybody who knows it has its role."""

from __future__ import annotations

from django.urls import include, path

from sandbox.workshop.views import asking, doors, inquiring, paper, participant, trainer

room_patterns = [
    path("", doors.page, name="room"),
    path("freeze/", trainer.freeze, name="room-freeze"),
    path("eyes/", trainer.eyes, name="room-eyes"),
    path("timer/", trainer.timer, name="room-timer"),
    path("rename/", trainer.rename, name="room-rename"),
    path("lower-hand/", trainer.lower_hand, name="room-lower-hand"),
    path("assistants/", trainer.add_assistant, name="room-assistants"),
    path("revoke/", trainer.revoke_assistant, name="room-revoke"),
    path("remove/", trainer.remove, name="room-remove"),
    path("send/", trainer.send, name="room-send"),
    path("lessons/", trainer.add_lesson, name="room-lesson"),
    path("step/", trainer.step, name="room-step"),
    path("results.csv", trainer.results, name="room-results"),
    path("workshop.yaml", trainer.room_file, name="room-file"),
    path("close/", trainer.close, name="room-close"),
    path("delete/", trainer.delete, name="room-delete"),
    path("take/", participant.take, name="room-take"),
    path("hand/", participant.hand, name="room-hand"),
    path("help/", participant.let_help, name="room-help"),
    path("notes/", participant.save_notes, name="room-notes"),
    path("notes.txt", participant.notes_file, name="room-notes-file"),
    path("handout/", paper.handout, name="room-handout"),
    path("certificate/", paper.certificate, name="room-certificate"),
    path("leave/", participant.leave, name="room-leave"),
    path("ask/", asking.ask, name="room-ask"),
    path("predict/", asking.predict, name="room-predict"),
    path("planned/", asking.planned, name="room-planned"),
    path("end/", asking.end, name="room-end"),
    path("reveal/", asking.reveal, name="room-reveal"),
    path("put-away/", asking.put_away, name="room-put-away"),
    path("answer/", asking.answer, name="room-answer"),
    path("show-answer/", asking.show_answer, name="room-show-answer"),
    path("inquire/", inquiring.inquire, name="room-inquire"),
    path("vote/", inquiring.vote, name="room-vote"),
    path("answered/", inquiring.answered, name="room-answered"),
    path("hide/", inquiring.hide, name="room-hide"),
    path("inquiries/", inquiring.show, name="room-inquiries"),
]
urlpatterns = [
    path("workshop/", doors.workshops, name="workshops"),
    path("workshop/open/", doors.open_room, name="room-open"),
    path("join/", doors.join, name="join"),
    path("join/<str:code>/", doors.join, name="join-code"),
    path("w/<uuid:room_id>/<str:token>/", include(room_patterns)),
]
