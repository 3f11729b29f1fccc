"""Logs that a version of the engine replays which decides differently than the one that executed them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from sandbox.changes import copies, store
from sandbox.changes.opening import open_scenario
from sandbox.content.scenarios import scenarios
from sandbox.panels.facts.position import position
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit
from scheduler_engine.testing import make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.trace.decisions import comparable
from tests.sandbox.inside import live, present

pytestmark = pytest.mark.django_db

TICK = {"kind": "advance", "seconds": 1, "play": True}
OTHER = "1 0badcafe - - - - -"
"""The mark of a command that decided something else."""


def marks(sandbox: Sandbox) -> list[str]:
    return list(sandbox.records.filter(branch=None).order_by("n").values_list("mark", flat=True))


def upgrade(sandbox: Sandbox, n: int, mark: str = OTHER) -> None:
    """Restart, with an engine that decides command ``n`` differently."""
    sandbox.records.filter(branch=None, n=n).update(mark=mark)
    engines.started().close()


@pytest.fixture
def bound(visitor: Any, node: Any, pod: Any) -> Any:
    """Return a visitor whose sandbox has four commands: the pod is bound by the third."""
    for command in (node("a"), pod("web"), {"kind": "settle"}, node("b")):
        store.execute(visitor.sandbox, command)
    return visitor


def test_another_score_is_noticed_at_the_stage_that_shows_it(
    visitor: Any, node: Any, pod: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before the attempt ends: the page would show the new score as if it had always been there."""
    for command in (node("a", "b"), pod("web"), *[{"kind": "stage"}] * 7):
        store.execute(visitor.sandbox, command)
    before = present(visitor.sandbox)
    engines.started().close()
    monkeypatch.setattr(NodeResourcesFit, "score_all", lambda *_: None)
    assert present(visitor.sandbox).stuck is None
    engines.started().close()
    score = NodeResourcesFit.score
    monkeypatch.setattr(NodeResourcesFit, "score", lambda *given: score(*given) - 1)
    stuck = present(visitor.sandbox).stuck
    assert stuck is not None
    assert "filtered and scored" in stuck.reason
    scored = next(entry for entry in before.entries if isinstance(entry.event, ev.NormalizeRan))
    assert stuck.command == scored.command


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        pytest.param(
            "{ends} default/web bound b", "Then: default/web bound b. Now: default/web bound a.", id="another node"
        ),
        pytest.param("{ends}", "Then: no cycle ends. Now: default/web bound a.", id="no cycle ended"),
        pytest.param("{ends} default/web bound a", "Different: when cycles end.", id="at another time"),
        pytest.param(
            "{ends} default/web bound a, default/web-…",
            "The first cycle ends in the same way, but not all others do.",
            id="the mark has no room for the cycle that differs",
        ),
        pytest.param("{choices}", "Different: how nodes are filtered and scored.", id="another score"),
    ],
)
def test_the_page_says_what_is_known_of_the_difference_and_nothing_else(bound: Any, mark: str, words: str) -> None:
    checksums = bound.sandbox.records.get(n=3).mark.split(" ")[:7]
    ends, choices = [*checksums], [*checksums, "default/web bound a"]
    ends[1] = choices[2] = "0badcafe"
    upgrade(bound.sandbox, 3, mark.format(ends=" ".join(ends), choices=" ".join(choices)))
    page = bound.get().content.decode()
    assert "decides command 3 differently than before" in page
    assert words in page


def test_the_position_is_that_of_the_state_which_the_page_shows(bound: Any) -> None:
    upgrade(bound.sandbox, 3)
    world = present(bound.sandbox)
    here = position(world)
    assert (here.text, here.title) == ("command 2 of 4", world.stuck.text if world.stuck else "")
    past = live(bound.sandbox).at(world.moment_of(world.rests[0][0]))
    assert "command 2" in position(past).title


def test_what_is_refused_says_why_in_whole_sentences(bound: Any) -> None:
    upgrade(bound.sandbox, 3, "1 - - - - - -")
    refused = bound.post("do/settle/")
    assert refused.status_code == 409
    assert (
        "This sandbox cannot be replayed to its end. This version of the engine decides command 3 differently than"
        " before. Then: no cycle ends. Now: default/web bound a. Go back first."
    ) in refused.content.decode()


def test_the_last_state_of_a_log_that_stops_is_a_moment_to_copy_and_to_go_back_to(bound: Any) -> None:
    upgrade(bound.sandbox, 3)
    world = present(bound.sandbox)
    last = str(world.moment_of(len(world.entries)))
    copy = Sandbox.objects.get(pk=bound.post("fork/", at=last).headers["HX-Redirect"].split("/")[2])
    assert (copy.length, present(copy).stuck) == (2, None)
    assert bound.post("go-back/", at=last).status_code == 204
    assert bound.row().head == 2
    assert bound.post("do/settle/").status_code == 204


