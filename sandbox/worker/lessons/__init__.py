"""Lessons in a sandbox: the shelves they stand on, what the column beside the workbench shows, and what is asked."""
