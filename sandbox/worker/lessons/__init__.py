"""Lessons in a sandbox: what the column beside the workbench shows, what it asks, and the reasons of a reveal."""