def test_an_embed_of_a_log_that_stops_in_the_setup_opens_there() -> None:
    sandbox, token = open_scenario(next(item for item in scenarios().values() if len(item.setup) > 1))
    upgrade(sandbox, 2)
    assert Client().get(f"/s/{sandbox.pk}/{token}/embed/", {"at": "start"}).status_code == 200


def test_ticks_of_a_new_sandbox_are_stored_as_they_are_replayed(node: Any) -> None:
    sandbox, _ = store.create("Test", setup=[node("a"), TICK, TICK])
    store.execute(sandbox, TICK)
    sandbox.refresh_from_db()
    before, texts = live(sandbox).simulation.now_us, [*sandbox.records.order_by("n").values_list("command", flat=True)]
    assert [json.loads(text).get("seconds") for text in texts] == [None, 3]
    engines.started().close()
    present(sandbox)
    assert live(sandbox).simulation.now_us == before == 3_000_000
    assert all(map(comparable, marks(sandbox)))


def test_commands_without_a_mark_get_one_when_the_log_goes_on(bound: Any, node: Any) -> None:
    """Such as those from before there were marks, those of a copy that decides anew, and marks of an earlier form."""
    before = marks(bound.sandbox)
    bound.sandbox.records.filter(n__lte=2).update(mark="")
    upgrade(bound.sandbox, 3, "0badcafe default/web bound z")
    store.execute(bound.row(), node("c"))
    assert marks(bound.sandbox)[:4] == before
    upgrade(bound.sandbox, 3)
    assert present(bound.sandbox).stuck is not None


def test_a_command_that_ends_early_has_a_mark(bound: Any, pod: Any) -> None:
    store.execute_all(bound.sandbox, [pod("one", "two"), {"kind": "run"}])
    world = present(bound.sandbox)
    last = [entries for entries, _ in world.rests if world.moment_of(entries).command == 6][13]
    moment = world.moment_of(last)
    copied = Sandbox.objects.get(pk=copies.fork(bound.row(), moment)[0])
    store.go_to_moment(bound.row(), moment)
    for sandbox in (copied, bound.row()):
        engines.started().close()
        assert comparable(marks(sandbox)[5])
        assert present(sandbox).stuck is None
        upgrade(sandbox, 6)
        assert present(sandbox).stuck is not None


def test_the_reason_of_a_stop_names_the_fields_that_are_dropped_now(visitor: Any, node: Any) -> None:
    """An earlier version of the engine kept a fileKeyRef. Without it, the variable has no source."""
    store.execute(visitor.sandbox, node("a"))
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_pod("web").obj()]})
    reference = {"volumeName": "files", "path": "a", "key": "A"}
    pod = make_pod("web").spec(volumes=[{"name": "files", "emptyDir": {}}])
    pod.manifest["spec"]["containers"][0]["env"] = [{"name": "A", "valueFrom": {"fileKeyRef": reference}}]
    old = json.dumps({"kind": "apply", "manifests": [pod.obj()]})
    visitor.sandbox.records.filter(branch=None, n=2).update(command=old)
    engines.started().close()
    stuck = present(visitor.sandbox).stuck
    assert stuck is not None
    assert stuck.text.startswith(
        "This version of the engine cannot replay command 2. spec.containers[0].env[0].valueFrom: "
    )
    dropped = "fileKeyRef: v1.34.1 drops this field while the feature gate EnvFiles is off."
    assert stuck.text.endswith(f"; spec.containers[0].env[0].valueFrom.{dropped}")
    exported = b"".join(visitor.get("export/manifests/", added="1")).decode()
    assert ("name: a\n" in exported, "name: web" in exported) == (True, False)


def test_programs_and_kubectl_are_told_that_the_log_stops(bound: Any) -> None:
    api = f"/api/v1/sandboxes/{bound.sandbox.pk}/{bound.token}"
    assert (bound.client.get(api).json()["stopped"], bound.get("kube/api/v1/pods").headers.get("Warning")) == ("", None)
    upgrade(bound.sandbox, 3)
    why = "This version of the engine decides command 3 differently than before. Then: "
    state = bound.client.get(api).json()
    assert (state["head"], state["bound"], state["stopped"][: len(why)]) == (4, 0, why)
    assert bound.get("kube/api/v1/pods").headers["Warning"].startswith(f'299 - "{why}')
    assert bound.client.post(bound.url("kube/api/v1/namespaces"), "{}", "application/json").status_code == 409


@pytest.mark.parametrize(
    "path", ["headroom/", "fit/?pod=default/web", "leave/?node=a", "differences/?seed=3", "fixes/?pod=default/web"]
)
def test_an_answer_says_that_it_is_about_the_state_before_the_stop(bound: Any, path: str) -> None:
    note = "This answer is about the state before it."
    assert note not in bound.client.get(bound.url(path)).content.decode()
    upgrade(bound.sandbox, 3)
    assert note in bound.client.get(bound.url(path)).content.decode()
    past = f"{path}{'&' if '?' in path else '?'}at=1.0"
    assert note not in bound.client.get(bound.url(past)).content.decode()
