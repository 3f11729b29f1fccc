"""The views of the site, one module for each concern."""
