"""Practice without end: rounds of questions about drawn clusters, which the engine answers before anyone sees them."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import practice_filters, practice_places, practice_waiting
from scheduler_engine.lesson.loading import read_lesson
from scheduler_engine.lesson.model import Lesson, Question
from scheduler_engine.lesson.practice_parts import Asked, Topic
from scheduler_engine.lesson.predictions import KINDS, Sight, choices, judge
from scheduler_engine.lesson.verifying import problems_of
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.lesson.window import Answer
from scheduler_engine.scenario import play
from scheduler_engine.scenario.attempts import Attempt, RunView
from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.scenario.loading import command_from
from scheduler_engine.scenario.yaml_text import documents
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

TOPICS: Mapping[str, Topic] = {
    "filters": Topic(practice_filters.filter_cluster, practice_filters.filters),
    "taints": Topic(practice_filters.taint_cluster, practice_filters.tolerations),
    "affinity": Topic(practice_places.affinity_cluster, practice_places.affinity),
    "spread": Topic(practice_places.spread_cluster, practice_places.spread),
    "scores": Topic(practice_places.score_cluster, practice_places.scores),
    "queue": Topic(practice_waiting.queue_cluster, practice_waiting.queue),
    "preemption": Topic(practice_waiting.preemption_cluster, practice_waiting.preemption),
}
"""Name of a topic → its cluster and its questions, in the order of the page."""
LEVELS = (1, 2, 3)
PARTS = 5
MOST_CLUSTERS, MOST_QUESTIONS = 20, 30
"""Draws of a cluster for a round, and of a question for a part."""
TAUGHT = 2
"""Criteria for victims that the rules of practice name: budgets, and the priority of the most important victim."""
MOST_ALIKE = 2
"""Parts of a round that may have the same right answer."""
LONGEST_SEED = 9
"""Digits of a seed."""
NAME = re.compile(rf"practice-([a-z-]+)-([{LEVELS[0]}-{LEVELS[-1]}])-(0|[1-9][0-9]{{0,{LONGEST_SEED - 1}}})")


@dataclass(frozen=True, slots=True)
class Round:
    """What decides the questions of a round: the same topic, level and seed always give the same ones."""

    topic: str
    level: int
    seed: int

    @property
    def name(self) -> str:
        return f"practice-{self.topic}-{self.level}-{self.seed}"


def round_of(name: str) -> Round | None:
    """Return the round of this name. None if it is no name of a round."""
    match = NAME.fullmatch(name)
    if match is None or match[1] not in TOPICS:
        return None
    return Round(match[1], int(match[2]), int(match[3]))


def topic_title(topic: str) -> str:
    """Return a topic in words."""
    return say(f"practice.topic-{topic}")


def topic_about(topic: str) -> str:
    """Return what the questions of a topic are about, in a sentence."""
    return say(f"practice.about-{topic}")


@lru_cache(maxsize=64)
def practice_text(drawn: Round) -> str:
    """Return the text of a round's lesson: the same round always gives the same bytes.

    Raises RuntimeError when no draw is worth asking.
    """
    refused: list[str] = []
    for number in range(MOST_CLUSTERS):
        # Random hashes a text seed itself, alike on every machine.
        document = _document(Random(f"{drawn.name}/{number}"), drawn)
        if document is None:
            continue
        text = documents([document])
        problems = problems_of(read_lesson(text, f"{drawn.name}.yaml"))
        if not problems:
            return text
        refused += problems
    raise RuntimeError(f"no valid draw for {drawn.name}: {refused[-1] if refused else 'too few questions'}")


def practice(drawn: Round) -> Lesson:
    """Return the lesson of ``practice_text``. Raises RuntimeError."""
    return read_lesson(practice_text(drawn), f"{drawn.name}.yaml")


def _document(draw: Random, drawn: Round) -> Data | None:
    """Return the lesson of a drawn cluster; None if it does not have enough questions."""
    topic, seed = TOPICS[drawn.topic], draw.randint(1, 9999)
    setup = topic.setup(draw, drawn.level)
    simulation = Simulation(seed=seed)
    play(simulation, [command_from(step) for step in setup])
    parts: list[Data] = []
    answers: Counter[tuple[str, ...]] = Counter()
    for number in range(PARTS):
        found = _question(draw, drawn.level, number, simulation, answers, topic)
        if found is None:
            return None
        part, right, simulation = found
        parts.append(part)
        answers[right] += 1
    return {
        "apiVersion": API_VERSION,
        "kind": "Lesson",
        "title": say("practice.title", topic=topic_title(drawn.topic), level=drawn.level),
        "about": topic_about(drawn.topic),
        "minutes": PARTS,
        "seed": seed,
        "setup": setup,
        "parts": parts,
    }


def _question(
    draw: Random, level: int, number: int, simulation: Simulation, answers: Counter[tuple[str, ...]], topic: Topic
) -> tuple[Data, tuple[str, ...], Simulation] | None:
    """Return a part that is worth asking, its right answer, and the simulation after it; None if none is drawn."""
    for _ in range(MOST_QUESTIONS):
        asked = topic.ask(draw, level, number, simulation)
        there = copy.deepcopy(simulation)
        offered = choices(RunView(there), asked.question)
        answer = _answer(there, asked)
        if answer is None or answers[answer.right] == MOST_ALIKE or not _is_open(asked.question, offered, answer):
            continue
        tempting = next((each for each in asked.tempting if each in offered and each not in answer.right), "")
        if tempting:
            return _part(asked, tempting), answer.right, there
    return None


def _answer(simulation: Simulation, asked: Asked) -> Answer | None:
    """Take the steps of a question, and return the engine's answer. None if a step is refused, if nothing answers, or
    if what decides is not taught.
    """
    since, steps = len(simulation.recorder.entries), tuple(command_from(step) for step in asked.do)
    placed = {each.key: (each.node_name, each.priority) for each in simulation.api.pods()}
    try:
        play(simulation, steps)
    except Rejected:
        return None
    run = RunView(simulation)
    tried = run.preempting(asked.question.pod)
    if tried and not _is_taught(tried, placed):
        return None
    walk = Walk(steps, simulation.recorder, since, lambda *_: simulation, pressed=True)
    return judge(asked.question, since, Sight(simulation.recorder, lambda _: run, walk)).answer


def _is_taught(tried: Attempt, placed: Mapping[str, tuple[str, int]]) -> bool:
    """Return True if the rules of practice suffice for the victims: neither a draw, a criterion that no rule names, nor
    the start of pods decides, which no text shows. ``placed``: pod → its node and its priority before.
    """
    if tried.rungs and (len(tried.rungs) > TAUGHT or len(tried.rungs[-1].survivors) > 1):
        return False
    victims = tried.post_filter.victims if tried.post_filter else ()
    leaving = {placed[each] for each in victims}
    return leaving.isdisjoint(where for each, where in placed.items() if each not in victims)


def _is_open(question: Question, offered: tuple[str, ...], answer: Answer) -> bool:
    """Return True if one answer is right, and could be wrong: no draw decides, and not every choice is alike."""
    if KINDS[question.kind].many:
        return len(answer.right) < len(offered) and (question.kind != "passes" or bool(answer.right))
    return len(answer.right) == 1 and (
        question.kind != "winner" or all(why.key != "only" for why in answer.why.values())
    )


def _part(asked: Asked, tempting: str) -> Data:
    question = asked.question
    if question.options:
        options = [{"text": option.text, "holds": [*option.holds]} for option in question.options]
        data: Data = {"ask": question.ask, "options": options}
    else:
        more = {"node": question.node, "at": question.at}
        data = {question.kind: question.pod} | {key: value for key, value in more.items() if value}
    then = {"then": asked.then} if asked.then else {}
    shows = {"reveals": asked.reveals} if asked.reveals and tempting == asked.tempting[0] else {}
    return {
        "text": asked.text,
        "predict": {**data, "tempting": [tempting], **shows},
        "do": [*asked.do],
        "say": asked.label,
    } | then
