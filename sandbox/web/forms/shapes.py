"""The shapes of all rows. Choices are Kubernetes' own values; labels of cells are the names of its fields."""

from __future__ import annotations

from sandbox.web.forms.rows import KEYS, Cell, Shape
from sandbox.words.say import say
from scheduler_engine.api.topology import HOSTNAME, REGION, ZONE

TOPOLOGY_KEYS = ((ZONE, "zones"), (HOSTNAME, "nodes"), (REGION, "regions"))


def _choices(*values: str) -> tuple[tuple[str, str], ...]:
    return tuple((value, value) for value in values)


EFFECTS = _choices("NoSchedule", "PreferNoSchedule", "NoExecute")
LABEL_OPERATORS = _choices("In", "NotIn", "Exists", "DoesNotExist")
RULE = Cell("rule", "required", choices=_choices("required", "preferred"), ours=True)
WEIGHT = Cell("weight", "1", "1–100", numeric=True)

TAINT = Shape(
    "taint",
    say("forms.taint"),
    (Cell("key", example="dedicated"), Cell("value", example="gpu"), Cell("effect", "NoSchedule", choices=EFFECTS)),
)
TOLERATION = Shape(
    "toleration",
    say("forms.toleration"),
    (
        Cell("key", example="dedicated"),
        Cell("operator", "Equal", choices=_choices("Equal", "Exists")),
        Cell("value", example="gpu"),
        Cell("effect", choices=(("", say("forms.every-effect")), *EFFECTS), half=True),
        Cell("tolerationSeconds", example=say("forms.forever"), numeric=True, half=True),
    ),
)
SPREAD = Shape(
    "spread",
    say("forms.constraint"),
    (
        Cell("topologyKey", ZONE, ZONE, offers=KEYS, half=True),
        Cell("whenUnsatisfiable", "DoNotSchedule", choices=_choices("DoNotSchedule", "ScheduleAnyway"), half=True),
        Cell("maxSkew", "1", "1", numeric=True, half=True),
        Cell("minDomains", example="1", numeric=True, half=True),
        Cell("labelSelector", example=say("forms.own-labels"), half=True),
        Cell("matchLabelKeys", example="pod-template-hash", half=True),
        Cell("nodeAffinityPolicy", choices=(("", say("forms.unset-honor")), *_choices("Honor", "Ignore")), half=True),
        Cell("nodeTaintsPolicy", choices=(("", say("forms.unset-ignore")), *_choices("Honor", "Ignore")), half=True),
    ),
    bare=True,
)
DEVICE = Shape(
    "device",
    say("forms.device"),
    (
        Cell("name", example="gpu-0"),
        Cell("attributes", example="model=t4"),
        Cell("capacity", example="memory=16Gi"),
    ),
)
DEVICE_EXPRESSION = Shape(
    "device_expression",
    say("forms.expression"),
    (Cell("expression", example='device.driver == "gpu.example.com"', whole=True, lines=True),),
)
DEVICE_REQUEST = Shape(
    "device_request",
    say("forms.device-request"),
    (
        Cell("name", "gpu", "gpu"),
        Cell("deviceClassName", example="gpu"),
        Cell("count", "1", "1", numeric=True),
        Cell("expression", example=say("forms.every-device-of-the-class"), whole=True, lines=True),
    ),
    bare=True,
)
DEVICE_CLAIM = Shape(
    "device_claim",
    say("forms.device-claim"),
    (
        Cell("name", example="gpu", whole=True),
        Cell("resourceClaimName", example="team-gpu", half=True),
        Cell("resourceClaimTemplateName", example="one-gpu", half=True),
    ),
)
NODE_TERM = Shape(
    "node_term",
    say("forms.term"),
    (RULE, WEIGHT),
    inner=Shape(
        "node_expression",
        say("forms.expression"),
        (
            Cell("key", example="disk"),
            Cell("operator", "In", choices=(*LABEL_OPERATORS, *_choices("Gt", "Lt"))),
            Cell("values", example="ssd, nvme"),
        ),
    ),
    inner_hint=say("forms.node-term"),
)
POD_TERM = Shape(
    "pod_term",
    say("forms.term"),
    (
        Cell("kind", "podAntiAffinity", choices=_choices("podAntiAffinity", "podAffinity"), ours=True),
        RULE,
        WEIGHT,
        Cell("topologyKey", HOSTNAME, HOSTNAME, offers=KEYS, half=True),
        Cell("namespaces", example=say("forms.own-namespace"), half=True),
        Cell("matchLabelKeys", example="pod-template-hash", half=True),
        Cell("mismatchLabelKeys", example="tenant", half=True),
    ),
    bare=True,
    inner=Shape(
        "pod_expression",
        say("forms.expression"),
        (
            Cell("key", example="app"),
            Cell("operator", "In", choices=LABEL_OPERATORS),
            Cell("values", example="web, db"),
        ),
    ),
    inner_hint=say("forms.pod-term"),
)
