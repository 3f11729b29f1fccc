"""Plugins of other authors: enabled as any other, seen as any other, and their errors are theirs."""

from __future__ import annotations

import copy
import pickle
import re
import tomllib
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from scheduler_engine import plugin_api
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.status import SUCCESS
from scheduler_engine.own_plugins import GROUP, IN_TREE, checked, plugin_at
from scheduler_engine.plugin_api import Code, Facts, PluginError, PreFilterResult, Status, error, unschedulable
from scheduler_engine.plugins.registry import OUT_OF_TREE, REGISTRY
from scheduler_engine.replay import trace_digest
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.scenario.why import refusal, scores_in_words
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from tests.engine.own_plugin import (
    KIND,
    Everywhere,
    Nameless,
    OneWay,
    Pointless,
    Quiet,
    QuietAgain,
    Static,
    Taken,
    Unfinished,
    profile,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "plugins.md"
NODES = (make_node("loud").label("loud", "yes"), make_node("quiet"))


def events(cluster: Cluster, kind: type[Any]) -> list[Any]:
    return [entry.event for entry in cluster.simulation.recorder.entries if isinstance(entry.event, kind)]


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_plugin_filters_and_scores_beside_those_of_kubernetes(kubernetes: str) -> None:
    cluster = Cluster(profile("Quiet"), plugins=[Quiet], kubernetes=kubernetes)
    cluster.apply(*NODES, make_node("also"), make_pod("web").cpu("1")).run()
    attempt = cluster.attempts("web")[-1]
    assert attempt.verdict("loud") == ("Quiet", "Unschedulable", ("node is loud",))
    assert attempt.scores("quiet")["Quiet"] == {"raw": 100, "normalized": 100, "weighted": 300}
    assert "Quiet: node is loud" in cluster.explain("web")


def test_without_a_configuration_a_cluster_enables_it_everywhere_with_weight_1() -> None:
    cluster = Cluster(plugins=[Quiet])
    cluster.apply(*NODES, make_node("also"), make_pod("web")).run()
    assert cluster.attempts("web")[-1].scores("quiet")["Quiet"]["weighted"] == 100
    [configured] = events(cluster, ev.Configured)
    points = {
        point
        for point, plugins in dict(configured.profiles)["default-scheduler"]
        for name, _ in plugins
        if name == "Quiet"
    }
    assert points == {"filter", "score"}


@pytest.mark.parametrize("configuration", [KIND, profile("", filter={})], ids=["Empty", "With other plugins"])
def test_a_plugin_that_no_profile_enables_does_nothing(configuration: Any) -> None:
    cluster = Cluster(configuration, plugins=[Quiet]).apply(*NODES[:1], make_pod("web")).run()
    assert cluster.node_of("web") == "loud"


def test_a_simulation_enables_nothing_that_its_configuration_does_not() -> None:
    assert trace_digest(Simulation(plugins=[Quiet])) == trace_digest(Simulation())


def test_it_can_be_enabled_at_one_point_only() -> None:
    cluster = Cluster(profile("Quiet", score={"enabled": [{"name": "Quiet"}]}), plugins=[Quiet])
    cluster.apply(NODES[0], make_pod("web")).run()
    assert cluster.node_of("web") == "loud"


def test_its_arguments_are_those_of_the_configuration() -> None:
    cluster = Cluster(profile("Quiet", {"label": "noisy"}), plugins=[Quiet])
    cluster.apply(*NODES[:1], make_node("n").label("noisy", "yes"), make_pod("web")).run()
    assert cluster.node_of("web") == "loud"


@pytest.mark.parametrize(
    ("configuration", "text"),
    [
        pytest.param(
            profile("Loud"),
            'creating profile for scheduler name default-scheduler: PreFilterPlugin "Loud" does not exist',
            id="A name that nobody has",
        ),
        pytest.param(
            profile("Quiet", permit={"enabled": [{"name": "Quiet"}]}),
            'plugin "Quiet" does not extend PermitPlugin plugin',
            id="A point without a method",
        ),
        pytest.param(
            profile("Quiet", {"label": ""}),
            'creating profile for scheduler name default-scheduler: initializing plugin "Quiet": '
            "ValueError: label must not be empty",
            id="Wrong arguments",
        ),
    ],
)
def test_a_wrong_configuration_is_refused_and_changes_nothing(configuration: Any, text: str) -> None:
    with pytest.raises(Rejected) as refused:
        Cluster(configuration, plugins=[Quiet])
    assert text in str(refused.value)
    cluster = Cluster(plugins=[Quiet]).apply(*NODES, make_pod("web"))
    before = trace_digest(cluster.simulation)
    with pytest.raises(Rejected) as refused:
        cluster.execute({"kind": "configure", "configuration": configuration})
    assert text in str(refused.value)
    assert trace_digest(cluster.simulation) == before
    assert cluster.run().node_of("web") == "quiet"


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        ([int], "int is not a plugin: a class derived from scheduler_engine.plugin_api.Plugin"),
        ([REGISTRY["NodeName"]], "NodeName is not a plugin: a class derived from scheduler_engine.plugin_api.Plugin"),
        ([Unfinished], "the plugin Unfinished lacks filter"),
        ([OneWay], "the plugin OneWay lacks unreserve"),
        ([Nameless], 'the plugin Nameless has no name: set its attribute "name"'),
        ([Taken], "Taken needs another name: a plugin named NodeAffinity already exists"),
        ([Static], "the plugin Static must define filter as an ordinary method: def name(self, …)"),
        ([Pointless], 'the plugin Pointless has no method of an extension point, such as "filter" or "score"'),
        ([Quiet, QuietAgain], "QuietAgain needs another name: a plugin named Quiet already exists"),
    ],
)
def test_what_is_not_a_plugin_is_refused(plugins: Any, text: str) -> None:
    for create in (Cluster, Simulation):
        with pytest.raises(Rejected) as refused:
            create(plugins=plugins)
        assert str(refused.value) == text


