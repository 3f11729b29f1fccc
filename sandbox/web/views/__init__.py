"""The pages and the capability views, one module per concern."""
