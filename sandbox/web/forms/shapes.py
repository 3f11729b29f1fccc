"""The shapes of all rows. What can be chosen is what Kubernetes knows; labels are the names of its fields."""

from __future__ import annotations

from sandbox.web.forms.rows import KEYS, Cell, Shape
from scheduler_engine.api.topology import HOSTNAME, REGION, ZONE

TOPOLOGY_KEYS = ((ZONE, "zones"), (HOSTNAME, "nodes"), (REGION, "regions"))


def _same(*values: str) -> tuple[tuple[str, str], ...]:
    return tuple((value, value) for value in values)


EFFECTS = _same("NoSchedule", "PreferNoSchedule", "NoExecute")
LABEL_OPERATORS = _same("In", "NotIn", "Exists", "DoesNotExist")
RULE = Cell("rule", "rule", "required", choices=_same("required", "preferred"), ours=True)
WEIGHT = Cell("weight", "weight", "1", "1–100", numeric=True)

TAINT = Shape(
    "taint",
    "Taint",
    (
        Cell("key", "key", hint="dedicated"),
        Cell("value", "value", hint="gpu"),
        Cell("effect", "effect", "NoSchedule", choices=EFFECTS),
    ),
)
TOLERATION = Shape(
    "toleration",
    "Toleration",
    (
        Cell("key", "key", hint="dedicated"),
        Cell("operator", "operator", "Equal", choices=_same("Equal", "Exists")),
        Cell("value", "value", hint="gpu"),
        Cell("effect", "effect", choices=(("", "every effect"), *EFFECTS), half=True),
        Cell("tolerationSeconds", "tolerationSeconds", hint="for ever", numeric=True, half=True),
    ),
)
SPREAD = Shape(
    "spread",
    "Constraint",
    (
        Cell("topologyKey", "topologyKey", ZONE, ZONE, offers=KEYS, half=True),
        Cell(
            "whenUnsatisfiable",
            "whenUnsatisfiable",
            "DoNotSchedule",
            choices=_same("DoNotSchedule", "ScheduleAnyway"),
            half=True,
        ),
        Cell("maxSkew", "maxSkew", "1", "1", numeric=True, half=True),
        Cell("minDomains", "minDomains", hint="1", numeric=True, half=True),
        Cell("labelSelector", "labelSelector", hint="the pod's own labels", half=True),
        Cell("matchLabelKeys", "matchLabelKeys", hint="pod-template-hash", half=True),
        Cell(
            "nodeAffinityPolicy",
            "nodeAffinityPolicy",
            choices=(("", "not set: Honor"), *_same("Honor", "Ignore")),
            half=True,
        ),
        Cell(
            "nodeTaintsPolicy",
            "nodeTaintsPolicy",
            choices=(("", "not set: Ignore"), *_same("Honor", "Ignore")),
            half=True,
        ),
    ),
    bare=True,
)
NODE_TERM = Shape(
    "node_term",
    "Term",
    (RULE, WEIGHT),
    inner=Shape(
        "node_expression",
        "Expression",
        (
            Cell("key", "key", hint="disk"),
            Cell("operator", "operator", "In", choices=(*LABEL_OPERATORS, *_same("Gt", "Lt"))),
            Cell("values", "values", hint="ssd, nvme"),
        ),
    ),
    inner_says="A node must meet all expressions of the term.",
)
POD_TERM = Shape(
    "pod_term",
    "Term",
    (
        Cell("kind", "kind", "podAntiAffinity", choices=_same("podAntiAffinity", "podAffinity"), ours=True),
        RULE,
        WEIGHT,
        Cell("topologyKey", "topologyKey", HOSTNAME, HOSTNAME, offers=KEYS, half=True),
        Cell("namespaces", "namespaces", hint="the pod's own", half=True),
        Cell("matchLabelKeys", "matchLabelKeys", hint="pod-template-hash", half=True),
        Cell("mismatchLabelKeys", "mismatchLabelKeys", hint="tenant", half=True),
    ),
    bare=True,
    inner=Shape(
        "pod_expression",
        "Expression",
        (
            Cell("key", "key", hint="app"),
            Cell("operator", "operator", "In", choices=LABEL_OPERATORS),
            Cell("values", "values", hint="web, db"),
        ),
    ),
    inner_says="Selects pods whose labels meet all expressions. Without any: pods with this pod's own labels.",
)