def test_names_of_every_version_are_taken_and_a_plugin_counts_once() -> None:
    assert {"NodeDeclaredFeatures", *REGISTRY, *OUT_OF_TREE} == IN_TREE
    assert checked([Quiet, Quiet]) == (Quiet,)


FAILURES = {
    "preFilter": 'running PreFilter plugin "Everywhere": {}',
    "filter": 'running "Everywhere" filter plugin: {}',
    "preScore": 'running PreScore plugin "Everywhere": {}',
    "score": 'running Score plugins: plugin "Everywhere" failed with: {}',
    "normalizeScore": 'running Normalize on Score plugins: plugin "Everywhere" failed with: {}',
    "reserve": 'running Reserve plugin "Everywhere": {}',
    "permit": 'running Permit plugin "Everywhere": {}',
    "preBind": 'running PreBind plugin "Everywhere": {}',
}


@pytest.mark.parametrize("point", FAILURES)
def test_an_exception_is_an_error_of_the_plugin(point: str) -> None:
    cluster = Cluster(profile("Everywhere", {"at": point}), plugins=[Everywhere])
    cluster.apply(*NODES, make_pod("web")).run(1)
    assert cluster.node_of("web") == ""
    assert FAILURES[point].format("ValueError: it broke") in cluster.explain("web")


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("preFilter", None),
        ("preFilter", (None, "no")),
        ("preFilter", (PreFilterResult("quiet"), None)),  # type: ignore[arg-type]
        ("filter", True),
        ("filter", Status(Code.UNSCHEDULABLE, "loud")),  # type: ignore[arg-type]
        ("filter", Status(Code.UNSCHEDULABLE, ["loud"])),  # type: ignore[arg-type]
        ("filter", unschedulable(5)),  # type: ignore[arg-type]
        ("filter", Status("Unschedulable", ("loud",))),  # type: ignore[arg-type]
        ("preScore", "Skip"),
        ("score", 1.5),
        ("score", True),
        ("normalizeScore", error("no")),
        ("reserve", False),
        ("permit", None),
        ("permit", ("Wait", 1)),
        ("preBind", 0),
    ],
)
def test_an_answer_of_a_wrong_type_is_an_error_of_the_plugin(point: str, answer: Any) -> None:
    cluster = Cluster(plugins=[type("Everywhere", (Everywhere,), {"__init__": answering(point, answer)})])
    cluster.apply(*NODES, make_pod("web")).run(1)
    assert cluster.node_of("web") == ""
    assert f"must not return {answer!r}" in cluster.explain("web")


class Silent:
    def __repr__(self) -> str:
        raise LookupError


async def later() -> None:
    """Return a coroutine, as an asynchronous method does."""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (unschedulable("\ud800"), r"reasons=('\ud800',)"),
        (object(), "<object object>"),
        (later(), "<coroutine object later>"),
        (Silent(), "Silent"),
    ],
    ids=["Half a character", "An object", "A coroutine", "An object without a text"],
)
def test_the_text_about_a_wrong_answer_is_the_same_in_each_run(answer: Any, text: str) -> None:
    cluster = Cluster(plugins=[type("Everywhere", (Everywhere,), {"__init__": answering("filter", answer)})])
    cluster.apply(*NODES, make_pod("web")).run(1)
    assert f'running "Everywhere" filter plugin: filter must not return {text}' in cluster.explain("web").replace(
        "Status(code=<Code.UNSCHEDULABLE: 'Unschedulable'>, ", ""
    )


