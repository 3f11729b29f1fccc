"""Serves the site with ``python -m sandbox.server``: Daphne, with limits for each client."""
