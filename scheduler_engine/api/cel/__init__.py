"""The Common Expression Language, as far as selectors of devices use it.

Expressions are parsed, checked and compiled to Python functions; each evaluation counts its cost, as in Kubernetes.
The functions are those that v1.34 accepts in new objects: its compatibility version is 1.33. So ``sort``, ``distinct``,
``flatten``, ``slice``, ``lists.range`` and ``reverse``, which new objects may use from v1.35 on, are not known.
Missing: messages such as ``google.protobuf.Int64Value{}``; the authorizer, which means nothing to a device; brackets
nested more than 40 deep; precisions above 10,000 in ``format``. Zones are those of the package ``tzdata``.
(Rejected: cel-expr-python 0.1.3, which has no opaque types such as quantities, no count of costs, and other texts of
errors. Also rejected: cel-python, which checks no types and counts nothing.)
Source: the CEL specification; upstream ``google/cel-go`` v0.26.0 and ``apiserver/pkg/cel``.
"""
