"""The command diff: the summary, its table, every difference as lines, many seeds, JSON, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.cli import main
from scheduler_engine.cli.beginning import BLANK
from scheduler_engine.scenario import FOLDER

VERSION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
CONFIGURATIONS = {
    "none": "profiles:\n- plugins: {score: {disabled: [{name: '*'}]}}\n",
    "packed": "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: "
    "{type: MostAllocated, resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]}}\n",
    "default": "profiles: [{schedulerName: default-scheduler}]\n",
    "tolerant": "profiles:\n- plugins: {multiPoint: {disabled: [{name: TaintToleration}, "
    "{name: DefaultPreemption}]}}\n",
    "heavy": "profiles:\n- plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: 7}]}}\n",
    "no-filter": "profiles:\n- plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}\n",
}
PACKED = """\
First difference: default/web, attempt 1
  What differs: the chosen node, the scores
  first   at 0.000 s: node-b, highest total of 2 nodes
  second  at 0.000 s: node-a, highest total of 2 nodes
  scores of node-b (A) and node-a (B)
                             first        second
                          A      B      A      B   A-B moves
    total               486    474    405    411         -18
    NodeResourcesFit     90     81      9     18         -18
  Settings that differ, in the first and the second run:
    NodeResourcesFit, scoringStrategy.type: "LeastAllocated", "MostAllocated"

figures at the end                                      first         second
pods with a node                                            1              1
pods waiting for a node                                     0              0
evictions                                                   0              0
wait for a node, median                               0.000 s        0.000 s
wait for a node, 95% of the pods                      0.000 s        0.000 s
wait for a node, longest                              0.000 s        0.000 s
cpu requested                                            8.3%           8.3%
  fullest node                                          12.5%          25.0%
  emptiest node                                          0.0%           0.0%
  standard deviation                                     6.2%          12.5%
  in zone-a                                              0.0%          25.0%
  in zone-b                                             12.5%           0.0%
  free on one node, of all free                         63.6%          72.7%
memory requested                                         4.2%           4.2%
  fullest node                                           6.2%          12.5%
  emptiest node                                          0.0%           0.0%
  standard deviation                                     3.1%           6.2%
  in zone-a                                              0.0%          12.5%
  in zone-b                                              6.2%           0.0%
  free on one node, of all free                         65.2%          69.6%
pods requested                                           0.5%           0.5%
  fullest node                                           0.9%           0.9%
  emptiest node                                          0.0%           0.0%
  standard deviation                                     0.5%           0.5%
  in zone-a                                              0.0%           0.9%
  in zone-b                                              0.9%           0.0%
free pieces as large as default/web                        11             11

1 pod placed differently
  pod          first   second
  default/web  node-b  node-a
"""


@pytest.fixture
def blank(tmp_path: Path) -> str:
    """Write the scenario of ``new`` and the configurations, and return the scenario's path."""
    path = tmp_path / "blank.scenario.yaml"
    path.write_text(BLANK)
    for name, text in CONFIGURATIONS.items():
        (tmp_path / f"{name}.yaml").write_text(VERSION + text)
    return str(path)


@pytest.fixture
def diff(blank: str, tmp_path: Path, capsys: Any) -> Any:
    """Return a function that runs diff with the named configurations, and returns its exit status and output."""

    def run(*options: str, scenario: str = "", configs: tuple[str, ...] = ()) -> tuple[int, str]:
        path = str(next(FOLDER.glob(f"{scenario}-*.yaml"))) if scenario else blank
        named = [part for name in configs for part in ("--config", str(tmp_path / f"{name}.yaml"))]
        status = main(["diff", path, *named, *options])
        return status, capsys.readouterr().out

    return run


def test_the_summary_says_where_why_and_how_much(diff: Any) -> None:
    assert diff(configs=("packed",)) == (1, PACKED)


def test_a_run_does_not_differ_from_itself(diff: Any, blank: str) -> None:
    assert diff(blank) == (0, "no differences\n")
    assert diff(blank, "--details") == (0, "no differences\n")
    assert json.loads(diff(blank, "--output", "json")[1])["differs"] is False
    status, text = diff(blank, "--seeds", "2")
    assert status == 0
    assert "placed alike with every seed" in text


def test_two_configurations_are_for_one_run_each(diff: Any) -> None:
    assert diff(configs=("packed", "packed"))[0] == 0
    assert diff(configs=("default", "packed")) == (1, PACKED)
    status, text = diff(configs=("packed", "default"))
    assert status == 1
    assert '"MostAllocated", "LeastAllocated"' in text


def test_details_show_pods_verdicts_scores_and_events(diff: Any) -> None:
    status, text = diff("--details", configs=("none",))
    lines = text.splitlines()
    assert status == 1
    assert lines[:2] == ["pod default/web", "  on node-b | on node-a"]
    assert any(line.startswith("  node-b, total: ") and line.endswith(" | -") for line in lines)
    assert lines[-3:] == [
        "events",
        "-0.000s Scheduled default/web: Successfully assigned default/web to node-b",
        "+0.000s Scheduled default/web: Successfully assigned default/web to node-a",
    ]


