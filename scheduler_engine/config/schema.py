"""The fields of KubeSchedulerConfiguration v1 and of the plugins' arguments, as data.

Reading a manifest with this table gives plain mappings without nulls; writing gives the v1 form that Kubernetes would
encode. Source: upstream ``k8s.io/kube-scheduler/config/v1/types*.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.versions import DEFAULT_RULES, Rules

GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"

OMITTED: Any = object()
"""The default of a field that is omitted from the written form while empty."""


@dataclass(frozen=True, slots=True)
class Field:
    """``type`` is a scalar's Go name, a Struct, ListOf, MapOf or RAW.

    ``default`` is written when the field is absent; ``pointer`` keeps an explicit zero apart from absence.
    """

    type: Any
    default: Any = OMITTED
    pointer: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    """``name`` is the Go type's, as in errors."""

    name: str
    fields: Mapping[str, Field] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Any


@dataclass(frozen=True, slots=True)
class MapOf:
    item: Any


RAW = "raw"
"""Any value; kept as it is."""
BASE64 = "base64"
"""Bytes, written as base64."""

STRING = Field("string")
NAME = Field("string", "")
BOOL = Field("bool")
STRINGS = Field(ListOf("string"))
DURATION = Field("duration")

TYPE_META = {"apiVersion": STRING, "kind": STRING}

PLUGIN = Struct("Plugin", {"name": NAME, "weight": Field("int32", 0)})
PLUGIN_SET = Struct("PluginSet", {"enabled": Field(ListOf(PLUGIN)), "disabled": Field(ListOf(PLUGIN))})
PLUGIN_SETS = (
    *("preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit"),
    *("preBind", "bind", "postBind", "multiPoint"),
)
PLACEMENT_SETS = ("placementGenerate", "placementScore")
"""The sets that profiles have beside these, by the rule ``placement_points``."""
PLUGIN_CONFIG = Struct("PluginConfig", {"name": NAME, "args": Field(RAW, None)})

LEADER_ELECTION = Struct(
    "LeaderElectionConfiguration",
    {
        "leaderElect": Field("bool", pointer=True),
        "leaseDuration": DURATION,
        "renewDeadline": DURATION,
        "retryPeriod": DURATION,
        "resourceLock": NAME,
        "resourceName": NAME,
        "resourceNamespace": NAME,
    },
)
CLIENT_CONNECTION = Struct(
    "ClientConnectionConfiguration",
    {
        "kubeconfig": NAME,
        "acceptContentTypes": NAME,
        "contentType": NAME,
        "qps": Field("float32", 0),
        "burst": Field("int32", 0),
    },
)
TLS_CONFIG = Struct(
    "ExtenderTLSConfig",
    {
        "insecure": BOOL,
        **dict.fromkeys(("serverName", "certFile", "keyFile", "caFile"), STRING),
        **dict.fromkeys(("certData", "keyData", "caData"), Field(BASE64)),
    },
)
MANAGED_RESOURCE = Struct("ExtenderManagedResource", {"name": NAME, "ignoredByScheduler": BOOL})
SIMULATED = Struct(
    "SimulatedExtender",
    {
        **dict.fromkeys(("filter", "message", "messageExpression"), STRING),
        "unresolvable": BOOL,
        **dict.fromkeys(("prioritize", "preempt", "bind", "failure"), STRING),
        "answersAfterSeconds": Field("float32"),
    },
)
"""What answers in place of a server. kube-scheduler does not know these fields."""
EXTENDER_FIELDS = {
    "urlPrefix": NAME,
    **dict.fromkeys(("filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"), STRING),
    "weight": Field("int64"),
    "enableHTTPS": BOOL,
    "tlsConfig": Field(TLS_CONFIG),
    "httpTimeout": Field("duration", "0s"),
    "nodeCacheCapable": BOOL,
    "managedResources": Field(ListOf(MANAGED_RESOURCE)),
    "ignorable": BOOL,
}
"""The fields that kube-scheduler knows."""
EXTENDER = Struct("Extender", {**EXTENDER_FIELDS, "simulated": Field(SIMULATED)})


