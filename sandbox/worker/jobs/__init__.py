"""All jobs of a worker. A job raises ``StateGone`` if the log no longer has its position."""

from __future__ import annotations

from typing import Any

from sandbox.worker.job import Job
from sandbox.worker.jobs.answering import difference, fit, fixes, in_step, leave, reroll, seeds, still_fits
from sandbox.worker.jobs.drawing import fragments
from sandbox.worker.jobs.embedding import embedded
from sandbox.worker.jobs.exporting import csv, export, mended
from sandbox.worker.jobs.figures import figure, lesson_figure
from sandbox.worker.jobs.importing import import_commands, import_preview, import_read, import_scenario, way_to
from sandbox.worker.jobs.kube import kube_read, kube_watch, kube_write
from sandbox.worker.jobs.log import arrive, execute, log_until, probe
from sandbox.worker.jobs.manifests import check, locate, trial
from sandbox.worker.jobs.programs import collected, explanation, judged, tried, wait
from sandbox.worker.jobs.reading import (
    admission,
    cache_dump,
    expectation,
    facts,
    fault_choices,
    find,
    leader_form,
    manifest,
    manifest_text,
    names,
    objects,
    offers,
    prometheus,
    state,
    steps_done,
    trace,
)
from sandbox.worker.jobs.rooms import room_outcome, room_question
from sandbox.worker.jobs.story import story
from sandbox.worker.jobs.teaching import (
    lesson_comes_true,
    lesson_commands,
    lesson_guess,
    lesson_part,
    lesson_prediction,
    lesson_read,
    lesson_status,
    lesson_steps,
    lesson_written,
    practice_round,
)

JOBS: dict[str, Job[..., Any]] = {name: job for name, job in globals().items() if isinstance(job, Job)}
"""Name in a message → job."""
assert all(name == job.name for name, job in JOBS.items()), "a call names its job by the name of the function"
