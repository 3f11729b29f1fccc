"""Answers that come from running copies of the engine."""
