"""DynamicResources: devices by ResourceClaim."""

from scheduler_engine.plugins.dynamic_resources.plugin import DynamicResources, ScoringDynamicResources

__all__ = ["DynamicResources", "ScoringDynamicResources"]
