"""The engine against recordings of the real scheduler, and the runner that compares them."""

import gzip
import json
from pathlib import Path

import hypothesis
import pytest

from scheduler_engine.cli import main
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.runner import read_cases, report, run_paths

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "conformance"

COMPLETE = {
    "cycle": """
        config dra images interpod-affinity long-run mixed node-affinity nodename pod-resources ports preemption
        resources sampling taints tie-order topology-spread volumes
    """,
    "config": "config_args config_combo config_plugins config_profiles config_queuesort config_top",
    "queue": """
        activate already_queued backoff backoff_order exact_ties flush gated hint_matrix hints_DefaultPreemption
        hints_DynamicResources hints_InterPodAffinity hints_NodeAffinity hints_NodeName hints_NodePorts
        hints_NodeResourcesFit hints_NodeUnschedulable hints_NodeVolumeLimits hints_PodTopologySpread
        hints_TaintToleration hints_VolumeBinding hints_VolumeRestrictions hints_VolumeZone inflight mixed nominated
        pending_plugins popbackoff priority update_delete
    """,
    "cache": "affinity_lists errors expiry ghost images mixed nodetree nodetree_clean noexpiry pods",
    "api": """
        namespace node pod_combo pod_meta pod_nodeaffinity pod_podaffinity pod_ports pod_priority_gates pod_resources
        pod_spread pod_tolerations pod_valid pv pvc quantity quantity_pair selector_label selector_node selector_string
        service update_node update_pod
    """,
    "e2e": """
        basic gates interpod leftover mixed node_labels ports preemption preemption_constraints priority_order scaledown
        services spread taints volumes
    """,
    "leaderelection": """
        le_basic le_check le_config le_external le_failure le_handover le_jump le_race le_random le_rate le_release
        le_restart le_skew le_subsecond
    """,
}
"""Families that the engine reproduces completely."""

FAMILIES = [(kind, family) for kind, families in COMPLETE.items() for family in families.split()]


@pytest.mark.parametrize(
    ("kind", "family"),
    FAMILIES,
    ids=[f"every {kind} scenario of {family} comes out as recorded" for kind, family in FAMILIES],
)
def test_family(kind: str, family: str) -> None:
    results = run_paths([RECORDINGS / kind / f"{family}.jsonl.gz"])
    assert [(result.kind, result.name) for result in results] == [(kind, family)]
    assert results[0].passed == results[0].total > 0, "\n".join(report(results, 3))


EVERY = hypothesis.settings.get_current_profile_name() == "thorough"
"""True if each case also runs with tables, else every third one does. All run without tables and are compared."""
IN_FULL = [(kind, family) for kind, family in FAMILIES if kind in ("cycle", "e2e")]


@pytest.mark.parametrize(
    ("kind", "family"),
    IN_FULL,
    ids=[f"tables in the trace change nothing in {kind} scenarios of {family}" for kind, family in IN_FULL],
)
def test_family_in_full(kind: str, family: str, tmp_path: Path) -> None:
    some = [*read_cases(RECORDINGS / kind / f"{family}.jsonl.gz")][:: 1 if EVERY else 3]
    [result] = run_paths([written(tmp_path, *some)], full=True)
    assert result.passed == result.total == len(some) > 0, "\n".join(report([result], 3))


def test_every_recorded_family_is_complete() -> None:
    recorded = {(file.parent.name, file.name.split(".")[0]) for file in RECORDINGS.glob("*/*.jsonl.gz")}
    assert recorded == set(FAMILIES)


def first_case(kind: str, family: str) -> dict:
    return next(read_cases(RECORDINGS / kind / f"{family}.jsonl.gz"))


def written(folder: Path, *cases: dict) -> Path:
    file = folder / "some.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(json.dumps(case) for case in cases).encode()))
    return file


