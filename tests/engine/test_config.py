"""KubeSchedulerConfiguration: what is read, what is refused and why, and which plugins run in which order."""

from typing import Any

import pytest

from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.durations import format_duration, parse_duration
from scheduler_engine.errors import Rejected

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
HEAD_TEXT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


NO_EXTENDERS = (
    "extenders",
    "Forbidden: this server asks no extenders, so it would decide differently from kube-scheduler. "
    "Leave them out to see what the scheduler decides alone, or let expressions answer in simulated. "
    "On the command line, run --allow-extenders asks them",
)


def with_plugins(**plugins: Any) -> dict[str, Any]:
    return HEAD | {"profiles": [{"plugins": plugins}]}


def with_args(plugin: str, **args: Any) -> dict[str, Any]:
    return HEAD | {"profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]}


def order(configuration: Configuration, point: str) -> list[str]:
    return [name for name, _ in configuration.profiles[0].plugins[point]]


def refused(source: Any) -> list[tuple[str, str]]:
    with pytest.raises(Rejected) as rejected:
        load_configuration(source)
    return [(error.path, error.message) for error in rejected.value.errors]


def test_no_configuration_is_the_default_profile() -> None:
    configuration = load_configuration(None)
    [profile] = configuration.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert dict(profile.plugins["score"]) == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }
    assert order(configuration, "filter")[:3] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    assert order(configuration, "postFilter") == ["DynamicResources", "DefaultPreemption"]
    assert all(weight == 0 for _, weight in profile.plugins["filter"])
    assert profile.args["InterPodAffinity"]["hardPodAffinityWeight"] == 1
    assert configuration.pod_initial_backoff_seconds == 1
    assert configuration.pod_max_backoff_seconds == 10
    assert configuration.parallelism == 16
    assert configuration.percentage_of_nodes_to_score == 0
    assert profile.percentage_of_nodes_to_score is None


def test_an_explicit_zero_percentage_of_a_profile_differs_from_none() -> None:
    configuration = load_configuration(
        HEAD | {"percentageOfNodesToScore": 100, "profiles": [{"percentageOfNodesToScore": 0}]}
    )
    assert configuration.percentage_of_nodes_to_score == 100
    assert configuration.profiles[0].percentage_of_nodes_to_score == 0


ORDERS = {
    "a plugin named at a point comes before the multiPoint list": (
        {"filter": {"enabled": [{"name": "InterPodAffinity"}, {"name": "NodePorts"}]}},
        "filter",
        ["InterPodAffinity", "NodePorts", "NodeUnschedulable", "NodeName", "TaintToleration"],
    ),
    "a star at a point leaves only what is named there": (
        {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality"}, {"name": "NodeAffinity"}]}},
        "score",
        ["ImageLocality", "NodeAffinity"],
    ),
    "a plugin disabled at a point still runs at the others": (
        {"filter": {"disabled": [{"name": "TaintToleration"}]}},
        "preScore",
        ["TaintToleration", "NodeAffinity"],
    ),
    "a plugin disabled in multiPoint but named at a point comes last there": (
        {
            "multiPoint": {"disabled": [{"name": "NodeName"}]},
            "filter": {"enabled": [{"name": "NodeName"}], "disabled": [{"name": "*"}]},
        },
        "filter",
        ["NodeName"],
    ),
    "a plugin disabled and enabled again in multiPoint goes to the end": (
        {"multiPoint": {"disabled": [{"name": "TaintToleration"}], "enabled": [{"name": "TaintToleration"}]}},
        "preScore",
        ["NodeAffinity", "NodeResourcesFit"],
    ),
}


@pytest.mark.parametrize(("plugins", "point", "first"), ORDERS.values(), ids=ORDERS)
def test_order(plugins: dict[str, Any], point: str, first: list[str]) -> None:
    names = order(load_configuration(with_plugins(**plugins)), point)
    assert names[: len(first)] == first
    assert len(names) == len(set(names))


WEIGHTS = {
    "the weight at score wins over the weight in multiPoint": (
        {"score": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}},
        7,
    ),
    "a weight in multiPoint replaces the default one": (
        {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 5}]}},
        5,
    ),
    "no weight at score becomes 1": ({"score": {"enabled": [{"name": "NodeAffinity"}]}}, 1),
    "weight 0 becomes 1": ({"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 0}]}}, 1),
}


@pytest.mark.parametrize(("plugins", "weight"), WEIGHTS.values(), ids=WEIGHTS)
def test_weight(plugins: dict[str, Any], weight: int) -> None:
    [profile] = load_configuration(with_plugins(**plugins)).profiles
    assert dict(profile.plugins["score"])["NodeAffinity"] == weight


def test_empty_kind_and_version_of_arguments_count_as_missing() -> None:
    configuration = load_configuration(with_args("InterPodAffinity", kind="", apiVersion="", hardPodAffinityWeight=5))
    assert configuration.profiles[0].args["InterPodAffinity"] == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "InterPodAffinityArgs",
        "hardPodAffinityWeight": 5,
        "ignorePreferredTermsOfExistingPods": False,
    }


