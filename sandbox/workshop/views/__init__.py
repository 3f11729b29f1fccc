"""The pages of workshops, and what is done there."""
