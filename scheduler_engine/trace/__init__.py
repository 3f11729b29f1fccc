"""The trace: frozen, numbered, JSON-ready events. The workbench reads nothing else."""
