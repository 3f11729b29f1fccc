"""The site for programs: JSON under ``/api/v1/``, described by an OpenAPI document that is made from this code.

The same capability tokens as in the page, the same limits, and the same commands as in a log.
"""
