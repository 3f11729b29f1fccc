"""A sandbox has a version of Kubernetes: chosen when it is made, changed later, shown, exported and compared."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import copies, store
from sandbox.changes.opening import open_uploaded, read_uploaded
from sandbox.storage.models import Sandbox
from sandbox.words.say import say
from scheduler_engine.scenario import read_scenario
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.versions import RELEASES, VERSIONS, known_gates
from tests.sandbox.conftest import Visitor
from tests.sandbox.web.views.test_differences import SETTLE, apply, text_of

pytestmark = pytest.mark.django_db

OLD, _, NEW = VERSIONS
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SLOW = HEAD + "profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args: {bindingTimeout: 20s}\n"
"""A configuration that only v1.36 accepts."""
NEEDLESS_SHAPE = (
    HEAD + "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n"
    "    args: {scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: "
    "{shape: [{utilization: 0, score: 0}]}}}\n"
)
"""A configuration that v1.36 does not accept."""
DECLARING = "apiVersion: v1\nkind: Node\nmetadata: {name: n9}\nstatus: {declaredFeatures: [A]}\n"


def shown(visitor: Visitor, panel: str) -> str:
    return unescape(visitor.get(f"panel/{panel}/").content.decode())


@pytest.mark.parametrize(("version", "release"), [*zip(VERSIONS, RELEASES, strict=True)])
def test_a_blank_sandbox_has_the_version_that_was_chosen(version: str, release: str) -> None:
    answer = Client().post("/new/", {"kubernetes": version}, follow=True)
    assert Sandbox.objects.get().kubernetes == version
    assert f"<b>Kubernetes</b> {release}</a>" in answer.content.decode()


def test_the_default_is_the_oldest_version_and_unknown_ones_create_nothing() -> None:
    assert Client().post("/new/", {"kubernetes": "v1.33"}).status_code == 400
    assert not Sandbox.objects.exists()
    Client().post("/new/")
    assert Sandbox.objects.get().kubernetes == OLD


def test_the_version_is_changed_and_a_step_back_restores_it(visitor: Any) -> None:
    assert visitor.post("do/kubernetes/", version=NEW).status_code == 204
    assert "</b> v1.36.2<" in shown(visitor, "toolbar")
    assert say("happenings.follows", version="v1.36.2") in shown(visitor, "sentence")
    assert '<option value="v1.36" selected>' in shown(visitor, "configuration")
    visitor.post("do/back/")
    assert "</b> v1.34.1<" in shown(visitor, "toolbar")


def test_gates_are_switched_and_only_differences_are_recorded(visitor: Any) -> None:
    visitor.post("do/kubernetes/", version=NEW)
    on = [name for name, (default, _) in known_gates(NEW).items() if default]
    visitor.post("do/kubernetes/", version=NEW, gates="1", on=[name for name in on if name != "OpportunisticBatching"])
    command = json.loads(visitor.log()[-1])
    assert command == {"kind": "kubernetes", "version": NEW, "feature_gates": {"OpportunisticBatching": False}}
    panel = shown(visitor, "configuration")
    assert 'value="OpportunisticBatching" id="gate-OpportunisticBatching">' in panel
    assert say("configuration.gate-on-by-default") in panel
    visitor.post("do/kubernetes/", version=NEW, gates="1", on=on)
    assert json.loads(visitor.log()[-1])["feature_gates"] is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"version": "v1.33"}, "must be v1.34, v1.35, v1.36"), ({}, "must be v1.34, v1.35, v1.36")],
)
def test_an_unknown_version_is_refused(visitor: Any, fields: dict[str, str], message: str) -> None:
    answer = visitor.post("do/kubernetes/", **fields)
    assert answer.status_code == 422
    assert message in unescape(answer.content.decode())
    assert visitor.log() == []


def test_a_configuration_is_judged_by_the_version_in_force(visitor: Any) -> None:
    assert "bindingTimeout" in visitor.post("controls/", configuration=SLOW).content.decode()
    assert visitor.post("configure/", configuration=SLOW).status_code == 422
    visitor.post("do/kubernetes/", version=NEW)
    assert "cf-differs" in visitor.post("controls/", configuration=SLOW).content.decode()
    assert visitor.post("configure/", configuration=SLOW).status_code == 204
    assert visitor.post("configure/", configuration=NEEDLESS_SHAPE).status_code == 422
    refused = visitor.post("do/kubernetes/", version=OLD)
    assert refused.status_code == 422
    assert "bindingTimeout" in refused.content.decode()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_usual_is_usual_under_each_version(visitor: Any, version: str) -> None:
    visitor.post("do/kubernetes/", version=version)
    nothing = say("configuration.nothing-plugins-weights-order")
    assert nothing in shown(visitor, "configuration")
    controls = unescape(visitor.post("controls/", configuration=HEAD).content.decode())
    assert nothing in controls
    assert ("plugin:NodeDeclaredFeatures" in controls) == (version == NEW)
    off = {"control": "plugin:DynamicResources", "value": ""}
    rewritten = unescape(visitor.post("controls/", configuration=HEAD, **off).content.decode())
    assert "name: DynamicResources" in rewritten
    text = rewritten.partition("<template data-rewritten>")[2].partition("</template>")[0]
    on = {"control": "plugin:DynamicResources", "value": "1"}
    again = unescape(visitor.post("controls/", configuration=text, **on).content.decode())
    assert nothing in again


def test_manifests_are_judged_by_the_version_in_force(visitor: Any) -> None:
    answer = visitor.post("apply/", manifests=DECLARING)
    assert "declaredFeatures" in answer.content.decode()
    assert visitor.log() == []
    visitor.post("do/kubernetes/", version=NEW)
    visitor.post("apply/", manifests=DECLARING)
    assert len(visitor.log()) == 2


def equals(visitor: Visitor) -> None:
    """Let a pod choose between two equal nodes."""
    store.execute(visitor.sandbox, apply(make_node("n1"), make_node("n2"), make_pod("web").cpu("1")))
    store.execute(visitor.sandbox, SETTLE)


@pytest.mark.parametrize("version", VERSIONS)
def test_pages_say_how_the_version_chooses_among_equals(visitor: Any, version: str) -> None:
    draws = version == OLD
    visitor.post("do/kubernetes/", version=version)
    equals(visitor)
    node = json.loads(json.dumps(visitor.get("panel/scores/", pod="default/web").content.decode()))
    assert (say("scores.drawn") in node) == draws
    assert (say("scores.first") in node) == (not draws)
    inspector = unescape(visitor.get("panel/inspector/", pod="default/web").content.decode())
    assert ("the seeded draw picked it" in inspector) == draws
    assert ("the first of them in the scheduler's ranking" in inspector) == (not draws)
    assert ("reroll/?cycle" in inspector) == draws
    reroll = unescape(visitor.get("reroll/", cycle="1").content.decode())
    assert (say("reroll-page.never-drawn") in reroll) == (not draws)
    ribbon = shown(visitor, "ribbon")
    assert (say("stage-purposes.SelectHost") in ribbon) == draws
    assert (say("stages.purpose-of-ranking") in ribbon) == (not draws)


def test_an_upgrade_is_compared_on_the_page_of_differences(visitor: Any) -> None:
    tainted = make_node("gold").taint("dedicated", "gold")
    store.execute(
        visitor.sandbox, apply(tainted, make_node("n1").capacity(cpu="1", pods="9"), make_pod("web").cpu("4"))
    )
    store.execute(visitor.sandbox, SETTLE)
    html = unescape(visitor.get("differences/", kubernetes=NEW).content.decode())
    assert say("differences.version", version="v1.36.2") in html
    first = text_of(html, "first")
    assert "untolerated taint {dedicated: gold}" in first
    assert "untolerated taint(s)" in first
    assert 'kubernetes: "v1.34", "v1.36"' in first
    assert say("differences.same") in unescape(visitor.get("differences/", kubernetes=OLD).content.decode())
    assert visitor.get("differences/", kubernetes="v1.33").status_code == 400
    assert visitor.get("differences/", kubernetes=NEW, seeds="10").status_code == 200


def test_the_other_run_has_its_version_from_the_start(visitor: Any) -> None:
    visitor.post("do/kubernetes/", version=NEW)
    equals(visitor)
    assert say("differences.same") in unescape(visitor.get("differences/", kubernetes=NEW).content.decode())
    html = unescape(visitor.get("differences/", kubernetes=OLD).content.decode())
    assert 'kubernetes: "v1.36", "v1.34"' in html


def test_runs_under_two_versions_are_stepped_side_by_side(visitor: Any) -> None:
    equals(visitor)
    assert visitor.post("differences/in-step/", kubernetes=NEW).status_code == 302
    versions = Sandbox.objects.exclude(pk=visitor.sandbox.pk).values_list("kubernetes", flat=True)
    assert sorted(versions) == [OLD, NEW]


def test_an_export_names_the_version_and_comes_back() -> None:
    visitor = Visitor(*store.create("Test", kubernetes=NEW, feature_gates={"OpportunisticBatching": False}), Client())
    equals(visitor)
    visitor.post("do/kubernetes/", version="v1.35")
    text = visitor.get("export/scenario/").content.decode()
    scenario = read_scenario(text)
    assert (scenario.kubernetes, scenario.feature_gates) == (NEW, {"OpportunisticBatching": False})
    assert {"kind": "kubernetes", "version": "v1.35"} in (*scenario.setup, *scenario.then)
    again, _ = open_uploaded(read_uploaded(text))
    assert (again.kubernetes, json.loads(again.feature_gates)) == (NEW, {"OpportunisticBatching": False})


def test_a_fork_keeps_the_version() -> None:
    sandbox, _ = store.create("Test", kubernetes=NEW)
    key, _ = copies.fork(sandbox, None)
    assert Sandbox.objects.get(pk=key).kubernetes == NEW


def called(method: str, path: str, body: Any = None) -> Any:
    client = Client()
    answer = getattr(client, method)(path, body, content_type="application/json") if body else client.get(path)
    return answer.status_code, json.loads(answer.content)


def test_the_api_creates_reads_and_changes_the_version() -> None:
    gates = {"OpportunisticBatching": False}
    status, made = called("post", "/api/v1/sandboxes", {"kubernetes": NEW, "feature_gates": gates})
    assert status == 201
    api = made["api"].removeprefix("http://testserver")
    state = called("get", api)[1]
    assert (state["kubernetes"], state["feature_gates"]) == (NEW, gates)
    status, state = called("post", f"{api}/commands", {"kind": "kubernetes", "version": "v1.35"})
    assert (status, state["kubernetes"], state["feature_gates"]) == (200, "v1.35", {})
    log = called("get", f"{api}/log")[1]
    assert (log["kubernetes"], log["feature_gates"]) == (NEW, gates)
    assert called("get", f"{api}/differences?kubernetes=v1.34")[0] == 200
    assert called("get", f"{api}/seeds?kubernetes=v1.34&seeds=2")[1]["answer"]["two"] is True


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"kubernetes": "v1.33"}, "v1.36"),
        ({"feature_gates": {"Magic": True}}, "unrecognized feature gate: Magic"),
        ({"kubernetes": NEW, "feature_gates": {"SchedulerQueueingHints": False}}, "feature is locked to true"),
    ],
)
def test_the_api_refuses_what_no_scheduler_could_follow(body: Any, message: str) -> None:
    status, answer = called("post", "/api/v1/sandboxes", body)
    assert status == 422
    assert message in json.dumps(answer)
    assert not Sandbox.objects.exists()


NAMED = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostnameOverride: h
  containers: [{name: c, image: i}]
"""


def test_the_notice_names_a_dropped_field_unless_the_stored_object_uses_it(visitor: Any) -> None:
    told = "v1.34.1 drops this field while the feature gate HostnameOverride is off"
    answer = visitor.post("apply/", manifests=NAMED)
    assert (answer.status_code, answer["HX-Retarget"]) == (200, "#notice")
    assert told in answer.content.decode()
    visitor.post("do/kubernetes/", version=NEW)
    kept = NAMED.replace("web", "kept")
    assert visitor.post("apply/", manifests=kept).status_code == 204
    visitor.post("do/kubernetes/", version=OLD)
    assert visitor.post("apply/", manifests=kept.replace("name: kept", "name: kept, labels: {a: b}")).status_code == 204
    assert told in visitor.post("apply/", manifests=kept.replace("kept", "other")).content.decode()
