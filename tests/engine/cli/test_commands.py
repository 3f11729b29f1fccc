"""Commands that inspect scenarios: check, explain, new, export, schema, bench, completion."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

import scheduler_engine
from scheduler_engine.api.loading import read_documents
from scheduler_engine.cli import COMMANDS, STATUSES, main
from scheduler_engine.cli.beginning import BLANK
from scheduler_engine.importing import gather
from scheduler_engine.scenario import FOLDER, check, load_scenario, play

DOCUMENT = Path(__file__).parents[3] / "docs" / "command-line.md"


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """Write a scenario that passes: a pod goes to the larger of two nodes."""
    path = tmp_path / "blank.scenario.yaml"
    path.write_text(BLANK)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.scenario.yaml"
    path.write_text(BLANK.replace("node: node-b}", "node: node-a}"))
    return path


def test_every_command_has_a_help_text(capsys: Any) -> None:
    for name in COMMANDS:
        assert main([name, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"Usage: scheduler-sandbox {name} ")
    assert main(["--version"]) == 0


def test_the_document_lists_the_commands_and_the_exit_statuses(capsys: Any) -> None:
    text = DOCUMENT.read_text()
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert {int(status): meaning.replace("\\|", "|") for status, meaning in rows} == STATUSES
    headings = re.findall(r"^## ([a-z-]+)$", text, re.MULTILINE)
    assert {*COMMANDS} <= {*headings}
    assert main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{status} {meaning}" in shown for status, meaning in STATUSES.items())


def test_run_prints_events_with_a_table_for_each_attempt(blank: Path, capsys: Any) -> None:
    assert main(["run", str(blank)]) == 0
    output = capsys.readouterr().out
    assert "default/web: node-b selected, highest total" in output
    assert "node    total  NodeResourcesFit  NodeResourcesBalancedAllocation" in output
    assert "\x1b[" not in output, "colours are for terminals"
    assert output.splitlines()[-1] == "A web server goes where there is room: as expected"


def test_run_in_json_is_nothing_but_the_trace(blank: Path, capsys: Any) -> None:
    assert main(["run", "--json", str(blank)]) == 0
    output = capsys.readouterr()
    assert [json.loads(line)["n"] for line in output.out.splitlines()][:3] == [1, 2, 3]
    assert output.err == "A web server goes where there is room: as expected\n"


def test_check_takes_many_and_ends_with_the_worst(blank: Path, wrong: Path, tmp_path: Path, capsys: Any) -> None:
    none = tmp_path / "none.yaml"
    none.write_text("kind: Pod\n")
    assert main(["check", str(blank)]) == 0
    capsys.readouterr()
    assert main(["check", str(blank), str(wrong)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"ok     {blank}  A web server goes where there is room",
        f"FAIL   {wrong}  A web server goes where there is room",
        f"       {wrong}:23:3: expect[0]: default/web: expected node-a, is on node-b",
        "         node-b has 486, node-a has 474. NodeResourcesFit differs most: 90 and 81.",
    ]
    assert main(["check", str(none), str(wrong), "missing.yaml"]) == 2
    output = capsys.readouterr()
    assert [line[:5] for line in output.out.splitlines()] == ["error", "FAIL ", *["     "] * 2, "error"]
    assert output.err.splitlines()[1] == "       missing.yaml: No such file or directory"


def test_check_takes_a_folder_for_the_files_in_it(blank: Path, tmp_path: Path, capsys: Any) -> None:
    inner = tmp_path / "more" / "deep"
    inner.mkdir(parents=True)
    (inner / "b.yml").write_bytes(blank.read_bytes())
    (inner / "a.yaml").write_bytes(blank.read_bytes())
    (inner / "notes.md").write_text("not YAML")
    assert main(["check", str(tmp_path / "more")]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [
        str(inner / "a.yaml"),
        str(inner / "b.yml"),
    ]
    (tmp_path / "empty").mkdir()
    assert main(["check", str(tmp_path / "empty"), str(inner)]) == 2
    output = capsys.readouterr()
    assert "this folder has no files that end in .yaml, .yml" in output.err
    assert len(output.out.splitlines()) == 3, "the others are still checked"


def test_check_skips_manifests_and_environments_in_a_folder(blank: Path, tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "env" / "lib").mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "env" / "lib" / "other.yaml").write_text("kind: Pod\n")
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text("apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n")
    report = tmp_path / "report.xml"
    assert main(["check", str(tmp_path), "--junitxml", str(report)]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        ["ok", str(blank)],
        ["skip", str(manifests)],
    ]
    assert [case.find("skipped") is not None for case in ElementTree.parse(report).iter("testcase")] == [False, True]
    assert main(["check", str(manifests)]) == 2, "it was named"


def test_check_works_from_any_folder_with_paths_of_any_kind(tmp_path: Path) -> None:
    """Run the package by its path, not installed, on scenarios, lessons, misconceptions and challenges."""
    fixtures = FOLDER.parent
    shelves = ("scenarios", "lessons", "misconceptions", "challenges")
    files = [next(iter(sorted((fixtures / shelf).glob("*.yaml")))) for shelf in shelves]
    (tmp_path / "near.yaml").write_bytes(files[1].read_bytes())
    package = Path(scheduler_engine.__file__).parent
    command = [sys.executable, str(package), "check", "near.yaml", "./near.yaml", *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok"] * 6


@pytest.mark.parametrize("pod", ["web", "default/web"])
def test_explain_says_why_here_and_why_not_there(blank: Path, pod: str, capsys: Any) -> None:
    assert main(["explain", str(blank), "--pod", pod, "--node", "node-a"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("default/web is on node-b.\nattempt 1 at default/web: bound\n")
    assert "node-b was chosen: it has the highest total, by " in output
    assert "node-a: it passes every filter." in output
    assert [line.split()[0] for line in output.splitlines() if line.startswith("  total")] == ["total"]


TWICE = """\
title: A pod waits for a larger node
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: small}, status: {capacity: {cpu: "1", memory: 8Gi, pods: "9"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "2"}}}]}
then:
- run: {}
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: large}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
- advance: {seconds: 10}
"""


@pytest.mark.parametrize("attempt", [1, 2])
def test_explain_shows_the_plugins_facts_even_for_an_old_attempt(attempt: int, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text(TWICE)
    assert main(["explain", str(path), "--pod", "web", "--node", "small", "--attempt", str(attempt)]) == 0
    output = capsys.readouterr().out
    assert "small: NodeResourcesFit refused it: Insufficient cpu\n  small is too small: web requests more cpu" in output
    assert "cpu   0m used + 2000m requested = 2000m > 1000m allocatable" in output


INJECTED = """\
title: Something answers in the place of a plugin
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: one}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: two}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
then:
- fault: {plugin: NodeResourcesFit, point: filter, answer: deny}
- apply:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "2"}}}]}
- run: {}
"""


def test_explain_does_not_let_a_plugin_contradict_the_record(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "injected.yaml"
    path.write_text(INJECTED)
    message = ""
    for node in ("one", "two"):
        assert main(["explain", str(path), "--pod", "web", "--node", node, "--attempt", "1"]) == 0
        message += capsys.readouterr().out
    assert "NodeResourcesFit refused it: injected denial\n  Another answer was recorded; the plugin" in message
    assert "is free" not in message.partition("refused it: injected denial")[2].partition("default/web is")[0]


def test_explain_shows_the_dry_run_and_why_a_candidate_won(capsys: Any) -> None:
    path = str(FOLDER / "55-preemption-every-rung.yaml")
    assert main(["explain", path, "--pod", "vip-1", "--attempt", "1", "--node", "node-count"]) == 0
    output = capsys.readouterr().out
    assert "Fewest victims: keeps node-old and node-young, drops node-count. (node-count 2, node-old 1" in output
    assert "  node-count is a candidate: without count-1 and none-1, vip-1 fits.\n" in output
    assert "none-1 does not fit beside vip-1, so it is a victim. node-count does not have enough cpu" in output
    assert "      Turn  1 of 2, priority 10, started at 0 s\n" in output


def test_explain_says_which_volume_was_reserved_and_why(capsys: Any) -> None:
    path = str(FOLDER / "39-volumes-local-disks.yaml")
    for pod, note in (("db-2", "(the only volume that suits on node-middle)"), ("db-1", "disk-large-60 60Gi")):
        assert main(["explain", path, "--pod", pod]) == 0
        output = capsys.readouterr().out
        assert note in output
        assert "  Reserve, VolumeBinding: disk-" in output
        assert (
            f"  PreBind, VolumeBinding: {pod} can be bound: the volume controller has bound all its claims.\n" in output
        )


EARLY = """\
title: A pod whose claim is missing
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: one}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: main, image: x}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: nope}}]
then:
- run: {}
"""


def test_explain_says_that_a_plugin_refused_the_pod_before_any_node(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "early.yaml"
    path.write_text(EARLY)
    assert main(["explain", str(path), "--pod", "web", "--node", "one"]) == 0
    output = capsys.readouterr().out
    assert "one: VolumeRestrictions refused it before any node was checked: persistentvolumeclaim" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pod", "none"], 'pods "none" not found'),
        (["--pod", "web", "--node", "none"], 'nodes "none" not found'),
        (["--pod", "web", "--attempt", "7"], "default/web: there is no attempt 7"),
        ([], "Missing option '--pod'."),
    ],
)
def test_explain_reports_missing_objects(blank: Path, arguments: list[str], message: str, capsys: Any) -> None:
    assert main(["explain", str(blank), *arguments]) == 2
    assert message in capsys.readouterr().err


ON_ONE_NODE = """
title: t
setup:
- apply:
  - apiVersion: v1
    kind: Node
    metadata: {name: n1}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
