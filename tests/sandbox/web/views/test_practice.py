"""The page of practice, its rounds, and what follows a round."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from sandbox.limits import quotas, ratelimit
from sandbox.storage.models import Sandbox, Study
from scheduler_engine.lesson.practice import LEVELS, PARTS, TOPICS, Round, practice
from tests.html import words
from tests.questions import parts_of

pytestmark = pytest.mark.django_db
ROUND = "practice-filters-2-7"


class Learner:
    """A visitor in a round, who answers its questions in turn."""

    def __init__(self, name: str = ROUND) -> None:
        self.client, self.drawn = Client(), name
        answer = self.client.post("/new/?shelf=practice", {"lesson": name})
        assert answer.status_code == 302
        self.path = str(answer["Location"])
        _, _, topic_and_level = name.partition("-")
        topic, level, seed = topic_and_level.rsplit("-", 2)
        self.puts = [put for _, put in parts_of(practice(Round(topic, int(level), int(seed)))) if put]

    def do(self, verb: str, **fields: object) -> None:
        assert self.client.post(f"{self.path}lesson/{verb}/", fields).status_code == 204

    def answer(self, part: int, rightly: bool, turns: bool = True) -> None:
        self.do("answer", named=list(self.puts[part].answers()[0 if rightly else 1]))
        self.do("step", part=part)
        if turns:
            self.do("turn", part=part + 1)

    def panel(self) -> str:
        return self.client.get(f"{self.path}panel/lesson/").content.decode()


def follows(html: str) -> list[tuple[str, str]]:
    """Return the rounds that a panel offers: name and label."""
    return re.findall(r'name="lesson" value="([^"]+)"><button [^>]*>([^<]+)<', html)


def test_the_page_lists_topics_and_levels_and_opens_nothing() -> None:
    html = Client().get("/practice/").content.decode()
    assert re.findall(r'name="topic" value="([^"]+)"', html) == [*TOPICS]
    assert re.findall(r'name="level" value="([^"]+)"', html) == [str(level) for level in LEVELS]
    assert Sandbox.objects.count() == 0


def test_the_page_lists_the_challenge_of_the_day_as_the_page_of_challenges_does() -> None:
    pages = [Client().get(path).content.decode() for path in ("/practice/", "/challenges/")]
    rows = [re.search(r'<li data-lesson="(daily-\d+)">(.*?)</li>', html, re.DOTALL) for html in pages]
    assert rows[0] is not None
    assert rows[1] is not None
    assert rows[0].groups() == rows[1].groups()
    assert 'name="lesson" value="daily"' in rows[0][2]


def test_a_challenge_of_the_day_has_its_own_name_for_the_progress_of_a_browser() -> None:
    client = Client()
    path = client.post("/new/?shelf=challenges", {"lesson": "daily"})["Location"]
    panel = client.get(f"{path}panel/lesson/").content.decode()
    assert re.search(r'data-slug="daily-\d+"', panel)


@pytest.mark.parametrize("page", ["/", "/course/", "/challenges/"])
def test_other_pages_lead_to_it(page: str) -> None:
    assert 'href="/practice/"' in Client().get(page).content.decode()


def test_a_topic_and_a_level_open_a_new_round_each_time() -> None:
    paths = [Client().post("/new/", {"topic": "filters", "level": "2"})["Location"] for _ in range(2)]
    studies = Study.objects.filter(sandbox__in=[path.split("/")[2] for path in paths])
    assert {study.shelf for study in studies} == {"practice"}
    assert all(re.fullmatch(r"practice-filters-2-\d+", study.slug) for study in studies)
    assert len({study.slug for study in studies}) == 2
    assert "Part 1 of 5" in words(Client().get(paths[0]).content.decode())


@pytest.mark.parametrize("skipped", [0, 2])
def test_after_a_skipped_part_the_cluster_is_as_the_next_text_lists_it(skipped: int) -> None:
    learner = Learner("practice-affinity-3-1")
    for part in range(skipped):
        learner.answer(part, rightly=True)
    learner.do("turn", part=skipped + 1)
    assert "it was set up for you" in words(learner.panel())
    simulation = learner.puts[skipped + 1].start
    cluster = learner.client.get(f"{learner.path}panel/cluster/").content.decode()
    shown = {*re.findall(r'data-pod="([^"]+)"', cluster)}
    assert shown == {pod.key for pod in simulation.api.pods() if pod.node_name}
    assert learner.puts[skipped].question.pod in {pod.key for pod in simulation.api.pods()}
    for part in range(skipped + 1, PARTS):
        learner.do("turn", part=part + 1)
    assert "You skipped" in words(learner.panel())


def test_a_round_has_an_address_with_the_same_questions_for_everyone() -> None:
    html = Client().get("/practice/filters-2-7/").content.decode()
    assert follows(html) == []
    assert re.findall(r'name="lesson" value="([^"]+)"', html) == [ROUND]
    assert [Learner().panel().partition("</form>")[0] for _ in range(2)] == [
        Learner().panel().partition("</form>")[0]
    ] * 2


@pytest.mark.parametrize("name", ["filters-2", "filters-9-1", "no-such-1-1", "filters-1-0123", "filters-1-1234567890"])
def test_a_round_that_does_not_exist_is_not_found(name: str) -> None:
    assert Client().get(f"/practice/{name}/").status_code == 404
    assert Client().post("/new/", {"lesson": f"practice-{name}"}).status_code == 404
    assert Sandbox.objects.count() == 0


@pytest.mark.parametrize(
    "fields", [{"topic": "no-such"}, {"topic": "filters", "level": "4"}, {"topic": "filters", "level": "x"}]
)
def test_a_topic_or_level_that_does_not_exist_opens_nothing(fields: dict[str, str]) -> None:
    assert Client().post("/new/", fields).status_code == 404
    assert Sandbox.objects.count() == 0


def test_the_page_learns_which_answers_were_right() -> None:
    learner = Learner()
    assert 'data-round="filters-2-7" data-rights=""' in learner.panel()
    learner.answer(0, rightly=True)
    learner.answer(1, rightly=False, turns=False)
    assert 'data-rights="0:1 1:0"' in learner.panel(), "also of the open part"
    learner.do("turn", part=2)
    learner.do("turn", part=3)
    assert 'data-rights="0:1 1:0"' in learner.panel(), "a skipped part has no answer"


def test_the_first_answer_counts() -> None:
    learner = Learner()
    learner.answer(0, rightly=True)
    learner.answer(1, rightly=False)
    learner.do("turn", part=1)
    learner.do("catch-up")
    learner.answer(1, rightly=True)
    assert 'data-rights="0:1 1:0"' in learner.panel()


def test_a_watcher_does_not_learn_them() -> None:
    learner = Learner()
    learner.answer(0, rightly=True)
    html = learner.client.get(learner.path).content.decode()
    watching = re.findall(r'id="share-view"[^>]*value="([^"]+)"', html)[0]
    assert "data-rights" not in Client().get(f"{watching}panel/lesson/").content.decode()


@pytest.mark.parametrize(
    ("name", "right", "expected"),
    [
        (ROUND, 5, [("practice-filters-3-8", "Harder"), ("practice-filters-2-8", "Five more")]),
        (ROUND, 3, [("practice-filters-2-8", "Five more")]),
        (ROUND, 1, [("practice-filters-1-8", "Easier"), ("practice-filters-2-8", "Five more")]),
        ("practice-filters-3-7", 5, [("practice-filters-3-8", "Five more")]),
        ("practice-filters-1-999999999", 0, [("practice-filters-1-0", "Five more")]),
    ],
)
def test_what_follows_depends_on_the_answers(name: str, right: int, expected: list[tuple[str, str]]) -> None:
    learner = Learner(name)
    for part in range(PARTS):
        learner.answer(part, rightly=part < right)
    html = learner.panel()
    assert f"{right} of 5 right." in words(html)
    assert "holds for Kubernetes" not in words(html), "it is played under one version only"
    assert follows(html) == expected
    assert '<a class="lnk" id="les-leave" href="/practice/">Back to practice</a>' in html
    assert f'href="/practice/{name.removeprefix("practice-")}/">Link to these questions</a>' in html
    Learner(expected[0][0])


def test_a_round_counts_as_a_new_sandbox_for_rates_and_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratelimit, "wait", lambda name, client: 7.0 if name == "create" else 0.0)
    answer = Client().post("/new/?shelf=practice", {"topic": "filters"}, headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 429
    assert "Back to practice" in answer.content.decode()
    assert quotas.quotas().guesses >= PARTS


def test_the_api_opens_a_round() -> None:
    answer = Client().post("/api/v1/sandboxes", {"lesson": ROUND}, content_type="application/json")
    assert answer.status_code == 201
    part = Client().get(f"{answer.json()['api']}/lesson").json()
    assert part["name"] == ROUND
    assert part["title"] == practice(Round("filters", 2, 7)).title
