"""Lessons: a scenario with text beside it, tasks, predictions and questions that the engine itself checks.

``format`` is the table of keys of a file, ``loading`` reads files, ``predictions`` asks the engine what a learner is
asked, ``tasks`` says what of a task is still missing, ``costs`` what a solution costs, ``verifying`` plays a lesson in
every way that it tells of.
The format is told in ``docs/lessons.md``.
"""

from scheduler_engine.lesson.loading import load_lesson, load_lessons, read_lesson
from scheduler_engine.lesson.model import Lesson, Part, Question
from scheduler_engine.lesson.verifying import comes_true, problems_of

__all__ = ["Lesson", "Part", "Question", "comes_true", "load_lesson", "load_lessons", "problems_of", "read_lesson"]
