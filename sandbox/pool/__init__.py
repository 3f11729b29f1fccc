"""The workers of a web process: which has which sandbox, who waits, who is next, and the way to ask them."""