def test_what_only_the_details_show_is_a_difference(tmp_path: Path, capsys: Any) -> None:
    """The same pod waits, with the same message, but an event comes at another time."""
    paths = []
    for seconds in (1, 2):
        pod = BLANK[BLANK.index("  - apiVersion: v1\n    kind: Pod") : BLANK.index("then:")]
        waiting = pod.replace("name: web,", "name: huge,").replace('cpu: "1"', 'cpu: "99"')
        steps = f"- run: {{}}\n- advance: {{seconds: {seconds}}}\n- apply:\n{waiting}- run: {{}}\n"
        path = tmp_path / f"{seconds}.scenario.yaml"
        path.write_text(BLANK.replace("- run: {}\n", steps))
        paths.append(str(path))
    assert main(["diff", *paths]) == 1
    assert capsys.readouterr().out == "No difference in the summary. --details shows the differences.\n"
    assert main(["diff", *paths, "--details"]) == 1
    assert json.loads(_output(["diff", *paths, "--output", "json"], capsys))["differs"] is True


def test_the_same_decisions_at_another_time_are_a_difference_in_figures(tmp_path: Path, capsys: Any) -> None:
    paths = []
    for seconds in (20, 30):
        gated = BLANK.replace(
            "    spec:\n      containers:", "    spec:\n      schedulingGates: [{name: wait}]\n      containers:"
        )
        opened = "- patch: {object_kind: Pod, key: default/web, changes: {spec: {schedulingGates: null}}}\n- run: {}\n"
        path = tmp_path / f"{seconds}.scenario.yaml"
        path.write_text(gated.replace("- run: {}\n", f"- advance: {{seconds: {seconds}}}\n{opened}"))
        paths.append(str(path))
    assert main(["diff", *paths]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "figures at the end                                      first         second"
    assert "wait for a node, longest                             20.000 s       30.000 s" in lines


def _output(arguments: list[str], capsys: Any) -> str:
    capsys.readouterr()
    main(arguments)
    return str(capsys.readouterr().out)


REASONS = {
    "a plugin that is off lets a node pass": (
        *("21", "tolerant", "TaintToleration: on, off"),
        "    group-2\n      first   TaintToleration: node(s) had untolerated taint {dedicated:\n",
    ),
    "without preemption a pod waits": (
        *("30", "tolerant", "  first: default/idle-2 by default/nginx, which preempts"),
        "    first   not waiting\n    second  0/2 nodes are available: 2 Too many pods. no new claims to\n",
    ),
    "a weight differs": ("38", "heavy", "ImageLocality, weight: 1, 7", "Weighted scores that differ"),
    "a plugin skips an extension point": ("35", "no-filter", "NodeResourcesFit: at preFilter, filter", "preScore"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_the_reason_is_in_the_summary(diff: Any, reason: str) -> None:
    scenario, configuration, *texts = REASONS[reason]
    status, output = diff(scenario=scenario, configs=(configuration,))
    assert status == 1
    for text in texts:
        assert text in output
    assert max(map(len, output.splitlines())) <= 80


def test_json_has_the_same_facts(diff: Any) -> None:
    status, text = diff("--output", "json", configs=("packed",))
    document = json.loads(text)
    assert status == 1
    assert document["placements"] == [{"pod": "default/web", "first": "node-b", "second": "node-a"}]
    assert document["decisive"]["contest"]["plugins"] == [
        {"plugin": "NodeResourcesFit", "first": [90, 81], "second": [9, 18], "moved": -18}
    ]


def test_seeds_separate_luck_from_what_is_always_so(diff: Any) -> None:
    status, text = diff("--seeds", "6", scenario="14", configs=("packed",))
    assert status == 1
    assert text.startswith("6 seeds; each pair of runs has the same seed\nPods are placed differently with 6 seeds")
    assert "Both runs with seed 1:\nFirst difference: default/web-1, attempt 1" in text
    assert max(map(len, text.splitlines())) <= 80
    document = json.loads(diff("--seeds", "6", "--output", "json", scenario="14", configs=("packed",))[1])
    assert document["differing"] == [1, 2, 3, 4, 5, 6]
    assert document["seeds"] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name a second file, or use --config"),
        (("--config", "packed", "--config", "packed", "--config", "packed"), "at most twice"),
        (("--config", "packed", "--details", "--seeds", "2"), "--details without --seeds"),
        (("--config", "packed", "--details", "--output", "json"), "--details without --seeds"),
        (("--config", "packed", "--seeds", "1001"), "1<=x<=1000"),
        (("--config", "missing"), "No such file"),
    ],
)
def test_an_invalid_option_is_an_error(
    blank: str, tmp_path: Path, capsys: Any, options: tuple[str, ...], message: str
) -> None:
    names = (*CONFIGURATIONS, "missing")
    assert main(["diff", blank, *(str(tmp_path / f"{part}.yaml") if part in names else part for part in options)]) == 2
    assert message in capsys.readouterr().err