def _configuration(plugin_sets: tuple[str, ...]) -> Struct:
    profile = Struct(
        "KubeSchedulerProfile",
        {
            "schedulerName": NAME,
            "percentageOfNodesToScore": Field("int32", pointer=True),
            "plugins": Field(Struct("Plugins", {name: Field(PLUGIN_SET, {}) for name in plugin_sets})),
            "pluginConfig": Field(ListOf(PLUGIN_CONFIG)),
        },
    )
    return Struct(
        KIND,
        {
            **TYPE_META,
            "parallelism": Field("int32", pointer=True),
            "leaderElection": Field(LEADER_ELECTION, {}),
            "clientConnection": Field(CLIENT_CONNECTION, {}),
            "enableProfiling": Field("bool", pointer=True),
            "enableContentionProfiling": Field("bool", pointer=True),
            "percentageOfNodesToScore": Field("int32", pointer=True),
            "podInitialBackoffSeconds": Field("int64", pointer=True),
            "podMaxBackoffSeconds": Field("int64", pointer=True),
            "profiles": Field(ListOf(profile)),
            "extenders": Field(ListOf(EXTENDER)),
            "delayCacheUntilActive": BOOL,
        },
    )


CONFIGURATION = _configuration(PLUGIN_SETS)

NODE_REQUIREMENT = Struct("NodeSelectorRequirement", {"key": NAME, "operator": NAME, "values": STRINGS})
NODE_TERM = Struct(
    "NodeSelectorTerm",
    {"matchExpressions": Field(ListOf(NODE_REQUIREMENT)), "matchFields": Field(ListOf(NODE_REQUIREMENT))},
)
NODE_SELECTOR = Struct("NodeSelector", {"nodeSelectorTerms": Field(ListOf(NODE_TERM), None)})
PREFERRED_TERM = Struct("PreferredSchedulingTerm", {"weight": Field("int32", 0), "preference": Field(NODE_TERM, {})})
NODE_AFFINITY = Struct(
    "NodeAffinity",
    {
        "requiredDuringSchedulingIgnoredDuringExecution": Field(NODE_SELECTOR),
        "preferredDuringSchedulingIgnoredDuringExecution": Field(ListOf(PREFERRED_TERM)),
    },
)
LABEL_SELECTOR = Struct(
    "LabelSelector",
    {
        "matchLabels": Field(MapOf("string")),
        "matchExpressions": Field(
            ListOf(Struct("LabelSelectorRequirement", {"key": NAME, "operator": NAME, "values": STRINGS}))
        ),
    },
)
SPREAD_CONSTRAINT = Struct(
    "TopologySpreadConstraint",
    {
        "maxSkew": Field("int32", 0),
        "topologyKey": NAME,
        "whenUnsatisfiable": NAME,
        "labelSelector": Field(LABEL_SELECTOR),
        "minDomains": Field("int32", pointer=True),
        "nodeAffinityPolicy": Field("string", pointer=True),
        "nodeTaintsPolicy": Field("string", pointer=True),
        "matchLabelKeys": STRINGS,
    },
)
SHAPE = ListOf(Struct("UtilizationShapePoint", {"utilization": Field("int32", 0), "score": Field("int32", 0)}))
RESOURCES = ListOf(Struct("ResourceSpec", {"name": NAME, "weight": Field("int64")}))
SCORING_STRATEGY = Struct(
    "ScoringStrategy",
    {
        "type": STRING,
        "resources": Field(RESOURCES),
        "requestedToCapacityRatio": Field(Struct("RequestedToCapacityRatioParam", {"shape": Field(SHAPE)})),
    },
)


def _args(plugin: str, **fields: Field) -> Struct:
    return Struct(f"{plugin}Args", {**TYPE_META, **fields})


PLUGIN_ARGS: dict[str, Struct] = {
    "Coscheduling": _args(
        "Coscheduling",
        permitWaitingTimeSeconds=Field("int64", pointer=True),
        podGroupBackoffSeconds=Field("int64", pointer=True),
        podGroupRejectPercentage=Field("int32", pointer=True),
    ),
    "DefaultPreemption": _args(
        "DefaultPreemption",
        minCandidateNodesPercentage=Field("int32", pointer=True),
        minCandidateNodesAbsolute=Field("int32", pointer=True),
    ),
    "DynamicResources": _args("DynamicResources", filterTimeout=Field("duration", pointer=True)),
    "InterPodAffinity": _args(
        "InterPodAffinity",
        hardPodAffinityWeight=Field("int32", pointer=True),
        ignorePreferredTermsOfExistingPods=Field("bool", False),
    ),
    "NodeAffinity": _args("NodeAffinity", addedAffinity=Field(NODE_AFFINITY)),
    "NodeResourcesBalancedAllocation": _args("NodeResourcesBalancedAllocation", resources=Field(RESOURCES)),
    "NodeResourcesFit": _args(
        "NodeResourcesFit",
        ignoredResources=STRINGS,
        ignoredResourceGroups=STRINGS,
        scoringStrategy=Field(SCORING_STRATEGY),
    ),
    "PodTopologySpread": _args(
        "PodTopologySpread", defaultConstraints=Field(ListOf(SPREAD_CONSTRAINT)), defaultingType=STRING
    ),
    "VolumeBinding": _args("VolumeBinding", bindTimeoutSeconds=Field("int64", pointer=True), shape=Field(SHAPE)),
}
"""Arguments of the plugins that have any; those of other plugins are ignored."""


