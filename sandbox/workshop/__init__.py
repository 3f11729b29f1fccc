"""Workshops: a trainer's room, in which each participant has a sandbox of their own."""
