"""Under later versions, too: the fast path decides as the plain one, and facts lead to decisions."""

from __future__ import annotations

from random import Random

import pytest

from scheduler_engine import commands
from scheduler_engine.testing import make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from tests.engine.cells import played as watched
from tests.engine.cells import watching
from tests.engine.histories import some
from tests.engine.paths import HISTORIES, IN_VERSIONS, SIGNABLE, History, differs, played
from tests.engine.random_clusters import nodes

LATER = VERSIONS[1:]


@pytest.mark.parametrize("kubernetes", LATER)
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_the_fast_path_decides_as_the_plain_one(history: History, kubernetes: str) -> None:
    found = [differs(seed, seed % 3 == 0, history, IN_VERSIONS, kubernetes) for seed in range(8)]
    assert [seed for seed, (wrong, _) in enumerate(found) if wrong] == []
    assert sum(decisions for _, decisions in found) > 25


@pytest.mark.parametrize("kubernetes", LATER)
def test_the_facts_of_every_cell_lead_to_its_decision(kubernetes: str) -> None:
    with watching(late=False) as cells:
        for seed in some(range(20), 8):
            watched(cells, seed, kubernetes)
    assert (cells.wrong, dict(cells.silent)) == ([], {})
    assert cells.keys["balance.change"] == 0 or kubernetes == VERSIONS[2]
    assert cells.keys["devices.none-claimed-to-score"] > 0


def batches(seed: int) -> list[commands.Command]:
    """Return groups of equal pods that fill nodes, one after the other."""
    pick = Random(seed)
    steps: list[commands.Command] = [commands.Apply(tuple(nodes(pick, f"n{number}") for number in range(8)))]
    for group in range(12):
        size, taints = pick.choice(["600m", "1", "1500m"]), pick.random() < 0.3
        builders = [make_pod(f"p{group}-{number}").label("group", str(group)).cpu(size) for number in range(5)]
        tolerant = [item.toleration("dedicated") if taints else item for item in builders]
        steps += [commands.Apply(tuple(item.obj() for item in tolerant)), commands.Settle()]
    return steps


@pytest.mark.parametrize("kubernetes", LATER)
def test_the_fast_path_reuses_rankings_as_the_plain_one(kubernetes: str) -> None:
    seeds = some(range(8), 3)
    assert [seed for seed in seeds if differs(seed, seed % 2 == 0, batches, (SIGNABLE,), kubernetes)[0]] == []
    recorded = [entry.event for entry in played(1, False, batches, (SIGNABLE,), kubernetes).recorder.entries]
    asked = [event for event in recorded if isinstance(event, ev.RankingAsked)]
    assert len([event for event in asked if event.hint]) > 3
    assert len(dict.fromkeys(event.why_not for event in asked)) > 2


def upgraded(history: History) -> History:
    """Return the history with changes of the version in it."""

    def steps(seed: int) -> list[commands.Command]:
        pick, changed = Random(seed), list[commands.Command]()
        for step in history(seed):
            changed.append(step)
            if pick.random() < 0.15:
                changed.append(commands.Kubernetes(pick.choice(VERSIONS)))
        return changed

    return steps


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_the_fast_path_follows_a_changed_version_as_the_plain_one(history: History) -> None:
    found = [differs(seed, seed % 3 == 0, upgraded(history), IN_VERSIONS) for seed in range(8)]
    assert [seed for seed, (wrong, _) in enumerate(found) if wrong] == []
    assert sum(decisions for _, decisions in found) > 25
