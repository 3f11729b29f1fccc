"""What happened, as frozen, numbered, JSON-ready events: the only thing the workbench ever reads."""
