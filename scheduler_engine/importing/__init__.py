"""Turn dumps of real clusters into sandboxes: read, sort, complete, and report the changes.

Pure functions of the input bytes: ``gather`` reads, ``prepare`` makes an ``Import`` of the result.
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
