"""The VolumeBinding plugin."""

from scheduler_engine.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
