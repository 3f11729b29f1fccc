"""A sandbox as a file: its content, its moment, and who may download it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from sandbox.changes import store
from sandbox.storage.models import Sandbox
from sandbox.storage.records import Plan, Position
from sandbox.web.files import file_name
from sandbox.web.views.exporting import MOST_SHOWN
from sandbox.worker.jobs import exporting
from scheduler_engine.replay import entry_line
from scheduler_engine.scenario import load_scenario, run
from scheduler_engine.scenario.playing import END
from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.inside import live

pytestmark = pytest.mark.django_db


@pytest.fixture
def decided(visitor: Any) -> Any:
    """Create a sandbox with a node, a pod that fits and one that does not, in four commands."""
    objects = [make_node("n1").obj(), make_pod("web").cpu("500m").obj(), make_pod("big").cpu("99").obj()]
    store.execute(visitor.row(), {"kind": "apply", "manifests": objects})
    for kind in ("stage", "pod", "pod"):
        store.execute(visitor.row(), {"kind": kind})
    return visitor


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.content
    assert answer["Content-Disposition"].startswith("attachment; filename=")
    return str(answer.content.decode())


def played(text: str, folder: Path) -> Any:
    """Play the scenario of a file. Return its last point."""
    path = folder / "exported.scenario.yaml"
    path.write_text(text)
    *_, end = run(load_scenario(path))
    assert end.path == END
    return end


def lines_of(simulation: Any) -> list[str]:
    return [entry_line(entry) for entry in simulation.recorder.entries]


def test_a_scenario_plays_to_the_trace_of_the_sandbox_and_expects_what_happened(decided: Any, tmp_path: Path) -> None:
    answer = decided.get("export/scenario/", expect="verdicts")
    assert 'filename="test.scenario.yaml"' in answer["Content-Disposition"]
    text = text_of(answer)
    end = played(text, tmp_path)
    assert lines_of(end.simulation) == lines_of(live(decided.row()).simulation)
    data = yaml.safe_load(text)
    assert data["apiVersion"] == "scheduler-sandbox/v1"
    assert [*map(next, map(iter, data["setup"]))] == ["apply"]
    assert len(data["then"]) == 3
    assert {"pod": "default/web", "node": "n1"} in data["expect"]
    assert end.failures == ()


@pytest.mark.parametrize(("start", "setup", "then"), [("0", 0, 4), ("2", 2, 2), ("4", 4, 0), ("900", 4, 0)])
def test_the_timeline_begins_where_requested(decided: Any, tmp_path: Path, start: str, setup: int, then: int) -> None:
    text = text_of(decided.get("export/scenario/", **{"from": start}))
    data = yaml.safe_load(text)
    assert (len(data.get("setup", ())), len(data.get("then", ()))) == (setup, then)
    assert lines_of(played(text, tmp_path).simulation) == lines_of(live(decided.row()).simulation)


def test_a_scenario_keeps_the_words_of_its_steps_and_says_which_are_left_out(visitor: Any) -> None:
    answer = visitor.client.post("/new/", {"scenario": "priority-class-one-default"})
    _, _, identity, token, _ = answer["Location"].split("/")
    player = type(visitor)(Sandbox.objects.get(pk=identity), token, visitor.client)

    def notes() -> str:
        return str(player.get("export/", form="scenario").content.decode())

    assert "5 steps of the scenario are left out" in notes()
    for number in range(1, 6):
        player.post("step/", n=str(number))
        if number == 1:
            store.execute(player.row(), {"kind": "apply", "manifests": [make_node("between").obj()]})
    assert "2 steps of the scenario are left out: they were not played, or must be refused." in notes()
    written = yaml.safe_load(text_of(player.get("export/scenario/")))["then"]
    assert [step.get("say", "") for step in written] == [
        "add late-1: it names no class",
        "",
        "add better without globalDefault",
        "let it run: early-1 and late-1 land",
    ]


def test_a_file_is_of_the_moment_in_view(decided: Any, tmp_path: Path) -> None:
    """In the middle of a command, too."""
    here = live(decided.row())
    early = here.world.moment_of(here.world.rests[-2][0])
    text = text_of(decided.get("export/scenario/", at=str(early), expect="queues"))
    end = played(text, tmp_path)
    assert end.failures == ()
    ended = [re.sub(r", ended early|, \"until\": \d+", "", line) for line in lines_of(end.simulation)]
    assert ended == lines_of(here.simulation)[: len(ended)]
    assert len(end.simulation.recorder.entries) < len(here.simulation.recorder.entries)
    trace = text_of(decided.get("export/trace/", at=str(early))).splitlines()
    assert [json.loads(line) for line in trace] == [json.loads(line) for line in ended]
    bound = text_of(decided.get("export/manifests/", at="1.1", added="1"))
    assert "nodeName" not in bound
    assert "nodeName: n1" in text_of(decided.get("export/manifests/", added="1"))


def test_manifests_are_as_people_write_them_or_as_the_cluster_holds_them(decided: Any) -> None:
    bare = list(yaml.safe_load_all(text_of(decided.get("export/manifests/"))))
    held = list(yaml.safe_load_all(text_of(decided.get("export/manifests/", added="1"))))
    played_by_kwok = list(yaml.safe_load_all(text_of(decided.get("export/manifests/", kwok="1"))))
    assert [item["kind"] for item in bare] == ["Node", "Pod", "Pod"]
    assert not any("uid" in item["metadata"] for item in bare)
    assert all("uid" in item["metadata"] for item in held)
    assert played_by_kwok[0]["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"


def test_a_snapshot_and_a_trace_are_json(decided: Any) -> None:
    snapshot = json.loads(text_of(decided.get("export/snapshot/")))
    assert [pod["metadata"]["name"] for pod in snapshot["pods"]] == ["web", "big"]
    trace = [json.loads(line) for line in text_of(decided.get("export/trace/")).splitlines()]
    assert trace == [json.loads(line) for line in lines_of(live(decided.row()).simulation)]


def test_undone_commands_are_in_no_file(decided: Any) -> None:
    store.go_to(decided.row(), lambda position: 1)
    assert yaml.safe_load(text_of(decided.get("export/scenario/"))).get("then") == []


def test_watchers_may_download_a_file(decided: Any) -> None:
    assert "kind: Scenario" in text_of(decided.watching().get("export/scenario/"))


@pytest.mark.parametrize(
    ("query", "field"),
    [({"from": "-1"}, "from"), ({"from": "x"}, "from"), ({"from": "²"}, "from"), ({"expect": "all"}, "expect")],
    ids=["below 0", "not a number", "a superscript", "an unknown strictness"],
)
@pytest.mark.parametrize("path", ["export/", "export/scenario/"])
def test_a_wrong_choice_is_refused_at_its_field(decided: Any, path: str, query: dict[str, str], field: str) -> None:
    answer = decided.get(path, **query)
    assert answer.status_code == 400
    assert f"{field} must be " in answer.content.decode()


@pytest.mark.parametrize("path", ["export/secrets/", "export/?form=secrets", "export/__class__/"])
def test_an_unknown_form_is_not_found(decided: Any, path: str) -> None:
    assert Client().get(decided.url(path)).status_code == 404


def test_the_dialog_shows_the_beginning_and_leads_to_the_same_file(decided: Any) -> None:
    store.execute(decided.row(), {"kind": "apply", "manifests": [make_node(f"node-{n}").obj() for n in range(200)]})
    html = decided.get("export/", form="manifests", added="1", at="1.4").content.decode()
    assert 'href="export/manifests/?added=1&amp;at=1.4"' in html
    html = decided.get("export/", form="scenario", expect="placements").content.decode()
    assert 'href="export/scenario/?from=1&amp;expect=placements"' in html
    assert "pytest test.scenario.yaml" in html
    assert "scheduler-sandbox run test.scenario.yaml" in html
    assert "2 expectations at the end." in html
    assert "The beginning of the file." in html
    assert len(html) < MOST_SHOWN + 5000


def test_markup_in_a_sandbox_is_text_in_the_dialog(visitor: Any) -> None:
    pod = make_pod("web").obj()
    pod["metadata"]["annotations"] = {"x": "<script>alert(1)</script>"}
    store.execute(visitor.row(), {"kind": "apply", "manifests": [pod]})
    assert "<script>alert" not in visitor.get("export/").content.decode()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("My cluster", "my-cluster.scenario.yaml"),
        ('"; rm -rf / \r\nX: y', "rm-rf-x-y.scenario.yaml"),
        ("集群", "sandbox.scenario.yaml"),
        ("x" * 200, "x" * 60 + ".scenario.yaml"),
        ("../../etc/passwd", "etcpasswd.scenario.yaml"),
    ],
    ids=["words", "characters that end a header", "no Latin letter", "long", "a path"],
)
def test_the_name_of_a_file_is_plain(title: str, name: str) -> None:
    assert file_name("scenario", title) == name


def test_a_file_that_is_too_large_is_refused(decided: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "MOST_CHARACTERS", 100)
    for form in exporting.FORMS:
        answer = decided.get(f"export/{form}/")
        assert answer.status_code == 413
        assert "This file would be larger" in answer.content.decode()


def test_more_expectations_than_a_file_holds_are_refused(decided: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "MOST_EXPECTED", 3)
    answer = decided.get("export/scenario/", expect="verdicts")
    assert (answer.status_code, "a file holds at most 3" in answer.content.decode()) == (413, True)
    assert decided.get("export/scenario/", expect="placements").status_code == 200


def test_a_trace_with_scores_is_exported(visitor: Any) -> None:
    objects = [make_node("n1").obj(), make_node("n2").obj(), make_pod("web").obj()]
    store.execute(visitor.row(), {"kind": "apply", "manifests": objects})
    store.execute(visitor.row(), {"kind": "run"})
    trace = [json.loads(line) for line in text_of(visitor.get("export/trace/")).splitlines()]
    assert [entry["totals"] for entry in trace if entry["type"] == "NormalizeRan"]


def test_a_log_that_cannot_be_replayed_to_its_end_is_not_exported(decided: Any, on_worker: Any) -> None:
    decided.sandbox.records.filter(n=4).update(command='{"kind":"nonsense"}')
    with on_worker("b"):
        answer = decided.get("export/scenario/")
    assert answer.status_code == 409


def test_reading_the_past_does_not_change_the_present(decided: Any) -> None:
    """Export each moment, forwards and backwards, and compare with a fresh replay."""
    here = live(decided.row())
    before = lines_of(here.simulation)
    moments = [here.world.moment_of(entries) for entries, _ in here.world.rests]
    for at in (*moments, *reversed(moments)):
        text = text_of(decided.get("export/manifests/", added="1", at=str(at)))
        row = Sandbox.objects.get(pk=decided.sandbox.pk)
        wanted = exporting.ExportOptions("manifests", added=True)
        fresh = type(here)(Plan.of(row), here.records)
        assert exporting.export(fresh, Position.of(row), wanted, "Test", at).text == text
    assert lines_of(here.simulation) == before


def test_a_table_is_of_the_moment_and_the_pod_in_view(decided: Any) -> None:
    answer = decided.watching().get("csv/filter/", pod="default/web", at="3.9999")
    text = text_of(answer)
    assert 'filename="test-filter.csv"' in answer["Content-Disposition"]
    assert "default/web,1,1,1,n1" in text
    assert "default/big" in text_of(decided.get("csv/filter/", pod="default/big"))
    assert decided.get("csv/secrets/").status_code == 404


def test_a_table_that_is_too_large_is_refused(decided: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "MOST_CHARACTERS", 100)
    assert decided.get("csv/filter/").status_code == 413
