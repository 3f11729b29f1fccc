"""Scheduler Sandbox: the Django site around the scheduler engine."""
