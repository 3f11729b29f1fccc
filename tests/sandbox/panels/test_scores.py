"""The score table."""

from __future__ import annotations

import pytest

from sandbox.panels import PANELS, View, World
from tests.sandbox import traces
from tests.sandbox.scenarios import drawn


@pytest.fixture(name="world")
def create_world() -> World:
    return World.fold(traces.api_scored().entries)


def test_the_verdict_names_winner_runner_up_margin_and_tie_set(world: World) -> None:
    verdict = drawn("scores", world, View())["verdict"]
    assert (verdict["big"], verdict["runner_up"], verdict["margin"]) == ("node-b3, 843", "node-c1, 836", 7)
    assert (verdict["ties"], verdict["how"]) == ("node-b3", "no draw")


def test_rows_are_sorted_best_first(world: World) -> None:
    rows = drawn("scores", world, View())["rows"]
    order = sorted(traces.RAW, key=lambda node: rows.index(f'<tr data-node="{node}"'))
    assert order == ["node-b3", "node-c1", "node-b1", "node-a1", "node-b2"]
    assert 'data-node="node-b3" class="is-win"' in rows


def test_a_cell_shows_weighted_over_raw_normalized_and_weight(world: World) -> None:
    rows = drawn("scores", world, View())["rows"]
    assert '<span class="w top">300</span><span class="r">0 → 100 × 3</span>' in rows
    assert '<span class="w">36</span><span class="r">36</span>' in rows


def test_an_open_cell_shows_the_arithmetic(world: World) -> None:
    rows = drawn("scores", world, View(node="node-b3", plugin="TaintToleration"))["rows"]
    assert "TaintToleration gave node-b3 0." in rows
    assert "<code>100 × 3 = 300</code><span>weight 3, so 300 of the 843 of node-b3</span>" in rows


def test_the_steps_of_the_waterfall_hang_where_the_one_before_ended(world: World) -> None:
    why = drawn("scores", world, View())["why_not"]
    level = float(why["from_y"])
    for step in why["steps"]:
        top, height = float(step["y"]), float(step["height"])
        start, end = (top + height, top) if step["up"] else (top, top + height)
        assert start == pytest.approx(level, abs=1.6), step["plugin"]
        level = end
    assert level == pytest.approx(float(why["to_y"]), abs=1.6)


def test_the_seed_of_the_draw_is_shown_when_it_is_known(world: World) -> None:
    assert drawn("scores", world, View())["seed"] is None
    seeded = World.fold(traces.tied().entries)
    seeded.seed = 42
    assert drawn("scores", seeded, View())["seed"] == 42


def test_the_bars_have_the_weighted_scores_of_every_row(world: World) -> None:
    panel = PANELS["scores"].stats(world, View())
    rows = {row["node"]: row["stack"] for row in panel["rows"]}
    shares = {part["plugin"]: part["share"] for part in rows["node-b3"]["parts"]}
    scores = dict(zip((name for name, _ in traces.WEIGHTS), [300, 200, 36, 0, 200, 95, 12], strict=True))
    assert shares == {plugin: score for plugin, score in scores.items() if score}
    assert panel["most"] == 1200
    assert {stack["best"] for stack in rows.values()} == {f"{843 / 12:.2f}"}
    last = rows["node-b3"]["parts"][-1]
    assert float(last["x"]) + float(last["width"]) == pytest.approx(843 / 12, abs=0.01)


def test_why_not_leads_from_the_runner_up_to_the_winner(world: World) -> None:
    why = drawn("scores", world, View())["why_not"]
    changes = {step["plugin"]: step["change"] for step in why["steps"]}
    assert (why["other"], why["other_total"], why["winner_total"]) == ("node-c1", 836, 843)
    assert changes == {
        "NodeResourcesFit": "−7",
        "PodTopologySpread": "−200",
        "InterPodAffinity": "+200",
        "NodeResourcesBalancedAllocation": "+2",
        "ImageLocality": "+12",
    }


def test_why_not_can_be_asked_of_another_node(world: World) -> None:
    assert drawn("scores", world, View(node="node-a1"))["why_not"]["other"] == "node-a1"


def test_a_draw_names_the_tie_set() -> None:
    panel = drawn("scores", World.fold(traces.tied().entries), View())
    assert (panel["verdict"]["ties"], panel["verdict"]["how"]) == ("twin-1 and twin-2", "drawn")
    assert panel["why_not"]["tie"]


@pytest.mark.parametrize(
    ("story", "cycle", "words"),
    [
        pytest.param(traces.web_at_filter, 0, "No node fits web-4", id="nothing fits"),
        pytest.param(traces.web_at_filter, 1, "Only node-b2 fits api-3", id="one node fits"),
        pytest.param(traces.empty, 0, "No pod has been scheduled yet", id="no attempt"),
    ],
)
def test_reasons_for_no_score(story: object, cycle: int, words: str) -> None:
    assert callable(story)
    panel = drawn("scores", World.fold(story().entries), View(cycle=cycle))
    assert words in panel["empty"]
    assert not panel["has"]
