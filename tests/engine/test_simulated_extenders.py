"""Simulated extenders: expressions answer in place of a server."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine import commands, effort
from scheduler_engine.answers.fix_phrases import none_found
from scheduler_engine.answers.fixes import fixes
from scheduler_engine.answers.looking import look, scratch
from scheduler_engine.config import load_configuration
from scheduler_engine.config.schema import SIMULATED
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.framework.extender_calls import ExtenderCalls
from scheduler_engine.plugins.expressions.extender import VERBS as EXPRESSION_OF
from scheduler_engine.plugins.expressions.points import LONGEST, most_cost
from scheduler_engine.replay import trace_digest
from scheduler_engine.scheduler.explaining import filter_facts, score_facts
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from scheduler_engine.wording import lines, sentence
from scheduler_engine.wording.entries import line
from tests.engine.cluster import node, pod
from tests.engine.simulated_extender import URL, answering, extended, extender
from tests.engine.test_expression_plugins import HEAVY

TOO_LATE = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"


def cluster(configuration: Any, *objects: Any, **options: Any) -> Cluster:
    """Return a cluster of three nodes; node a has a pod."""
    there = make_pod("there").node("a").cpu("1")
    return Cluster(configuration, **options).apply(*map(make_node, "abc"), there, *objects)


def calls_in(made: Cluster) -> list[ev.ExtenderAsked]:
    return [item.event for item in made.simulation.recorder.entries if isinstance(item.event, ev.ExtenderAsked)]


def message_of(made: Cluster, name: str = "web") -> str:
    return str(made.pod(name).conditions[-1]["message"])


# --- Filter -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kubernetes", VERSIONS)
@pytest.mark.parametrize("cached", [True, False])
def test_it_refuses_nodes_with_its_words(cached: bool, kubernetes: str) -> None:
    one = extender({"filter": "pods.size() < 1", "message": "the rack is full"}, nodeCacheCapable=cached)
    made = cluster(extended(one), make_pod("web"), kubernetes=kubernetes).run()
    attempt = made.attempts("web")[0]
    assert attempt.verdict("a") == ("Extender", "Unschedulable", ("the rack is full",))
    assert attempt.verdict("b") == ("", "Success", ())
    assert attempt.filter is not None
    assert attempt.filter.plugins[-1] == "Extender"
    assert made.node_of("web") in ("b", "c")
    assert line(calls_in(made)[0]) == f"Extender {URL} passes b, c; a: the rack is full"


@pytest.mark.parametrize(
    ("fields", "code", "text"),
    [
        ({}, "Unschedulable", 'failed expression: node.metadata.name == "b"'),
        ({"message": " no "}, "Unschedulable", "no"),
        ({"messageExpression": '"not " + node.metadata.name', "message": "no"}, "Unschedulable", "not a"),
        ({"messageExpression": "node.x", "message": "no"}, "Unschedulable", "no"),
        ({"unresolvable": True, "message": "no"}, "UnschedulableAndUnresolvable", "no"),
        ({"unresolvable": False, "message": "no"}, "Unschedulable", "no"),
    ],
)
def test_a_refusal_has_its_message_and_its_kind(fields: dict[str, Any], code: str, text: str) -> None:
    made = cluster(answering(filter='node.metadata.name ==  "b"', **fields), make_pod("web")).run()
    assert made.attempts("web")[0].verdict("a") == ("Extender", code, (text,))


def test_the_message_of_the_pod_counts_what_it_said_and_a_change_lets_the_pod_try_again() -> None:
    made = cluster(answering(filter='node.metadata.?labels.rack.orValue("") != ""', message="no rack"), make_pod("web"))
    made.run()
    assert message_of(made).startswith("0/3 nodes are available: 3 no rack. ")
    made.apply(make_node("b").label("rack", "r1")).run()
    assert made.node_of("web") == "b"


def test_it_is_asked_only_about_pods_with_its_resources() -> None:
    managed = [{"name": "example.com/fpga", "ignoredByScheduler": True}]
    one = extender({"filter": "false"}, managedResources=managed)
    made = cluster(extended(one), make_pod("web")).run()
    assert calls_in(made) == []
    [ran] = [attempt.filter for attempt in made.attempts("web")]
    assert ran is not None
    assert "Extender" not in ran.plugins
    made.apply(make_pod("fast").limit({"example.com/fpga": "1"})).run()
    assert made.node_of("fast") == ""
    assert calls_in(made)[0].pod == "default/fast"


# --- scores -----------------------------------------------------------------------------------------------------------


def test_points_are_score_times_weight_times_ten() -> None:
    made = cluster(answering(prioritize='node.metadata.name == "c" ? 10 : pods.size()'), make_pod("web")).run()
    scores = {name: [*made.attempts("web")[0].scores(name)[URL].items()] for name in "abc"}
    assert scores["a"] == [("raw", 1), ("normalized", 10), ("weighted", 20)]
    assert scores["b"] == [("raw", 0), ("normalized", 0), ("weighted", 0)]
    assert scores["c"] == [("raw", 10), ("normalized", 100), ("weighted", 200)]
    assert made.node_of("web") == "c"
    [asked] = calls_in(made)
    assert (asked.weight, asked.scores) == (2, (("a", 1, 20), ("b", 0, 0), ("c", 10, 200)))


@pytest.mark.parametrize("score", ["11", "-1"])
def test_a_score_out_of_range_is_an_error_that_adds_nothing(score: str) -> None:
    made = cluster(answering(prioritize=score), make_pod("web")).run()
    [asked] = calls_in(made)
    assert (asked.error, asked.ignored) == (f"the score is {score}, not in valid range [0, 10]", True)
    assert made.node_of("web")


# --- preemption -------------------------------------------------------------------------------------------------------


def full(simulated: dict[str, Any], **fields: Any) -> Cluster:
    """Return a cluster whose nodes are full with pods of low priority, and a pod that must preempt."""
    lows = [make_pod(f"low-{name}").node(name).cpu("4").label("team", name) for name in "abc"]
    nodes = [make_node(name).capacity(cpu="4") for name in "abc"]
    made = Cluster(extended(extender(simulated, **fields))).apply(*nodes, *lows)
    return made.apply(make_pod("web").cpu("1").priority(10)).run(1)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("expression", ['node.metadata.name == "b"', 'victims.all(v, v.metadata.labels.team == "b")'])
def test_it_keeps_candidates_of_preemption(expression: str, cached: bool) -> None:
    made = full({"preempt": expression}, nodeCacheCapable=cached)
    [asked] = calls_in(made)
    assert (asked.nodes, asked.remaining) == (("a", "b", "c"), ("b",))
    assert asked.victims == (("b", ("default/low-b",)),)


def test_it_may_leave_no_candidate() -> None:
    assert message_of(full({"preempt": "false"})).endswith("preemption: no candidate node for preemption")


# --- Bind -------------------------------------------------------------------------------------------------------------


def test_it_binds_in_place_of_the_plugins() -> None:
    made = cluster(answering(bind="requested.pods < 2 && pods.all(p, p.metadata.name != 'web')"), make_pod("web")).run()
    [asked] = calls_in(made)
    assert made.node_of("web") == asked.remaining[0]


def test_it_may_refuse_to_bind() -> None:
    made = cluster(answering(bind="podRequests.cpu >  1"), make_pod("web")).run()
    assert (made.node_of("web"), message_of(made)) == ("", "failed expression: podRequests.cpu > 1")
    made = cluster(extended(extender({"bind": "false"}, ignorable=True)), make_pod("web")).run()
    assert made.node_of("web")


# --- failures ---------------------------------------------------------------------------------------------------------

FAILURES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "its own words": ({"failure": "EOF"}, {"filterVerb": "filter"}, "EOF"),
    "too late by default": (
        {"filter": "true", "answersAfterSeconds": 5.1},
        {},
        f'Post "{URL}/filter": {TOO_LATE}',
    ),
    "too late as configured": (
        {"filter": "true", "answersAfterSeconds": 2},
        {"httpTimeout": "1500ms", "filterVerb": "v1/check"},
        f'Post "{URL}/v1/check": {TOO_LATE}',
    ),
    "an expression": (
        {"filter": "node.x"},
        {},
        "no such key: x (line 1, column 5 of node.x)",
    ),
}


@pytest.mark.parametrize(("simulated", "fields", "text"), FAILURES.values(), ids=FAILURES)
def test_a_call_that_fails(simulated: dict[str, Any], fields: dict[str, Any], text: str) -> None:
    made = cluster(extended(extender(simulated, **fields)), make_pod("web")).run()
    assert (made.node_of("web"), message_of(made)) == ("", text)
    made = cluster(extended(extender(simulated, ignorable=True, **fields)), make_pod("web")).run()
    assert made.node_of("web")
    assert (calls_in(made)[0].error, calls_in(made)[0].ignored) == (text, True)


def test_an_answer_in_time_takes_no_simulated_time() -> None:
    made = cluster(answering(filter="true", answersAfterSeconds=5), make_pod("web"))
    before = made.simulation.now_us
    made.run()
    assert made.node_of("web")
    assert made.simulation.now_us == before


# --- validation -------------------------------------------------------------------------------------------------------

FILTERS = {"filter": "true"}
WRONG: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "a real address": (FILTERS, {"urlPrefix": "http://x"}, "urlPrefix", "must be simulated:// and a name"),
    "no name": (FILTERS, {"urlPrefix": "simulated://"}, "urlPrefix", "must be simulated:// and a name"),
    "a name with a path": (FILTERS, {"urlPrefix": "simulated://a/b"}, "urlPrefix", "must be simulated:// and a name"),
    "no verb": ({}, {}, "", "one of filterVerb, prioritizeVerb, preemptVerb, bindVerb must be given"),
    "a filter without its verb": (
        FILTERS | {"bind": "true"},
        {"filterVerb": ""},
        "filterVerb",
        "simulated.filter needs filterVerb",
    ),
    "a verb without its expression": (
        FILTERS,
        {"bindVerb": "bind"},
        "simulated.bind",
        "bindVerb needs bind",
    ),
    "equal verbs": (
        FILTERS | {"bind": "true"},
        {"bindVerb": "filterVerb", "filterVerb": "filterVerb"},
        "bindVerb",
        "is the same",
    ),
    "a message without a filter": (
        {"bind": "true", "message": "x"},
        {},
        "simulated.filter",
        "message needs filter",
    ),
    "unresolvable without a filter": (
        {"bind": "true", "unresolvable": True},
        {},
        "simulated.filter",
        "unresolvable needs filter",
    ),
    "a message expression without a filter": (
        {"bind": "true", "messageExpression": '""'},
        {},
        "simulated.filter",
        "messageExpression needs filter",
    ),
    "a syntax error": ({"filter": "node.x +"}, {}, "simulated.filter", "<input>:1:9: Syntax error"),
    "an unknown variable": ({"filter": "nod.x"}, {}, "simulated.filter", "<input>:1:1: undeclared reference to 'nod'"),
    "victims in a filter": ({"filter": "victims.size() > 0"}, {}, "simulated.filter", "reference to 'victims'"),
    "a filter that returns a number": ({"filter": "1"}, {}, "simulated.filter", "must evaluate to bool"),
    "a score that is a fraction": ({"prioritize": "1.5"}, {}, "simulated.prioritize", "must evaluate to int"),
    "a candidate as a text": ({"preempt": "''"}, {}, "simulated.preempt", "must evaluate to bool"),
    "a binding as a number": ({"bind": "1"}, {}, "simulated.bind", "must evaluate to bool"),
    "a message that is a number": (
        FILTERS | {"messageExpression": "1"},
        {},
        "simulated.messageExpression",
        "must evaluate to string",
    ),
    "an empty expression": ({"filter": " "}, {}, "simulated.filter", "expression is not specified"),
    "a long expression": ({"bind": f'"{"x" * LONGEST}" != ""'}, {}, "simulated.bind", "Too long"),
    "a message of two lines": (FILTERS | {"message": "x\ny"}, {}, "simulated.message", "must not contain line breaks"),
    "a failure of two lines": (
        {"failure": "x\ny"},
        {"filterVerb": "f"},
        "simulated.failure",
        "must not contain line breaks",
    ),
    "an empty failure": ({"failure": ""}, {"filterVerb": "f"}, "simulated.failure", "Required value"),
    "half a character": ({"bind": "'\ud800' == ''"}, {}, "simulated.bind", "the text holds half of a pair"),
    "half a character in a failure": (
        {"failure": "\ud800"},
        {"filterVerb": "f"},
        "simulated.failure",
        "the text holds half of a pair",
    ),
    "a negative time": (FILTERS | {"answersAfterSeconds": -1}, {}, "simulated.answersAfterSeconds", "[0, 3600]"),
    "a long time": (FILTERS | {"answersAfterSeconds": 3601}, {}, "simulated.answersAfterSeconds", "[0, 3600]"),
    "a time in words": (
        FILTERS | {"answersAfterSeconds": "5s"},
        {},
        "simulated.answersAfterSeconds",
        "cannot unmarshal string into Go struct field",
    ),
    "an unknown field": (FILTERS | {"fliter": "1"}, {}, "simulated.fliter", "unknown field"),
}


@pytest.mark.parametrize(("simulated", "fields", "path", "text"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_at_its_field(
    simulated: dict[str, Any], fields: dict[str, Any], path: str, text: str
) -> None:
    with pytest.raises(Rejected) as refused:
        Cluster(extended(extender(simulated, **fields)))
    [error] = [error for error in refused.value.errors if text in str(error)]
    assert error.path == f"extenders[0].{path}".rstrip(".")


def test_an_error_in_a_text_has_its_line() -> None:
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders:\n"
        "- urlPrefix: simulated://a\n  filterVerb: f\n  simulated:\n    filter: node.x +\n"
    )
    with pytest.raises(Rejected) as refused:
        load_configuration(text)
    assert [(error.line, error.path) for error in refused.value.errors] == [(7, "extenders[0].simulated.filter")]


def test_each_has_its_own_address_and_there_are_at_most_ten() -> None:
    one = extender(FILTERS)
    with pytest.raises(Rejected, match="another simulated extender has this address"):
        Cluster(extended(one, one))
    Cluster(extended(*({**one, "urlPrefix": f"simulated://e{number}"} for number in range(10))))
    with pytest.raises(Rejected, match="there are 11 simulated extenders, more than 10"):
        Cluster(extended(*({**one, "urlPrefix": f"simulated://e{number}"} for number in range(11))))


def test_its_address_without_answers_is_refused_even_where_extenders_are_asked() -> None:
    real = {"urlPrefix": URL, "filterVerb": "filter"}
    with pytest.raises(Rejected, match=r"extenders\[0\].simulated: Required value"):
        Cluster(extended(real), extenders={URL: lambda *_: {"NodeNames": []}})


def test_a_real_extender_beside_it_is_still_refused() -> None:
    real = {"urlPrefix": "http://x", "filterVerb": "filter"}
    with pytest.raises(Rejected, match="this server asks no extenders"):
        Cluster(extended(extender(FILTERS), real))
    with pytest.raises(Rejected) as refused:
        Cluster(extended(extender(FILTERS), real), extenders={"http://y": lambda *_: None})
    assert [error.path for error in refused.value.errors] == ["extenders[1].urlPrefix"]
    made = Cluster(extended(extender({"filter": "true"}), real), extenders={"http://x": lambda *_: {}})
    assert made.simulation.scheduler.configuration.extenders


# --- what it costs ----------------------------------------------------------------------------------------------------

COSTLY = {
    "filter": HEAVY,
    "messageExpression": f"string({HEAVY})",
    "prioritize": f"{HEAVY} ? 1 : 2",
    "preempt": HEAVY,
    "bind": HEAVY,
}


@pytest.mark.parametrize("field", COSTLY)
def test_a_hostile_expression_ends_within_its_cost_and_is_an_error_of_the_extender(field: str) -> None:
    expressions = {"filter": "false"} if field == "messageExpression" else {}
    made = full({**expressions, field: COSTLY[field]}) if field == "preempt" else None
    made = made or cluster(answering(**expressions, **{field: COSTLY[field]}), make_pod("web")).run(1)
    asked = calls_in(made)[0]
    if field == "messageExpression":
        # The message of each node fails, and the default one counts.
        assert {text for _, _, text in asked.failed} == {"failed expression: false"}
        assert made.simulation.recorder.effort.cost == 3 * 2 * most_cost(3)
        return
    assert "operation cancelled: actual cost limit exceeded" in asked.error
    assert made.simulation.recorder.effort.cost == 2 * most_cost(3)


def test_a_command_may_cost_a_limited_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MOST_COST", 2000)
    heavy = "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, [1, 2, 3, 4, 5, 6, 7, 8, 9].all(y, x * y > 0))"
    made = cluster(answering(filter=heavy))
    with pytest.raises(OverBudget, match="expressions of plugins cost more than 2,000"):
        made.apply(*(make_pod(f"web-{number}") for number in range(9))).run()
    assert made.node_of("web-0") == ""


# --- one log, one trace -----------------------------------------------------------------------------------------------

ALL = {"filter": "pods.size() < 3", "prioritize": "pods.size()", "preempt": "true", "bind": "true"}


def test_copies_and_pickles_continue_alike_at_every_stage() -> None:
    made = cluster(answering(**ALL), *(make_pod(f"web-{number}") for number in range(3)))
    while any(not made.node_of(f"web-{number}") for number in range(3)):
        twins = [copy.deepcopy(made.simulation), pickle.loads(pickle.dumps(made.simulation))]
        made.execute({"kind": "stage"})
        for twin in twins:
            twin.execute(made.simulation.history.commands[-1])  # type: ignore[union-attr]
            assert trace_digest(twin) == trace_digest(made.simulation)


def test_a_step_back_and_another_way_forward_get_answers_of_the_new_present() -> None:
    """Answers of real extenders are kept for a replay. These must not be: nothing in the question shows the pods."""
    simulation = Simulation(configuration=answering(filter="pods.size() < 1"))
    simulation.execute(commands.Apply((node("n1"), node("n2"), pod("a"))))
    simulation.execute(commands.Run(1))
    before = simulation.as_of(0)
    before.execute(commands.Apply((node("n1"), node("n2"), pod("old", nodeName="n1"), pod("a"))))
    before.execute(commands.Run(1))
    bound = before.api.pod("default/a")
    assert bound is not None
    assert bound.node_name == "n2"
    assert before.extenders.answers == ExtenderCalls().answers == []


def test_lean_runs_decide_as_full_ones_and_cost_as_much() -> None:
    runs = []
    for is_full in (True, False):
        simulation = Simulation(configuration=answering(**ALL), full=is_full)
        nodes = [node(f"n{number}") for number in range(20)]
        simulation.execute(commands.Apply((*nodes, *(pod(f"web-{number}", cpu="500m") for number in range(30)))))
        simulation.execute(commands.Run(100))
        runs.append(([item.node_name for item in simulation.api.pods()], simulation.recorder.effort.cost))
    assert runs[0] == runs[1]
    assert runs[0][1] > 0


# --- why --------------------------------------------------------------------------------------------------------------


def test_an_explanation_names_the_extender_and_shows_values() -> None:
    other = extender({"filter": "true"}) | {"urlPrefix": "simulated://first"}
    configuration = extended(other, extender({"filter": "requested.cpu < 1000", "message": "the rack is full"}))
    made = cluster(configuration, make_pod("web")).run(1)
    scheduler, number = made.simulation.scheduler, made.attempts("web")[0].cycle
    facts = filter_facts(scheduler, number, "a", "Extender")
    assert facts is not None
    assert facts.status is not None
    assert facts.status.reasons == ("the rack is full",)
    assert sentence(facts) == "a is refused for web: the rack is full."
    assert [(shown.label, shown.formula) for shown in lines(facts)] == [
        ("Extender", URL),
        ("Expression", "requested.cpu < 1000"),
        ("requested.cpu", "1000"),
        ("Result", "false"),
    ]
    passing = filter_facts(scheduler, number, "b", "Extender")
    assert passing is not None
    assert passing.status is None


BROKEN = {
    "late": {"filter": 'node.metadata.name != "b"', "answersAfterSeconds": 6},
    "failing": {"filter": 'node.metadata.name == "c" ? node.x : node.metadata.name != "b"'},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_an_extender_whose_failure_is_ignored_explains_no_refusal(broken: dict[str, Any]) -> None:
    lazy = extender(broken, urlPrefix="simulated://lazy", ignorable=True)
    made = cluster(extended(lazy, extender({"filter": "pods.size() < 1"})), make_pod("web")).run(1)
    scheduler, number = made.simulation.scheduler, made.attempts("web")[0].cycle
    for node_name, passes in (("a", False), ("b", True)):
        facts = filter_facts(scheduler, number, node_name, "Extender")
        assert facts is not None
        assert (facts.status is None) == passes
        assert ("Extender", URL) in [(shown.label, shown.formula) for shown in lines(facts)]


def test_an_explanation_of_points_shows_their_product() -> None:
    made = cluster(answering(prioritize="pods.size() + 3"), make_pod("web")).run(1)
    scheduler, number = made.simulation.scheduler, made.attempts("web")[0].cycle
    facts = score_facts(scheduler, number, "a", URL)
    assert facts is not None
    assert (facts.raw, facts.normalized) == (4, 40)
    assert [(shown.label, shown.formula) for shown in lines(facts)][-2:] == [
        ("Result", "4"),
        ("Normalized", "4 × 10 = 40"),
    ]
    assert score_facts(scheduler, number, "a", "simulated://other") is None


def test_a_question_costs_nothing() -> None:
    made = cluster(answering(**ALL), make_pod("web")).run(1)
    before = made.simulation.recorder.effort.cost
    filter_facts(made.simulation.scheduler, made.attempts("web")[0].cycle, "a", "Extender")
    assert made.simulation.recorder.effort.cost == before > 0


# --- answers ----------------------------------------------------------------------------------------------------------


def test_looking_for_a_fix_counts_what_it_says() -> None:
    """The pod fits every filter of a plugin, so without the extender nothing would need to change."""
    made = cluster(answering(filter='node.metadata.name == "new"', message="no rack"), make_pod("web")).run()
    looked = look(scratch(made.simulation), made.pod("web"))
    assert looked is not None
    assert looked.feasible == ()
    assert looked.message.startswith("0/3 nodes are available: 3 no rack.")
    assert [one.fix for one in fixes(made.simulation, made.pod("web")) if one.fix] == []
    said = none_found(made.simulation, made.pod("web"), 4)
    assert said.startswith(f"No change is known. {URL} also decides where default/web may run")


def test_a_binding_belongs_to_its_own_cycle() -> None:
    made = cluster(answering(bind="true"), make_pod("first"), make_pod("second"))
    first = "default/first"
    while not any(binding.pod.name == "first" for binding in made.simulation.scheduler.bindings):
        made.execute({"kind": "stage"})
    made.run()
    assert {asked.pod: asked.cycle for asked in calls_in(made)} == {first: 1, "default/second": 2}


# --- docs/plugins.md --------------------------------------------------------------------------------------------------

DOCUMENT = Path(__file__).parents[2] / "docs" / "plugins.md"


def test_the_document_lists_all_fields_with_their_verbs() -> None:
    section = DOCUMENT.read_text().partition("### Simulated extenders")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| `?([\w ]+)`? \|", section, re.MULTILINE))
    verbs = {field: verb for verb, field in EXPRESSION_OF.items()}
    filters = dict.fromkeys(("message", "messageExpression", "unresolvable"), "filterVerb")
    assert rows == {**verbs, **filters, "failure": "any verb", "answersAfterSeconds": "any verb"}
    assert {*rows} == {*SIMULATED.fields}