def test_a_status_with_success_is_as_good_as_none() -> None:
    cluster = Cluster(plugins=[type("Everywhere", (Everywhere,), {"__init__": answering("filter", SUCCESS)})])
    assert cluster.apply(*NODES, make_pod("web")).run().node_of("web") != ""


@pytest.mark.parametrize("problem", [SystemExit(0), ValueError("\ud800")], ids=repr)
def test_a_plugin_cannot_end_the_run(problem: BaseException) -> None:
    def fail(*arguments: Any) -> None:
        raise problem

    cluster = Cluster(plugins=[type("Ending", (Quiet,), {"name": "Ending", "filter": fail})])
    cluster.apply(*NODES, make_pod("web")).run(1)
    text = f"{type(problem).__name__}: {problem}".replace("\ud800", r"\ud800")
    assert f'running "Ending" filter plugin: {text}' in cluster.explain("web")


def normalizing(change: Any) -> Cluster:
    cluster = Cluster(plugins=[type("Changing", (Nameless,), {"name": "Changing", "normalize_score": change})])
    return cluster.apply(*NODES, make_pod("web")).run(1)


@pytest.mark.parametrize("change", [{"elsewhere": 5}, {"loud": 1.5}, {"loud": "9"}, {"loud": True}], ids=repr)
def test_normalizing_leaves_a_whole_number_for_each_node(change: dict[str, Any]) -> None:
    cluster = normalizing(lambda self, state, pod, scores: scores.update(change))
    shown = {"loud": 0, "quiet": 0} | change
    assert f"normalize_score must leave a whole number for each node, not {shown}" in cluster.explain("web")


def test_normalizing_may_set_the_scores_in_any_order() -> None:
    def turn_around(self: Any, state: Any, pod: Any, scores: dict[str, int]) -> None:
        scores.clear()
        scores.update(quiet=9, loud=5)

    attempt = normalizing(turn_around).attempts("web")[-1]
    assert [attempt.scores(node)["Changing"]["normalized"] for node in ("loud", "quiet")] == [5, 9]


def test_what_replaces_a_method_later_is_guarded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Quiet, "filter", lambda self, *arguments: {}["zone"])
    cluster = Cluster(plugins=[Quiet]).apply(*NODES, make_pod("web")).run(1)
    assert "running \"Quiet\" filter plugin: KeyError: 'zone'" in cluster.explain("web")


