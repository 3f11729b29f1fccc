"""Commands of the site for those who run it."""
