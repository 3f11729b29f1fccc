"""What would let a pending pod run, as a page shows it, and its buttons."""

from __future__ import annotations

import html as escaping
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.storage.models import Sandbox
from sandbox.storage.records import log_of
from sandbox.words.say import say
from scheduler_engine.scenario import read_scenario, run
from scheduler_engine.testing import make_node, make_pod

pytestmark = pytest.mark.django_db


@pytest.fixture
def stuck(visitor: Any) -> Any:
    """Return a visitor whose pod ``web`` fits nowhere: n1 is tainted, and n2 has only half a CPU free."""
    manifests = [
        make_node("n1").capacity(cpu="4", memory="8Gi", pods="9").taint("dedicated", "gpu").obj(),
        make_node("n2").capacity(cpu="2", memory="8Gi", pods="9").obj(),
        make_pod("first").cpu("1500m").node("n2").obj(),
        make_pod("web").cpu("1").obj(),
    ]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    store.execute(visitor.sandbox, {"kind": "settle"})
    return visitor


def shown(visitor: Any, pod: str = "default/web", status: int = 200) -> str:
    answer = visitor.get("fixes/", pod=pod)
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.content.decode())


def offered(page: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the sentence of each fix, and the commands of its buttons."""
    items = page.split('<li class="scen"')[1:]
    sentences = [escaping.unescape(re.findall(r"<h2>(.*?)</h2>", item)[0]) for item in items]
    values = [re.findall(r'name="commands" value="(.*?)"', item) for item in items]
    return [(text, json.loads(escaping.unescape(value[0]))) for text, value in zip(sentences, values, strict=True)]


def test_every_offered_change_lets_the_pod_run_when_it_is_made(stuck: Any) -> None:
    found = offered(shown(stuck))
    assert len(found) > 2
    assert any("tolerate" in text for text, _ in found)
    for text, commands in found:
        answer = stuck.post("mend/copy/", pod="default/web", commands=json.dumps(commands))
        assert answer.status_code == 302
        sandbox = Sandbox.objects.get(pk=answer.url.split("/")[2])
        assert sandbox.pk != stuck.sandbox.pk
        store.execute(sandbox, {"kind": "run"})
        pods = stuck.client.get(answer.url.partition("?")[0] + "yaml/Pod/?key=default/web").content.decode()
        assert "nodeName" in pods, text
    assert len(stuck.log()) == 2


def test_a_change_is_made_here_and_the_pod_is_shown(stuck: Any) -> None:
    text, commands = offered(shown(stuck))[0]
    answer = stuck.post("mend/", pod="default/web", commands=json.dumps(commands))
    assert (answer.status_code, answer.url) == (302, stuck.url("?pod=default%2Fweb"))
    assert [json.loads(line)["kind"] for line in stuck.log()] == [
        "apply",
        "settle",
        *(item["kind"] for item in commands),
    ]
    assert text


def test_a_change_of_several_commands_is_made_whole_or_not_at_all(stuck: Any) -> None:
    before, revision = stuck.log(), stuck.row().revision
    untaint = {"kind": "taint", "node": "n1", "key": "dedicated", "effect": "NoSchedule", "on": False}
    two = [untaint, {"kind": "cordon", "node": "gone", "on": False}]
    for path in ("mend/", "mend/copy/"):
        assert stuck.post(path, pod="default/web", commands=json.dumps(two)).status_code == 422
    assert (stuck.log(), stuck.row().revision, Sandbox.objects.count()) == (before, revision, 1)
    two[1]["node"] = "n2"
    assert stuck.post("mend/", pod="default/web", commands=json.dumps(two)).status_code == 302
    assert (len(stuck.log()), stuck.row().revision) == (len(before) + 2, revision + 1)


def test_those_who_only_watch_see_the_changes_without_buttons(stuck: Any) -> None:
    page = shown(stuck.watching())
    assert "Then n1 passes." in page
    assert "<form" not in page
    for path in ("mend/", "mend/copy/"):
        assert stuck.watching().post(path, pod="default/web", commands="[]").status_code == 403


@pytest.mark.parametrize(
    ("pod", "status", "says"),
    [
        ("default/first", 200, "default/first is not pending."),
        ("default/nobody", 404, "There is no Pod default/nobody."),
        ("default/tiny", 200, "default/tiny fits as it is: a node passes every filter."),
    ],
)
def test_what_needs_no_fix_is_said(stuck: Any, pod: str, status: int, says: str) -> None:
    store.execute(stuck.sandbox, {"kind": "apply", "manifests": [make_pod("tiny").obj()]})
    page = shown(stuck, pod, status)
    assert says in page
    assert offered(page) == []


def test_a_pod_that_is_being_bound_says_where_it_stands(stuck: Any) -> None:
    fault = {"plugin": "NodeResourcesFit", "point": "permit", "answer": "wait", "seconds": 60}
    store.execute(stuck.sandbox, {"kind": "apply", "manifests": [make_pod("tiny").obj()]})
    store.execute(stuck.sandbox, {"kind": "fault", **fault})
    store.execute(stuck.sandbox, {"kind": "settle"})
    page = shown(stuck, "default/tiny")
    assert "default/tiny waits on Permit: NodeResourcesFit. If it is allowed in time, it is bound to n2." in page
    assert offered(page) == []


@pytest.mark.parametrize(
    "commands",
    ["", "[]", "{}", "null", "[1]", '[{"kind":"nothing"}]', json.dumps([{"kind": "settle"}] * 21), "[" * 2000],
    ids=["nothing", "no command", "no list", "null", "a number", "no such command", "too many", "too deep"],
)
def test_what_is_not_a_fix_changes_nothing(stuck: Any, commands: str) -> None:
    before = stuck.log()
    for path in ("mend/", "mend/copy/"):
        assert stuck.post(path, pod="default/web", commands=commands).status_code == 400
    assert stuck.log() == before
    assert Sandbox.objects.count() == 1


def test_the_inspector_of_a_pending_pod_leads_to_the_page(stuck: Any) -> None:
    def links(pod: str) -> bool:
        panel = stuck.get("panel/inspector/", pod=pod).content.decode()
        return say("inspector.what-would-let-it-run") in panel

    assert (links("default/web"), links("default/first")) == (True, False)


def test_an_earlier_moment_has_its_own_answer_and_is_mended_in_a_copy_only(stuck: Any) -> None:
    store.execute(stuck.sandbox, {"kind": "apply", "manifests": [make_node("n3").capacity(cpu="4", pods="9").obj()]})
    then = stuck.get("fixes/", pod="default/web", at="2.9999").content.decode()
    assert say("common.of-earlier-moment") in then
    found = offered(re.sub(r"\s+", " ", then))
    assert found
    assert not offered(shown(stuck))
    assert say("fixes.apply") not in then
    assert 'name="at" value="2.9999"' in then
    assert f'href="{stuck.url()}?pod=default%2Fweb&amp;at=2.9999"' in then
    assert say("common.of-earlier-moment") not in shown(stuck)
    answer = stuck.post("mend/copy/", pod="default/web", commands=json.dumps(found[0][1]), at="2.9999")
    assert answer.status_code == 302
    sandbox = Sandbox.objects.get(pk=answer.url.split("/")[2])
    kinds = [json.loads(row.command)["kind"] for row in log_of(sandbox.pk).order_by("n")]
    assert kinds == ["apply", "settle", *(item["kind"] for item in found[0][1])]


def test_every_fix_can_be_saved_as_a_test_that_passes_and_fails_without_the_fix(stuck: Any) -> None:
    for text, commands in offered(shown(stuck)):
        answer = stuck.post("mend/scenario/", pod="default/web", commands=json.dumps(commands))
        assert answer.status_code == 200, text
        assert answer.headers["Content-Disposition"].endswith('what-lets-defaultweb-run.scenario.yaml"')
        scenario = read_scenario(answer.content.decode(), "saved")
        assert scenario.opened == ({"pod": "default/web", "pending": True},)
        assert [item["pod"] for item in scenario.expect] == ["default/web"]
        assert not [point.failures for point in run(scenario) if point.failures]
        without = replace(scenario, then=scenario.then[-1:])
        assert [point.failures for point in run(without)][-1]
    assert len(stuck.log()) == 2


def test_a_saved_test_begins_at_the_moment_in_view(stuck: Any) -> None:
    commands = offered(shown(stuck))[0][1]
    store.execute(stuck.sandbox, {"kind": "apply", "manifests": [make_node("n3").capacity(cpu="4", pods="9").obj()]})
    fields = {"pod": "default/web", "commands": json.dumps(commands)}
    then = stuck.post("mend/scenario/", **fields, at="2.9999").content.decode()
    assert "name: n3" not in then
    assert "name: n3" in stuck.post("mend/scenario/", **fields).content.decode()


def test_what_does_not_help_is_not_saved(stuck: Any) -> None:
    useless = json.dumps([{"kind": "cordon", "node": "n2", "on": True}])
    answer = stuck.post("mend/scenario/", pod="default/web", commands=useless)
    assert answer.status_code == 422
    assert "still waits" in answer.content.decode()
    assert stuck.post("mend/scenario/", pod="default/web", commands="[]").status_code == 400
    assert stuck.watching().post("mend/scenario/", pod="default/web", commands=useless).status_code == 403


def test_the_map_shows_where_the_pod_can_land_until_it_has_landed(stuck: Any) -> None:
    page = shown(stuck)
    node = re.findall(r'name="node" value="(.*?)"', page)[0]
    commands = offered(page)[0][1]
    answer = stuck.post("mend/", pod="default/web", node=node, commands=json.dumps(commands))
    assert answer.url == stuck.url(f"?pod=default%2Fweb&lands=default%2Fweb%40{node}")

    def landing() -> list[str]:
        cards = stuck.get("panel/cluster/", lands=f"default/web@{node}").content.decode().split("<article")[1:]
        return [card.partition('data-node="')[2].partition('"')[0] for card in cards if "is-landing" in card]

    assert landing() == [node]
    assert "is-landing" not in stuck.get("panel/cluster/").content.decode()
    store.execute(stuck.sandbox, {"kind": "run"})
    assert landing() == []


def test_without_nodes_the_page_asks_for_one(visitor: Any) -> None:
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_pod("web").obj()]})
    assert "There is no node yet. Add one for default/web." in shown(visitor)


@pytest.mark.parametrize("path", ["mend/", "mend/copy/"])
def test_a_fix_of_which_one_command_is_refused_changes_nothing(stuck: Any, path: str) -> None:
    good, bad = {"kind": "cordon", "node": "n1", "on": True}, {"kind": "cordon", "node": "n9", "on": True}
    before, count = stuck.row().revision, Sandbox.objects.count()
    answer = stuck.post(path, pod="default/web", commands=json.dumps([good, bad]))
    assert answer.status_code == 422
    assert (stuck.row().revision, len(stuck.log()), Sandbox.objects.count()) == (before, 2, count)
    assert stuck.post(path, pod="default/web", commands=json.dumps([good])).status_code == 302


def test_the_commands_of_a_fix_are_executed_together_and_replay(stuck: Any, trace: Any) -> None:
    ticks = [{"kind": "advance", "seconds": 1, "play": True}] * 2
    commands = [{"kind": "cordon", "node": "n1", "on": True}, *ticks, {"kind": "cordon", "node": "n1", "on": False}]
    assert stuck.post("mend/", pod="default/web", commands=json.dumps(commands)).status_code == 302
    assert [json.loads(text).get("seconds") for text in stuck.log()[2:]] == [None, 2, None]
    assert len(trace(stuck.sandbox)) > 0
    assert "default/web" in stuck.get("panel/queues/").content.decode()
