"""The Common Expression Language, as far as selectors of devices use it.

Expressions are parsed, checked and compiled to Python functions; each evaluation counts its cost, as in Kubernetes.
Missing: timestamps, durations, messages, ``format``, ``quote``, URLs and the authorizer, which mean nothing to a
device; functions of lists that v1.34 does not accept in new objects, such as ``sort`` and ``distinct``; brackets nested
more than 40 deep.
(Rejected: cel-expr-python 0.1.3, which has no opaque types such as quantities, no count of costs, and other texts of
errors. Also rejected: cel-python, which checks no types and counts nothing.)
Source: the CEL specification; upstream ``google/cel-go`` v0.26.0 and ``apiserver/pkg/cel``.
"""
