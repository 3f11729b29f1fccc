"""Lessons of this installation: the course, the gallery of misconceptions and the challenges."""
