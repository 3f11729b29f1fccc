"""KubeSchedulerConfiguration v1: defaults, validation, effective plugins."""

from scheduler_engine.config.load import load_configuration
from scheduler_engine.config.types import Configuration, Profile

__all__ = ["Configuration", "Profile", "load_configuration"]