def test_profiles_are_looked_up_by_scheduler_name() -> None:
    configuration = load_configuration(HEAD | {"profiles": [{"schedulerName": "a"}, {"schedulerName": "b"}]})
    assert configuration.profile("b") is configuration.profiles[1]
    assert configuration.profile("c") is None


REFUSED = {
    "a list is not a configuration": ([], [("", "a KubeSchedulerConfiguration is a mapping of fields, not array")]),
    "a kind is required": (
        {},
        [("kind", "Object 'Kind' is missing; a configuration has kind KubeSchedulerConfiguration")],
    ),
    "an old version is not read": (
        HEAD | {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"},
        [
            (
                "apiVersion",
                'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3"; '
                "the scheduler reads KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1",
            )
        ],
    ),
    "every unknown field is reported": (
        HEAD | {"percentage": 1, "profiles": [{"plugins": {"filters": {}}}]},
        [
            ("percentage", 'unknown field "percentage"'),
            ("profiles[0].plugins.filters", 'unknown field "profiles[0].plugins.filters"'),
        ],
    ),
    "an unknown argument of a plugin is reported": (
        with_args("NodeResourcesFit", strategy="x"),
        [("profiles[0].pluginConfig[0].args.strategy", 'unknown field "profiles[0].pluginConfig[0].args.strategy"')],
    ),
    "a wrong type is reported with Go's message": (
        with_args("InterPodAffinity", hardPodAffinityWeight=1.5),
        [
            (
                "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
                "json: cannot unmarshal number 1.5 into Go struct field InterPodAffinityArgs.hardPodAffinityWeight "
                "of type int32",
            )
        ],
    ),
    "a text is not a list": (
        HEAD | {"profiles": "x"},
        [
            (
                "profiles",
                "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.profiles "
                "of type []KubeSchedulerProfile",
            )
        ],
    ),
    "a number beyond 32 bits is refused": (
        HEAD | {"parallelism": 2**31},
        [
            (
                "parallelism",
                "json: cannot unmarshal number 2147483648 into Go struct field KubeSchedulerConfiguration.parallelism "
                "of type int32",
            )
        ],
    ),
    "a duration needs a unit": (
        HEAD | {"leaderElection": {"leaseDuration": "15"}},
        [("leaderElection.leaseDuration", 'time: missing unit in duration "15"')],
    ),
    "all invalid values are reported together": (
        HEAD | {"parallelism": 0, "podInitialBackoffSeconds": 0, "percentageOfNodesToScore": 101},
        [
            ("parallelism", "Invalid value: 0: should be an integer value greater than zero"),
            ("percentageOfNodesToScore", "Invalid value: 101: not in valid range [0-100]"),
            ("podInitialBackoffSeconds", "Invalid value: 0: must be greater than 0"),
        ],
    ),
    "an extender's managed resource must be an extended one": (
        HEAD | {"extenders": [{"urlPrefix": "http://x", "managedResources": [{"name": "cpu"}, {"name": "a b/c"}]}]},
        [
            ("extenders[0].managedResources[0].name", 'Invalid value: "cpu": is an invalid extended resource name'),
            (
                "extenders[0].managedResources[1].name",
                'Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain must consist of lower case '
                "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
                "(e.g. 'example.com', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            ),
        ],
    ),
    "a plugin without the method cannot be named at the point": (
        with_plugins(permit={"enabled": [{"name": "NodeAffinity"}]}),
        [
            (
                "",
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                'plugin "NodeAffinity" does not extend PermitPlugin plugin',
            )
        ],
    ),
    "a plugin of multiPoint must exist": (
        with_plugins(multiPoint={"enabled": [{"name": "Nothing"}]}),
        [
            (
                "",
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                'PreFilterPlugin "Nothing" does not exist',
            )
        ],
    ),
    "a missing shape is not reported where the real scheduler stops before it crashes": (
        with_args(
            "NodeResourcesFit",
            scoringStrategy={"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 101}]},
        ),
        [
            (
                "",
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                'initializing plugin "NodeResourcesFit": scoringStrategy.resources[0].weight: Invalid value: 101: '
                "resource weight of cpu not in valid range (0, 100]",
            )
        ],
    ),
    "the queue's plugin has the same arguments in all profiles": (
        HEAD
        | {
            "profiles": [
                {"schedulerName": name, "pluginConfig": [{"name": "PrioritySort", "args": {"a": number}}]}
                for name, number in (("a", 1), ("b", 2))
            ]
        },
        [("", 'initializing profiles: different queue sort plugin args for profile "b"')],
    ),
    "arguments of a queue's plugin that differ are shown as Go prints them": (
        HEAD
        | {
            "profiles": [
                {
                    "schedulerName": name,
                    "plugins": {"queueSort": {"enabled": [{"name": "InterPodAffinity"}], "disabled": [{"name": "*"}]}},
                    "pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": weight}}],
                }
                for name, weight in (("a", 1), ("b", 2))
            ]
        },
        [
            (
                "profiles[1].pluginConfig.args",
                'Invalid value: {"HardPodAffinityWeight":2,"IgnorePreferredTermsOfExistingPods":false}: '
                "queueSort must be the same for all profiles",
            )
        ],
    ),
    "a negative sum of weights cannot be checked for an overflow": (
        with_plugins(score={"enabled": [{"name": "ImageLocality", "weight": -1}]}),
        [
            (
                "",
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                "total score of Score plugins could overflow",
            )
        ],
    ),
    "an insecure extender has no root certificates": (
        HEAD | {"extenders": [{"urlPrefix": "https://x", "tlsConfig": {"insecure": True, "caData": "YQ=="}}]},
        [
            (
                "",
                "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed",
            )
        ],
    ),
    "a resource that only an extender handles is passed to a required plugin": (
        HEAD
        | {
            "profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "*"}]}}}],
            "extenders": [
                {"urlPrefix": "https://x", "managedResources": [{"name": "a.b/c", "ignoredByScheduler": True}]}
            ],
        },
        [("", "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config")],
    ),
    "extenders that Kubernetes accepts are refused, if nothing asks them": (
        HEAD | {"extenders": [{"urlPrefix": "http://x", "filterVerb": "filter"}]},
        [NO_EXTENDERS],
    ),
    "certificates are base64": (
        HEAD | {"extenders": [{"urlPrefix": "https://x", "tlsConfig": {"caData": "x"}}]},
        [("extenders[0].tlsConfig.caData", "illegal base64 data")],
    ),
    "null is not a duration": (
        HEAD | {"leaderElection": {"leaseDuration": None}},
        [("leaderElection.leaseDuration", 'time: invalid duration ""')],
    ),
    "null in a list of texts is an empty text": (
        with_args(
            "NodeAffinity",
            addedAffinity={
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": [None]}]}]
                }
            },
        ),
        [
            (
                "profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms[0].matchExpressions[0].values[0]",
                "Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer",
            )
        ],
    ),
    "a shape is required where the real scheduler would crash": (
        with_args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"}),
        [
            (
                "",
                "initializing profiles: creating profile for scheduler name default-scheduler: "
                'initializing plugin "NodeResourcesFit": scoringStrategy.requestedToCapacityRatio: Required value: '
                "the strategy RequestedToCapacityRatio needs a shape; the real scheduler crashes without one",
            )
        ],
    ),
}


