"""Settings of a folder, options for the fixture ``cluster``, markers, and where traces are saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_engine.pytest_plugin.variants import NAMES
from scheduler_engine.scenario import ASSERTIONS
from scheduler_engine.scenario.facts import STRICTNESS
from tests.engine.pytest_plugin.test_scenario_files import NO_SCORES, SETTING, SHY, SPREAD, WRONG, own, write

__all__ = ["own"]

PLAIN = NO_SCORES.partition("profiles")[0]
IN_PYTHON = """\
from scheduler_engine.testing import make_node, make_pod

def test_where(cluster):
    cluster.apply(make_node("small"), make_node("large").capacity(cpu="64"), make_pod("web").cpu("1")).run()
    print("totals", cluster.simulation.rules.kubernetes, sorted(cluster.attempts("web")[0].totals.items()))
"""
CONFTEST = """\
from scheduler_engine.testing import SchedulerSettings

def pytest_scheduler_settings():
    return SchedulerSettings({})
"""


def files(own: pytest.Pytester, settings: str, folder: str = "cases") -> None:
    """Write a scenario, a test, two configurations, and the settings of a folder."""
    write(own, f"{folder}/conftest.py", CONFTEST.format(settings))
    write(own, f"{folder}/web.scenario.yaml", SPREAD)
    write(own, f"{folder}/test_where.py", IN_PYTHON)
    write(own, "plain.yaml", PLAIN)
    write(own, "bare.yaml", NO_SCORES)


def test_options_hold_for_the_fixture_too(own: pytest.Pytester) -> None:
    files(own, "")
    result = own.runpytest("-s", "cases/test_where.py", "--scheduler-config", "bare.yaml", "--kubernetes", "1.36")
    result.stdout.fnmatch_lines(["*totals v1.36 [[]('large', 300), ('small', 300)]*"])
    both = ("--scheduler-config", "bare.yaml", "--scheduler-config", "plain.yaml")
    result = own.runpytest("-v", *both)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*::test_where[[]bare] PASSED*", "*::test_where[[]plain] PASSED*"])


def test_a_conftest_decides_for_its_folder(own: pytest.Pytester) -> None:
    files(own, 'configurations=["plain.yaml", "bare.yaml"], kubernetes=["1.34", "1.35"], level="placements"')
    write(own, "web.scenario.yaml", SPREAD)
    write(own, "test_where.py", IN_PYTHON)
    result = own.runpytest("-v", "--import-mode=importlib")
    result.assert_outcomes(passed=10)
    for name in ("plain-v1.34", "plain-v1.35", "bare-v1.34", "bare-v1.35"):
        result.stdout.fnmatch_lines([f"cases/test_where.py::test_where[[]{name}] PASSED*"])
        result.stdout.fnmatch_lines([f"cases/web.scenario.yaml::web[[]{name}] PASSED*"])
    result.stdout.fnmatch_lines(["web.scenario.yaml::web PASSED*"])
    result = own.runpytest("-v", "cases", "--kubernetes", "1.36", "--scheduler-config", "plain.yaml")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::web[[]plain] PASSED*"])


def test_a_failure_names_the_way_in_which_it_failed(own: pytest.Pytester) -> None:
    files(own, 'kubernetes=["1.34", "1.35"]')
    write(own, "cases/web.scenario.yaml", WRONG)
    result = own.runpytest("cases/web.scenario.yaml")
    result.stdout.fnmatch_lines([f"*_ web.scenario.yaml[[]v1.3{minor}]: A web server*" for minor in (4, 5)])


def test_the_nearest_conftest_decides(own: pytest.Pytester) -> None:
    files(own, 'configurations=["bare.yaml"]', "outer")
    files(own, 'kubernetes=["1.35"]', "outer/inner")
    result = own.runpytest("-s", "outer/inner/test_where.py")
    result.stdout.fnmatch_lines(["*totals v1.35 [[]('large', 496), ('small', 473)]*"])
    own.runpytest("-v", "outer/test_where.py").stdout.fnmatch_lines(["*::test_where[[]bare] PASSED*"])


@pytest.mark.parametrize(("level", "outcome"), [("verdicts", "failed"), ("queues", "passed"), ("placements", "passed")])
def test_a_level_says_which_expectations_count(own: pytest.Pytester, level: str, outcome: str) -> None:
    files(own, f"level={level!r}")
    write(own, "cases/web.scenario.yaml", SPREAD.replace("margin: 12", "margin: 13"))
    own.runpytest("cases/web.scenario.yaml").assert_outcomes(**{outcome: 1})


def test_a_scenario_without_an_expectation_that_counts_is_named(own: pytest.Pytester) -> None:
    files(own, 'level="placements"')
    text = SPREAD.replace("  - pod: default/web  # in words: the web server\n    node: node-a\n", "")
    write(own, "cases/web.scenario.yaml", text)
    own.runpytest("cases").stdout.fnmatch_lines(["*scenarios that expect nothing*", "web.scenario.yaml:1:1*"])


def test_levels_know_every_expectation() -> None:
    assert [*NAMES] == [*STRICTNESS[1:]]
    added = [name for names in NAMES.values() for name in names]
    assert len(added) == len({*added})
    assert {*added} < {*ASSERTIONS}


def test_plugins_of_a_folder(own: pytest.Pytester) -> None:
    files(own, 'plugins=["shy:Shy"]')
    write(own, "shy.py", SHY)
    own.makeini(SETTING.replace("scheduler_plugins = shy:Shy\n", ""))
    write(own, "cases/web.scenario.yaml", SPREAD.replace("node: node-a\n", "node: node-b\n").split("expect:\n- {w")[0])
    write(own, "web.scenario.yaml", SPREAD)
    own.runpytest().assert_outcomes(passed=3)


WRONG_SETTINGS = {
    "a file that is missing": ('configurations=["none.yaml"]', "pytest_scheduler_settings: *none.yaml: No such file*"),
    "a version": ('kubernetes=["1.33"]', "pytest_scheduler_settings: unknown Kubernetes version '1.33'*"),
    "a gate": ('kubernetes=["1.36"], feature_gates="A=true"', "*unrecognized feature gate: A*"),
    "a level": ('level="verdict"', "*unknown level 'verdict' (did you mean \"verdicts\"?)*"),
    "a plugin": ('plugins=["bold:Shy"]', "*cannot load the plugin bold:Shy*"),
    "a name twice": ('kubernetes=["1.36", "v1.36"]', "*have the same name: v1.36*"),
}


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS.values(), ids=WRONG_SETTINGS)
def test_wrong_settings_are_errors_of_the_folder(own: pytest.Pytester, settings: str, message: str) -> None:
    files(own, settings)
    write(own, "web.scenario.yaml", SPREAD)
    result = own.runpytest("--continue-on-collection-errors")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()


def test_settings_of_another_type_are_an_error(own: pytest.Pytester) -> None:
    files(own, "")
    write(own, "cases/conftest.py", "def pytest_scheduler_settings():\n    return {'level': 'queues'}\n")
    result = own.runpytest("cases/web.scenario.yaml")
    result.stdout.fnmatch_lines(["*pytest_scheduler_settings must return SchedulerSettings*"])


def test_expectations_are_not_rewritten_for_several_ways_at_once(own: pytest.Pytester) -> None:
    files(own, 'kubernetes=["1.34", "1.35"]')
    path = write(own, "cases/web.scenario.yaml", WRONG)
    result = own.runpytest("--update-scenarios", "cases/web.scenario.yaml")
    result.stdout.fnmatch_lines(["*--update-scenarios needs one configuration and version*"])
    assert path.read_text() == WRONG


@pytest.mark.parametrize("options", [(), ("--strict-markers",)])
def test_every_scenario_has_a_marker(own: pytest.Pytester, options: tuple[str, ...]) -> None:
    files(own, "")
    own.runpytest(*options, "-m", "scenario").assert_outcomes(passed=1, deselected=1)
    own.runpytest(*options, "-m", "not scenario").assert_outcomes(passed=1, deselected=1)


def test_tags_are_markers(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", "tags: [quick, zones]\n" + SPREAD)
    write(own, "other.scenario.yaml", SPREAD)
    own.runpytest("-W", "error", "-m", "quick and zones").assert_outcomes(passed=1, deselected=1)
    own.makeini("[pytest]\nmarkers =\n    quick: takes no time\n    zone: has zones\n")
    result = own.runpytest("--strict-markers")
    result.assert_outcomes(errors=1)
    text = "web.scenario.yaml:1:15: tags[[]1]: the setting markers does not list 'zones' (did you mean \"zone\"?)"
    result.stdout.fnmatch_lines([text])
    own.makeini("[pytest]\nmarkers =\n    quick: takes no time\n    zones: has zones\n")
    own.runpytest("--strict-markers", "-m", "zones").assert_outcomes(passed=1, deselected=1)


def test_a_tag_is_a_word(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", "tags: [not quick]\n" + SPREAD)
    own.runpytest().stdout.fnmatch_lines(['web.scenario.yaml:1:8: tags[[]0]: Invalid value: "not quick": must match *'])


def test_no_trace_replaces_another_one(own: pytest.Pytester) -> None:
    files(own, 'kubernetes=["1.34", "1.35"]')
    for name in ("web.scenario.yaml", "01-web.scenario.yaml", "deep/web.scenario.yaml"):
        write(own, name, SPREAD)
    options = ("--scenario-trace", "traces", "-m", "scenario")
    own.runpytest(*options)
    folder = own.path / "traces"
    saved = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.jsonl")}
    assert {*saved} == {
        "web.scenario.yaml.jsonl",
        "01-web.scenario.yaml.jsonl",
        "deep/web.scenario.yaml.jsonl",
        "cases/web.scenario.yaml[v1.34].jsonl",
        "cases/web.scenario.yaml[v1.35].jsonl",
    }
    result = own.runpytest(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --scenario-trace: traces is not an empty folder; *"])
    assert {name: (folder / name).read_text() for name in saved} == saved


def test_a_scenario_that_runs_twice_keeps_both_traces(own: pytest.Pytester) -> None:
    write(own, "web.scenario.yaml", SPREAD)
    again = "def pytest_runtest_call(item):\n    item.runtest()\n"
    write(own, "conftest.py", again)
    own.runpytest("--scenario-trace", "traces").assert_outcomes(passed=1)
    assert sorted(path.name for path in Path("traces").iterdir()) == [
        "web.scenario.yaml-2.jsonl",
        "web.scenario.yaml.jsonl",
    ]