ALTERED = {
    "a wrong score is detected": ("cycle", "resources", ["expect", 0, "totals"], {"node-9": 1}),
    "a wrong reason of a filter is detected": ("cycle", "resources", ["expect", 0, "filter"], {}),
    "a wrong victim is detected": ("cycle", "preemption", ["expect", 0, "postFilter", "victims"], ["default/run-0"]),
    "a missing attempt is detected": ("cycle", "ports", ["expect"], []),
    "a wrong placement at the end is detected": ("cycle", "sampling", ["final"], {}),
    "a wrong start index is detected": ("cycle", "sampling", ["expect", 1, "search", "startIndex"], 7),
    "a wrong default is detected": ("config", "config_top", ["defaulted", "parallelism"], 17),
    "a wrong defaulted field is detected": ("api", "node", ["defaulted", "status", "capacity"], {"cpu": "5"}),
    "a missing validation error is detected": (
        "api",
        "pod_valid",
        ["errors"],
        [{"field": "a", "type": "b", "text": "c"}],
    ),
    "a wrong sum is detected": ("api", "quantity_pair", ["sum"], "7"),
    "a wrong match is detected": ("api", "selector_string", ["matches", 0], False),
    "a wrong leader is detected": ("leaderelection", "le_basic", ["results", 0, "leaders"], []),
    "a wrong observed text is detected": ("leaderelection", "le_basic", ["results", 1, "observedRaw"], None),
    "a wrong refusal of durations is detected": ("leaderelection", "le_config", ["error"], "too short"),
    "a wrong order of plugins is detected": ("config", "config_top", ["plugins", "default-scheduler", "filter"], []),
}


@pytest.mark.parametrize(("kind", "family", "path", "value"), ALTERED.values(), ids=ALTERED)
def test_altered_recording(kind: str, family: str, path: list, value: object, tmp_path: Path) -> None:
    case = first_case(kind, family)
    place = case
    for key in path[:-1]:
        place = place[key]
    assert place[path[-1]] != value
    place[path[-1]] = value
    [result] = run_paths([written(tmp_path, case)])
    assert (result.passed, result.total) == (0, 1)


def test_the_command_reports_families_and_differences_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    right, wrong = first_case("config", "config_top"), first_case("config", "config_args")
    wrong["defaulted"]["parallelism"] = 17
    file, outcome = written(tmp_path, right, wrong), tmp_path / "outcome.json"
    assert main(["conformance", str(file), "--json", str(outcome)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "config          config_top                1/1",
        "config          config_args               0/1",
        "    config_args-0000",
        "        defaulted.parallelism: expected 17, got 16",
        "total 1/2",
    ]
    assert json.loads(outcome.read_text()) == {
        "passed": 1,
        "total": 2,
        "families": [
            {"kind": "config", "family": "config_top", "passed": 1, "total": 1, "failures": []},
            {
                "kind": "config",
                "family": "config_args",
                "passed": 0,
                "total": 1,
                "failures": [{"id": "config_args-0000", "differences": ["defaulted.parallelism: expected 17, got 16"]}],
            },
        ],
    }


def test_the_command_succeeds_only_when_everything_passes(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = written(tmp_path, first_case("config", "config_top"))
    assert main(["conformance", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "total 1/1"


def test_one_family_of_a_folder_can_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    written(tmp_path, first_case("config", "config_top"), first_case("config", "config_args"))
    assert main(["conformance", str(tmp_path), "--family", "config_args"]) == 0
    assert capsys.readouterr().out.splitlines() == ["config          config_args               1/1", "total 1/1"]


def test_a_scenario_that_breaks_the_engine_fails_alone(tmp_path: Path) -> None:
    broken = first_case("cycle", "resources") | {"id": "broken", "objects": [{"kind": "Pod"}]}
    [result] = run_paths([written(tmp_path, broken, first_case("cycle", "resources"))])
    assert (result.passed, result.total) == (1, 2)
    [(name, lines)] = result.failures
    assert name == "broken"
    assert lines[0].startswith("KeyError: ")


NOT_RUN = {
    "a folder without recordings is reported": ([], "no recordings found"),
    "a line that is not a scenario is reported": ([{"id": "x"}], "scenario x is of no known kind"),
}


@pytest.mark.parametrize(("cases", "text"), NOT_RUN.values(), ids=NOT_RUN)
def test_nothing_to_run(cases: list, text: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    if cases:
        written(tmp_path, *cases)
    assert main(["conformance", str(tmp_path)]) == 2
    assert text in capsys.readouterr().err


DIFFERENCES = {
    "equal values have no difference": ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, []),
    "the path leads to the value": ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, ["a[1].b: expected 2, got 3"]),
    "a missing key is reported": ({"a": 1}, {}, ["a: expected 1, got nothing"]),
    "an additional key is reported": ({}, {"a": 1}, ["a: expected nothing, got 1"]),
    "lists of different lengths are shown whole": ({"a": [1]}, {"a": []}, ["a: expected [1], got []"]),
    "true is not 1": ({"a": True}, {"a": 1}, ["a: expected true, got 1"]),
}


@pytest.mark.parametrize(("expected", "got", "lines"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_differences(expected: object, got: object, lines: list[str]) -> None:
    assert differences(expected, got) == lines