EXPRESSION_API = "scheduler-sandbox/v1"
"""The version of arguments that declare a plugin by expressions, which kube-scheduler does not know."""
EXPRESSION_ARGS = _args(
    "Expression",
    **dict.fromkeys(("preFilter", "filter", "message", "messageExpression", "score", "permit"), STRING),
    permitTimeoutSeconds=Field("int64", pointer=True),
)


def declares_expressions(args: Any) -> bool:
    """Return True for arguments that declare a plugin by expressions."""
    return isinstance(args, Mapping) and args.get("apiVersion") == EXPRESSION_API


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields that a configuration has under some rules."""

    plugin_sets: tuple[str, ...]
    configuration: Struct
    plugin_args: Mapping[str, Struct]


SCHEMA = Schema(PLUGIN_SETS, CONFIGURATION, PLUGIN_ARGS)
WITH_TIMEOUT = {
    **PLUGIN_ARGS,
    "DynamicResources": _args(
        "DynamicResources",
        filterTimeout=Field("duration", pointer=True),
        bindingTimeout=Field("duration", pointer=True),
    ),
}
WITH_PLACEMENT = (*PLUGIN_SETS, *PLACEMENT_SETS)
SCHEMAS = {
    (False, False): SCHEMA,
    (False, True): Schema(PLUGIN_SETS, CONFIGURATION, WITH_TIMEOUT),
    (True, True): Schema(WITH_PLACEMENT, _configuration(WITH_PLACEMENT), WITH_TIMEOUT),
}
"""(rule ``placement_points``, rule ``binding_timeout``) → fields."""


def schema_for(rules: Rules = DEFAULT_RULES) -> Schema:
    return SCHEMAS[rules.placement_points, rules.binding_timeout]


def completed(value: Any, kind: Any) -> Any:
    """Add the default of every field to ``value`` (as read); omit nothing."""
    if isinstance(kind, ListOf):
        return [completed(item, kind.item) for item in value]
    if not isinstance(kind, Struct):
        return value
    filled = {name: spec.default for name, spec in kind.fields.items() if spec.default is not OMITTED}
    return {
        name: item if item is None else completed(item, kind.fields[name].type)
        for name, item in (filled | value).items()
    }


def written(value: Any, kind: Any) -> Any:
    """Encode ``value`` (completed) as Kubernetes does: without empty fields, except those that are always there."""
    if value is None:
        return None
    if isinstance(kind, ListOf):
        return [written(item, kind.item) for item in value]
    if not isinstance(kind, Struct):
        return value
    result = {
        name: written(item, kind.fields[name].type)
        for name, item in value.items()
        if not _left_out(item, kind.fields[name])
    }
    if kind is PLUGIN_CONFIG and result["name"] in WITH_TIMEOUT:
        # The table with the most fields: what a configuration may not have is not in ``value``.
        result["args"] = written(result["args"], WITH_TIMEOUT[result["name"]])
    return result


def _left_out(value: Any, spec: Field) -> bool:
    if spec.pointer or spec.default is not OMITTED or isinstance(spec.type, Struct) or spec.type == RAW:
        return False
    return not value


def go_form(value: Any, kind: Any) -> Any:
    """Return ``value`` (completed) as Go prints the internal form: capital names, all but kind and version.

    Types of ``core/v1`` inside keep their written form.
    """
    if isinstance(kind, ListOf) and value is not None:
        return [go_form(item, kind.item) for item in value]
    if not isinstance(kind, Struct) or kind in (NODE_AFFINITY, SPREAD_CONSTRAINT):
        return "" if value is None and kind == "string" else written(value, kind)
    if value is None:
        return None
    fields = {name: spec for name, spec in kind.fields.items() if name not in TYPE_META}
    return {name[0].upper() + name[1:]: go_form(value.get(name), spec.type) for name, spec in fields.items()}
