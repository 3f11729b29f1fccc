"""What is kept of a workshop. Of a person it is a name that they chose, and what they did in the room."""

from __future__ import annotations

import uuid

from django.db import models

from sandbox.storage.models import LONGEST_TITLE, Sandbox
from sandbox.storage.shared_text import SharedText

NAME_CHARACTERS = 40


class Workshop(models.Model):
    """A room. Who holds one of its two links is its trainer, or shows its beamer view; with the code one joins."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=6, unique=True, help_text="What participants type in.")
    title = models.CharField(max_length=LONGEST_TITLE)
    trainer_token_hash = models.CharField(max_length=64)
    beamer_token_hash = models.CharField(max_length=64)
    source = SharedText(help_text="What newcomers get, as JSON text; see sources.py.")
    latest = SharedText(blank=True, default="", help_text="What was sent to everybody last, likewise, or empty.")
    plan = SharedText(default="[]", help_text="Questions to be put, as JSON text; see files.py.")
    frozen = models.BooleanField(default=False, help_text="No participant can change anything.")
    eyes = models.BooleanField(default=False, help_text="Everybody sees the trainer's sandbox.")
    timer_ends = models.DateTimeField(null=True, help_text="When the time that was set is over.")
    closed = models.DateTimeField(null=True, help_text="Since when nobody can join or answer any more.")
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.title

    @property
    def people(self) -> models.QuerySet[Participant]:
        """Those who are in the room; those whom the trainer took out remain participants, for the results."""
        return self.participants.filter(removed=None)


class OwnLesson(models.Model):
    """A lesson of the trainer's own, which can be sent in the room. Each sandbox of it has what it was made with."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="lessons")
    number = models.PositiveIntegerField(help_text="Of the room's lessons, from 1.")
    title = models.CharField(max_length=130, help_text="Told apart from the room's others.")
    text = SharedText(help_text="Of the file.")
    learned = SharedText(help_text="What a sandbox is made of, as JSON text; see lessons.py.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "number"], name="one_lesson_per_number"),
        ]

    def __str__(self) -> str:
        return self.title


class Participant(models.Model):
    """Somebody in a room, known by the token in the link of their page."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="participants")
    token_hash = models.CharField(max_length=64)
    sealed = models.CharField(max_length=80, blank=True, help_text="Leads from their code to their token.")
    name = models.CharField(max_length=NAME_CHARACTERS)
    hand = models.DateTimeField(null=True, help_text="Since when the hand is raised.")
    key = models.CharField(max_length=40, blank=True, help_text="With which the trainer may help, or empty.")
    joined = models.DateTimeField(auto_now_add=True)
    removed = models.DateTimeField(null=True, help_text="Since when the trainer has taken them out of the room.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "token_hash"], name="one_participant_per_token"),
            models.UniqueConstraint(
                fields=["workshop", "name"], condition=models.Q(removed=None), name="one_participant_per_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Seat(models.Model):
    """A sandbox that somebody works in: the one with the highest number. Earlier ones keep their links.

    It is made when its owner's page asks for it, as only that page knows the token that its link is derived from.
    """

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="seats")
    participant = models.ForeignKey(
        Participant, on_delete=models.CASCADE, null=True, related_name="seats", help_text="None: the trainer."
    )
    number = models.PositiveIntegerField(help_text="Of the owner's seats, from 1.")
    source = SharedText(help_text="What it is made from, as JSON text; see sources.py.")
    sandbox = models.ForeignKey(Sandbox, on_delete=models.SET_NULL, null=True, related_name="+")
    began = models.PositiveIntegerField(default=0, help_text="How many commands its sandbox began with.")
    view_token = models.CharField(max_length=40, blank=True, help_text="With which others in the room may watch.")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "participant", "number"], name="one_seat_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.number}"


class Question(models.Model):
    """Something that the trainer asks the room: one to choose from, or what the scheduler will do next."""

    workshop = models.ForeignKey(Workshop, on_delete=models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField(help_text="Of the room's questions, from 1.")
    ask = models.CharField(max_length=300)
    choices = SharedText(help_text="What can be answered, as JSON text.")
    many = models.BooleanField(default=False, help_text="Any number of choices may be right.")
    prediction = SharedText(
        blank=True, help_text="What the scheduler is asked, and after how many entries of its trace, as JSON text."
    )
    right = SharedText(blank=True, help_text="The right choices, as JSON text; empty: not told.")
    why = SharedText(blank=True, help_text="What there is to say of a choice, as JSON text.")
    asked = models.DateTimeField(auto_now_add=True)
    over = models.DateTimeField(null=True, help_text="Since when nobody can answer any more.")
    revealed = models.DateTimeField(null=True, help_text="Since when everybody sees what is right.")
    away = models.BooleanField(default=False, help_text="No page shows it any more.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workshop", "number"], name="one_question_per_number"),
        ]

    def __str__(self) -> str:
        return self.ask


class Answer(models.Model):
    """What a participant answered; it can be changed as long as the question is open."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="answers")
    chosen = SharedText(help_text="As JSON text.")
    page = models.CharField(
        max_length=40,
        blank=True,
        default="",
        help_text="The browser that it was given in, as it calls itself in this room.",
    )
    turn = models.PositiveIntegerField(default=0, help_text="Which answer of that browser it was; 0: not known.")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "participant"], name="one_answer_per_participant"),
        ]

    def __str__(self) -> str:
        return self.chosen
