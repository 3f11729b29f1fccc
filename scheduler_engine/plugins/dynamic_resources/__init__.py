"""DynamicResources: devices by ResourceClaim."""

from scheduler_engine.plugins.dynamic_resources.plugin import DynamicResources
from scheduler_engine.plugins.dynamic_resources.scoring import ScoringDynamicResources

__all__ = ["DynamicResources", "ScoringDynamicResources"]