"""
WITHOUT_ATTEMPT = (
    ON_ONE_NODE
    + """\
  - apiVersion: v1
    kind: Pod
    metadata: {name: gated}
    spec: {schedulingGates: [{name: example.com/later}], containers: [{name: main, image: x}]}
  - apiVersion: v1
    kind: Pod
    metadata: {name: placed}
    spec: {nodeName: n1, containers: [{name: main, image: x}]}
  - apiVersion: v1
    kind: Pod
    metadata: {name: waiting}
    spec: {containers: [{name: main, image: x}]}
then: []
"""
)


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (
            "gated",
            "because SchedulingGates keeps it out of activeQ: waiting for scheduling gates",
        ),
        ("placed", "default/placed: no scheduler chose its node; it came with nodeName n1"),
        ("waiting", "default/waiting: no attempt yet; it is in activeQ"),
    ],
)
def test_explain_says_why_there_was_no_attempt(pod: str, reason: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(WITHOUT_ATTEMPT)
    assert main(["explain", str(path), "--pod", pod]) == 2
    assert reason in capsys.readouterr().err


NAMESAKE = (
    ON_ONE_NODE
    + """\
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "64"}}}]}
then:
- settle: {}
- delete: {object_kind: Pod, key: default/web}
- apply:
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x}]}
"""
)


def test_explain_does_not_explain_a_new_pod_by_the_attempt_of_a_deleted_one(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(NAMESAKE)
    assert main(["explain", str(path), "--pod", "web"]) == 2
    assert "default/web: no attempt yet; it is in activeQ" in capsys.readouterr().err
    assert main(["explain", str(path), "--pod", "web", "--attempt", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("This attempt was for a deleted pod. Another pod is now called default/web.\n")
    path.write_text(path.read_text() + "- settle: {}\n")
    assert main(["explain", str(path), "--pod", "web"]) == 0
    assert capsys.readouterr().out.startswith("default/web is on n1.\n")


TWO_NODES = (
    ON_ONE_NODE
    + """\
  - apiVersion: v1
    kind: Node
    metadata: {name: n2}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
  - apiVersion: v1
    kind: Node
    metadata: {name: n2}
    status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "1"}}}]}
    status: {nominatedNodeName: NOMINATED}
