"""Scenario files as tests: what is collected, reported on failure, rewritten and saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler_engine.scenario import FOLDER, load_scenario

SPREAD = """\
title: A web server goes where there is room
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {capacity: {cpu: "8", memory: 16Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: node-b}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - apiVersion: v1
    kind: Node
    metadata: {name: node-c}
    spec: {unschedulable: true}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}
- apply:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]}
then:
- run: {}
  expect:
  # The larger node has more room.
  - pod: default/web  # in words: the web server
    node: node-a
  - {verdict: default/web, node: node-c, plugin: NodeUnschedulable}
expect:
- {winner: default/web, node: node-a, margin: 12}
"""
WRONG = SPREAD.replace("    node: node-a\n", "    node: node-b\n").replace("margin: 12", "margin: 13")
NO_SCORES = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {score: {disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}}
"""


@pytest.fixture
def own(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a user's repository, with this plugin alone."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_PLUGINS", "scheduler_engine.pytest_plugin")
    return pytester


def write(own: pytest.Pytester, name: str, text: str) -> Path:
    path = own.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_of_the_name_are_tests_and_others_are_not(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", SPREAD)
    write(own, "deep/er/10-web.scenario.yaml", SPREAD)
    write(own, "deployment.yaml", "kind: Deployment\n")
    result = own.runpytest("--collect-only", "-q")
    result.stdout.fnmatch_lines(["deep/er/10-web.scenario.yaml::web", "web.scenario.yaml::web", "2 tests collected*"])
    own.runpytest().assert_outcomes(passed=2)


def test_the_pattern_of_scenario_files_is_a_setting(own: pytest.Pytester) -> None:
    write(own, "cases/web.yaml", SPREAD)
    write(own, "web.scenario.yaml", WRONG)
    own.makeini("[pytest]\nscenario_files = cases/*.yaml\n")
    own.runpytest().assert_outcomes(passed=1)


def test_a_failure_says_where_what_and_how_it_was_decided(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", WRONG)
    result = own.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "A web server goes where there is room: 2 expectations do not hold",
            "",
            "web.scenario.yaml:20:5: then[[]0].expect[[]0]",
            "  after     then[[]0]: run",
            "  expected  {pod: default/web, node: node-b}",
            "  found     default/web: expected node-b, is on node-a",
            "",
            "  attempt 1 at default/web: bound",
            "    node    total  NodeResourcesFit  NodeResourcesBalancedAllocation",
            "    node-a    *  <- chosen",
            "    node-b    *",
            "    node-c  NodeUnschedulable: node(s) were unschedulable",
            "    the same for all nodes: TaintToleration 300, ImageLocality 0",
            "",
            "web.scenario.yaml:24:3: expect[[]0]",
            "  after     everything",
            "  expected  {winner: default/web, node: node-a, margin: 13}",
            "  found     default/web: node-a leads by 12, expected 13",
            "FAILED web.scenario.yaml::web*",
        ],
        consecutive=False,
    )
    assert max(len(line) for line in result.outlines) <= 120
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title: x\nthen:\n- rnu: {}\n", "web.scenario.yaml:3:3: then[[]0]*rnu*run*"),
        ("title: [\n", "web.scenario.yaml:2:1: *"),
        ("", "web.scenario.yaml: the file is empty"),
        ("kind: Pod\n", "web.scenario.yaml:1:1: kind: this is a Pod*"),
    ],
)
def test_an_invalid_scenario_is_an_error_at_its_line(own: pytest.Pytester, text: str, message: str) -> None:
    write(own, "web.scenario.yaml", text)
    result = own.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()


def test_a_step_that_is_refused_is_a_failure_at_its_line(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", SPREAD.replace("- run: {}\n", "- cordon: {node: node-x}\n- run: {}\n"))
    result = own.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['web.scenario.yaml:17:3: then[[]0]: *"node-x" not found'])


def test_expectations_can_be_rewritten_and_the_rest_of_the_file_stays(own: pytest.Pytester) -> None:
    path = write(own, "web.scenario.yaml", WRONG)
    result = own.runpytest("--update-scenarios")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["*scenarios that were rewritten*", "web.scenario.yaml:20:5: then[[]0].expect[[]0]: *is on node-a"]
    )
    right = SPREAD.replace(
        "  - pod: default/web  # in words: the web server\n    node: node-a\n", "  - {pod: default/web, node: node-a}\n"
    )
    assert path.read_text() == right
    own.runpytest().assert_outcomes(passed=1)


