"""Run recordings of the real scheduler against the engine."""
