"""Serves the site: Daphne, with limits to what one client can make it hold. ``python -m sandbox.server``."""