def test_other_letters_and_line_ends_stay_where_they_are(own: pytest.Pytester) -> None:
    odd = "\N{BYTE ORDER MARK}# Größe 東京 \N{ROCKET}\n" + WRONG.replace("A web", "Ünïcode \N{ROCKET} web")
    path = write(own, "web.scenario.yaml", "")
    path.write_bytes(odd.replace("\n", "\r\n").encode())
    own.runpytest("--update-scenarios").assert_outcomes(passed=1)
    lines = path.read_bytes().decode().split("\r\n")
    assert "\n" not in "".join(lines)
    assert [line for line in lines if line not in odd.split("\n")] == [
        "  - {pod: default/web, node: node-a}",
        "- {winner: default/web, node: node-a, margin: 12}",
    ]


def test_a_shared_anchor_is_not_rewritten_for_all(own: pytest.Pytester) -> None:
    text = WRONG.replace(
        "  - pod: default/web  # in words: the web server\n    node: node-b\n",
        "  - &wish {pod: default/web, node: node-b}\n",
    )
    path = write(own, "web.scenario.yaml", f"{text}- *wish\n")
    before = path.read_text()
    own.runpytest("--update-scenarios").assert_outcomes(failed=1)
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("{pod: default/web, pending: true}", {"pod": "default/web", "node": "node-a"}),
        ("{pod: default/web, nodes: [node-b, node-c]}", {"pod": "default/web", "node": "node-a"}),
        ("{gone: default/web}", {"pod": "default/web", "node": "node-a"}),
        ("{pod: default/none, node: node-a}", {"gone": "default/none"}),
        ("{pod: default/web, phase: Failed}", {"pod": "default/web", "phase": "Running"}),
        (
            "{verdict: default/web, node: node-b, plugin: NodePorts}",
            {"verdict": "default/web", "node": "node-b", "passes": True},
        ),
        ("{winner: default/web, node: node-b}", {"winner": "default/web", "node": "node-a"}),
        ("{clock: 7}", {"clock": 0}),
    ],
)  # fmt: skip
def test_a_rewritten_expectation_states_the_same_facts(own: pytest.Pytester, wrong: str, right: object) -> None:
    path = write(own, "web.scenario.yaml", SPREAD.partition("expect:\n- {winner")[0] + f"expect:\n- {wrong}\n")
    own.runpytest("--update-scenarios").assert_outcomes(passed=1)
    assert load_scenario(path).expect == (right,)


@pytest.mark.parametrize(
    "wrong", ["{count: {selector: {a: b}, per: zone, equals: {z: 3}}}", "{pod: default/web, message: x}"]
)
def test_an_expectation_that_only_a_person_can_fix_still_fails(own: pytest.Pytester, wrong: str) -> None:
    path = write(own, "web.scenario.yaml", f"{SPREAD}- {wrong}\n")
    before = path.read_text()
    own.runpytest("--update-scenarios").assert_outcomes(failed=1)
    assert path.read_text() == before