then:
- settle: {}
"""
)


NO_SCORE_PLUGIN = """
configuration:
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  profiles:
  - plugins: {score: {disabled: [{name: "*"}]}}
"""


@pytest.mark.parametrize(
    ("nominated", "more", "why"),
    [
        ("n1", "", "it is nominated and fits, so no other node was checked"),
        ('""', NO_SCORE_PLUGIN, "it is the first that fits, and one is enough"),
    ],
    ids=["nominated", "no score plugin"],
)
def test_explain_does_not_say_of_unvisited_nodes_that_they_do_not_fit(
    nominated: str, more: str, why: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(TWO_NODES.replace("NOMINATED", nominated) + more)
    assert main(["explain", str(path), "--pod", "web"]) == 0
    assert f" was chosen: {why}.\n" in capsys.readouterr().out


@pytest.fixture
def namesakes(tmp_path: Path) -> str:
    """Write a scenario: a pod that fits nowhere is deleted, and the new pod of its name is bound."""
    path = tmp_path / "x.yaml"
    path.write_text(NAMESAKE + "- settle: {}\n")
    return str(path)


def test_explain_asks_which_cycle_if_two_attempts_have_the_same_number(namesakes: str, capsys: Any) -> None:
    assert main(["explain", namesakes, "--pod", "web", "--attempt", "1"]) == 2
    said = capsys.readouterr().err
    assert "default/web: there are 2 attempts 1; choose one:\n  --cycle 1, for a deleted pod\n  --cycle 2\n" in said


@pytest.mark.parametrize(
    ("cycle", "first"), [("1", "This attempt was for a deleted pod."), ("2", "default/web is on n1.")]
)
def test_explain_reaches_each_attempt_by_its_cycle(cycle: str, first: str, namesakes: str, capsys: Any) -> None:
    assert main(["explain", namesakes, "--pod", "web", "--cycle", cycle]) == 0
    assert capsys.readouterr().out.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cycle", "7"], "default/web: there is no attempt in cycle 7"),
        (["--cycle", "1", "--attempt", "1"], "use --attempt or --cycle, not both"),
    ],
)
def test_explain_refuses_a_cycle_of_no_use(arguments: list[str], message: str, namesakes: str, capsys: Any) -> None:
    assert main(["explain", namesakes, "--pod", "web", *arguments]) == 2
    assert message in capsys.readouterr().err


LATE_REPLICA = NAMESAKE.replace("then:\n", "then:\n- replicas: {count: 2, leader_elect: false}\n").replace(
    "- delete:", "- replica: {replica: kube-scheduler-2, action: partition}\n- delete:"
)


def test_explain_knows_the_pods_own_attempt_although_a_late_replica_tried_a_deleted_pod_since(
    tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(LATE_REPLICA + "- settle: {}\n- advance: {seconds: 400}\n")
    assert main(["explain", str(path), "--pod", "web"]) == 0
    assert capsys.readouterr().out.startswith("default/web is on n1.\nattempt 1 at default/web: bound\n")
    assert main(["explain", str(path), "--pod", "web", "--attempt", "1"]) == 2
    said = capsys.readouterr().err
    assert "  --cycle 2 by kube-scheduler-2, for a deleted pod\n  --cycle 3 by kube-scheduler-1\n" in said


def test_explain_knows_a_node_that_was_deleted_after_the_attempt(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "x.yaml"
    steps = "then:\n- settle: {}\n- delete: {object_kind: Node, key: n1}\n"
    path.write_text(WITHOUT_ATTEMPT.replace("then: []", steps))
    assert main(["explain", str(path), "--pod", "waiting", "--node", "n1"]) == 0
    assert "n1: it passes every filter." in capsys.readouterr().out


def test_explain_of_a_pod_that_fits_nowhere_names_the_plugins(capsys: Any) -> None:
    assert main(["explain", str(next(FOLDER.glob("*-nothing-fits.yaml"))), "--pod", "impossible"]) in (0, 2)
    scenario = load_scenario(next(FOLDER.glob("*-nothing-fits.yaml")))
    simulation = scenario.open()
    play(simulation, scenario.then)
    pending = next(pod for pod in simulation.api.pods() if not pod.node_name)
    capsys.readouterr()
    assert main(["explain", str(next(FOLDER.glob("*-nothing-fits.yaml"))), "--pod", pending.key]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"{pending.key} is without a node.\n")
    assert "unschedulable: 0/" in output


def test_new_writes_a_scenario_that_holds_and_overwrites_nothing(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mine.scenario.yaml"
    assert main(["new", "--to", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    assert main(["new", "--to", str(path)]) == 2
    assert main(["new", "node-affinity-weight"]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert main(["new", "--list"]) == 0
    slugs = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert len(slugs) == len([*FOLDER.glob("*.yaml")])
    assert main(["new", slugs[-1], "--to", str(tmp_path / "copy.scenario.yaml")]) == 0


def test_export_writes_files_that_others_read(blank: Path, tmp_path: Path, capsys: Any) -> None:
    def exported(*options: str) -> str:
        assert main(["export", str(blank), *options]) == 0
        return str(capsys.readouterr().out)

    kinds = [document.data["kind"] for document in read_documents(exported("--as", "manifests"))]
    assert kinds == ["Node", "Node", "Pod"]
    stored = [document.data for document in read_documents(exported("--as", "stored"))]
    assert [item["spec"]["nodeName"] for item in stored if item["kind"] == "Pod"] == ["node-b"]
    assert "kwok.x-k8s.io/node: fake" in exported("--as", "kwok")
    assert len(gather(exported("--as", "simulator").encode(), "snapshot.json").objects) >= 3
    assert json.loads(exported("--as", "trace").splitlines()[0])["n"] == 1
    strict = tmp_path / "strict.scenario.yaml"
    strict.write_text(exported("--expect", "verdicts"))
    scenario = load_scenario(strict)
    assert len(scenario.expect) > 8
    simulation = scenario.open()
    play(simulation, scenario.then)
    assert check(simulation, scenario) == []
    assert main(["export", str(blank), "--to", str(tmp_path / "no" / "folder.yaml")]) == 2


def test_schema_bench_and_completion_print_their_output(capsys: Any) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"].startswith("https://json-schema.org/")
    assert main(["bench", "--nodes", "5", "--pods", "20"]) == 0
    assert capsys.readouterr().out.startswith("20 of 20 pods on 5 nodes in ")
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert "_SCHEDULER_SANDBOX_COMPLETE" in capsys.readouterr().out


BAD_FILES = {
    "a folder": (None, ": this folder has no files that end in .yaml, .yml"),
    "an empty file": (b"", ": the file is empty"),
    "not text": (b"\x7fELF\xff\xfe\x00", ": the text is not UTF-8"),
    "not YAML": (b"title: [\n", ":2:1: "),
}


@pytest.mark.parametrize("case", BAD_FILES)
@pytest.mark.parametrize("name", ["run", "check", "export"])
def test_an_unusable_file_is_one_line(case: str, name: str, tmp_path: Path, capsys: Any) -> None:
    content, message = BAD_FILES[case]
    path = tmp_path / "bad.yaml"
    path.mkdir() if content is None else path.write_bytes(content)
    assert main([name, str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert "bad.yaml" in lines[0]


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2]",
        "7",
        "[" * 100_000,
        '{"commands": [7]}',
        '{"commands": [{"kind": []}]}',
        '{"commands": [{"kind": "x"}]}',
    ],
)
def test_an_invalid_log_is_refused_in_one_line(text: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["replay", "-"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_standard_input_is_a_file_too(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for name in ("run", "check", "export"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BLANK.encode())))
        assert main([name, "-"]) == 0
    assert yaml.safe_load(BLANK)["title"] in capsys.readouterr().out


def test_a_closed_pipe_gives_no_traceback(blank: Path) -> None:
    command = [sys.executable, "-m", "scheduler_engine", "run", "--json", str(blank)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert b"Traceback" not in errors
    assert b"Exception" not in errors


NARROWED = """\
title: PreFilter narrows the search to one node
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: one}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: two}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "9"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: pinned}
    spec:
      containers: [{name: main, image: x}]
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchFields: [{key: metadata.name, operator: In, values: [two]}]
then:
- run: {}
"""


def test_explain_names_pre_filter_for_a_node_that_it_excluded(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "narrowed.yaml"
    path.write_text(NARROWED)
    assert main(["explain", str(path), "--pod", "pinned", "--node", "one"]) == 0
    assert "one: PreFilter narrowed the search, so this attempt did not check it." in capsys.readouterr().out


def test_explain_draws_again_among_equal_nodes(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "equal.scenario.yaml"
    path.write_text(BLANK.replace('cpu: "8", memory: 16Gi', 'cpu: "4", memory: 8Gi').partition("expect:")[0])
    assert main(["explain", str(path), "--pod", "web", "--seeds", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("node-") and "was chosen" in line)
    node = lines[place].split()[0]
    assert lines[place + 1] == f"  {node} was drawn from 2 equal nodes; each wins 1 in 2."
    assert lines[place + 2].startswith("  100 draws under other seeds: node-a ")
    wins = [int(part.split()[-1]) for part in lines[place + 2].partition(": ")[2].split(", ")]
    assert sum(wins) == 100
    assert main(["explain", str(path), "--pod", "web"]) == 0
    assert "draws under" not in capsys.readouterr().out


def test_explain_draws_nothing_where_one_node_is_best(blank: Path, capsys: Any) -> None:
    assert main(["explain", str(blank), "--pod", "web", "--seeds", "100"]) == 0
    assert "drawn" not in capsys.readouterr().out


def test_explain_fix_shows_the_smallest_changes_and_how_to_make_them(capsys: Any) -> None:
    path = str(next((Path(__file__).parents[3] / "fixtures" / "scenarios").glob("*-nothing-fits.yaml")))
    assert main(["explain", path, "--pod", "big-1", "--fix"]) == 0
    shown = capsys.readouterr().out
    assert "1. Uncordon node-cordoned. Then node-cordoned passes.\n   kubectl uncordon node-cordoned\n" in shown
    assert not [line for line in shown.splitlines() if len(line) > 80 and "kubectl" not in line]


def test_explain_fix_has_nothing_to_say_about_a_pod_on_a_node(blank: Path, capsys: Any) -> None:
    assert main(["explain", str(blank), "--pod", "web", "--fix"]) == 0
    assert capsys.readouterr().out == "default/web is not pending.\nBy the rules of Kubernetes v1.34.1.\n"


def test_check_writes_its_results_for_programs(blank: Path, wrong: Path, tmp_path: Path, capsys: Any) -> None:
    report, missing = tmp_path / "report.xml", str(tmp_path / "missing.yaml")
    assert main(["check", str(blank), str(wrong), missing, "--output", "json", "--junitxml", str(report)]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [row["result"] for row in files] == ["passed", "failed", "invalid"]
    assert files[1]["problems"][0].startswith(f"{wrong}:"), "an editor opens this place"
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = [(case.get("classname"), [child.tag for child in case]) for case in suite]
    assert cases == [(str(blank), []), (str(wrong), ["failure"]), (missing, ["error"])]


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_explain_gives_facts_to_programs(output: str, capsys: Any) -> None:
    path = str(next(FOLDER.glob("*-nothing-fits.yaml")))
    assert main(["explain", path, "--pod", "big-1", "--output", output]) == 0
    found = yaml.safe_load(capsys.readouterr().out)
    assert (found["lane"], found["attempt"]["number"]) == ("unschedulablePods", 1)
    small = next(node for node in found["attempt"]["nodes"] if node["node"] == "node-small-cpu")
    assert (small["passes"], small["reasons"]) == (False, ["Insufficient cpu"])
    assert small["why"]["facts"][0]["ok"] is False
    assert main(["explain", path, "--pod", "big-1", "--fix", "--output", output]) == 0
    fixes = yaml.safe_load(capsys.readouterr().out)["fixes"]
    assert fixes[0]["steps"] == [{"text": "kubectl uncordon node-cordoned", "manifest": None}]


def test_explain_gives_programs_a_reason_if_there_was_no_attempt(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "gated.yaml"
    path.write_text(WITHOUT_ATTEMPT)
    assert main(["explain", str(path), "--pod", "gated", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["attempt"], found["lane"]) == (None, "gated")
    assert "SchedulingGates keeps it out of activeQ" in found["why"]


TAKE_ONE = ["run", "export", "explain --pod web", "fit", "leave --removable", "diff --kubernetes 1.34"]


@pytest.mark.parametrize("words", TAKE_ONE)
def test_a_folder_with_one_file_means_that_file(words: str, tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "mine"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "other.yaml").write_text("kind: Pod\n")
    (folder / "web.yaml").write_text(BLANK)
    name, *options = words.split()
    assert main([name, str(folder), *options]) == 0
    capsys.readouterr()
    (folder / "zzz.yaml").write_text(BLANK)
    assert main([name, str(folder), *options]) == 2
    told = f"{folder}: this folder has 2 files. Name one of them, such as {folder / 'web.yaml'}\n"
    assert capsys.readouterr().err == told


ODD = {
    "a manifest that is not YAML": ("fit blank.scenario.yaml --pod bad.yaml", "bad.yaml:2:1: invalid YAML"),
    "an option that --fix would ignore": ("explain blank.scenario.yaml --pod web --fix --node x", "use --fix without"),
    "an option that manifests would ignore": ("export blank.scenario.yaml --as kwok --expect queues", "use --expect"),
    "a kind that no import has": ("import bad.yaml --without-kind Pot", "no kind 'Pot' (did you mean \"Pod\"?)"),
    "a recording that is not JSON": ("conformance bad.yaml", "bad.yaml:1: this is not valid JSON"),
    "a family without recordings": ("conformance none.jsonl --family x", "no recordings found of the family x"),
    "a log in another encoding": ("replay utf-16", "utf-16: this is not valid JSON"),
}


@pytest.mark.parametrize(("line", "message"), ODD.values(), ids=ODD)
def test_odd_input_is_one_error(
    line: str, message: str, blank: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(blank.parent)
    Path("bad.yaml").write_text("title: [\n")
    Path("none.jsonl").write_text("")
    Path("utf-16").write_bytes("[".encode("utf-16"))
    assert main(line.split()) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert len(output.err.splitlines()) == 1


READ = {
    "a table": ["run", "blank.scenario.yaml"],
    "data": ["check", "blank.scenario.yaml", "-o", "json"],
    "help": ["--help"],
    "help of a command": ["import", "--help"],
    "an error": ["run", "missing.yaml"],
}


@pytest.mark.parametrize("arguments", READ.values(), ids=READ)
def test_if_nobody_reads_it_ends_quietly(arguments: list[str], blank: Path) -> None:
    """Its own process: what Python says at exit counts too."""
    nobody, output = os.pipe()
    os.close(nobody)
    program = [sys.executable, str(Path(scheduler_engine.__file__).parent), *arguments]
    done = subprocess.run(program, cwd=blank.parent, stdout=output, stderr=subprocess.PIPE, text=True)
    os.close(output)
    expected = (2, "missing.yaml: No such file or directory\n") if "missing.yaml" in arguments else (141, "")
    assert (done.returncode, done.stderr) == expected


@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)])
def test_colours_are_for_terminals_where_nobody_refused_them(
    settings: dict[str, str], coloured: bool, blank: Path
) -> None:
    reader, terminal = pty.openpty()
    program = [sys.executable, str(Path(scheduler_engine.__file__).parent), "check", "blank.scenario.yaml"]
    subprocess.run(program, cwd=blank.parent, stdout=terminal, env={"PATH": "/usr/bin:/bin", **settings}, check=True)
    os.close(terminal)
    output = os.read(reader, 65_536).decode()
    os.close(reader)
    assert "blank.scenario.yaml" in output
    assert ("\x1b[" in output) is coloured


def test_the_help_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for name in ("", *COMMANDS):
        assert main([*filter(None, [name]), "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if len(line) > 40 and " " in line.strip()] == []
