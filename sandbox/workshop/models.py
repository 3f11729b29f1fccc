"""The tables of workshops. About a person they hold the chosen name and the actions in the room."""

from __future__ import annotations

import uuid

from django.db import models

from sandbox.storage.models import LONGEST_TITLE, Sandbox
from sandbox.storage.shared_text import SharedText

NAME_CHARACTERS = 40
INQUIRY_CHARACTERS = 200


class Workshop(models.Model):
    """A room. It has a link for the trainer, a link for the projector view, and a code to join."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=6, unique=True)
    """The code that participants enter."""
    title = models.CharField(max_length=LONGEST_TITLE)
    trainer_token_hash = models.CharField(max_length=64)
    beamer_token_hash = models.CharField(max_length=64)
    source = SharedText()
    """The source for new participants, as JSON text; see sources.py."""
    latest = SharedText(blank=True, default="")
    """The source last sent to everybody, as JSON text, or empty."""
    plan = SharedText(default="[]")
    """The planned questions of a room of an older version, as JSON text."""
    rows = SharedText(blank=True, default="", db_default="")
    """The rows of the plan, as JSON text, or empty; see plan.py."""
    plan_state = models.TextField(blank=True, default="", db_default="")
    """How far the plan has run, as JSON text, or empty; see plan.py."""
    frozen = models.BooleanField(default=False)
    """True: no participant can change anything."""
    eyes = models.BooleanField(default=False)
    """True: everybody sees the trainer's sandbox."""
    timer_ends = models.DateTimeField(null=True)
    """When the timer ends."""
    inquiries_shown = models.BooleanField(default=False, db_default=False)
    """True: the projector shows the participants' questions."""
    closed = models.DateTimeField(null=True)
    """When the room was closed: nobody can join or answer any more."""
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.title

    @property
    def people(self) -> models.QuerySet[Participant]:
        """The participants in the room. Removed ones stay in ``participants``, for the results."""
        return self.participants.filter(removed=None)


class Sending(models.Model):
    """A source that the trainer sent to everybody."""

    LONGEST = 2 * LONGEST_TITLE

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="sendings")
    source = SharedText()
    """The source, as JSON text; see sources.py."""
    title = models.CharField(max_length=LONGEST)
    """The title of the source. Pages show it at each update, when the source would be long to read."""
    gone = models.BooleanField(default=False)
    """True: the file from which the room was opened did not have the source."""
    at = models.DateTimeField(null=True)
    """When it was sent, None = unknown."""

    def __str__(self) -> str:
        return self.title


class OwnLesson(models.Model):
    """A trainer's own lesson. A sandbox of it keeps the version that it was created with."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="lessons")
    number = models.PositiveIntegerField()
    """Number among the room's lessons, from 1."""
    title = models.CharField(max_length=130)
    """Unique among the room's lessons."""
    text = SharedText()
    """The text of the file."""
    learned = SharedText()
    """The lesson as the engine reads it, as JSON text; see lessons.py."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workshop", "number"], name="one_lesson_per_number")]

    def __str__(self) -> str:
        return self.title


class Participant(models.Model):
    """A person in a room, identified by the token in the link of their page."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="participants")
    token_hash = models.CharField(max_length=64)
    sealed = models.CharField(max_length=80, blank=True)
    """The token, encrypted with the personal code."""
    name = models.CharField(max_length=NAME_CHARACTERS)
    hand = models.DateTimeField(null=True)
    """When the hand was raised, if it is."""
    key = models.CharField(max_length=40, blank=True)
    """The token with which the trainer may help, or empty."""
    notes = models.TextField(blank=True, default="", db_default="")
    """Their own notes, which nobody else sees."""
    notes_turn = models.PositiveIntegerField(default=0, db_default=0)
    """How often the notes were saved."""
    notes_page = models.CharField(max_length=40, blank=True, default="", db_default="")
    """The name that the page which saved them last has chosen for itself."""
    joined = models.DateTimeField(auto_now_add=True)
    removed = models.DateTimeField(null=True)
    """When the trainer removed them, if so."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "token_hash"], name="one_participant_per_token"),
            models.UniqueConstraint(
                fields=["workshop", "name"], condition=models.Q(removed=None), name="one_participant_per_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Assistant(models.Model):
    """The link of somebody who helps the trainer."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="assistants")
    number = models.PositiveIntegerField()
    """Number among the room's assistants, from 1. No two links of a room ever have the same."""
    token_hash = models.CharField(max_length=64)
    seen = models.DateTimeField(null=True)
    """When the link was last used."""
    revoked = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workshop", "number"], name="one_assistant_per_number")]

    def __str__(self) -> str:
        return f"{self.number}"


