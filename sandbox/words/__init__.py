"""Sentences by key (``en/*.yaml``), amounts, lists, and YAML as people write it."""