def test_traces_are_kept(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", WRONG)
    own.runpytest("--scenario-trace", "kept/traces").assert_outcomes(failed=1)
    lines = (own.path / "kept/traces/web.scenario.yaml.jsonl").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [*range(1, len(lines) + 1)]


def test_each_scenario_runs_under_each_configuration(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", SPREAD)
    for name in ("plain", "bare"):
        text = NO_SCORES if name == "bare" else NO_SCORES.partition("profiles")[0]
        write(own, f"{name}.yaml", text)
    result = own.runpytest("-v", "--scheduler-config", "plain.yaml", "--scheduler-config", "bare.yaml")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*::web[[]plain] PASSED*", "*::web[[]bare] FAILED*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scheduler-config", "none.yaml"), "ERROR: none.yaml: No such file or directory"),
        (("--scheduler-config", "bad.yaml"), "ERROR: bad.yaml:3:1: *profilse*"),
        (("--scheduler-config", "a.yaml", "--scheduler-config", "deep/a.yaml"), "ERROR: *have the same name: a"),
        (("--scheduler-config", "a.yaml", "--update-scenarios"), "ERROR: *leave out --scheduler-config"),
    ],
)
def test_contradictory_options_are_refused(own: pytest.Pytester, options: tuple[str, ...], message: str) -> None:
    write(own, "web.scenario.yaml", SPREAD)
    for name in ("a.yaml", "deep/a.yaml"):
        write(own, name, NO_SCORES)
    write(own, "bad.yaml", NO_SCORES.replace("profiles", "profilse"))
    result = own.runpytest(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_failure_that_names_a_node_says_what_refused_it(own: pytest.Pytester) -> None:
    text = SPREAD.replace('requests: {cpu: "1"}', 'requests: {cpu: "6"}').replace(
        "    node: node-a\n", "    node: node-b\n"
    )
    write(own, "web.scenario.yaml", text)
    own.runpytest().stdout.fnmatch_lines(
        [
            "  found     default/web: expected node-b, is on node-a",
            "    node-b is too small: web requests more cpu than the whole node has.",
            "      cpu   0m used + 6000m requested = 6000m > 4000m allocatable  (2000m too much;*",
        ]
    )


PREEMPTS = """\
title: A pod of high priority makes room
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: one}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
  - apiVersion: v1
    kind: Pod
    metadata: {name: large}
    spec: {nodeName: one, containers: [{name: main, image: x, resources: {requests: {cpu: "3"}}}]}
  - apiVersion: v1
    kind: Pod
    metadata: {name: vip}
    spec: {priorityClassName: high, containers: [{name: main, image: x, resources: {requests: {cpu: "2"}}}]}
then:
- run: {}
- advance: {seconds: 60}
expect:
- {victims: default/vip, are: []}
"""


def test_a_failure_about_victims_shows_the_dry_run(own: pytest.Pytester) -> None:
    write(own, "vip.scenario.yaml", PREEMPTS)
    own.runpytest().stdout.fnmatch_lines(
        [
            "  attempt 1 at default/vip: nominated*",
            "    one is a candidate: without large, vip fits.",
            "      large does not fit beside vip, so it is a victim. one does not have enough cpu left for vip.",
            "        cpu   3000m used + 2000m requested = 5000m > 4000m allocatable  (1000m too much)",
        ]
    )


def test_a_cluster_can_be_driven_in_python(own: pytest.Pytester) -> None:
    own.makepyfile(
        """
        import pytest
        from scheduler_engine.errors import Rejected
        from scheduler_engine.testing import make_node, make_pod

        def test_a_pod_waits_for_room(cluster):
            cluster.apply(make_node("small").capacity(cpu="1"), make_pod("web").cpu("2")).run()
            assert cluster.node_of("web") == ""
            assert "NodeResourcesFit: Insufficient cpu" in cluster.explain("web")
            capacity = "{capacity: {cpu: 8, pods: 9}}"
            cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: large}, status: " + capacity + "}")
            cluster.advance(10)
            assert cluster.node_of("web") == "large"
            assert [attempt.outcome for attempt in cluster.attempts("default/web")] == ["unschedulable", "bound"]
            cluster.expect({"pod": "default/web", "node": "large"})
            with pytest.raises(AssertionError, match="expected small, is on large"):
                cluster.expect({"pod": "default/web", "node": "small"})

        def test_stage_by_stage(cluster):
            cluster.apply(make_node("a"), make_node("b"), make_pod("web"))
            cluster.step_until(lambda cluster: cluster.attempts("web") and cluster.attempts("web")[0].totals)
            assert cluster.node_of("web") == ""
            with pytest.raises(AssertionError, match="it never holds"):
                cluster.step_until(lambda cluster: cluster.seconds > 1)
            with pytest.raises(Rejected, match='pods "none" not found'):
                cluster.delete("Pod", "none")
            with pytest.raises(KeyError):
                cluster.pod("none")
        """
    )
    own.runpytest().assert_outcomes(passed=2)


def test_the_scenarios_of_this_installation_are_collected_here(request: pytest.FixtureRequest) -> None:
    patterns = request.config.getini("scenario_files")
    assert all(any(path.match(pattern) for pattern in patterns) for path in FOLDER.glob("*.yaml"))
    assert "fixtures/scenarios" in request.config.getini("testpaths")


TAINTED = SPREAD.replace(
    "    spec: {unschedulable: true}\n", "    spec: {taints: [{key: a, value: b, effect: NoSchedule}]}\n"
).replace("plugin: NodeUnschedulable}", 'plugin: TaintToleration, reasons: ["node(s) had untolerated taint {a: b}"]}')
CLUSTER = """
def test_the_cluster_has_the_version(cluster):
    rules = cluster.simulation.rules
    print("rules", rules.kubernetes, rules.feature_gates)
"""


@pytest.mark.parametrize(("version", "outcome"), [("1.34", "passed"), ("v1.35", "failed"), ("1.36.2", "failed")])
def test_scenarios_run_under_another_version(own: pytest.Pytester, version: str, outcome: str) -> None:
    write(own, "web.scenario.yaml", TAINTED.replace("margin: 12", "how: highest"))
    own.runpytest("--kubernetes", version).assert_outcomes(**{outcome: 1})


def test_the_fixture_follows_the_version(own: pytest.Pytester) -> None:
    write(own, "test_own.py", CLUSTER)
    result = own.runpytest("-s", "--kubernetes", "1.36", "--feature-gates", "OpportunisticBatching=false")
    result.stdout.fnmatch_lines(
        ["*scenarios under Kubernetes v1.36.2*", "*rules v1.36 (('OpportunisticBatching', False),)*"]
    )
    own.runpytest("-s").stdout.fnmatch_lines(["*rules v1.34 ()*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kubernetes", "1.33"), "ERROR: unknown Kubernetes version '1.33'; known are v1.34 or v1.35 or v1.36"),
        (("--feature-gates", "A"), "ERROR: missing bool value for A"),
        (("--kubernetes", "1.36", "--feature-gates", "A=true"), "ERROR: unrecognized feature gate: A"),
        (("--kubernetes", "1.36", "--update-scenarios"), "ERROR: *leave out --kubernetes"),
    ],
)
def test_wrong_versions_are_errors_of_the_options(own: pytest.Pytester, options: tuple[str, ...], message: str) -> None:
    write(own, "web.scenario.yaml", SPREAD)
    result = own.runpytest(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_configuration_of_a_later_version_is_read_by_its_rules(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", "kubernetes: v1.36\n" + SPREAD.replace("margin: 12", "how: highest"))
    args = "{name: DynamicResources, args: {bindingTimeout: 20s}}"
    write(own, "slow.yaml", NO_SCORES.partition("profiles")[0] + f"profiles:\n- pluginConfig: [{args}]\n")
    own.runpytest("--scheduler-config", "slow.yaml").assert_outcomes(passed=1)
    result = own.runpytest("--scheduler-config", "slow.yaml", "--kubernetes", "1.34")
    result.stderr.fnmatch_lines(["ERROR: *bindingTimeout*"])


def test_a_scenario_that_expects_nothing_is_named_in_the_report(own: pytest.Pytester) -> None:
    write(own, "empty.scenario.yaml", SPREAD[: SPREAD.index("  expect:")])
    write(own, "full.scenario.yaml", SPREAD)
    result = own.runpytest("-q")
    result.assert_outcomes(passed=2)
    text = result.stdout.str()
    assert "scenarios that expect nothing" in text
    assert "empty.scenario.yaml:1:1" in text
    assert "full.scenario.yaml" not in text


def test_update_has_the_name_of_the_other_options_too(own: pytest.Pytester) -> None:
    path = write(own, "wrong.scenario.yaml", WRONG)
    own.runpytest("--scenario-update").assert_outcomes(passed=1)
    assert path.read_text().endswith("- {winner: default/web, node: node-a, margin: 12}\n")


SHY = """\
from scheduler_engine.plugin_api import FilterPlugin, unschedulable

class Shy(FilterPlugin):
    name = "Shy"

    def filter(self, state, pod, node_info):
        return unschedulable("node is shy") if node_info.name == "node-a" else None
"""
IN_PYTHON = """\
from scheduler_engine.testing import make_node, make_pod

def test_shy(cluster):
    cluster.apply(make_node("node-a"), make_pod("web")).run()
    assert "Shy: node is shy" in cluster.explain("web")
"""
SETTING = "[pytest]\npythonpath = .\nscheduler_plugins = shy:Shy\n"


def with_shy(own: pytest.Pytester) -> None:
    """Write a plugin, and tests that fail without it."""
    write(own, "shy.py", SHY)
    write(own, "test_shy.py", IN_PYTHON)
    write(own, "web.scenario.yaml", SPREAD.replace("node: node-a\n", "node: node-b\n").split("expect:\n- {winner")[0])


def test_a_setting_and_an_option_name_plugins(own: pytest.Pytester) -> None:
    with_shy(own)
    own.runpytest("-o", "pythonpath=.").assert_outcomes(failed=2)
    own.runpytest("-o", "pythonpath=.", "--scheduler-plugin", "shy:Shy").assert_outcomes(passed=2)
    own.makeini(SETTING)
    own.runpytest().assert_outcomes(passed=2)
    result = own.runpytest("--scheduler-plugin", "shy:Shy")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["scheduler plugins: Shy"])


def test_a_configuration_for_every_scenario_may_name_a_plugin(own: pytest.Pytester) -> None:
    with_shy(own)
    own.makeini(SETTING)
    shy = "profiles: [{plugins: {multiPoint: {enabled: [{name: Shy}]}}}]\n"
    write(own, "shy.yaml", NO_SCORES.split("profiles")[0] + shy)
    own.runpytest("--scheduler-config", "shy.yaml", "web.scenario.yaml").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("shy:Bold", "cannot load the plugin shy:Bold: AttributeError: module 'shy' has no attribute 'Bold'"),
        ("bold:Shy", "cannot load the plugin bold:Shy: ModuleNotFoundError: No module named 'bold'"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_an_error_of_usage(own: pytest.Pytester, place: str, text: str) -> None:
    with_shy(own)
    result = own.runpytest("-o", "pythonpath=.", "--scheduler-plugin", place)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {text}"])