@pytest.mark.parametrize(("source", "errors"), REFUSED.values(), ids=REFUSED)
def test_refusal(source: Any, errors: list[tuple[str, str]]) -> None:
    assert refused(source) == errors


TEXTS_REFUSED = {
    "an error of a text has the line of its field": (
        f"{HEAD_TEXT}profiles:\n- schedulerName: a\n  percentageOfNodesToScore: 200\n",
        [(5, 3, "profiles[0].percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]")],
    ),
    "an unknown field of a text has its line": (
        f"{HEAD_TEXT}backoff: 3\n",
        [(3, 1, 'backoff: unknown field "backoff"')],
    ),
    "extenders are refused at their line": (
        f"{HEAD_TEXT}parallelism: 3\nextenders:\n- urlPrefix: http://x\n",
        [(4, 1, ": ".join(NO_EXTENDERS))],
    ),
    "a repeated key is refused": (
        f"{HEAD_TEXT}parallelism: 3\nparallelism: 4\n",
        [(4, 1, 'parallelism: duplicate field "parallelism"')],
    ),
    "an empty text is refused": ("# nothing\n", [(0, 0, "the text is empty")]),
    "two documents are refused": (
        f"{HEAD_TEXT}---\n{HEAD_TEXT}",
        [(0, 0, "the text has 2 documents, not one")],
    ),
}


