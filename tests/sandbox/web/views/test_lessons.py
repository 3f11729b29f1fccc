"""The lesson of a sandbox: its steps, questions, hints and tasks, the way back to it, and uploaded lessons."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.changes import store
from sandbox.content import shelf
from sandbox.storage import tokens
from sandbox.storage.models import Guess, Sandbox, Study
from sandbox.worker.lessons.markdown import html_of
from scheduler_engine.scenario import command_of, play
from scheduler_engine.testing import make_node, make_pod, make_priority_class
from tests.questions import commands_of, parts_of

pytestmark = pytest.mark.django_db

LESSON = """
kind: Lesson
title: "A pod and two nodes"
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {allocatable: {cpu: "1", memory: 8Gi, pods: "110"}}}
  - {apiVersion: v1, kind: Node, metadata: {name: node-b}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
  - apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: "2"}}}]}
parts:
- text: "Look at [web](pod:default/web) and [activeQ](queue:activeQ)."
- text: "Who passes?"
  predict: {passes: default/web, tempting: [node-a]}
  do:
  - stage: {}
  - stage: {}
  - stage: {}
  - stage: {}
  say: "to the end of Filter"
  then: "node-a is too small."
- text: "What was the plugin?"
  question: {refuses: default/web, node: node-a, tempting: [TaintToleration]}
- text: "Now you."
  task: "Bring web to its node."
  check:
  - say: web is on node-b.
    holds: [{pod: default/web, node: node-b}]
  hints: [Press a button., Press Pod.]
  right: [[pod: {}]]
  wrong:
  - do: [stage: {}]
    says: web is on node-b
know:
- "What counts are *requests*."
"""


class Learner:
    """Somebody who has the link of a sandbox with a lesson."""

    def __init__(self, path: str) -> None:
        self.path, self.client = path, Client()
        match = re.match(r"/s/([0-9a-f-]+)/([^/]+)/", path)
        assert match is not None
        self.key, self.token = match[1], match[2]

    @property
    def sandbox(self) -> Sandbox:
        """Read it again, as each request does: a change that starts from an old state is made twice."""
        return Sandbox.objects.get(pk=self.key)

    def do(self, verb: str, **fields: Any) -> int:
        return int(self.client.post(f"{self.path}{verb}/", fields).status_code)

    def html(self) -> str:
        return str(self.client.get(f"{self.path}panel/lesson/").content.decode())

    def head(self) -> int:
        return int(Sandbox.objects.get(pk=self.sandbox.pk).head)


def bring(text: str) -> Any:
    return Client().post("/lessons/open/", {"file": SimpleUploadedFile("my.lesson.yaml", text.encode())})


@pytest.fixture
def learner() -> Learner:
    answer = bring(LESSON)
    assert answer.status_code == 302, answer.content.decode()
    return Learner(answer["Location"])


TWO_STEPS = """
kind: Lesson
title: "Two steps"
setup:
- apply:
  - {apiVersion: v1, kind: Node, metadata: {name: node-a}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: x}]}}
  - {apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: main, image: x}]}}
parts:
- text: "Look."
- text: "Two steps."
  do:
  - stage: {}
  - delete: {object_kind: Pod, key: default/other}
  say: "one stage"
