"""What the API server of a sandbox answers to kubectl: paths, discovery, lists, tables and errors. No HTTP here."""
