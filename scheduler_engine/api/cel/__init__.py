"""The Common Expression Language, as far as selectors of devices use it.

Expressions are parsed, checked and compiled to Python functions; each evaluation counts its cost, as in Kubernetes.
The functions are those of v1.35 and v1.36. New objects of v1.34 may not use the functions over lists of cel-go
(``sort``, ``distinct`` and others: ``overloads.SINCE_135``), because its compatibility version is 1.33.
Missing: messages such as ``google.protobuf.Int64Value{}``; the authorizer, which means nothing to a device; brackets
nested more than 40 deep; precisions above 10,000 in ``format``. Other texts: an error inside what ``sort`` or
``distinct`` gets is reported as it is, where cel-go reports that it cannot be converted. ``sortBy`` keeps the order of
equal keys, in long lists, too. Zones are those of the package ``tzdata``.
(Rejected: cel-expr-python 0.1.3, which has no opaque types such as quantities, no count of costs, and other texts of
errors. Also rejected: cel-python, which checks no types and counts nothing.)
Source: the CEL specification; upstream ``google/cel-go`` v0.26.0 and ``apiserver/pkg/cel``.
"""
