"""The controls of plugins in one line, and the examples to start from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.web.configuring.controls import controls
from sandbox.web.configuring.edits import edit
from sandbox.web.configuring.expressions import FIELDS
from sandbox.web.presets.expressions import EXAMPLES
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.expressions.variables import ON_PERMIT
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.testing.builders import Builder, PodBuilder
from scheduler_engine.versions import DEFAULT_RULES
from tests.engine.expression_plugin import declaring

EMPTY: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
BY_SLUG = {example.slug: example for example in EXAMPLES}


def changed(manifest: dict[str, Any], control: str, value: str) -> dict[str, Any]:
    """Return the only profile after one change."""
    [profile] = edit(manifest, 0, control, value, DEFAULT_RULES)["profiles"]
    return dict(profile)


def test_an_example_is_added_enabled_under_a_free_name() -> None:
    first = edit(EMPTY, 0, "add-expression:few-pods", "1", DEFAULT_RULES)
    second = changed(first, "add-expression:few-pods", "1")
    assert second["plugins"]["multiPoint"]["enabled"] == [{"name": "FewPods"}, {"name": "FewPods2"}]
    assert [config["name"] for config in second["pluginConfig"]] == ["FewPods", "FewPods2"]
    assert second["pluginConfig"][1]["args"] == {
        "apiVersion": "scheduler-sandbox/v1",
        "kind": "ExpressionArgs",
        **BY_SLUG["few-pods"].args,
    }


def test_controls_change_the_entry_and_where_it_is_enabled() -> None:
    before = declaring(filter="true", message="no")
    renamed = changed(before, "expression-name:0", "Mine")
    assert renamed["plugins"]["multiPoint"]["enabled"] == [{"name": "Mine", "weight": 3}]
    assert renamed["pluginConfig"][0]["name"] == "Mine"
    assert changed(before, "expression-weight:0", "7")["plugins"]["multiPoint"]["enabled"][0]["weight"] == 7
    assert changed(before, "expression-weight:0", "")["plugins"]["multiPoint"]["enabled"] == [{"name": "Own"}]
    assert changed(before, "expression:0.score", "1")["pluginConfig"][0]["args"]["score"] == "1"
    assert "message" not in changed(before, "expression:0.message", "")["pluginConfig"][0]["args"]
    assert changed(before, "remove-expression:0", "1") == {"schedulerName": "default-scheduler"}


def test_an_expression_runs_though_its_plugin_is_enabled_point_by_point() -> None:
    before = declaring(filter="true")
    before["profiles"][0]["plugins"] = {"filter": {"enabled": [{"name": "Own"}]}}
    scored = edit(before, 0, "expression:0.score", "1", DEFAULT_RULES)
    worded = changed(scored, "expression:0.message", "no")
    assert worded["plugins"] == {point: {"enabled": [{"name": "Own"}]} for point in ("filter", "score")}
    assert controls(load_configuration(scored), 0, {}, DEFAULT_RULES)["own"][0]["weight"] == 1


@pytest.mark.parametrize(
    "control",
    [
        "add-expression:none",
        "remove-expression:1",
        "expression-name:x",
        "expression:0.kind",
        "expression:",
        "expression:9.x",
    ],
)
def test_a_control_that_does_not_exist_is_refused(control: str) -> None:
    with pytest.raises(Rejected):
        edit(declaring(filter="true"), 0, control, "x", DEFAULT_RULES)


def test_controls_show_what_is_declared() -> None:
    manifest = declaring(filter="true", score="1")
    shown = controls(load_configuration(manifest), 0, {}, DEFAULT_RULES)["own"]
    assert [(item["at"], item["name"], item["weight"]) for item in shown] == [("0", "Own", 3)]
    fields = {item["name"]: item["value"] for item in shown[0]["fields"]}
    assert fields == dict.fromkeys(FIELDS, "") | {"filter": "true", "score": "1"}
    manifest["profiles"][0]["plugins"] = {}
    assert controls(load_configuration(manifest), 0, {}, DEFAULT_RULES)["own"][0]["weight"] is None


# --- each example does what it says ---


def labelled(name: str, **labels: str) -> PodBuilder:
    return make_pod(name).labels(labels)


def of(slug: str, *objects: Builder, pod: PodBuilder | None = None) -> Any:
    example = BY_SLUG[slug]
    cluster = Cluster(declaring(example.name, **example.args))
    cluster.apply(*objects, pod or make_pod("web").cpu("1")).run(1)
    return cluster.attempts("web")[0]


BUSY = make_pod("busy").cpu("3").node("n").label("app", "web")
REFUSED: list[tuple[str, tuple[Builder, ...], PodBuilder, str]] = [
    ("small-nodes", (make_node("n").capacity(cpu="8"),), make_pod("web"), "node is too large"),
    ("room-left", (make_node("n"), BUSY), make_pod("web").cpu("500m"), "node would be more than 80% full"),
    ("one-of-each", (make_node("n"), BUSY), labelled("web", app="web"), "node has a pod of this app"),
    (
        "few-pods",
        (make_node("n"), *(make_pod(f"p{n}").node("n") for n in range(3))),
        make_pod("web"),
        "node has 3 pods",
    ),
    ("team-nodes", (make_node("n").label("team", "red"),), labelled("web", team="blue"), "node belongs to team red"),
    ("team-nodes", (make_node("n").label("team", "red"),), make_pod("web"), "node belongs to team red"),
    ("needs-a-team", (make_node("n"),), make_pod("web"), "pod has no label team"),
    (
        *("gpu-nodes", (make_node("n").capacity({"nvidia.com/gpu": "1"}),)),
        *(make_pod("web"), "node is for pods that request GPUs"),
    ),
    ("maintenance", (make_node("n").annotation("maintenance", "Friday"),), make_pod("web"), "maintenance on Friday"),
]
PASSED: list[tuple[str, tuple[Builder, ...], PodBuilder]] = [
    ("small-nodes", (make_node("n").capacity(cpu="4"),), make_pod("web")),
    ("room-left", (make_node("n"), BUSY), make_pod("web").cpu("200m")),
    ("one-of-each", (make_node("n"), BUSY), make_pod("web")),
    ("few-pods", (make_node("n"), BUSY), make_pod("web")),
    ("team-nodes", (make_node("n").label("team", "red"),), labelled("web", team="red")),
    ("team-nodes", (make_node("n"),), make_pod("web")),
    ("needs-a-team", (make_node("n"),), labelled("web", team="red")),
    (
        *("gpu-nodes", (make_node("n").capacity({"nvidia.com/gpu": "1"}),)),
        make_pod("web").request({"nvidia.com/gpu": "1"}).limit({"nvidia.com/gpu": "1"}),
    ),
    ("maintenance", (make_node("n"),), make_pod("web")),
]
SCORED: dict[str, tuple[tuple[Builder, ...], dict[str, int]]] = {
    "cheapest": ((make_node("n").label("price", "30"), make_node("m")), {"n": 70, "m": 0}),
    "fullest": ((make_node("n"), make_node("m"), BUSY), {"n": 75, "m": 0}),
}


@pytest.mark.parametrize(("slug", "objects", "pod", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_example_refuses(slug: str, objects: tuple[Builder, ...], pod: PodBuilder, message: str) -> None:
    plugin, _, reasons = of(slug, *objects, pod=pod).verdict("n")
    assert (plugin, reasons) == (BY_SLUG[slug].name, (message,))


@pytest.mark.parametrize(("slug", "objects", "pod"), PASSED, ids=[row[0] for row in PASSED])
def test_an_example_accepts(slug: str, objects: tuple[Builder, ...], pod: PodBuilder) -> None:
    assert of(slug, *objects, pod=pod).outcome == "bound"


@pytest.mark.parametrize("slug", SCORED)
def test_an_example_scores(slug: str) -> None:
    objects, scores = SCORED[slug]
    attempt = of(slug, *objects)
    assert {node: attempt.scores(node)[BY_SLUG[slug].name]["raw"] for node in scores} == scores


def test_every_example_is_played() -> None:
    assert {row[0] for row in REFUSED} == {row[0] for row in PASSED}
    assert {*SCORED, "in-pairs", *(row[0] for row in REFUSED)} == set(BY_SLUG)


def test_an_example_lets_pods_start_two_by_two() -> None:
    cluster = Cluster(declaring("InPairs", **BY_SLUG["in-pairs"].args)).apply(make_node("n"))
    pods = {"web-1": "web", "db-1": "db", "web-2": "web", "web-3": "web"}
    cluster.apply(*(labelled(name, app=app) for name, app in pods.items())).settle()
    assert {name: cluster.node_of(name) for name in pods} == {"web-1": "n", "web-2": "n", "web-3": "", "db-1": ""}


# --- over HTTP ---

HOSTILE = {
    "Cost": "[1, 2, 3, 4, 5, 6, 7, 8, 9].map(a, " * 6 + "1" + ")" * 6 + " == []",
    "Depth": "(" * 3000 + "true" + ")" * 3000,
    "Many parts": " && ".join(["true"] * 3000),
    "Doubled": 'cel.bind(a, "xxxxxxxxxx", ' + "".join("cel.bind(a, a + a, " for _ in range(30)) + "a != ''" + ")" * 31,
    "Pattern": '"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("(a+)+$")',
    "Markup": "pod.metadata.name == '</textarea><script>alert(1)</script>'",
    "Signs": "pod.metadata.name == '\u202e\x00'",
}


@pytest.mark.django_db
@pytest.mark.parametrize("expression", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_expression_is_refused_or_an_error_of_its_plugin(visitor: Any, expression: str) -> None:
    text = yaml.safe_dump(declaring(filter="true"))
    form = {"configuration": text, "control": "expression:0.filter", "value": expression}
    shown = visitor.post("controls/", **form)
    assert shown.status_code == 200
    assert b"<script>" not in shown.content
    visitor.post("configure/", configuration=yaml.safe_dump(declaring(filter=expression)))
    visitor.post("add/node/", name="n", cpu="4", memory="8Gi")
    visitor.post("add/pod/", name="web", cpu="1")
    assert visitor.post("do/pod/").status_code == 204
    assert visitor.get("").status_code == 200


@pytest.mark.django_db
def test_an_error_is_shown_at_its_field(visitor: Any) -> None:
    text = yaml.safe_dump(declaring(filter="true"))
    answer = visitor.post("controls/", configuration=text, control="expression:0.filter", value="nod.x")
    page = answer.content.decode()
    field, _, after = page.partition('data-control="expression:0.filter"')[2].partition("</textarea>")
    assert 'aria-invalid="true"' in field
    assert "&lt;input&gt;:1:1: undeclared reference to &#39;nod&#39;" in after.partition("expression:0.message")[0]


# --- docs/plugins.md ---

DOCUMENT = Path(__file__).parents[3] / "docs" / "plugins.md"


def test_the_document_lists_all_examples(golden: Callable[[Path, str], None]) -> None:
    rows = [f"| {item.says} | {'<br>'.join(_told(*pair) for pair in item.args.items())} |" for item in EXAMPLES]
    table = "\n".join(["| what it does | arguments |", "|---|---|", *rows])
    block = r"(<!-- examples -->\n).*?(?=<!-- end of examples -->)"
    golden(DOCUMENT, re.sub(block, lambda found: f"{found[1]}\n{table}\n\n", DOCUMENT.read_text(), flags=re.DOTALL))


def _told(field: str, text: str) -> str:
    """Return an argument in a cell of a Markdown table, where a bar needs a backslash."""
    return f"`{field}: {text}`".replace("|", "\\|")


def test_the_document_lists_all_fields_and_names() -> None:
    section = DOCUMENT.read_text().partition("## In one line")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert named == {*FIELDS, *ON_PERMIT}


@pytest.mark.django_db
@pytest.mark.parametrize(("fields", "weighs"), [({"filter": "true"}, False), ({"score": "1"}, True)])
def test_only_a_plugin_that_scores_has_a_weight(visitor: Any, fields: dict[str, str], weighs: bool) -> None:
    page = visitor.post("controls/", configuration=yaml.safe_dump(declaring(**fields))).content.decode()
    assert ('data-control="expression-weight:0"' in page) == weighs
