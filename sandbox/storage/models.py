"""The tables: sandboxes, the logs of their commands, and notes about a log. Simulations are replayed, never stored."""

from __future__ import annotations

import uuid

from django.db import models

from sandbox.storage.shared_text import KEY_CHARACTERS, SharedText
from scheduler_engine.trace.decisions import LONGEST as LONGEST_MARK

LONGEST_KEY = 100
"""Characters of an idempotency key."""
LONGEST_TITLE = 120


def printable(text: str, longest: int = 40) -> str:
    """Return a name or title for storage: without control characters, at most ``longest`` characters."""
    return "".join(letter for letter in text if letter.isprintable())[:longest].strip()


class Text(models.Model):
    """A long text that ``SharedText`` fields of any number of rows share. It never changes."""

    key = models.CharField(max_length=KEY_CHARACTERS, primary_key=True)
    text = models.TextField()
    size = models.PositiveBigIntegerField()
    """In bytes."""
    used = models.DateTimeField()
    """When it was last stored."""

    def __str__(self) -> str:
        return self.text[:60]


class Sandbox(models.Model):
    """A simulated cluster and its scheduler, with edit and view tokens.

    Its state follows from ``seed``, ``configuration``, ``queue_rules``, ``kubernetes``, ``feature_gates``,
    ``priority_numbers`` and the first ``head`` commands of its log.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    edit_token_hash = models.CharField(max_length=64)
    view_token_hash = models.CharField(max_length=64)
    title = models.CharField(max_length=LONGEST_TITLE)
    scenario = models.CharField(max_length=80, blank=True)
    """Slug of the scenario it was created from, or empty."""
    story = SharedText(
        blank=True,
        default="",
    )
    """The scenario that somebody uploaded, without its setup, as JSON text, or empty."""
    engine_version = models.CharField(max_length=40)
    seed = models.BigIntegerField()
    configuration = SharedText()
    """KubeSchedulerConfiguration as JSON text, or null."""
    queue_rules = models.CharField(max_length=20, default="v1.34")
    """Rules of the scheduling queue."""
    kubernetes = models.CharField(max_length=20, default="v1.34")
    """The version of Kubernetes that it begins under."""
    feature_gates = models.TextField(default="{}")
    """Its feature gates that differ from the defaults of the version, as JSON text."""
    priority_numbers = models.BooleanField(default=True)
    """True: pods may set a priority without a class, which no cluster allows."""
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(auto_now=True)
    acted = models.DateTimeField(null=True)
    """When its owner last changed it. Changes by a helper do not count."""
    head = models.PositiveIntegerField(default=0)
    """Number of commands in force."""
    length = models.PositiveIntegerField(default=0)
    """Number of commands in the log: more than head after going back."""
    state = models.BigIntegerField(default=0)
    """Primary key of the record at head, 0 when there is none."""
    log_bytes = models.PositiveBigIntegerField(default=0)
    """Length of all commands in the log, in characters."""
    revision = models.PositiveBigIntegerField(default=0)
    """Counts every change, including going back."""
    expected_at = models.PositiveBigIntegerField(default=0)
    """The revision that last changed the expectations."""
    turns = models.TextField(default="", blank=True, db_default="")
    """When somebody went back, as ``sandbox.kube.turns`` writes it."""
    frozen = models.BooleanField(default=False)
    """True: only holders of its keys can change anything."""

    by_helper = False
    """True if a helper of the owner, such as a trainer or a lesson, uses this instance. Not stored."""

    class Meta:
        verbose_name_plural = "sandboxes"

    def __str__(self) -> str:
        return self.title


class Key(models.Model):
    """An additional edit token of a sandbox. It can be revoked."""

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="keys")
    token_hash = models.CharField(max_length=64)
    view_token = models.CharField(max_length=40)
    """The view token that belongs to it."""

    def __str__(self) -> str:
        return f"{self.sandbox_id} key"


class Done(models.Model):
    """A request that was carried out and may be repeated: see ``changes.once``."""

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="done")
    key = models.CharField(max_length=LONGEST_KEY)
    digest = models.CharField(max_length=64)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "done"
        constraints = (models.UniqueConstraint(fields=["sandbox", "key"], name="once_per_sandbox"),)

    def __str__(self) -> str:
        return f"{self.sandbox_id} {self.key}"


class Branch(models.Model):
    """A saved timeline: the records that followed a place of the log until somebody did something else there."""

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="branches")
    base = models.BigIntegerField()
    """Primary key of the record that its first one follows, 0 = the start."""
    first = models.PositiveIntegerField()
    """Place of its first record."""
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "branches"

    def __str__(self) -> str:
        return f"from {self.first}"


class CommandRecord(models.Model):
    """One command of a sandbox's log or of a branch.

    Records are only added to the end of the log or removed from its end. A primary key is never used twice (SQLite's
    AUTOINCREMENT, PostgreSQL's sequences). So the key of a record stands for the whole log up to it.
    """

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="records")
    branch = models.ForeignKey(Branch, on_delete=models.CASCADE, null=True, related_name="records")
    n = models.PositiveIntegerField()
    """Place in the log, from 1."""
    # Text, not JSONField: PostgreSQL's jsonb reorders keys, and their order shows in the trace.
    command = models.TextField()
    """The command as JSON text."""
    who = models.CharField(max_length=40, blank=True)
    """Label of the person who issued it, if any."""
    by_helper = models.BooleanField(default=False)
    """True: a helper of the sandbox's owner issued it."""
    mark = models.CharField(max_length=LONGEST_MARK, blank=True, default="", db_default="")
    """What it decided, see ``scheduler_engine.trace.decisions``. Empty: unknown, so replays do not compare."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sandbox", "n"], condition=models.Q(branch=None), name="one_command_per_place"
            ),
            models.UniqueConstraint(fields=["branch", "n"], name="one_command_per_place_of_a_branch"),
        ]
        indexes = [models.Index(fields=["sandbox"], condition=models.Q(by_helper=True), name="commands_of_helpers")]

    def __str__(self) -> str:
        return f"{self.n}: {self.command[:60]}"


class Expectation(models.Model):
    """An expectation at a moment of a sandbox: within command ``n``, after ``entries`` entries of its trace.

    ``state``: key of the record that was at ``n``, 0 = the start. While the log has that record at ``n``, the moment is
    part of the log. Otherwise it is undone.
    """

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="expectations")
    state = models.BigIntegerField()
    n = models.PositiveIntegerField()
    entries = models.PositiveIntegerField()
    expectation = SharedText()
    """As in a scenario, as JSON text."""
    who = models.CharField(max_length=40, blank=True)
    """Label of the person who expects it, if any."""
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"at {self.n}.{self.entries}: {self.expectation[:60]}"


class Study(models.Model):
    """The learner's progress in the lesson of a sandbox."""

    sandbox = models.OneToOneField(Sandbox, on_delete=models.CASCADE, primary_key=True, related_name="study")
    shelf = models.CharField(max_length=20)
    slug = models.CharField(max_length=120)
    text = SharedText(blank=True, default="")
    """The text of the uploaded file, or empty."""
    part = models.PositiveIntegerField(default=0)
    """The number of the open part; the number of parts: the end."""
    progress = models.TextField(default="{}")
    """What happened in the parts, as JSON text; see changes/study.py."""

    class Meta:
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return f"{self.slug}: {self.part}"


class Guess(models.Model):
    """An answer to a question of a lesson or to a prediction, at a moment as in ``Expectation``."""

    sandbox = models.ForeignKey(Sandbox, on_delete=models.CASCADE, related_name="guesses")
    part = models.PositiveIntegerField(null=True)
    """The part of the lesson; None for a prediction outside a lesson."""
    question = SharedText()
    """As JSON text."""
    named = SharedText()
    """The chosen answers, as JSON text; null: looked without guessing."""
    points = SharedText(blank=True, default="")
    """The answer point by point, if it was known at once."""
    right = models.BooleanField(null=True)
    """False: it was wrong, or somebody looked without guessing. None: nobody has checked it yet."""
    state = models.BigIntegerField()
    n = models.PositiveIntegerField()
    entries = models.PositiveIntegerField()
    who = models.CharField(max_length=40, blank=True)
    """Label of the person who guessed, if any."""
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "guesses"

    def __str__(self) -> str:
        return f"at {self.n}.{self.entries}: {self.question[:60]}"
