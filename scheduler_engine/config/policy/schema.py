"""The fields of a Scheduling Policy. Source: upstream v1.22 ``k8s.io/kube-scheduler/config/v1/types.go``."""

from __future__ import annotations

from scheduler_engine.config.schema import (
    BOOL,
    EXTENDER_FIELDS,
    GROUP,
    NAME,
    RESOURCES,
    SHAPE,
    STRINGS,
    TYPE_META,
    Field,
    ListOf,
    Struct,
)

KIND = "Policy"
API_VERSIONS = ("v1", f"{GROUP}/v1")
"""Policies were written without the group, too."""

LABEL = Struct("LabelPreference", {"label": NAME, "presence": BOOL})
PREDICATE_ARGUMENT = Struct(
    "PredicateArgument",
    {
        "serviceAffinity": Field(Struct("ServiceAffinity", {"labels": STRINGS})),
        "labelsPresence": Field(Struct("LabelsPresence", {"labels": STRINGS, "presence": BOOL})),
    },
)
PRIORITY_ARGUMENT = Struct(
    "PriorityArgument",
    {
        "serviceAntiAffinity": Field(Struct("ServiceAntiAffinity", {"label": NAME})),
        "labelPreference": Field(LABEL),
        "requestedToCapacityRatioArguments": Field(
            Struct("RequestedToCapacityRatioArguments", {"shape": Field(SHAPE), "resources": Field(RESOURCES)})
        ),
    },
)
LEGACY_EXTENDER = Struct("LegacyExtender", {**EXTENDER_FIELDS, "enableHttps": BOOL, "httpTimeout": Field("int64", 0)})
"""Its timeout is a number of nanoseconds."""
POLICY = Struct(
    KIND,
    {
        **TYPE_META,
        "predicates": Field(ListOf(Struct("PredicatePolicy", {"name": NAME, "argument": Field(PREDICATE_ARGUMENT)}))),
        "priorities": Field(
            ListOf(
                Struct(
                    "PriorityPolicy",
                    {"name": NAME, "weight": Field("int64", 0), "argument": Field(PRIORITY_ARGUMENT)},
                )
            )
        ),
        "extenders": Field(ListOf(LEGACY_EXTENDER)),
        "hardPodAffinitySymmetricWeight": Field("int32", 0),
        "alwaysCheckAllPredicates": BOOL,
    },
)
