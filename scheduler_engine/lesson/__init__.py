"""Lessons: a scenario with text beside it, tasks, predictions and questions that the engine itself checks.

``format`` is the table of keys of a file, ``loading`` reads files, ``predictions`` gets the engine's answers to a
learner's questions, ``tasks`` finds what a task still lacks, ``costs`` prices a solution, ``verifying`` plays a lesson
in every way that it describes. ``daily`` and ``practice`` draw lessons from seeds.
``docs/lessons.md`` describes the format.
"""

from scheduler_engine.lesson.loading import TEMPLATE, load_lesson, load_lessons, read_lesson
from scheduler_engine.lesson.model import Lesson, Part, Question
from scheduler_engine.lesson.verifying import comes_true, errors_of, problems_of

__all__ = [
    "TEMPLATE",
    "Lesson",
    "Part",
    "Question",
    "comes_true",
    "errors_of",
    "load_lesson",
    "load_lessons",
    "problems_of",
    "read_lesson",
]