class Slots:
    __slots__ = ("never_set", "set_once")

    def __init__(self) -> None:
        self.set_once = 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (object(), "<object object>"),
        (Fraction(1, 3), "_numerator 1, _denominator 3"),
        (timedelta(seconds=90), "0:01:30"),
        ({"c", "a", "b"}, "a, b, c"),
        (iter([1]), "<list_iterator object>"),
        (Slots(), "set_once 5"),
        ("\ud800", r"\ud800"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_trace_shows_what_a_plugin_keeps_and_changes_nothing(value: Any, text: str) -> None:
    def keep(self: Any, state: Any, pod: Any, nodes: Any) -> tuple[None, None]:
        state.write("kept", value)
        return None, None

    cluster = Cluster(plugins=[type("Keeping", (Everywhere,), {"name": "Keeping", "pre_filter": keep})])
    assert cluster.apply(*NODES, make_pod("web")).run().node_of("web") != ""
    [written] = [event for event in events(cluster, ev.CycleStateWritten) if "kept" in dict(event.values)]
    assert dict(written.values)["kept"] == text


def answering(point: str, answer: Any) -> Any:
    return lambda self, args, handle: Everywhere.__init__(self, {"at": point, "answer": answer}, handle)


def test_an_exception_in_pre_enqueue_gates_the_pod() -> None:
    cluster = Cluster(profile("Everywhere", {"at": "preEnqueue"}), plugins=[Everywhere])
    cluster.apply(*NODES, make_pod("web"))
    cluster.expect({"waits": "default/web", "in": "gated"})


def test_a_pod_is_bound_although_post_bind_fails_and_unreserve_fails_alone() -> None:
    cluster = Cluster(profile("Everywhere", {"at": "postBind"}), plugins=[Everywhere])
    assert cluster.apply(*NODES, make_pod("web")).run().node_of("web") != ""
    cluster = Cluster(profile("Everywhere", {"at": "permit", "unreserve": "fails"}), plugins=[Everywhere])
    cluster.apply(*NODES, make_pod("web")).run(1)
    undone = [event for event in events(cluster, ev.PluginsRan) if event.extension_point == "Unreserve"]
    assert ("Everywhere", "Error", ("ValueError: it stays reserved",)) in undone[0].verdicts


def test_a_pod_waits_for_permission_as_long_as_the_plugin_says() -> None:
    cluster = Cluster(profile("Everywhere", {"waits": True}), plugins=[Everywhere]).apply(*NODES, make_pod("web"))
    assert cluster.settle().node_of("web") == ""
    [wait] = events(cluster, ev.PermitWait)
    assert wait.waits == (("Everywhere", 5_000_000),)
    cluster.execute({"kind": "allow", "pod": "default/web"})
    assert cluster.settle().node_of("web") != ""


def test_its_hint_decides_if_a_change_lets_a_pod_try_again() -> None:
    cluster = Cluster(plugins=[Quiet]).apply(NODES[0], make_pod("web")).run()
    cluster.apply(make_node("loud-2").label("loud", "yes"))
    assert len(cluster.advance(5).attempts("web")) == 1
    cluster.apply(make_node("quiet"))
    assert cluster.advance(5).node_of("web") == "quiet"
    answers = [(event.plugin, event.verdict, event.why) for event in events(cluster, ev.HintAnswered)]
    assert ("Quiet", "QueueSkip", "the node is loud") in answers
    assert ("Quiet", "Queue", "the node is quiet") in answers


class BadHint(Quiet):
    name = "BadHint"

    def after_node_change(self, *arguments: Any) -> Any:
        raise LookupError("no such label")


def test_a_hint_that_fails_counts_as_queue() -> None:
    cluster = Cluster(plugins=[BadHint]).apply(NODES[0], make_pod("web")).run()
    cluster.apply(make_node("quiet"))
    assert cluster.advance(5).node_of("web") == "quiet"
    whys = [event.why for event in events(cluster, ev.HintAnswered)]
    assert "the hint failed: LookupError: no such label" in whys


def test_it_explains_itself() -> None:
    cluster = Cluster(plugins=[Quiet]).apply(*NODES, make_node("also"), make_pod("web")).run()
    simulation, attempt = cluster.simulation, cluster.attempts("web")[-1]
    assert refusal(simulation, attempt, "loud") == ["loud is too loud for web.", "  loud  yes  (it must not be yes)"]
    assert "Quiet: 0 pods are there." in [*scores_in_words(simulation, attempt, "quiet")]


def test_without_facts_the_recorded_answer_is_shown() -> None:
    cluster = Cluster(plugins=[Everywhere]).apply(*NODES, make_pod("web")).run()
    attempt = cluster.attempts("web")[-1]
    assert attempt.scores("quiet")["Everywhere"]["raw"] == 7
    assert not any("Everywhere" in text for text in scores_in_words(cluster.simulation, attempt, "quiet"))


class Wordless(Quiet):
    name = "Wordless"

    def explain_filter(self, state: Any, pod: Any, node_info: Any) -> Any:
        return {}[node_info.name]

    def explain_score(self, state: Any, pod: Any, node_info: Any, raw: Any) -> Any:
        return Facts("many words")  # type: ignore[arg-type]


def test_an_explanation_that_fails_says_so_and_the_status_stays() -> None:
    cluster = Cluster(plugins=[Wordless]).apply(*NODES, make_node("also"), make_pod("web")).run()
    simulation, attempt = cluster.simulation, cluster.attempts("web")[-1]
    line = Wordless.explain_filter.__wrapped__.__code__.co_firstlineno + 1
    failed = f"explain_filter failed: KeyError: 'loud' (test_own_plugins.py, line {line})"
    assert refusal(simulation, attempt, "loud") == [failed]
    assert attempt.verdict("loud") == ("Wordless", "Unschedulable", ("node is loud",))
    [score] = [text for text in scores_in_words(simulation, attempt, "quiet") if text.startswith("Wordless")]
    assert score.startswith("Wordless: explain_score must not return Facts(says='many words'")


def test_runs_copies_and_pickles_continue_alike() -> None:
    def play(cluster: Cluster) -> Cluster:
        return cluster.apply(*NODES, make_node("also"), *(make_pod(f"web-{number}").cpu("1") for number in range(5)))

    one, other = play(Cluster(plugins=[Quiet])).run(), play(Cluster(plugins=[Quiet])).run()
    assert trace_digest(one.simulation) == trace_digest(other.simulation)
    half = play(Cluster(plugins=[Quiet])).stage().stage().stage()
    twins = [copy.deepcopy(half.simulation), pickle.loads(pickle.dumps(half.simulation))]
    half.run()
    for twin in twins:
        continued = Cluster.__new__(Cluster)
        continued.simulation = twin
        assert trace_digest(continued.run().simulation) == trace_digest(half.simulation)
    past = half.simulation.as_of(len(RunView(half.simulation).attempts) + 5)
    assert past.plugins == (Quiet,)


def test_it_stays_enabled_under_another_version() -> None:
    cluster = Cluster(plugins=[Quiet]).apply(NODES[0], make_pod("web"))
    cluster.execute({"kind": "kubernetes", "version": "v1.36"}).run()
    assert cluster.attempts("web")[-1].verdict("loud") == ("Quiet", "Unschedulable", ("node is loud",))


def test_in_preemption_it_is_asked_as_any_filter() -> None:
    cluster = Cluster(plugins=[Quiet])
    cluster.apply(*(node.capacity(cpu="1") for node in (make_node("loud").label("loud", "yes"), make_node("quiet"))))
    cluster.apply(make_pod("low").cpu("1").priority(1)).run()
    cluster.apply(make_pod("high").cpu("1").priority(9)).run()
    assert cluster.pod("high").nominated_node_name == "quiet"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("quiet", "'quiet' does not name a plugin: write module:Class"),
        ("no_such_module:Quiet", "cannot load the plugin no_such_module:Quiet: ModuleNotFoundError: "),
        ("tests.engine.own_plugin:Loud", "has no attribute 'Loud'"),
        (
            "tests.engine.own_plugin:profile",
            "cannot load the plugin tests.engine.own_plugin:profile: profile is not a ",
        ),
        ("tests.engine.own_plugin:Unfinished", ": the plugin Unfinished lacks filter"),
    ],
)
def test_a_place_without_a_plugin_is_refused_in_one_line(place: str, text: str) -> None:
    with pytest.raises(Rejected) as refused:
        plugin_at(place)
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)
    assert plugin_at("tests.engine.own_plugin:Quiet") is Quiet


