"""Plugins of other authors on the command line: by option and by entry point."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine import own_plugins
from scheduler_engine.cli import main
from scheduler_engine.replay import make_log

QUIET = "tests.engine.own_plugin:Quiet"
CONFIGURED = """\
configuration:
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  profiles: [{plugins: {multiPoint: {enabled: [{name: Quiet, weight: 2}]}}}]
"""
SCENARIO = """\
title: Loud nodes stay empty
setup:
- apply:
  - apiVersion: v1
    kind: Node
    metadata: {name: big, labels: {loud: "yes"}}
    status: {capacity: {cpu: "64", pods: "9"}}
  - {apiVersion: v1, kind: Node, metadata: {name: small}, status: {capacity: {cpu: "2", pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: medium}, status: {capacity: {cpu: "3", pods: "9"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]}
then:
- run: {}
expect:
- {verdict: default/web, node: big, plugin: Quiet}
"""


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """Write a scenario without a configuration."""
    path = tmp_path / "bare.scenario.yaml"
    path.write_text(SCENARIO)
    return str(path)


@pytest.fixture
def configured(tmp_path: Path) -> str:
    """Write a scenario whose configuration enables the plugin."""
    path = tmp_path / "configured.scenario.yaml"
    path.write_text(CONFIGURED + SCENARIO)
    return str(path)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a distribution with the plugin be installed."""
    points = (EntryPoint("quiet", QUIET, own_plugins.GROUP),)
    monkeypatch.setattr(own_plugins, "entry_points", lambda group: points if group == own_plugins.GROUP else ())


def test_a_scenario_plays_with_a_plugin(bare: str, configured: str, capsys: Any) -> None:
    for name in (bare, configured):
        assert main(["check", name, "--plugin", QUIET]) == 0
    assert main(["run", configured, "--plugin", QUIET]) == 0
    output = capsys.readouterr().out
    assert "Quiet: node is loud" in output
    assert ", Quiet 200" in output


def test_without_the_plugin_a_scenario_that_names_it_says_so(configured: str, bare: str, capsys: Any) -> None:
    assert main(["check", bare]) == 1
    assert main(["run", configured]) == 2
    problem = 'creating profile for scheduler name default-scheduler: PreFilterPlugin "Quiet" does not exist'
    assert capsys.readouterr().err == f"{configured}:1:1: configuration: initializing profiles: {problem}\n"


def test_an_installed_plugin_is_there_but_changes_nothing_by_itself(
    bare: str, configured: str, installed: None, capsys: Any
) -> None:
    assert main(["check", configured]) == 0
    assert main(["check", bare]) == 1
    assert main(["check", bare, configured, "--plugin", QUIET]) == 0


def test_a_plugin_that_was_named_in_vain_is_noted(configured: str, tmp_path: Path, capsys: Any) -> None:
    other = ["--plugin", QUIET, "--plugin", "tests.engine.own_plugin:Everywhere"]
    note = "Note: Everywhere did nothing. The configuration of the scenario does not enable it.\n"
    for command in (["run", configured], ["explain", configured, "--pod", "web"], ["fit", configured]):
        assert main([*command, *other]) == 0
        assert capsys.readouterr().err == note
    assert main(["run", configured, "--plugin", QUIET]) == 0
    assert capsys.readouterr().err == ""


def test_it_is_explained_like_any_other(configured: str, capsys: Any) -> None:
    assert main(["explain", configured, "--pod", "web", "--node", "big", "--plugin", QUIET]) == 0
    output = capsys.readouterr().out
    assert "big: Quiet refused it: node is loud" in output
    assert "  big is too loud for web." in output
    assert main(["explain", configured, "--pod", "web", "--node", "small", "--plugin", QUIET]) == 0
    assert "  Quiet: 0 pods are there." in capsys.readouterr().out
    assert main(["explain", configured, "--pod", "web", "--plugin", QUIET, "--output", "json"]) == 0
    assert "node is loud" in json.dumps(json.loads(capsys.readouterr().out))


def test_a_plugin_without_facts_is_explained_by_its_answers(bare: str, capsys: Any) -> None:
    options = ["--pod", "web", "--node", "small", "--plugin", "tests.engine.own_plugin:Everywhere"]
    assert main(["explain", bare, *options]) == 0
    assert "Everywhere" in capsys.readouterr().out
    assert main(["explain", bare, *options, "--output", "json"]) == 0


@pytest.mark.parametrize(
    ("plugin", "where"),
    [
        pytest.param("NoNode", "filter(self, state, pod, node_info): return unschedulable('no')", id="In Filter"),
        pytest.param(
            "NoPod", "pre_filter(self, state, pod, nodes): return None, unresolvable('no')", id="In PreFilter"
        ),
    ],
)
def test_a_fix_for_its_refusals_is_not_known(
    plugin: str, where: str, bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    base = "FilterPlugin" if "node_info" in where else "PreFilterPlugin"
    text = (
        f"from scheduler_engine.plugin_api import *\nclass {plugin}({base}):\n    name = '{plugin}'\n    def {where}\n"
    )
    (tmp_path / f"refusing_{plugin}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["explain", bare, "--pod", "web", "--fix", "--plugin", f"refusing_{plugin}:{plugin}"]) == 0
    said = (
        f"No change is known. {plugin} also decides where default/web may run, "
        "and fixes are known only for the plugins of Kubernetes."
    )
    assert said in " ".join(capsys.readouterr().out.split())


def test_it_counts_when_copies_nodes_and_configurations_are_tried(
    bare: str, configured: str, tmp_path: Path, capsys: Any
) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, "
        'spec: {containers: [{name: m, image: x, resources: {requests: {cpu: "1"}}}]}}'
    )
    assert main(["fit", configured, "--pod", str(pod), "--plugin", QUIET, "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["placed"] == {"small": 2, "medium": 2}
    assert main(["leave", configured, "--node", "medium", "--plugin", QUIET]) in (0, 1)
    assert "big" not in capsys.readouterr().out
    configuration = tmp_path / "quiet.yaml"
    configuration.write_text("\n".join(line[2:] for line in CONFIGURED.splitlines()[1:]))
    plain = tmp_path / "plain.yaml"
    plain.write_text("{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}")
    both = ["--config", str(plain), "--config", str(configuration)]
    assert main(["diff", bare, *both, "--plugin", QUIET]) == 1
    assert "Quiet" in capsys.readouterr().out


def test_what_is_exported_names_it(bare: str, tmp_path: Path, capsys: Any) -> None:
    written = tmp_path / "written.scenario.yaml"
    assert main(["export", bare, "--plugin", QUIET, "--to", str(written)]) == 0
    assert main(["check", str(written), "--plugin", QUIET]) == 0
    assert main(["check", str(written)]) == 2
    assert 'PreFilterPlugin "Quiet" does not exist' in capsys.readouterr().err


def test_a_log_replays_with_it_and_says_if_it_is_missing(tmp_path: Path, capsys: Any) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps(make_log(1, own_plugins.enabling([own_plugins.plugin_at(QUIET)]), ())))
    assert main(["replay", str(log), "--quiet", "--plugin", QUIET]) == 0
    assert main(["replay", str(log), "--quiet"]) == 2
    assert 'PreFilterPlugin "Quiet" does not exist' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("nowhere:Quiet", "cannot load the plugin nowhere:Quiet: ModuleNotFoundError: No module named 'nowhere'"),
        ("broken_plugin:Quiet", "cannot load the plugin broken_plugin:Quiet: ZeroDivisionError: division by zero"),
        ("leaving_plugin:Quiet", "cannot load the plugin leaving_plugin:Quiet: SystemExit: 3"),
        (
            "json:dumps",
            "cannot load the plugin json:dumps: dumps is not a plugin: a class derived from "
            "scheduler_engine.plugin_api.Plugin",
        ),
    ],
)
def test_an_error_is_one_clear_line(
    place: str, text: str, bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "broken_plugin.py").write_text("1 / 0\n")
    (tmp_path / "leaving_plugin.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["run", bare, "--plugin", place]) == 2
    assert capsys.readouterr().err == f"{text}\n"


def test_a_plugin_is_found_in_the_working_folder(
    bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    text = "from tests.engine.own_plugin import Quiet as Base\nclass Own(Base):\n    name = 'Own'\n"
    (tmp_path / "my_own_plugin.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["explain", bare, "--pod", "web", "--plugin", "my_own_plugin:Own"]) == 0
    assert "Own: node is loud" in capsys.readouterr().out
