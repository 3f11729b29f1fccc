"""Plugins that a configuration declares by expressions."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import pytest

from scheduler_engine import commands, effort
from scheduler_engine.api.cel.running import Run
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.plugins.expressions.facts import MOST_OPERANDS
from scheduler_engine.plugins.expressions.points import LONGEST, most_cost
from scheduler_engine.plugins.pod_signature import signature
from scheduler_engine.replay import trace_digest
from scheduler_engine.scenario.attempts import Attempt
from scheduler_engine.scheduler.explaining import filter_facts, score_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.testing.builders import NodeBuilder
from scheduler_engine.versions import VERSIONS
from scheduler_engine.wording import lines, lines_of
from tests.engine.expression_plugin import NAME, declaring
from tests.engine.own_plugin import Quiet

PASSES = ("", "Success", ())


def nodes() -> list[NodeBuilder]:
    """Return nodes of 2, 8 and 4 CPUs; two have zones."""
    small, large, last = (make_node(name).capacity(cpu=cpu) for name, cpu in (("a", "2"), ("b", "8"), ("c", "4")))
    return [small.label("zone", "a"), large.label("zone", "b"), last]


NODES = nodes()
HEAVY = (
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    + ".map(x, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]" * 4
    + ".size() > 0"
    + ")" * 4
    + " == []"
)


def attempt_of(configuration: Any, *objects: Any, pod: Any = None, **options: Any) -> Attempt:
    """Return the first attempt of the pod ``web``."""
    cluster = Cluster(configuration, **options)
    cluster.apply(*(objects or NODES), pod or make_pod("web").cpu("1")).run(1)
    return cluster.attempts("web")[0]


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_it_filters_and_scores_beside_those_of_kubernetes(kubernetes: str) -> None:
    expressions = {
        "filter": "allocatable.cpu <= 4000",
        "message": "node is too large",
        "score": "allocatable.cpu / 100",
    }
    attempt = attempt_of(declaring(**expressions), kubernetes=kubernetes)
    assert attempt.verdict("b") == (NAME, "UnschedulableAndUnresolvable", ("node is too large",))
    assert attempt.scores("c")[NAME] == {"raw": 40, "normalized": 40, "weighted": 120}
    assert attempt.scores("a")[NAME] == {"raw": 20, "normalized": 20, "weighted": 60}


@pytest.mark.parametrize(
    ("expression", "passing"),
    [
        ('node.metadata.name == "a"', "a"),
        ('has(node.metadata.labels.zone) && node.metadata.labels["zone"] != "a"', "b"),
        ('!("zone" in node.metadata.?labels.orValue({}))', "c"),
        ("allocatable.cpu - requested.cpu >= podRequests.cpu * 7", "b"),
        ('quantity(node.status.allocatable["cpu"]).isLessThan(quantity("3"))', "a"),
        ("pods.exists(p, p.metadata.name == 'there')", "a"),
        ("requested.pods == 1 && requested.cpu == 500 && requested.memory == 1048576", "a"),
        ('allocatable["example.com/gpu"] == 2 && podRequests["example.com/gpu"] == 0', "c"),
        ("allocatable.pods == 7 && podRequests.pods == 1 && podRequests.memory == 0", "b"),
    ],
)
def test_a_filter_reads_pod_and_node(expression: str, passing: str) -> None:
    small, large, last = nodes()
    last.capacity({"example.com/gpu": "2"})
    there = make_pod("there").cpu("500m").memory("1Mi").node("a")
    attempt = attempt_of(declaring(filter=expression), small, large.capacity(pods="7"), last, there)
    assert [node for node in "abc" if attempt.verdict(node) == PASSES] == [passing]


def test_a_pod_that_pre_filter_refuses_is_tried_on_no_node() -> None:
    configuration = declaring(preFilter="'team' in pod.metadata.?labels.orValue({})", message="pod needs a team")
    attempt = attempt_of(configuration)
    assert attempt.verdict("") == (NAME, "UnschedulableAndUnresolvable", ("pod needs a team",))
    assert attempt.finished is not None
    assert attempt.finished.message.startswith("0/3 nodes are available: pod needs a team. ")
    assert attempt.finished.message.endswith("3 Preemption is not helpful for scheduling.")
    assert attempt_of(configuration, pod=make_pod("web").label("team", "x")).outcome == "bound"


def test_a_comment_swallows_nothing_of_a_failed_expression() -> None:
    text = 'podRequests.cpu // millicores, "not cores"\n  > 1000 || node.metadata.name == "// no comment"'
    verdict = attempt_of(declaring(filter=text)).verdict("a")
    assert verdict is not None
    assert verdict[2] == ('failed expression: podRequests.cpu > 1000 || node.metadata.name == "// no comment"',)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "failed expression: podRequests.cpu > 1000"),
        ({"message": "too few"}, "too few"),
        ({"message": "too few", "messageExpression": '"only " + string(podRequests.cpu)'}, "only 1000"),
        ({"message": "too few", "messageExpression": "pod.nothing"}, "too few"),
        ({"message": "too few", "messageExpression": '"  "'}, "too few"),
        ({"messageExpression": '"two\\nlines"'}, "failed expression: podRequests.cpu > 1000"),
    ],
    ids=["Without a message", "Message", "Expression", "Failing expression", "Empty", "Lines"],
)
def test_a_refusal_has_the_message_of_the_arguments(fields: dict[str, str], message: str) -> None:
    verdict = attempt_of(declaring(filter="podRequests.cpu >  1000", **fields)).verdict("a")
    assert verdict == (NAME, "UnschedulableAndUnresolvable", (message,))


def test_preemption_helps_where_the_expression_reads_pods() -> None:
    low = make_pod("low").node("a").priority(-1)
    for expression, node in (("pods.size() < 1", "a"), ('node.metadata.name == "b"', "")):
        cluster = Cluster(declaring(filter=expression)).apply(NODES[0], low, make_pod("web").priority(5)).run()
        assert cluster.node_of("web") == node


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"filter": 'node.metadata.labels.disk == "ssd"'},
            f'running "{NAME}" filter plugin: no such key: disk '
            '(line 1, column 21 of node.metadata.labels.disk == "ssd")',
        ),
        (
            {"filter": "true &&\n  [1].all(x, x / podRequests.memory == 1)"},
            "division by zero (line 2, column 16 of [1].all(x, x / podRequests.memory == 1))",
        ),
        ({"filter": "pod.metadata.name"}, "pod.metadata.name must return bool, not string"),
        ({"preFilter": "pod.x"}, f'running PreFilter plugin "{NAME}": no such key: x (line 1, column 4 of pod.x)'),
        (
            {"score": "podRequests.cpu / podRequests.memory"},
            f'running Score plugins: plugin "{NAME}" failed with: division by zero '
            "(line 1, column 17 of podRequests.cpu / podRequests.memory)",
        ),
        ({"score": "dyn(1.5)"}, "dyn(1.5) must return int, not double"),
        ({"score": "dyn(true)"}, "dyn(true) must return int, not bool"),
        ({"score": "101"}, f'plugin "{NAME}" returns an invalid score 101, it should in the range of [0, 100]'),
        ({"filter": HEAVY}, "operation cancelled: actual cost limit exceeded (line 1, column "),
    ],
    ids=["Key", "Line", "Text", "PreFilter", "Score", "Double", "Bool", "Range", "Cost"],
)
def test_an_error_ends_the_attempt_and_says_where_it_is(fields: dict[str, str], text: str) -> None:
    cluster = Cluster(declaring(**fields)).apply(*NODES, make_pod("web").cpu("1")).run(1)
    assert cluster.node_of("web") == ""
    assert text in cluster.explain("web")
    assert cluster.attempts("web")[0].outcome == "error"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"filter": "node.x +"},
            'filter: Invalid value: "node.x +": compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input',
        ),
        (
            {"filter": "true &&\n  nod.x"},
            "<input>:2:3: undeclared reference to 'nod' (in container '')\n |   nod.x\n | ..^",
        ),
        ({"preFilter": "node.x"}, 'preFilter: Invalid value: "node.x": compilation failed: ERROR: <input>:1:1: undecl'),
        ({"filter": 'requested.cpu == "1"'}, "found no matching overload for '_==_' applied to '(int, string)'"),
        ({"score": "1.5"}, 'score: Invalid value: "1.5": must evaluate to int'),
        ({"filter": "1"}, 'filter: Invalid value: "1": must evaluate to bool'),
        (
            {"filter": "true", "messageExpression": "1"},
            'messageExpression: Invalid value: "1": must evaluate to string',
        ),
        ({"filter": " "}, "filter: Required value: expression is not specified"),
        ({"filter": f'"{"x" * LONGEST}" != ""'}, f"filter: Too long: may not be more than {LONGEST} bytes"),
        ({}, "args: Required value: one of preFilter, filter, score, permit must be given"),
        ({"score": "1", "message": "x"}, "args.filter: Required value: message needs preFilter or permit or filter"),
        (
            {"preFilter": "true", "messageExpression": "''"},
            "args.filter: Required value: messageExpression needs permit or filter",
        ),
        ({"filter": "true", "message": "x\ny"}, 'message: Invalid value: "x\\ny": must not contain line breaks'),
        ({"filter": "true", "message": "x\ry"}, 'message: Invalid value: "x\\ry": must not contain line breaks'),
        ({"filter": "true", "message": " "}, 'message: Invalid value: " ": must be non-empty if specified'),
        ({"filter": "true", "message": "x" * 5121}, "message: Too long: may not be more than 5120 bytes"),
        ({"filter": "'\ud800' == ''"}, "filter: Invalid value: \"'?' == ''\": the text holds half of a pair"),
        ({"filter": "true", "message": "\ud800"}, 'message: Invalid value: "?": the text holds half of a pair'),
        ({"filtr": "true"}, 'unknown field "profiles[0].pluginConfig[0].args.filtr"'),
        ({"kind": "Filter"}, 'no kind "Filter" is registered for version "scheduler-sandbox/v1"'),
    ],
)
def test_wrong_arguments_are_refused_at_their_field_and_change_nothing(fields: dict[str, str], text: str) -> None:
    cluster = Cluster().apply(*NODES)
    before = trace_digest(cluster.simulation)
    with pytest.raises(Rejected) as refused:
        cluster.execute({"kind": "configure", "configuration": declaring(**fields)})
    assert f"profiles[0].pluginConfig[0].args.{text}" in str(refused.value) or text in str(refused.value)
    assert all(error.path.startswith("profiles[0].pluginConfig[0].args") for error in refused.value.errors)
    assert trace_digest(cluster.simulation) == before


@pytest.mark.parametrize("name", ["NodeName", "NodeDeclaredFeatures", "GangScheduling", "Extender", "Quiet", "a b"])
def test_it_needs_a_name_that_is_free(name: str) -> None:
    texts = {"Quiet": 'plugin "Quiet" already exists', "a b": "name part must consist of"}
    with pytest.raises(Rejected) as refused:
        Cluster(declaring(name, filter="true"), plugins=[Quiet])
    assert texts.get(name, "a plugin of this name already exists") in str(refused.value)


def test_a_configuration_has_a_limited_number() -> None:
    configuration = declaring(filter="true")
    [config] = configuration["profiles"][0]["pluginConfig"]
    configuration["profiles"][0]["pluginConfig"] = [{**config, "name": f"Own{number}"} for number in range(11)]
    configuration["profiles"][0]["plugins"] = {}
    with pytest.raises(Rejected, match="there are 11 plugins with expressions, more than 10"):
        Cluster(configuration)


def test_profiles_declare_plugins_of_one_name_apart() -> None:
    first, second = declaring(filter='node.metadata.name == "a"'), declaring(score="1")
    other = {**second["profiles"][0], "schedulerName": "other"}
    first["profiles"].append(other)
    cluster = Cluster(first).apply(*NODES, make_pod("web"), make_pod("more").scheduler("other")).run()
    assert cluster.attempts("web")[0].verdict("b") == (
        *(NAME, "UnschedulableAndUnresolvable"),
        ('failed expression: node.metadata.name == "a"',),
    )
    assert cluster.attempts("more")[0].scores("b")[NAME]["raw"] == 1


def test_it_does_nothing_until_a_profile_enables_it() -> None:
    configuration = declaring(filter="false")
    configuration["profiles"][0]["plugins"] = {}
    assert attempt_of(configuration).outcome == "bound"


def test_every_change_lets_a_refused_pod_try_again() -> None:
    cluster = Cluster(declaring(filter='node.metadata.labels.zone == "x"'))
    cluster.apply(*NODES[:1], make_pod("web")).run()
    assert cluster.node_of("web") == ""
    cluster.apply(make_node("a").label("zone", "x")).run()
    assert cluster.node_of("web") == "a"


def test_a_pod_has_no_signature() -> None:
    spread = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}
    for fields, has_one in (({}, True), ({"filter": "true"}, False), ({"score": "1"}, False)):
        configuration = declaring(**(fields or {"filter": "true"}))
        profile = configuration["profiles"][0]
        profile["pluginConfig"].append(spread)
        profile["plugins"] = profile["plugins"] if fields else {}
        cluster = Cluster(configuration, kubernetes="v1.35").apply(make_pod("web"))
        framework = cluster.simulation.scheduler.profiles["default-scheduler"]
        assert (signature(framework.points, cluster.pod("web")) is not None) == has_one


# --- what it costs ---


def test_an_evaluation_may_cost_less_in_a_large_cluster() -> None:
    assert [most_cost(nodes) for nodes in (0, 1, 10, 100, 1000, 5000)] == [100_000] * 3 + [10_000, 1000, 1000]


def test_a_command_may_cost_a_limited_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MOST_COST", 2000)
    heavy = "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(y, x * y > 0))"
    cluster = Cluster(declaring(filter=heavy)).apply(*NODES)
    before = trace_digest(cluster.simulation)
    with pytest.raises(OverBudget, match="expressions of plugins cost more than 2,000"):
        cluster.apply(*(make_pod(f"web-{number}") for number in range(9))).run()
    assert before != trace_digest(cluster.simulation)
    assert cluster.node_of("web-0") == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"filter": "false", "messageExpression": "'%s' + string(1 / 0)"},
        {"filter": "'%s' == '' || 1 / 0 > 0"},
        {"preFilter": "'%s' == '' || 1 / 0 > 0"},
        {"score": "'%s' == '' ? 1 : 1 / 0"},
    ],
    ids=["message", "filter", "preFilter", "score"],
)
def test_an_error_costs_what_both_evaluations_cost(fields: dict[str, str]) -> None:
    texts = {name: text.replace("'%s'", f"[1].map(x, '{'y' * 100}').join('')") for name, text in fields.items()}
    cluster = Cluster(declaring(**texts)).apply(*NODES[:1], *NODES[2:], make_pod("web")).run(1)
    assert cluster.simulation.recorder.effort.cost > 40


def test_an_evaluation_that_is_too_heavy_costs_its_limit_twice() -> None:
    cluster = Cluster(declaring(preFilter=HEAVY)).apply(*NODES, make_pod("web")).run(1)
    assert cluster.simulation.recorder.effort.cost == 2 * most_cost(len(NODES))


def test_a_question_costs_nothing_and_changes_nothing() -> None:
    cluster = Cluster(declaring(filter='node.metadata.name == "a"', score="1")).apply(*NODES, make_pod("web")).run(1)
    before = cluster.simulation.recorder.effort.cost, pickle.dumps(cluster.simulation.scheduler.snapshot)
    assert before[0] > 0
    cluster.explain("web")
    assert (cluster.simulation.recorder.effort.cost, pickle.dumps(cluster.simulation.scheduler.snapshot)) == before


# --- one log, one trace ---


def test_copies_and_pickles_continue_alike_at_every_stage() -> None:
    fields = {"preFilter": "true", "filter": "pods.size() < 2", "score": "10 - pods.size()"}
    cluster = Cluster(declaring(**fields)).apply(*NODES, *(make_pod(f"web-{number}") for number in range(3)))
    while any(not cluster.node_of(f"web-{number}") for number in range(3)):
        twins = [copy.deepcopy(cluster.simulation), pickle.loads(pickle.dumps(cluster.simulation))]
        cluster.execute({"kind": "stage"})
        for twin in twins:
            twin.execute(cluster.simulation.history.commands[-1])  # type: ignore[union-attr]
            assert trace_digest(twin) == trace_digest(cluster.simulation)
    assert sorted(cluster.node_of(f"web-{number}") for number in range(3)) == ["a", "b", "c"]


# --- why ---


def test_an_explanation_shows_the_expression_and_its_operands() -> None:
    expression = 'pods.filter(p, p.metadata.name != "x").size() < 1 && node.metadata.?labels.zone.orValue("") == "a"'
    cluster = Cluster(declaring(filter=expression))
    cluster.apply(NODES[0], make_pod("there").node("a"), make_pod("web")).run(1)
    told = " ".join(cluster.explain("web").split())
    for shown in (
        "The expression is false for web on a.",
        'pods.filter(p, p.metadata.name != "x").size() 1',
        'node.metadata.?labels.zone "a"',
        "Result false",
    ):
        assert shown in told


def test_an_explanation_of_a_score_shows_the_result() -> None:
    cluster = Cluster(declaring(score="allocatable.cpu / 100 - requested.cpu / 100")).apply(*NODES[:2], make_pod("web"))
    cluster.run(1)
    facts = score_facts(cluster.simulation.scheduler, cluster.attempts("web")[0].cycle, "a", NAME)
    assert facts is not None
    assert (facts.raw, facts.normalized) == (20, 20)
    shown = [(line.label, line.formula) for line in lines(facts)]
    assert shown == [
        ("Expression", "allocatable.cpu / 100 - requested.cpu / 100"),
        ("allocatable.cpu", "2000"),
        ("requested.cpu", "0"),
        ("Result", "20"),
        ("Normalized", "20"),
    ]


def test_an_explanation_shows_few_operands_and_short_values() -> None:
    many = " + ".join(f"pods.map(p, {number}).size()" for number in range(MOST_OPERANDS + 5))
    expression = f"node.metadata.annotations.long == '' || {many} == 1"
    node = make_node("a").annotation("long", "x" * 200)
    cluster = Cluster(declaring(filter=expression)).apply(node, make_pod("web")).run(1)
    facts = filter_facts(cluster.simulation.scheduler, cluster.attempts("web")[0].cycle, "a", NAME)
    assert facts is not None
    shown = [line.formula for line in lines_of(facts.of("expressions.operand"))]
    assert shown == [f'"{"x" * 78}…', *["0"] * (MOST_OPERANDS - 1)]


def test_the_operands_of_an_explanation_may_cost_as_much_as_one_evaluation() -> None:
    heavy = "[1, 2, 3, 4, 5, 6, 7, 8, 9].all({0}, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(y, {0} * y > 0))"
    expression = " || ".join(["pods.size() == 0", *(heavy.format(f"x{number}") for number in range(9))])
    cluster = Cluster(declaring(filter=expression)).apply(*NODES, make_pod("web")).run(1)
    costs = []
    spend = Run.spend
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler_engine.plugins.expressions.plugin.most_cost", lambda nodes: 1000)
        patch.setattr(Run, "spend", lambda run, cost: (costs.append(cost), spend(run, cost))[1])
        facts = filter_facts(cluster.simulation.scheduler, cluster.attempts("web")[0].cycle, "a", NAME)
    assert facts is not None
    shown = [line.formula for line in lines_of(facts.of("expressions.operand"))]
    assert shown[:2] == ["0", "true"]
    assert shown[-1] == "operation cancelled: actual cost limit exceeded"
    assert sum(costs) < 2500


def test_a_message_is_trimmed_and_short() -> None:
    assert attempt_of(declaring(filter="false", message=" not here ")).verdict("a")[2] == ("not here",)
    long = f"[1, 2, 3, 4, 5, 6].map(x, '{'y' * 1000}').join('')"
    for expression in (long, r"'a\rb'", r"'a\nb'", "' '"):
        fields = {"filter": "false", "message": "not here", "messageExpression": expression}
        assert attempt_of(declaring(**fields)).verdict("a")[2] == ("not here",)


def test_an_error_quotes_the_start_of_a_long_value() -> None:
    key = f"'{'y' * 9000}' + '{'z' * 900}'"
    cluster = Cluster(declaring(filter=f"{{'a': true}}[{key}]"))
    cluster.apply(*NODES, make_pod("web")).run(1)
    assert 300 < len(cluster.pod("web").conditions[-1]["message"]) < 600


# --- Permit ---

GANG = "waiting.size() >= 2"


def gang(*names: str, **fields: str | int) -> Cluster:
    """Return a cluster whose pods came to Permit one after the other."""
    cluster = Cluster(declaring(**{"permit": GANG, "permitTimeoutSeconds": 30} | fields)).apply(*NODES)
    for name in names:
        cluster.apply(make_pod(name)).settle()
    return cluster


def bound(cluster: Cluster, *names: str) -> list[str]:
    return [name for name in names if cluster.node_of(name)]


def test_pods_wait_on_permit_until_the_expression_is_true() -> None:
    cluster = gang("one", "two")
    assert bound(cluster, "one", "two") == []
    cluster.apply(make_pod("three")).settle()
    assert bound(cluster, "one", "two", "three") == ["one", "two", "three"]


def test_a_copy_knows_who_waits() -> None:
    cluster = gang("one", "two")
    for copied in (copy.deepcopy(cluster.simulation), pickle.loads(pickle.dumps(cluster.simulation))):
        cluster.simulation = copied
        cluster.apply(make_pod("three")).settle()
        assert bound(cluster, "one", "two", "three") == ["one", "two", "three"]


def test_a_waiting_pod_is_not_among_the_pods_of_its_node() -> None:
    cluster = gang("one", "two", permit="requested.cpu == 0 && pods.size() == 0 && waiting.size() > 0")
    assert bound(cluster, "one", "two") == ["one", "two"]


def test_a_waiting_pod_whose_node_is_gone_is_rejected_when_it_is_asked_again() -> None:
    cluster = gang("one", permit="node.metadata.name != '' && waiting.size() > 1")
    [place] = [binding.host for binding in cluster.simulation.scheduler.bindings]
    cluster.delete("Node", place).apply(make_pod("two")).settle()
    finished = cluster.attempts("one")[0].finished
    assert finished is not None
    assert f'nodeinfo not found for node name "{place}"' in finished.message
    assert bound(cluster, "one", "two") == []


def test_a_pod_waits_as_long_as_the_arguments_say() -> None:
    cluster = gang("one").advance(31)
    finished = cluster.attempts("one")[0].finished
    assert finished is not None
    assert f"rejected due to timeout after waiting 30s at plugin {NAME}" in finished.message


def test_a_permit_that_is_false_rejects_without_a_timeout() -> None:
    cluster = Cluster(declaring(permit="pod.metadata.name == 'one'", message="not now")).apply(*NODES)
    cluster.apply(make_pod("one"), make_pod("two")).run()
    assert bound(cluster, "one", "two") == ["one"]
    assert "not now" in cluster.explain("two")


def test_an_error_rejects_a_waiting_pod_and_ends_an_attempt() -> None:
    cluster = gang(
        "one", permit="waiting.size() > 0 && waiting[0].metadata.name == 'one' ? true : waiting.size() / 0 > 0"
    )
    assert f'running Permit plugin "{NAME}": division by zero' in cluster.explain("one")
    cluster = gang(
        "one", "two", permit="pod.metadata.name == 'two' || 1 / waiting.size() > 1 || 1 / (1 - waiting.size()) > 1"
    )
    assert bound(cluster, "one", "two") == ["two"]


def test_a_pod_that_waits_for_two_plugins_needs_both() -> None:
    configuration = declaring(permit="waiting.size() > 0", permitTimeoutSeconds=10)
    [profile] = configuration["profiles"]
    [config] = profile["pluginConfig"]
    other = {"name": "Other", "args": config["args"] | {"permit": "waiting.size() > 1", "permitTimeoutSeconds": 60}}
    profile["pluginConfig"].append(other)
    profile["plugins"]["multiPoint"]["enabled"].append({"name": "Other"})
    cluster = Cluster(configuration).apply(*NODES)
    for name in ("one", "two"):
        cluster.apply(make_pod(name)).settle()
    cluster.advance(20)
    assert bound(cluster, "one", "two") == []
    assert len(cluster.attempts("one")) == 1
    cluster.apply(make_pod("three")).settle()
    # The first plugin has allowed the two others: for it, nobody waits beside the third.
    assert bound(cluster, "one", "two", "three") == ["one", "two"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"permit": "true", "permitTimeoutSeconds": 901},
            "permitTimeoutSeconds: Invalid value: 901: not in valid range",
        ),
        ({"permit": "true", "permitTimeoutSeconds": 0}, "permitTimeoutSeconds: Invalid value: 0: not in valid range"),
        ({"filter": "true", "permitTimeoutSeconds": 9}, "permit: Required value: permitTimeoutSeconds needs permit"),
        ({"filter": "waiting.size() > 0"}, "undeclared reference to 'waiting'"),
    ],
)
def test_wrong_arguments_of_permit_are_refused(fields: dict[str, str | int], text: str) -> None:
    with pytest.raises(Rejected, match=re.escape(text)):
        Cluster(declaring(**fields))


def test_a_full_trace_costs_what_a_lean_one_costs() -> None:
    costs = []
    for full in (True, False):
        configuration = declaring(filter="pods.size() < 2", score="1")
        simulation = Simulation(configuration=configuration, full=full)
        pods = [make_pod(f"web-{number}").obj() for number in range(4)]
        for command in (
            commands.Apply((make_node("cordoned").cordoned().obj(), *(node.obj() for node in nodes()), *pods)),
            commands.Run(),
        ):
            simulation.execute(command)
        costs.append(simulation.recorder.effort.cost)
    assert costs[0] == costs[1] > 0
