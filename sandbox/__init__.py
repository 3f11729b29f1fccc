"""The workbench: Django site around the scheduler engine."""