"""


def test_steps_of_which_one_is_refused_change_nothing() -> None:
    answer = bring(TWO_STEPS)
    assert answer.status_code == 302, answer.content.decode()
    learner = Learner(answer["Location"])
    assert learner.do("lesson/turn", part="1") == 204
    assert learner.do("delete", kind="Pod", key="default/other") == 204
    head = learner.head()
    assert learner.do("lesson/step", part="1") == 422
    assert learner.head() == head
    learner.do("do/back")
    assert learner.do("lesson/step", part="1") == 204
    assert learner.head() == head + 1


def test_a_lesson_says_for_which_versions_it_holds_at_its_beginning_and_its_end() -> None:
    differs = 'differs: {v1.36: "Two stages are one."}\n'
    learner = Learner(bring(TWO_STEPS.replace("setup:", f"{differs}setup:"))["Location"])
    holds, other = "What you read here holds for Kubernetes v1.34.1 and v1.35.6.", "v1.36.2: Two stages are one."
    assert holds in learner.html()
    assert other not in learner.html(), "it might give an answer away"
    assert learner.do("lesson/turn", part="1") == 204
    assert holds not in learner.html()
    assert learner.do("lesson/turn", part="2") == 204
    assert holds in learner.html()
    assert other in learner.html()


def test_the_gallery_says_what_differs_between_versions() -> None:
    html = unescape(Client().get("/misconceptions/").content.decode())
    assert "v1.35.6 and v1.36.2: The scheduler does not draw among equal nodes." in html


def test_every_lesson_of_the_installation_opens_at_its_first_part() -> None:
    assert shelf.lessons()
    for slug, placed in shelf.lessons().items():
        answer = Client().post("/new/", {"lesson": slug})
        html = Client().get(answer["Location"]).content.decode()
        assert f"Part 1 of {len(placed.lesson.parts)}" in html, slug
        assert "has-lesson" in html


@pytest.mark.parametrize("slug", [*shelf.lessons()])
def test_every_lesson_can_be_completed(slug: str) -> None:
    lesson = shelf.lessons()[slug].lesson
    learner = Learner(Client().post("/new/", {"lesson": slug})["Location"])
    simulation = lesson.scenario.open()
    for number, part in enumerate(lesson.parts):
        if part.question:
            assert learner.do("lesson/answer", look="1") == 204, number
        # By turns slowly, and with the button alone, which does the remaining steps.
        slowly = commands_of(part.do, True, simulation)[:-1] if part.predicts and number % 2 else []
        for command in slowly:
            if command is slowly[0] or command is slowly[-1]:
                assert "You chose to look without guessing." in learner.html(), number
            if "refused" not in command:
                store.execute(learner.sandbox, command_of(command))
        play(simulation, part.way)
        if part.do:
            assert learner.do("lesson/step", part=number) == 204, number
        for step in part.task.right[0] if part.task else ():
            store.execute(learner.sandbox, command_of(step))
        html = learner.html()
        assert 'id="les-on"' in html, number
        assert ("The answer:" in html) == bool(part.question), number
        assert learner.do("lesson/turn", part=number + 1) == 204
    assert "Finished" in learner.html()
    assert json.loads(Study.objects.get().progress)["skipped"] == []
    learner.do("lesson/turn", part=len(lesson.parts) - 1)
    assert learner.do("lesson/catch-up") == 204
    assert "You went back" not in learner.html()


TASKS = [
    (slug, number)
    for slug, placed in shelf.lessons().items()
    for number, part in enumerate(placed.lesson.parts[:-1])
    if part.task
]
"""Tasks that are not the last part."""


@pytest.mark.parametrize("skips", [True, False], ids=["skipped", "done in another way"])
@pytest.mark.parametrize(("slug", "task"), TASKS)
def test_after_a_task_the_right_answers_are_those_of_the_lesson(slug: str, task: int, skips: bool) -> None:
    lesson = shelf.lessons()[slug].lesson
    learner = Learner(Client().post("/new/", {"lesson": slug})["Location"])
    for number in range(1, task + 1):
        assert learner.do("lesson/turn", part=number) == 204
    way = lesson.parts[task].task
    for step in way.right[-1] if way and not skips else ():
        store.execute(learner.sandbox, command_of(step))
    for number, (part, put) in enumerate(parts_of(lesson)):
        if number <= task:
            continue
        assert learner.do("lesson/turn", part=number) == 204
        if put:
            assert learner.do("lesson/answer", named=list(put.answers()[0])) == 204
        if part.do:
            assert learner.do("lesson/step", part=number) == 204
        assert ("You were right." in learner.html()) == bool(put), number


def test_an_impossible_part_sets_the_sandbox_and_saves_what_was_done() -> None:
    learner = Learner(Client().post("/new/", {"lesson": "backoff"})["Location"])
    for number in range(1, 5):
        assert learner.do("lesson/turn", part=number) == 204
    assert "so it was set up for you" in learner.html()
    assert learner.do("lesson/step", part=4) == 204
    assert "so it was set up for you" not in learner.html()


def test_after_a_skipped_task_the_sandbox_is_as_its_solution_leaves_it() -> None:
    """The last part tells of three running pods and a node without its taint, but checks neither."""
    learner = Learner(Client().post("/new/", {"lesson": "a-lesson-in-a-terminal"})["Location"])
    for number in range(1, 5):
        assert learner.do("lesson/turn", part=number) == 204
    assert "so it was set up for you" in learner.html()
    cluster = learner.client.get(f"{learner.path}panel/cluster/").content.decode()
    assert len({*re.findall(r"default/shop-[a-z0-9-]+", cluster)}) == 3
    assert "repair" not in cluster


def test_the_part_opens_after_the_sandbox_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(Client().post("/new/", {"lesson": "backoff"})["Location"])
    for number in range(1, 4):
        assert learner.do("lesson/turn", part=number) == 204
    open_parts: list[int] = []
    execute = store.execute_all

    def noted(*arguments: Any, **more: Any) -> Any:
        open_parts.append(Study.objects.get().part)
        return execute(*arguments, **more)

    monkeypatch.setattr(store, "execute_all", noted)
    assert learner.do("lesson/turn", part=4) == 204
    assert set(open_parts) == {3}


def test_a_part_that_already_holds_does_not_change_the_sandbox(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    for _ in range(4):
        learner.do("do/stage")
    before = learner.head()
    for number in (2, 3):
        assert learner.do("lesson/turn", part=number) == 204
    assert learner.head() == before
    assert "so it was set up for you" not in learner.html()


def test_pods_of_the_default_namespace_are_offered_by_their_names() -> None:
    learner = Learner(Client().post("/new/", {"lesson": "preemption"})["Location"])
    assert '<input type="checkbox" name="named" value="default/batch-1"> <span>batch-1</span>' in learner.html()
    assert learner.do("lesson/answer", named=["default/batch-1"]) == 204
    assert "You answered: batch-1." in learner.html()
    assert learner.do("lesson/step", part=0) == 204
    assert "<b>batch-1</b>" in learner.html()


def test_an_unknown_lesson_is_not_found() -> None:
    assert Client().post("/new/", {"lesson": "nonsense"}).status_code == 404
    assert not Sandbox.objects.exists()


def test_a_sandbox_without_a_lesson_shows_none(visitor: Any) -> None:
    html = visitor.get().content.decode()
    assert "has-lesson" not in html
    assert visitor.post("lesson/step/", part="0").status_code == 422


def test_a_whole_lesson_goes_through_its_parts(learner: Learner) -> None:
    assert 'data-pod="default/web"' in learner.html()
    assert learner.do("lesson/turn", part=1) == 204
    assert "Which nodes pass for web?" in learner.html()
    assert learner.do("lesson/answer", named=["node-a", "node-b"]) == 204
    assert "You answered: node-a, node-b" in learner.html()
    assert learner.do("lesson/step", part=1) == 204
    html = learner.html()
    assert "Not quite." in html
    assert "Insufficient cpu" in html
    assert "node-a is too small." in html
    assert learner.do("lesson/turn", part=2) == 204
    assert learner.do("lesson/answer", named="NodeResourcesFit") == 204
    assert "You were right." in learner.html()
    learner.do("lesson/turn", part=3)
    assert "Done." not in learner.html()
    assert learner.do("do/pod") == 204
    assert "Done." in learner.html()
    learner.do("lesson/turn", part=4)
    html = learner.html()
    assert "Finished: all 4 parts." in html
    assert "<em>requests</em>" in html
    assert json.loads(Study.objects.get().progress)["done"] == [0, 1, 2, 3]


def test_a_step_counts_however_it_was_taken_and_is_not_taken_twice(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    learner.do("do/stage")
    learner.do("lesson/step", part=1)
    assert learner.head() == 5
    learner.do("lesson/step", part=1)
    learner.do("lesson/step", part=0)
    assert learner.head() == 5


def test_if_one_of_the_steps_is_refused_none_is_taken() -> None:
    cordons = LESSON.replace("  - stage: {}\n  say:", "  - stage: {}\n  - cordon: {node: node-a, on: true}\n  say:")
    assert cordons != LESSON
    learner = Learner(bring(cordons)["Location"])
    learner.do("lesson/turn", part=1)
    learner.client.post(f"{learner.path}delete/", {"kind": "Node", "key": "node-a"})
    before = learner.head()
    assert learner.do("lesson/step", part=1) == 422
    assert learner.head() == before
    learner.do("do/back")
    assert learner.do("lesson/step", part=1) == 204
    assert learner.head() == before - 1 + 5


def test_steps_of_one_press_are_one_change(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    before = Sandbox.objects.get(pk=learner.sandbox.pk).revision
    learner.do("lesson/step", part=1)
    after = Sandbox.objects.get(pk=learner.sandbox.pk)
    assert (after.revision, after.head) == (before + 1, 5)


def test_going_back_takes_step_and_answer_back(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    for _ in range(4):
        learner.do("do/stage")
    learner.do("lesson/turn", part=2)
    learner.do("lesson/turn", part=1)
    for _ in range(4):
        learner.do("do/back")
    learner.do("lesson/answer", look="1")
    learner.do("lesson/step", part=1)
    assert "The answer:" in learner.html()
    learner.do("do/back")
    assert "The answer:" not in learner.html()
    assert 'id="les-step"' in learner.html()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"named": "node-z"}, "node-z is not one of the choices"),
        ({"named": "<script>"}, "&lt;script&gt; is not one of the choices"),
    ],
)
def test_an_answer_that_is_not_a_choice_is_refused(learner: Learner, fields: dict[str, str], says: str) -> None:
    learner.do("lesson/turn", part=1)
    answer = learner.client.post(f"{learner.path}lesson/answer/", fields)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not Guess.objects.exists()


def test_one_choice_is_one(learner: Learner) -> None:
    for part in (1, 2):
        learner.do("lesson/turn", part=part)
    assert learner.do("lesson/answer", named=["NodeName", "NodeResourcesFit"]) == 422
    assert learner.do("lesson/answer") == 422


def test_a_question_is_answered_once(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    assert learner.do("lesson/answer") == 204
    assert "You answered: none" in learner.html()
    assert learner.do("lesson/answer", named="node-b") == 422
    assert Guess.objects.count() == 1


def test_hints_come_one_after_the_other_and_end(learner: Learner) -> None:
    for part in (1, 2, 3):
        learner.do("lesson/turn", part=part)
    assert "Press a button." not in learner.html()
    assert learner.do("lesson/hint") == 204
    assert "Press a button." in learner.html()
    assert "Press Pod." not in learner.html()
    assert learner.do("lesson/hint") == 204
    assert learner.do("lesson/hint") == 422


def test_catching_up_takes_the_lessons_own_way_and_loses_nothing(learner: Learner) -> None:
    for part in (1, 2, 3):
        learner.do("lesson/turn", part=part)
    learner.client.post(f"{learner.path}delete/", {"kind": "Pod", "key": "default/web"})
    assert learner.do("lesson/catch-up") == 204
    assert learner.head() == 5
    assert learner.sandbox.branches.count() == 1
    learner.do("do/pod")
    assert "Done." in learner.html()


def test_a_part_that_is_far_ahead_is_not_opened(learner: Learner) -> None:
    assert learner.do("lesson/turn", part=3) == 422
    assert learner.do("lesson/turn", part="x") == 422
    assert learner.do("lesson/nonsense") == 404
    assert Study.objects.get().part == 0


def test_a_fork_takes_the_lesson_along(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    learner.do("lesson/answer", named="node-b")
    learner.do("lesson/step", part=1)
    answer = learner.client.post(f"{learner.path}fork/")
    path = answer.headers.get("HX-Redirect") or answer["Location"]
    html = Learner(path).html()
    assert "You were right." in html
    assert "Part 2 of 4" in html
    assert 'id="les-on"' in html


def test_a_watcher_sees_the_lesson_and_answers_nothing(learner: Learner) -> None:
    learner.do("lesson/turn", part=1)
    path = learner.path.replace(learner.token, tokens.view_token(learner.token))
    watched = f"{path}panel/lesson/"
    assert "view-only, so you cannot answer" in Client().get(watched).content.decode()
    for verb in ("step", "answer", "hint", "turn", "catch-up"):
        assert Client().post(f"{path}lesson/{verb}/", {"part": "1"}).status_code == 403
    learner.do("lesson/step", part=1)
    for html, editable in ((learner.html(), True), (Client().get(watched).content.decode(), False)):
        assert "The step happened before you answered" in html
        assert ("Step back (b)" in html) is editable


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LESSON.replace("tempting: [node-a]", "tempting: [node-b]"), "'node-b' is right"),
        (LESSON.replace("kind: Lesson", "kind: Scenario"), "this is a Scenario, not a Lesson"),
        (LESSON.replace("pod:default/web", "pod:default/wub"), "there is never a pod"),
        (LESSON + "\nparts2: []\n", "parts2"),
        ("- a", "lesson"),
        ("", "no lesson in this request"),
        ("\t\x00", "Nothing was created"),
    ],
)
def test_a_bad_file_is_refused_in_words(text: str, says: str) -> None:
    answer = bring(text)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert not Sandbox.objects.exists()


def test_a_problem_in_the_play_is_reported_with_its_line() -> None:
    answer = bring(LESSON.replace("node: node-b}]", "node: node-a}]"))
    assert answer.status_code == 422
    assert re.search(r"line \d+, column \d+: parts\[3\]", answer.content.decode())


def test_too_large_a_file_is_refused() -> None:
    assert bring(LESSON + "#" * 300_000).status_code == 422
    assert bring(LESSON + "#" * 900_000).status_code == 413
    assert not Sandbox.objects.exists()


def test_answers_have_a_limit(learner: Learner, settings: Any) -> None:
    settings.QUOTAS = {"guesses": 0}
    learner.do("lesson/turn", part=1)
    answer = learner.client.post(f"{learner.path}lesson/answer/", {"named": "node-b"})
    assert answer.status_code == 422
    assert "limit of 0 answers" in answer.content.decode()


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("<b>x</b><script>alert(1)</script>", "<script>"),
        ("[x](javascript:alert(1))", "<a"),
        ("[x](data:text/html,x)", "<a"),
        ('[x](pod:a"onclick="b)', '"onclick'),
        ("![x](https://example.org/x.png)", "<img"),
        ("<https://example.org/?a=1&b=<x>>", "<x>"),
    ],
)
def test_markdown_output_has_no_unsafe_markup(text: str, markup: str) -> None:
    assert markup not in html_of(text)


def test_pointers_are_buttons_and_pages_are_links() -> None:
    html = html_of("[a](node:node-a) [q](queue:activeQ) [p](https://kubernetes.io/docs/) [c](cell:d/w@n-1@NodeName)")
    assert 'data-node="node-a"' in html
    assert 'data-point="queue:activeQ"' in html
    assert 'data-point="cell:d/w@n-1@NodeName"' in html
    assert 'href="https://kubernetes.io/docs/" target="_blank" rel="noopener noreferrer"' in html


def test_one_lesson_comes_next_and_needs_none_that_comes_later() -> None:
    rows = {name: [lesson.slug for lesson in shelf.shelf(name)] for name in shelf.SHELVES}
    for row in rows.values():
        followers = [found and found.slug for found in map(shelf.next_lesson, row)]
        assert followers == [*row[1:], None]
    for number, lesson in enumerate(shelf.shelf("lessons")):
        assert {*lesson.after} <= {*rows["lessons"][:number]}
    assert shelf.next_lesson("nonsense") is None


# --- predictions --------------------------------------------------------------------------------------------------


def predicting(learner: Learner) -> str:
    return str(learner.client.get(f"{learner.path}panel/lesson/", {"predict": "on"}).content.decode())


def test_predictions_are_asked_before_a_stage_that_decides_and_compared_after_it(learner: Learner) -> None:
    assert "Questions appear here before each stage" in predicting(learner)
    learner.do("do/stage")
    assert "Where is web when this attempt is over?" in predicting(learner)
    assert learner.do("predict", named="unschedulablePods") == 204
    assert "Your answer is saved" in predicting(learner)
    learner.do("do/stage")
    learner.do("do/stage")
    assert "Which nodes pass for web?" in predicting(learner)
    learner.do("predict", named="node-b")
    learner.do("do/stage")
    html = predicting(learner)
    assert "1 of 1 right" in html
    assert "which nodes pass" in html
    learner.do("do/pod")
    html = predicting(learner)
    assert "1 of 2 right" in html


def stages(learner: Learner, number: int) -> None:
    for _ in range(number):
        assert learner.do("do/stage") == 204


def add(learner: Learner, *manifests: dict[str, Any]) -> None:
    assert learner.client.post(f"{learner.path}apply/", {"manifests": json.dumps(manifests[0])}).status_code == 204
    if manifests[1:]:
        add(learner, *manifests[1:])


def crowd(learner: Learner) -> None:
    """Create a node that two pods fill, and a preemptor just before PostFilter."""
    full = make_node("full").capacity(cpu="4", memory="8Gi").label("disk", "full").obj()
    classes = [make_priority_class(f"p{value}", value) for value in (0, 1, 500)]
    low = [make_pod(f"low-{number}").cpu("2").node("full") for number in (1, 2)]
    pods = [pod.priority_class(f"p{value}").obj() for value, pod in enumerate(low)]
    for pod in pods:
        pod["spec"]["terminationGracePeriodSeconds"] = 0
    vip = make_pod("vip").cpu("2").priority_class("p500").node_selector({"disk": "full"}).obj()
    learner.do("do/pod")
    add(learner, *classes, full, *pods, vip)
    stages(learner, 4)


def test_looking_is_not_a_prediction(learner: Learner) -> None:
    stages(learner, 3)
    assert learner.do("predict", look="1") == 204
    assert "You chose to look without guessing." in predicting(learner)
    stages(learner, 1)
    html = predicting(learner)
    assert "The answer:" in html
    assert "of 1 right" not in html
    assert 'class="les-k"' not in html


def test_an_answer_is_stored_and_can_be_changed_until_it_is_judged(learner: Learner) -> None:
    crowd(learner)
    learner.do("predict", named="default/low-2")
    for _ in range(2):
        html = predicting(learner)
        assert html.count("Your answer is saved.") == 1
        assert "You answered: low-2." in html
        assert 'class="les-q"' not in html
        add(learner, make_node("more").obj())
    key = re.search(r'name="question" value="(victims-\d+)"', html)
    assert key is not None
    assert learner.do("predict", named="default/low-1", question=key[1]) == 204
    assert "You answered: low-1." in predicting(learner)
    stages(learner, 1)
    html = predicting(learner)
    assert "1 of 1 right" in html
    assert html.count('class="les-last"') == 1
    assert learner.do("predict", named="default/low-2", question=key[1]) == 422


def test_an_answer_that_waits_is_shown_at_every_stage(learner: Learner) -> None:
    stages(learner, 1)
    learner.do("predict", named="bound")
    for _ in range(2):
        stages(learner, 1)
        html = predicting(learner)
        assert "You answered: bound. Checked when this attempt is over." in html
        assert "Questions appear here before each stage" not in html
    learner.do("do/pod")
    assert "1 of 1 right" in predicting(learner)


def test_the_winner_is_asked_once(learner: Learner) -> None:
    add(learner, make_node("node-c").capacity(cpu="8", memory="8Gi").obj())
    stages(learner, 4)
    learner.do("predict", named="node-b")
    stages(learner, 1)
    html = predicting(learner)
    assert 'class="les-q"' not in html
    assert "You answered: node-b." in html
    learner.do("predict", named="node-c")
    learner.do("do/pod")
    html = predicting(learner)
    assert html.count('class="les-last"') == 1
    assert "1 of 1 right" in html


def test_a_reveal_lists_the_choices_of_the_question(learner: Learner) -> None:
    crowd(learner)
    learner.do("predict", named="default/low-1")
    add(learner, make_pod("late").cpu("1").node("full").obj())
    stages(learner, 1)
    learner.do("do/settle")
    html = predicting(learner)
    names = re.findall("<b>([a-z0-9-]+)</b>", html[html.index('class="les-last"') :])
    assert "vip fits on full beside it." in html
    assert names[:3] == ["web", "low-1", "low-2"]
    assert "late" not in names


def test_a_prediction_for_an_undone_attempt_does_not_count(learner: Learner) -> None:
    for _ in range(3):
        learner.do("do/stage")
    learner.do("predict", named="node-b")
    learner.do("do/stage")
    assert "1 of 1 right" in predicting(learner)
    for _ in range(2):
        learner.do("do/back")
    html = predicting(learner)
    assert "right</span>" not in html
    learner.do("do/pod")
    assert "1 of 1 right" not in predicting(learner)


def test_without_the_switch_nothing_is_asked(learner: Learner) -> None:
    learner.do("do/stage")
    assert "Where is web when this attempt is over?" not in learner.html()


def test_an_impossible_prediction_is_refused(learner: Learner) -> None:
    assert learner.do("predict", named="node-b") == 422
    assert not Guess.objects.exists()


def test_in_a_large_cluster_only_winner_and_lane_are_asked(learner: Learner) -> None:
    manifests = "\n---\n".join(
        f"{{apiVersion: v1, kind: Node, metadata: {{name: big-{n}}}, "
        'status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}'
        for n in range(70)
    )
    assert learner.client.post(f"{learner.path}apply/", {"manifests": manifests}).status_code == 204
    for _ in range(3):
        learner.do("do/stage")
    assert "Questions appear here before each stage" in predicting(learner)
    learner.do("do/stage")
    html = predicting(learner)
    assert "Which node does web get?" in html
    assert "<datalist" in html


def test_a_browser_gets_errors_of_a_lesson_as_a_page_with_a_way_back() -> None:
    file = SimpleUploadedFile("my.lesson.yaml", LESSON.replace("pod:default/web", "pod:default/wbe").encode())
    page = Client().post("/lessons/open/", {"file": file}, headers={"Accept": "text/html"}).content.decode()
    assert "This lesson has errors." in page
    assert "wbe" in page
    assert 'href="/course/#own"' in page


def test_no_line_breaks_between_a_pointer_and_the_mark_after_it() -> None:
    tied = html_of("the [ribbon](pane:ribbon), and [web-1](pod:default/web-1)).")
    assert tied.count('<span class="tied"><button') == 2
    assert ">ribbon</button>,</span> and" in tied
    assert ">web-1</button>).</span>" in tied
    assert "tied" not in html_of("[web-1](pod:default/web-1) waits, as [the docs](https://example.com) say.")


@pytest.mark.parametrize(
    ("named", "shows"),
    [("node-a", True), ("node-b", False)],
    ids=["the first tempting answer shows it", "the right one does not"],
)
def test_a_wrong_answer_that_shows_a_misconception_leads_to_it(named: str, shows: bool) -> None:
    text = LESSON.replace("tempting: [node-a]", "tempting: [node-a], reveals: the-scheduler-looks-at-usage")
    learner = Learner(bring(text)["location"])
    learner.do("lesson/turn", part=1)
    assert learner.do("lesson/answer", named=named) == 204
    for _ in range(4):
        learner.do("do/stage")
    html = unescape(learner.html())
    assert ("Many people think so" in html) is shows
    assert ("/misconceptions/#the-scheduler-looks-at-usage" in html) is shows
    assert '"reveals"' not in Guess.objects.get().question


def test_an_uploaded_lesson_cannot_reveal_an_unknown_misconception() -> None:
    text = LESSON.replace("tempting: [node-a]", "tempting: [node-a], reveals: that-pods-fly")
    answer = bring(text)
    assert answer.status_code == 422
    assert "there is no misconception that-pods-fly" in unescape(answer.content.decode())
