"""The HTTP API: JSON under ``/api/v1/``, described by an OpenAPI document that is generated from this code.

It has the same tokens and limits as the page, and the same commands as a log.
"""
