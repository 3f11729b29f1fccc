"""Files are read into scenarios, and errors are reported by line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import command_of, load_scenario, read_scenario
from scheduler_engine.scenario.steps import COMMANDS

GOOD = "title: t\ngroup: D1\nabout: a\noutcome: o\nsource: s\nsetup: [{run: {}}]\n"
POD = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: x}]}}"

DECLARING = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {declaredFeatures: [A]}}"
STRICT = (
    "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{pluginConfig: "
    "[{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: "
    "{shape: [{utilization: 0, score: 0}]}}}}]}]}"
)
"""A configuration that v1.34 accepts, and v1.36 does not."""


def errors_in(text: str) -> list[str]:
    """Return the errors in a file with this text."""
    with pytest.raises(Rejected) as refusal:
        read_scenario(text, "x.yaml")
    return [str(error) for error in refusal.value.errors]


BAD: dict[str, tuple[str, str]] = {
    "a list instead of a mapping": ("- a\n", "x.yaml:1:1: a scenario must be a mapping with at least a title"),
    "an empty file": ("", "x.yaml: the file is empty"),
    "nothing but a comment": ("# later\n", "x.yaml: the file is empty"),
    "not YAML": ("title: [a\n", "x.yaml:2:1: invalid YAML: "),
    "a tab character as indentation": ("title: a\nthen:\n\t- run: {}\n", "x.yaml:3:1: invalid YAML: "),
    "an unknown anchor": ("title: *a\n", "x.yaml:1:8: unknown anchor 'a'"),
    "two documents": (
        "title: a\n---\ntitle: b\n",
        "x.yaml:3:1: a file must contain one scenario, but this one has 2 documents",
    ),
    "no title": ("about: a\n", "x.yaml:1:1: title: Required value"),
    "a title that is a number": (
        "title: 1\n",
        "x.yaml:1:1: title: Invalid value: 1: must be a text (put it in quotes)",
    ),
    "an unknown key": (
        GOOD + "expects: []\n",
        'x.yaml:7:1: expects: unknown field "expects" (did you mean "expect"?)',
    ),
    "a repeated key": (GOOD + "title: u\n", 'x.yaml:7:1: title: duplicate field "title"'),
    "another version": (
        "apiVersion: scheduler-sandbox/v2\ntitle: t\nwhat: 1\n",
        "x.yaml:1:1: apiVersion: the file has version scheduler-sandbox/v2, but this engine reads scheduler-sandbox/v1",
    ),
    "a version of something else": (
        "apiVersion: v1\ntitle: t\n",
        "x.yaml:1:1: apiVersion: must be scheduler-sandbox/v1",
    ),
    "a manifest": (
        POD.replace("metadata", "title: t, metadata"),
        "x.yaml:1:18: kind: this is a Pod, not a Scenario; put manifests under setup, in the list of apply",
    ),
    "a step with two commands": (
        GOOD + "then:\n- run: {}\n  stage: {}\n",
        "x.yaml:9:3: then[0].stage: Forbidden: a step must have one command, but this one has 2: run, stage",
    ),
    "an expected refusal in the setup": (
        GOOD.replace("{run: {}}", "{run: {}, refused: x}"),
        "x.yaml:6:19: setup[0].refused: Forbidden: only a step in then may have it",
    ),
    "a refusal without a message": (
        GOOD + "then: [{run: {}, refused: 1}]\n",
        "x.yaml:7:18: then[0].refused: Invalid value: 1: must be a text",
    ),
    "a refusal without a command": (
        GOOD + "then: [{refused: x}]\n",
        "x.yaml:7:8: then[0]: Required value: a step needs a command, such as run: {}",
    ),
    "a step that is a word": (
        GOOD + "then: [run]\n",
        'x.yaml:7:8: then[0]: Invalid value: "run": a step must be a mapping',
    ),
    "an empty step": (GOOD + "then: [{}]\n", "x.yaml:7:8: then[0]: Required value: a step needs a command"),
    "steps that are not a list": (
        GOOD + "then: {run: {}}\n",
        'x.yaml:7:1: then: Invalid value: {"run": {}}: must be a list',
    ),
    "queue rules that do not exist": (
        GOOD + "queue_rules: v1.0\n",
        'x.yaml:7:1: queue_rules: Unsupported value: "v1.0": supported values: "v1.34", "design-doc"',
    ),
    "a version of Kubernetes that nobody follows": (
        GOOD + "kubernetes: v1.33\n",
        'x.yaml:7:1: kubernetes: Unsupported value: "v1.33": supported values: "v1.34", "v1.35", "v1.36"',
    ),
    "a version that is a number": (
        GOOD + "kubernetes: 1.36\n",
        "x.yaml:7:1: kubernetes: Invalid value: 1.36: must be a text (put it in quotes)",
    ),
    "a feature gate of another version": (
        GOOD + "kubernetes: v1.34\nfeature_gates: {OpportunisticBatching: false}\n",
        "x.yaml:8:1: feature_gates: unrecognized feature gate: OpportunisticBatching",
    ),
    "a feature gate that is no switch": (
        GOOD + "feature_gates: {PodTopologyLabelsAdmission: 1}\n",
        "x.yaml:7:17: feature_gates.PodTopologyLabelsAdmission: Invalid value: 1: must be true or false",
    ),
    "a feature gate of another version in a step": (
        GOOD + "then:\n- kubernetes: {version: v1.34, feature_gates: {OpportunisticBatching: true}}\n",
        "x.yaml:8:32: then[0].kubernetes.feature_gates: unrecognized feature gate: OpportunisticBatching",
    ),
    "a locked feature gate": (
        GOOD + "feature_gates: {SchedulerQueueingHints: false}\n",
        "x.yaml:7:1: feature_gates: cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
    ),
    "a field that only a later version has": (
        GOOD + f"then:\n- apply:\n  - {DECLARING}\n- kubernetes: {{version: v1.36}}\n- apply:\n  - {DECLARING}\n",
        'x.yaml:9:65: then[0].apply[0].status.declaredFeatures: unknown field "status.declaredFeatures"',
    ),
    "a configuration of a later version": (
        GOOD + f"kubernetes: v1.36\nthen:\n- configure: {{configuration: {STRICT}}}\n",
        "x.yaml:9:",
    ),
    "an invalid name of a tab": (GOOD + "tab: [pods]\n", 'x.yaml:7:1: tab: Invalid value: ["pods"]: must be a text'),
    "a text that is too long for a button": (
        GOOD + f"then: [{{run: {{}}, say: {'x' * 61}}}]\n",
        "x.yaml:7:18: then[0].say: Too long: may not be more than 60 characters",
    ),
    "a command that does not exist": (
        GOOD.replace("run", "rum"),
        'x.yaml:6:10: setup[0].rum: unknown field "rum" (did you mean "run"?)',
    ),
    "a field of a command that does not exist": (
        GOOD + "then:\n- run: {}\n- run:\n    cycle: 1\n",
        'x.yaml:10:5: then[1].run.cycle: unknown field "cycle" (did you mean "cycles"?)',
    ),
    "a field of a command that is missing": (
        GOOD + "then:\n- advance:\n",
        "x.yaml:8:3: then[0].advance: Invalid value: null: must be a mapping",
    ),
    "an amount out of bounds": (
        GOOD + "then:\n- advance: {seconds: 0}\n",
        "x.yaml:8:13: then[0].advance.seconds: Invalid value: 0: must be greater than 0 and at most 86400",
    ),
    "an amount that only the command knows to be wrong": (
        GOOD + "then:\n- advance: {seconds: 0.0000001}\n",
        "x.yaml:8:13: then[0].advance.seconds: must be at least 0.000001",
    ),
    "an invalid value of a field": (
        GOOD + "then: [{replica: {replica: a, action: kil}}]\n",
        'x.yaml:7:31: then[0].replica.action: Unsupported value: "kil": supported values: ',
    ),
    "a manifest that Kubernetes would refuse": (
        GOOD + f"then:\n- apply:\n  - {POD.replace('image: x', 'image: x, imagePullPolicy: 1')}\n",
        "x.yaml:9:99: then[0].apply[0].spec.containers[0].imagePullPolicy: ",
    ),
    "a manifest that is not one": (
        GOOD + "then: [{apply: [web]}]\n",
        'x.yaml:7:17: then[0].apply[0]: Invalid value: "web": must be a mapping',
    ),
    "a configuration that Kubernetes would refuse": (
        GOOD + "configuration:\n  apiVersion: kubescheduler.config.k8s.io/v1\n  kind: KubeSchedulerConfiguration\n"
        "  percentageOfNodesToScore: 200\n",
        "x.yaml:10:3: configuration.percentageOfNodesToScore: ",
    ),
    "a configuration of a step that Kubernetes would refuse": (
        GOOD + "then:\n- configure:\n    configuration: {kind: Pod}\n",
        "x.yaml:9:5: then[0].configure.configuration",
    ),
    "two steps of one name": (
        GOOD + "then:\n- {run: {}, name: a}\n- {run: {}, name: a}\n",
        'x.yaml:9:13: then[1].name: Duplicate value: "a": then[0] has this name',
    ),
    "an expectation that does not exist": (
        GOOD + "expect:\n- wait: default/web\n",
        "x.yaml:8:3: expect[0].wait: unknown expectation 'wait' (did you mean \"waits\"?)",
    ),
    "an expectation of a step with an unknown key": (
        GOOD + "then:\n- run: {}\n  expect: [{pod: default/web, nod: n1}]\n",
        'x.yaml:9:31: then[0].expect[0].nod: unknown field "nod" (did you mean "node"?)',
    ),
    "an expectation that expects nothing": (
        GOOD + "expect: [{metric: scheduler_pending_pods}]\n",
        "x.yaml:7:10: expect[0]: Required value: one of equals, atLeast, atMost",
    ),
    "two expectations in one": (
        GOOD + "expect: [{pod: default/web, gone: default/db}]\n",
        "x.yaml:7:29: expect[0].gone: Forbidden: an expectation has only one of pod, gone",
    ),
    "an event with two names": (
        GOOD + "expect: [{order: [{popped: a, bound: b}]}]\n",
        "x.yaml:7:31: expect[0].order[0].bound: Forbidden: only one is allowed: popped, bound",
    ),
    "more values than one text may hold": ("title: t\nabout: [" + "1," * 80_000 + "]\n", "x.yaml:2:"),
    "aliases of aliases": (
        "title: t\na: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcde", "bcdef", strict=True)),
        "aliases counted in full",
    ),
}


@pytest.mark.parametrize("words", BAD)
def test_an_error_is_reported_at_its_line_and_its_key(words: str) -> None:
    text, said = BAD[words]
    (error, *more) = errors_in(text)
    assert said in error
    assert error.startswith("x.yaml:")
    assert not more


def test_all_errors_are_reported_at_once() -> None:
    text = "titel: t\nseed: x\nthen:\n- rum: {}\n- advance: {seconds: -1}\nexpect: [{colour: blue}]\n"
    assert [line.split(": ")[1] for line in errors_in(text)] == [
        "titel", "seed", "then[0].rum", "then[1].advance.seconds", "expect[0].colour", "title",
    ]  # fmt: skip


def test_a_title_is_enough() -> None:
    scenario = read_scenario("title: A cluster of my own\n", "mine.yaml")
    assert (scenario.slug, scenario.title, scenario.group, scenario.seed) == ("mine", "A cluster of my own", "", 42)
    assert (scenario.setup, scenario.then, scenario.expect) == ((), ({"kind": "run"},), ())
    assert scenario.open().now_us == 0


@pytest.mark.parametrize("head", ["", "apiVersion: scheduler-sandbox/v1\n", "kind: Scenario\n"])
def test_version_and_kind_may_be_left_out(head: str) -> None:
    assert read_scenario(f"{head}title: t\n").title == "t"


@pytest.mark.parametrize("key", ["on", "'on'", "yes"], ids=["bare", "in quotes", "as a synonym of true"])
@pytest.mark.parametrize("kind", ["cordon", "drain"], ids=["of a cordon", "of a drain"])
def test_the_word_on_needs_no_quotes_in_a_step(kind: str, key: str) -> None:
    scenario = read_scenario(GOOD.replace("{run: {}}", f"{{{kind}: {{node: n1, {key}: false}}}}"))
    assert scenario.setup == ({"kind": kind, "node": "n1", "on": False},)


def test_an_error_behind_a_bare_on_is_reported_at_its_line() -> None:
    text = GOOD.replace("[{run: {}}]", "\n- cordon:\n    node: n1\n    on: 7\n")
    assert errors_in(text) == ["x.yaml:9:5: setup[0].cordon.on: Invalid value: 7: must be true or false"]


def test_a_step_keeps_the_text_beside_its_command() -> None:
    scenario = read_scenario(GOOD + "tab: nodes\nthen: [{say: look, advance: {seconds: 2}, refused: x, name: two}]\n")
    assert scenario.tab == "nodes"
    assert scenario.then == ({"kind": "advance", "seconds": 2, "refused": "x", "say": "look", "name": "two"},)
    assert command_of(scenario.then[0]) == {"kind": "advance", "seconds": 2}


def test_a_command_without_arguments_may_be_a_plain_name() -> None:
    assert read_scenario("title: t\nthen:\n- run:\n- stage: {}\n").then == ({"kind": "run"}, {"kind": "stage"})


def test_a_step_that_expects_a_refusal_may_have_an_invalid_manifest() -> None:
    text = f"title: t\nthen:\n- apply:\n  - {POD.replace('name: web', 'name: no name')}\n  refused: metadata.name\n"
    assert read_scenario(text).then[0]["refused"] == "metadata.name"


def test_expectations_that_are_steps_belong_to_the_step_before_and_keep_their_lines() -> None:
    text = (
        "title: t\nthen:\n- expect: [{clock: 0}]\n- run: {}\n  expect: [{clock: 1}]\n- expect:\n  - clock: 2\n"
        "  - clock: 3\n- stage: {}\n"
    )
    scenario = read_scenario(text, "x.yaml")
    assert scenario.opened == ({"clock": 0},)
    assert scenario.then == (
        {"kind": "run", "expect": ({"clock": 1}, {"clock": 2}, {"clock": 3})},
        {"kind": "stage"},
    )
    assert scenario.where("opened[0]") == "x.yaml:3:12: then[0].expect[0]"
    assert scenario.where("then[0].expect[0]") == "x.yaml:5:12: then[1].expect[0]"
    assert scenario.where("then[0].expect[2]") == "x.yaml:8:5: then[2].expect[1]"
    assert scenario.where("then[1]") == "x.yaml:9:3: then[3]"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("07-a-name.yaml", "a-name"), ("a-name.yaml", "a-name"), ("a.scenario.yaml", "a"), ("07.yaml", "07"),
        ("07-a.b.yaml", "a.b"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_a_leading_number_in_the_file_name_only_orders(name: str, slug: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(GOOD)
    assert load_scenario(path).slug == slug


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_scenario(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize("text", ["title: caf\xe9".encode("latin-1"), b"title: t\0", b"x" * 2_000_000])
def test_a_binary_or_oversized_file_is_refused(text: bytes) -> None:
    with pytest.raises(Rejected, match=r"^scenario\.yaml"):
        read_scenario(text)


EXAMPLES: dict[str, dict[str, Any]] = {
    "advance": {"seconds": 1}, "assumed-ttl": {"seconds": 1}, "kubernetes": {"version": "v1.36"},
    "scale": {"object_kind": "a", "key": "b", "replicas": 1},
    "fault": {"plugin": "a", "point": "bind"}, "delete": {"object_kind": "a", "key": "b"}, "run": {},
    "patch": {"object_kind": "a", "key": "b", "changes": {}}, "replicas": {"count": 1},
    "replica": {"replica": "a", "action": "kill"}, "admission": {"plugin": "LimitPodHardAntiAffinityTopology"},
}  # fmt: skip
EDGES = [-1, 0, 1, 5, 6, 1000, 1001, 10_000, 10_001, 86_400, 86_401, "", "kill", "Orphan", "orphan", "resize", "status"]
EDGES += ["LimitPodHardAntiAffinityTopology"]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in EXAMPLES for name in commands.COMMANDS[kind].rows])
def test_shapes_agree_with_the_commands(kind: str, name: str) -> None:
    types = commands.COMMANDS[kind].rows[name].types
    for value in (edge for edge in EDGES if isinstance(edge, types)):
        step = {**EXAMPLES[kind], name: value}
        fits = not list(COMMANDS[kind].problems(step, "x"))
        try:
            commands.from_json({"kind": kind, **step})
        except Rejected:
            assert not fits, value
        else:
            assert fits, value
