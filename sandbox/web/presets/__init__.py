"""Presets to start from: configurations, manifests, whole clusters, and filled-in forms."""
