"""The views of workshops, one module for each role."""
