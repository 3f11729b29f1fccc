"""Dumps of real clusters become sandboxes: read, sort out, complete, and say what was done.

Pure functions of the bytes that are given: ``gather`` reads, ``prepare`` makes an ``Import`` of what was read.
"""

from scheduler_engine.importing.advice import GET
from scheduler_engine.importing.gathering import Gathered, gather
from scheduler_engine.importing.preparing import prepare
from scheduler_engine.importing.result import Choices, Import, Notice, Skipped, Summary, Waiting
from scheduler_engine.importing.trimming import StandIns

__all__ = [
    "GET",
    "Choices",
    "Gathered",
    "Import",
    "Notice",
    "Skipped",
    "StandIns",
    "Summary",
    "Waiting",
    "gather",
    "prepare",
]