class Seat(models.Model):
    """A place for a sandbox of a participant or the trainer. The seat with the highest number is the current one.

    The sandbox is created when the owner's page asks for it: only that page knows the token for its link.
    """

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="seats")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, null=True, related_name="seats")
    """None for the trainer."""
    number = models.PositiveIntegerField()
    """Number among the owner's seats, from 1."""
    source = SharedText()
    """The source of the sandbox, as JSON text; see sources.py."""
    sandbox = models.ForeignKey(Sandbox, on_delete=models.SET_NULL, null=True, related_name="+")
    began = models.PositiveIntegerField(default=0)
    """Number of commands in the new sandbox."""
    view_token = models.CharField(max_length=40, blank=True)
    """The token with which others in the room may watch."""
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "participant", "number"], name="one_seat_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.number}"


class Question(models.Model):
    """A trainer's question: with choices, with free answers, or a prediction of what the scheduler will do next."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField()
    """Number among the room's questions, from 1."""
    ask = models.CharField(max_length=300)
    choices = SharedText()
    """The choices, as JSON text; none: each person answers with a text of their own."""
    many = models.BooleanField(default=False)
    """True: any number of choices may be right."""
    prediction = SharedText(blank=True)
    """The prediction, and the number of trace entries before it, as JSON text."""
    right = SharedText(blank=True)
    """The right choices, as JSON text, or empty."""
    why = SharedText(blank=True)
    """Choice → explanation, as JSON text."""
    asked = models.DateTimeField(auto_now_add=True)
    over = models.DateTimeField(null=True)
    """When the question was closed."""
    revealed = models.DateTimeField(null=True)
    """When the right answer was shown."""
    away = models.BooleanField(default=False)
    """True: no page shows it any more."""
    shown = SharedText(blank=True, default="", db_default="")
    """The free answers that the projector shows, as JSON text, or empty."""

    earlier = SharedText(blank=True, default="", db_default="")
    """The answers from before the room was opened from its file, as JSON text, or empty; see questions.Earlier."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workshop", "number"], name="one_question_per_number")]

    def __str__(self) -> str:
        return self.ask


class Answer(models.Model):
    """A participant's answer. It can be changed while the question is open."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="answers")
    chosen = SharedText()
    """The chosen choices, as JSON text."""
    page = models.CharField(max_length=40, blank=True, default="")
    """The name that the browser chose for itself in this room."""
    turn = models.PositiveIntegerField(default=0)
    """The number of the answer from that browser; 0 if unknown."""
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "participant"], name="one_answer_per_participant")]

    def __str__(self) -> str:
        return self.chosen


class Inquiry(models.Model):
    """A participant's question to the trainer. Others in the room can vote for it."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="inquiries")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, null=True, related_name="inquiries")
    """None: it comes from the room's file, which names nobody."""
    text = models.CharField(max_length=INQUIRY_CHARACTERS)
    asked = models.DateTimeField(auto_now_add=True)
    answered = models.DateTimeField(null=True)
    """When the trainer marked it as answered."""
    hidden = models.BooleanField(default=False)
    """True: no page shows it any more."""
    voters = models.ManyToManyField(Participant, related_name="votes")
    votes_before = models.PositiveIntegerField(default=0, db_default=0)
    """The votes in the room's file."""

    class Meta:
        verbose_name_plural = "inquiries"

    def __str__(self) -> str:
        return self.text