@pytest.mark.parametrize(("text", "errors"), TEXTS_REFUSED.values(), ids=TEXTS_REFUSED)
def test_refusal_of_a_text(text: str, errors: list[tuple[int, int, str]]) -> None:
    with pytest.raises(Rejected) as rejected:
        load_configuration(text)
    assert [(error.line, error.column, str(error)) for error in rejected.value.errors] == errors


def test_invalid_yaml_is_refused_with_its_line() -> None:
    with pytest.raises(Rejected) as rejected:
        load_configuration(f"{HEAD_TEXT}profiles: [\n")
    assert rejected.value.errors[0].line > 0


def test_yaml_and_json_texts_give_the_same_configuration() -> None:
    text = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "parallelism": 4}'
    assert load_configuration(text) == load_configuration(f"{HEAD_TEXT}parallelism: 4\n")


def test_an_empty_list_of_extenders_is_accepted() -> None:
    assert load_configuration(HEAD | {"extenders": []}).profiles == load_configuration(None).profiles


def test_loading_does_not_change_the_manifest() -> None:
    source = with_args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"})
    before = repr(source)
    load_configuration(source)
    assert repr(source) == before


DURATIONS = {
    "seconds stay seconds": ("15s", 15 * 10**9, "15s"),
    "ninety seconds become minutes": ("90s", 90 * 10**9, "1m30s"),
    "an hour keeps its zero minutes": ("1h", 3600 * 10**9, "1h0m0s"),
    "fractions are exact": ("1.5s", 1_500_000_000, "1.5s"),
    "milliseconds stay below a second": ("0.25s", 250_000_000, "250ms"),
    "microseconds have a Greek letter": ("1500ns", 1500, "1.5µs"),
    "a sign counts for all parts": ("-1m30s", -90 * 10**9, "-1m30s"),
    "a plain zero needs no unit": ("0", 0, "0s"),
}


@pytest.mark.parametrize(("text", "nanoseconds", "formatted"), DURATIONS.values(), ids=DURATIONS)
def test_duration(text: str, nanoseconds: int, formatted: str) -> None:
    assert parse_duration(text) == nanoseconds
    assert format_duration(nanoseconds) == formatted


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("x", 'time: invalid duration "x"', id="a word is not a duration"),
        pytest.param("", 'time: invalid duration ""', id="an empty text is not a duration"),
        pytest.param("5 s", 'time: unknown unit " s" in duration "5 s"', id="a blank is not allowed"),
        pytest.param("1h5", 'time: missing unit in duration "1h5"', id="every number needs a unit"),
        pytest.param("1" * 20 + "h", f'time: invalid duration "{"1" * 20}h"', id="twenty digits do not fit"),
        pytest.param("1" * 5000, f'time: missing unit in duration "{"1" * 1000}…"', id="many digits are parsed once"),
        pytest.param("12", 'time: missing unit in duration "12"', id="a number needs a unit"),
        pytest.param("9999999h", 'time: invalid duration "9999999h"', id="centuries do not fit"),
    ],
)
def test_wrong_duration(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match="duration") as raised:
        parse_duration(text)
    assert str(raised.value) == complaint