class Undecided(Quiet):
    name = "Undecided"

    def filter(self, state: Any, pod: Any, node_info: Any) -> Any:
        if node_info.name == "loud":
            raise PluginError("nobody knows")
        return error("nobody knows")


@pytest.mark.parametrize("node", ["loud", "quiet"])
def test_an_error_that_it_raises_or_returns_keeps_its_text(node: str) -> None:
    cluster = Cluster(plugins=[Undecided]).apply(make_node(node), make_pod("web")).run(1)
    assert 'error: running "Undecided" filter plugin: nobody knows' in cluster.explain("web")


def blocks(language: str) -> list[str]:
    """Return the code blocks of docs/plugins.md in this language, in order."""
    tokens = MarkdownIt("commonmark").parse(DOCUMENT.read_text())
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def test_the_document_names_each_base_class_with_its_methods() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (`\w+\(.*?) \|", DOCUMENT.read_text(), re.MULTILINE))
    bases = {name: getattr(plugin_api, name) for name in plugin_api.__all__ if name.endswith(("Plugin", "Extensions"))}
    methods = {name: {*base.__abstractmethods__} for name, base in bases.items() if base is not plugin_api.Plugin}
    assert {name: {*re.findall(r"`(\w+)\(", text)} for name, text in rows.items()} == methods


def test_the_configuration_and_the_entry_point_of_the_document_are_valid() -> None:
    [in_one_line, configuration, extended, coscheduling, group], [project] = blocks("yaml"), blocks("toml")
    cluster = (
        Cluster(yaml.safe_load(configuration), plugins=[Quiet]).apply(*NODES, make_node("c"), make_pod("web")).run()
    )
    assert cluster.attempts("web")[-1].scores("quiet")["Quiet"]["weighted"] == 200
    cluster = Cluster(yaml.safe_load(in_one_line)).apply(make_node("a").capacity(cpu="8"), make_pod("web")).run()
    verdict = cluster.attempts("web")[-1].verdict("a")
    assert verdict == ("OnlySmallNodes", "UnschedulableAndUnresolvable", ("node is too large",))
    there = make_pod("there").cpu("3").node("a")
    cluster = Cluster(yaml.safe_load(extended)).apply(make_node("a").capacity(cpu="4"), there, make_pod("web").cpu("1"))
    assert "0/1 nodes are available: 1 too little power." in cluster.run().explain("web")
    cluster = Cluster(yaml.safe_load(coscheduling)).apply(make_node("a"), group).run()
    assert "cannot find enough sibling pods" in cluster.explain("train-1")
    assert [*tomllib.loads(project)["project"]["entry-points"]] == [GROUP]
