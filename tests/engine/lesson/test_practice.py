"""Rounds of practice are lessons that the engine has played: the same name draws the same one, byte for byte."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from scheduler_engine.lesson import practice as lesson_practice
from scheduler_engine.lesson import practice_places, problems_of
from scheduler_engine.lesson.practice import (
    LEVELS,
    MOST_ALIKE,
    MOST_CLUSTERS,
    PARTS,
    TOPICS,
    Round,
    practice,
    practice_text,
    round_of,
    topic_about,
    topic_title,
)
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import RunView
from tests.questions import parts_of

SEEDS = range(int(os.environ.get("PRACTICE_SEEDS", "4")))
WORDS = 140
"""The most words of a question's text. Some list the pods of several nodes."""
FIRST = [Round(topic, level, 1) for topic in TOPICS for level in LEVELS]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("topic", TOPICS)
def test_each_round_asks_what_is_open_and_grades_it(topic: str, level: int) -> None:
    """``practice`` has played each draw in every way, and refuses one with a problem."""
    right: Counter[tuple[str, ...]] = Counter()
    for seed in SEEDS:
        rights: Counter[tuple[str, ...]] = Counter()
        lesson = practice(Round(topic, level, seed))
        assert lesson.slug == f"practice-{topic}-{level}-{seed}"
        for part, put in parts_of(lesson):
            assert put is not None
            assert part.question is not None
            (tempting,) = part.question.tempting
            assert tempting in put.offered
            assert tempting not in put.right
            assert put.agrees(put.right if put.many else put.right[:1])
            assert put.agrees((tempting,)) is False
            assert len(put.right) < len(put.offered) if put.many else len(put.right) == 1, "no draw decides"
            assert part.predicts
            assert len(part.text.split()) <= WORDS, part.text
            rights[tuple(sorted(put.right))] += 1
        assert rights.total() == PARTS
        assert max(rights.values()) <= MOST_ALIKE
        right += rights
    assert len(right) > 2


@pytest.mark.parametrize("drawn", FIRST, ids=lambda drawn: drawn.name)
def test_a_round_has_no_problems(drawn: Round) -> None:
    assert problems_of(practice(drawn)) == []


@pytest.mark.parametrize("level", LEVELS[1:])
def test_only_pods_that_a_question_names_refuse_its_pod(level: int) -> None:
    """Pods of earlier questions have anti-affinity, too. A question says which pods refuse its pod, or none does."""
    refused = Counter[bool]()
    for seed in range(12):
        lesson = practice(Round("affinity", level, seed))
        simulation = lesson.scenario.open()
        for part in lesson.parts:
            assert part.question is not None
            app = part.question.pod.removeprefix("default/").rpartition("-")[0]
            pods = practice_places.refusing(simulation).get(app, {})
            named = part.text.partition("is on their node: ")[2].partition("\n")[0]
            assert re.findall(r"pod:([a-z0-9/-]+)", named) == [*pods], part.text
            assert {*pods.values()} <= {practice_places.HOSTNAME}
            refused[bool(pods)] += 1
            play(simulation, part.do)
    assert refused[True] if level > 2 else not refused[True]


@pytest.mark.parametrize("level", LEVELS)
def test_only_what_a_rule_names_decides_between_victims(level: int) -> None:
    """No text shows when pods started, or the sum of priorities."""
    decided = Counter[str]()
    for seed in range(8):
        lesson = practice(Round("preemption", level, seed))
        simulation = lesson.scenario.open()
        for part in lesson.parts:
            assert part.question is not None
            placed = {each.key: (each.node_name, each.priority) for each in simulation.api.pods()}
            play(simulation, part.do)
            tried = RunView(simulation).preempting(part.question.pod)
            if tried is None or tried.post_filter is None:
                continue
            decided.update(rung.criterion for rung in tried.rungs if rung.fallen)
            for victim in tried.post_filter.victims:
                alike = {each for each, where in placed.items() if where == placed[victim]}
                assert alike <= {*tried.post_filter.victims}, part.text
    assert decided["lowest priority of the most important victim"]
    assert {*decided} <= {"lowest priority of the most important victim", "fewest PodDisruptionBudget violations"}


def test_rounds_differ() -> None:
    texts = [practice_text(drawn) for drawn in (*FIRST, Round("taints", 1, 2), Round("taints", 1, 3))]
    assert len({*texts}) == len(texts)


def test_the_same_round_has_the_same_text_in_another_process() -> None:
    names = [drawn.name for drawn in FIRST[::4]]
    script = "from scheduler_engine.lesson.practice import practice_text, round_of\n"
    script += f"for name in {names}: print(practice_text(round_of(name)))"
    process = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert process == "".join(f"{practice_text(drawn)}\n" for drawn in FIRST[::4])


@pytest.mark.parametrize(
    "drawn", [*FIRST, Round("spread", 3, 0), Round("queue", 1, 999_999_999)], ids=lambda drawn: drawn.name
)
def test_a_name_is_read_back(drawn: Round) -> None:
    assert round_of(drawn.name) == drawn


@pytest.mark.parametrize(
    "name",
    [
        "",
        "practice",
        "practice-spread",
        "practice-spread-1",
        "practice-spread-0-1",
        "practice-spread-4-1",
        "practice-spread-1-01",
        "practice-spread-1-1000000000",
        "practice-spread-1--1",
        "practice-spread-1-1\n",
        "practice-spread-1-١",
        "practice-nothing-1-1",
        "Practice-spread-1-1",
    ],
)
def test_other_names_are_of_no_round(name: str) -> None:
    assert round_of(name) is None


def test_each_topic_has_a_title_and_says_what_it_is_about() -> None:
    assert len({topic_title(topic) for topic in TOPICS}) == len({topic_about(topic) for topic in TOPICS}) == len(TOPICS)


def test_a_round_that_is_never_worth_asking_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[str] = []

    def refuse(lesson: object) -> list[str]:
        draws.append("refused")
        return ["it does not hold"]

    monkeypatch.setattr(lesson_practice, "problems_of", refuse)
    with pytest.raises(RuntimeError, match="it does not hold"):
        practice_text(Round("taints", 1, 4242))
    assert 0 < len(draws) <= MOST_CLUSTERS


@pytest.mark.parametrize("worth", ["_is_open", "_answer"])
def test_a_question_that_is_not_open_is_drawn_again(worth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson_practice, worth, lambda *_: None)
    monkeypatch.setattr(lesson_practice, "MOST_CLUSTERS", 2)
    with pytest.raises(RuntimeError, match="too few questions"):
        practice_text(Round("taints", 1, 4243))
