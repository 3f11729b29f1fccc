"""Scheduling Policies: the plugin for each predicate and priority, implied plugins, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.config import load_configuration
from scheduler_engine.config.default_plugins import DEFAULT_PLUGINS
from scheduler_engine.config.policy import PREDICATES, PRIORITIES, Converted, convert_policy, read_policy
from scheduler_engine.config.policy.tables import ALWAYS
from scheduler_engine.errors import Rejected

HEAD: dict[str, Any] = {"apiVersion": "v1", "kind": "Policy"}
RATIO = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}], "resources": [{"name": "cpu"}]}


def converted(**fields: Any) -> Converted:
    return convert_policy(HEAD | fields)


def plugins(result: Converted, point: str) -> dict[str, int]:
    """Return the plugins in the order in which the scheduler runs them."""
    [profile] = load_configuration(result.configuration).profiles
    return dict(profile.plugins[point])


def args(result: Converted, plugin: str) -> Any:
    [profile] = load_configuration(result.configuration).profiles
    return profile.args[plugin]


def notices_of(result: Converted) -> str:
    return "\n".join(f"{notice.path}: {notice.text}" for notice in result.notices)


@pytest.mark.parametrize("predicate", PREDICATES, ids=lambda predicate: predicate.name)
def test_a_predicate_becomes_its_plugins_and_no_others_filter(predicate: Any) -> None:
    result = converted(predicates=[{"name": predicate.name}], priorities=[])
    always = {plugin for known in PREDICATES if known.always for plugin in known.plugins} | set(ALWAYS)
    assert set(plugins(result, "filter")) - always == set(predicate.plugins) - always
    assert set(predicate.plugins) <= set(plugins(result, "filter"))
    assert plugins(result, "score") == {}
    assert (f"{predicate.name}: " in notices_of(result)) == predicate.changed


@pytest.mark.parametrize("priority", [item for item in PRIORITIES if not item.argument], ids=lambda item: item.name)
def test_a_priority_becomes_its_plugin_with_its_weight(priority: Any) -> None:
    result = converted(predicates=[], priorities=[{"name": priority.name, "weight": 7}])
    assert plugins(result, "score") == ({priority.plugin: 7} if priority.plugin else {})
    assert (f"{priority.name}: " in notices_of(result)) == priority.changed
    if priority.strategy:
        assert args(result, "NodeResourcesFit")["scoringStrategy"]["type"] == priority.strategy


def test_without_lists_the_default_ones_ran() -> None:
    result = converted()
    assert plugins(result, "score") == {
        "NodeResourcesBalancedAllocation": 1,
        "PodTopologySpread": 2,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "TaintToleration": 1,
    }
    defaults = dict(load_configuration(None).profiles[0].plugins["filter"])
    assert set(plugins(result, "filter")) == set(defaults), "the default filters have not changed"
    assert plugins(result, "queueSort") == {"PrioritySort": 0}
    assert plugins(result, "bind") == {"DefaultBinder": 0}
    assert plugins(result, "reserve").keys() == {"VolumeBinding", "DynamicResources"}
    assert args(result, "PodTopologySpread")["defaultingType"] == "System"
    assert "The policy has no list of predicates" in notices_of(result)
    assert "NodePreferAvoidPodsPriority 10000" in notices_of(result)
    assert "the weight of EvenPodsSpreadPriority is kept: 2" in notices_of(result)


def test_null_is_not_a_list_and_an_empty_list_is_one() -> None:
    assert converted(predicates=None, priorities=None) == converted()
    result = converted(predicates=[], priorities=[])
    assert plugins(result, "filter").keys() == {"NodeUnschedulable", "TaintToleration", "DynamicResources"}
    assert plugins(result, "score") == plugins(result, "preScore") == {}
    assert "CheckNodeUnschedulable is not in the list. It ran with every policy" in notices_of(result)


def test_plugins_filter_in_the_order_of_v1_22_whatever_the_order_of_the_list() -> None:
    names = ["MatchInterPodAffinity", "NoDiskConflict", "GeneralPredicates"]
    result = converted(predicates=[{"name": name} for name in names])
    assert list(plugins(result, "filter")) == [
        *("NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions"),
        *("TaintToleration", "InterPodAffinity", "DynamicResources"),
    ]


@pytest.mark.parametrize(
    ("name", "plugin"),
    [("PodFitsPorts", "NodePorts"), ("PodFitsHost", "NodeName"), ("MaxCSIVolumeCount", "NodeVolumeLimits")],
)
def test_other_names_of_predicates_are_known(name: str, plugin: str) -> None:
    result = converted(predicates=[{"name": name}])
    assert plugin in plugins(result, "filter")
    assert ("The documentation had the name" in notices_of(result)) == (name != "PodFitsPorts")


@pytest.mark.parametrize("argument", ["labelsPresence", "serviceAffinity"])
def test_a_predicate_without_a_name_is_known_by_its_argument(argument: str) -> None:
    named, nameless = (
        converted(predicates=[{**name, "argument": {argument: {"labels": ["rack"]}}}]) for name in ({"name": "A"}, {})
    )
    assert nameless.configuration == named.configuration
    assert len(nameless.notices) == len(named.notices)


@pytest.mark.parametrize("argument", [item.argument for item in PRIORITIES if item.argument])
def test_a_priority_without_a_name_is_known_by_its_argument(argument: str) -> None:
    argument_value = RATIO if argument.startswith("requested") else {"label": "ssd"}
    named, nameless = (
        converted(priorities=[{**name, "weight": 2, "argument": {argument: argument_value}}])
        for name in ({"name": "A"}, {})
    )
    assert nameless.configuration == named.configuration
    assert len(nameless.notices) == len(named.notices)


def test_labels_that_every_node_must_have_are_added_to_node_affinity() -> None:
    here = {"labelsPresence": {"labels": ["zone", "example.com/rack"], "presence": True}}
    away = {"labelsPresence": {"labels": ["retiring"], "presence": False}}
    result = converted(predicates=[{"name": "Zoned", "argument": here}, {"name": "NotOld", "argument": away}])
    [term] = args(result, "NodeAffinity")["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert [(item["key"], item["operator"]) for item in term["matchExpressions"]] == [
        ("zone", "Exists"),
        ("example.com/rack", "Exists"),
        ("retiring", "DoesNotExist"),
    ]
    assert "NodeAffinity" in plugins(result, "filter")


def test_labels_that_are_preferred_become_preferred_terms_with_the_weight_of_all() -> None:
    items = [
        {"name": "Fast", "weight": 3, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
        {"name": "NotShared", "weight": 3, "argument": {"labelPreference": {"label": "shared"}}},
    ]
    result = converted(predicates=[], priorities=items)
    assert plugins(result, "score") == {"NodeAffinity": 6}
    terms = args(result, "NodeAffinity")["addedAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [item["preference"]["matchExpressions"][0]["operator"] for item in terms] == ["Exists", "DoesNotExist"]


def test_services_have_no_counterpart_which_is_reported() -> None:
    result = converted(
        predicates=[{"name": "Together", "argument": {"serviceAffinity": {"labels": ["rack"]}}}],
        priorities=[{"name": "Apart", "weight": 2, "argument": {"serviceAntiAffinity": {"label": "rack"}}}],
    )
    assert "predicates[0]: Together: The plugin ServiceAffinity is gone" in notices_of(result)
    assert "priorities[0]: Apart: " in notices_of(result)
    assert plugins(result, "score") == {}


def test_a_shape_becomes_a_scoring_strategy_and_the_heaviest_strategy_stays() -> None:
    packing = {"name": "Packing", "weight": 5, "argument": {"requestedToCapacityRatioArguments": RATIO}}
    for weight, kept in ((1, "RequestedToCapacityRatio"), (9, "LeastAllocated")):
        result = converted(priorities=[packing, {"name": "LeastRequestedPriority", "weight": weight}])
        strategy = args(result, "NodeResourcesFit")["scoringStrategy"]
        assert strategy["type"] == kept
        assert plugins(result, "score") == {"NodeResourcesFit": max(weight, 5)}
        assert "It can have only one strategy" in notices_of(result)


@pytest.mark.parametrize(
    ("own", "implied", "kind", "weight"),
    [(4, None, "List", 4), (None, 3, "System", 3), (2, 2, "System", 2), (2, 5, "System", 2)],
)
def test_selector_spread_is_the_built_in_default_constraints(own: Any, implied: Any, kind: str, weight: int) -> None:
    weights = {"EvenPodsSpreadPriority": own, "SelectorSpreadPriority": implied}
    result = converted(priorities=[{"name": name, "weight": value} for name, value in weights.items() if value])
    assert args(result, "PodTopologySpread")["defaultingType"] == kind
    assert plugins(result, "score") == {"PodTopologySpread": weight}
    assert ("As in v1.22, the weight of EvenPodsSpreadPriority is kept: 2" in notices_of(result)) == (implied == 5)


def test_the_weight_of_hard_affinity_counts_where_affinity_is_scored() -> None:
    hard = {"hardPodAffinitySymmetricWeight": 10}
    assert args(converted(**hard), "InterPodAffinity")["hardPodAffinityWeight"] == 10
    assert args(converted(), "InterPodAffinity")["hardPodAffinityWeight"] == 1
    assert "it had no effect" in notices_of(converted(priorities=[], **hard))


def test_extenders_and_their_resources_are_ignored() -> None:
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}, {"name": "example.com/nic"}]
    extender = {
        "urlPrefix": "http://127.0.0.1:8888/",
        "filterVerb": "filter",
        "httpTimeout": 100_000_000,
        "enableHttps": True,
    }
    result = converted(extenders=[extender | {"managedResources": managed}], alwaysCheckAllPredicates=True)
    assert "extenders" not in result.configuration
    assert args(result, "NodeResourcesFit")["ignoredResources"] == ["example.com/gpu"]
    assert "extenders[0]: Left out" in notices_of(result)
    assert "alwaysCheckAllPredicates: This no longer exists" in notices_of(result)


def test_a_repeated_name_counts_once() -> None:
    twice = [{"name": "NodeAffinityPriority", "weight": weight} for weight in (2, 6)]
    result = converted(predicates=[{"name": "HostName"}, {"name": "HostName"}], priorities=twice)
    assert plugins(result, "score") == {"NodeAffinity": 6}
    assert "NodeAffinityPriority appears twice" in notices_of(result)


def test_an_unknown_argument_of_a_predicate_is_ignored_and_reported() -> None:
    argument = {"labelsPresence": {"labels": ["zone"], "presence": True}}
    result = converted(predicates=[{"name": "NoDiskConflict", "argument": argument}])
    assert "predicates[0].argument: NoDiskConflict takes no argument" in notices_of(result)
    assert "NodeAffinity" not in plugins(result, "filter")


P = "kind: Policy\napiVersion: v1\n"
REFUSED: tuple[tuple[str, str, int, str], ...] = (
    ("[]", "", 1, "a Policy is a mapping of fields"),
    ("", "", 0, "the text is empty"),
    ("apiVersion: v1\nkind: Pod\n", "kind", 2, 'kind is "Pod"; a scheduling policy has kind Policy'),
    ("apiVersion: v1\n", "kind", 1, "Object 'Kind' is missing; a scheduling policy has kind Policy"),
    ("kind: Policy\napiVersion: v2\n", "apiVersion", 2, "a scheduling policy has apiVersion v1 or kubescheduler"),
    (P + "predicate: []\n", "predicate", 3, 'unknown field "predicate"'),
    (P + "predicates:\n- name: PodFitsAll\n", "predicates[0].name", 4, 'predicate type not found for "PodFitsAll"'),
    (
        P + "predicates:\n- argument: {}\n",
        "predicates[0].argument",
        4,
        "exactly 1 predicate argument is required, numArgs: 0",
    ),
    (P + "priorities:\n- name: Odd\n  weight: 1\n", "priorities[0].name", 4, 'priority type not found for "Odd"'),
    (
        P + "priorities:\n- {name: NodeLabel, weight: 1}\n",
        "priorities[0].name",
        4,
        'priority type not found for "NodeLabel"',
    ),
    (
        P + "priorities:\n- name: ImageLocalityPriority\n",
        "priorities[0].weight",
        4,
        "priority ImageLocalityPriority should have a positive weight applied to it or it has overflown",
    ),
    (
        P + "priorities:\n- name: ImageLocalityPriority\n  weight: 2147483648\n",
        "priorities[0].weight",
        5,
        "or it has overflown",
    ),
    (
        P + "priorities:\n- name: ImageLocalityPriority\n  weight: heavy\n",
        "priorities[0].weight",
        5,
        "json: cannot unmarshal string into Go struct field Policy.priorities.weight of type int64",
    ),
    (
        P + "hardPodAffinitySymmetricWeight: 101\n",
        "hardPodAffinitySymmetricWeight",
        3,
        "Invalid value: 101: not in valid range [0-100]",
    ),
    (
        P + "extenders:\n- {prioritizeVerb: score}\n",
        "extenders[0].weight",
        4,
        "must have a positive weight applied to it",
    ),
    (
        P + "predicates:\n- name: P\n  argument:\n    labelsPresence: {labels: [-a]}\n",
        "predicates[0].argument.labelsPresence.labels[0]",
        6,
        'Invalid value: "-a"',
    ),
    (
        P + "priorities:\n- name: P\n  weight: 1\n  argument:\n    labelPreference: {presence: true}\n",
        "priorities[0].argument.labelPreference.label",
        7,
        "Invalid value",
    ),
    (
        P + "priorities:\n- name: P\n  weight: 1\n  argument:\n    requestedToCapacityRatioArguments: {shape: []}\n",
        "priorities[0].argument.requestedToCapacityRatioArguments.shape",
        7,
        "at least one point must be specified",
    ),
    ("kind: Policy\nkind: Policy\napiVersion: v1\n", "kind", 2, 'duplicate field "kind"'),
)


@pytest.mark.parametrize(("text", "path", "line", "message"), REFUSED, ids=[row[3] for row in REFUSED])
def test_a_bad_policy_is_refused_at_its_field_and_line(text: str, path: str, line: int, message: str) -> None:
    with pytest.raises(Rejected) as refusal:
        read_policy(text)
    error = refusal.value.errors[0]
    assert (error.path, error.line) == (path, line), error
    assert message in error.message


def test_custom_priorities_of_one_kind_agree_on_their_weight_and_there_is_one_shape() -> None:
    label = {"labelPreference": {"label": "ssd", "presence": True}}
    ratio = {"requestedToCapacityRatioArguments": RATIO}
    items = [
        {"name": "A", "weight": 1, "argument": label},
        {"name": "B", "weight": 2, "argument": label},
        {"name": "C", "weight": 1, "argument": ratio},
        {"name": "D", "weight": 1, "argument": ratio},
    ]
    with pytest.raises(Rejected) as refusal:
        converted(priorities=items)
    assert [(error.path, error.message) for error in refusal.value.errors] == [
        ("priorities[1].weight", 'LabelPreference priority "B" has a different weight with "A"'),
        ("priorities[3]", 'priority "D" redeclares custom priority "RequestedToCapacityRatio", from: "C"'),
    ]


def test_a_policy_of_thousands_of_entries_is_refused() -> None:
    with pytest.raises(Rejected, match="Too many: must have at most 500 items"):
        converted(predicates=[{"name": "HostName"}] * 501)


def test_the_tables_name_plugins_of_today() -> None:
    today = {name for name, _ in DEFAULT_PLUGINS}
    named = (
        {plugin for item in PREDICATES for plugin in item.plugins} | {item.plugin for item in PRIORITIES} | {*ALWAYS}
    )
    assert named - {""} <= today
    assert today - named == set(), "every present plugin has a predecessor, or was always there"


def test_the_command_writes_the_configuration_and_prints_the_rest(tmp_path: Path, capsys: Any) -> None:
    policy, written = tmp_path / "policy.json", tmp_path / "scheduler.yaml"
    policy.write_text('{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "EqualPriority", "weight": 1}]}')
    assert main(["convert-policy", str(policy), "--to", str(written)]) == 0
    configuration = load_configuration(read_policy(policy.read_text()).configuration)
    assert load_configuration(written.read_text()).defaulted == configuration.defaulted
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{policy}:1: priorities[0]: EqualPriority: It gave every node the same" in shown.err
    assert main(["convert-policy", str(policy), "--quiet"]) == 0
    shown = capsys.readouterr()
    assert shown.out == written.read_text()
    assert shown.err == ""


def test_the_command_names_the_line_of_a_bad_policy(tmp_path: Path, capsys: Any) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(P + "predicates:\n- name: Nothing\n")
    assert main(["convert-policy", str(policy)]) == 2
    assert capsys.readouterr().err == f'{policy}:4:3: predicates[0].name: predicate type not found for "Nothing"\n'
    policy.write_bytes(b"\xff\xfe\x00")
    assert main(["convert-policy", str(policy)]) == 2
    assert "the text is not UTF-8" in capsys.readouterr().err
