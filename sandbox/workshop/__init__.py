"""Workshops: a trainer's room, in which each participant has an own sandbox."""
