"""The small drawing of a cluster: what it counts, and that every scenario has one."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import shelf
from sandbox.web.drawings import drawing, sketch


def node(name: str, zone: str = "", **spec: Any) -> dict[str, Any]:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def test_applied_cordoned_and_deleted_objects_are_counted() -> None:
    pods = [{"kind": "Pod", "metadata": {"name": n}, "spec": {"nodeName": n[:1]}} for n in ("a1", "b1", "x1")]
    drawing = sketch(
        [
            {"kind": "apply", "manifests": [node("a", "one"), node("b", "two"), node("c"), *pods]},
            {"kind": "cordon", "node": "a"},
            {"kind": "delete", "object_kind": "Pod", "key": "default/b1"},
            {"kind": "delete", "object_kind": "Node", "key": "c"},
            {"kind": "settle"},
        ]
    )
    assert ([*drawing.zones], drawing.waiting) == (["one", "two"], 1)
    assert [drawing.nodes[name].pods for name in "ab"] == [1, 0]
    assert [drawing.nodes[name].tainted for name in "ab"] == [True, False]


def test_the_end_shows_pods_where_they_are_expected() -> None:
    waiting = [{"kind": "Pod", "metadata": {"name": name}, "spec": {}} for name in ("lands", "waits")]
    steps = [{"kind": "apply", "manifests": [node("a"), node("b"), *waiting]}]
    before = sketch(steps)
    after = sketch(steps, [("default/lands", "b"), ("default/later", "b"), ("default/lost", "gone")])
    assert before.waiting == 2
    assert after.waiting == 1
    assert [after.nodes[name].landed for name in "ab"] == [0, 2]


def test_a_zone_may_have_the_short_label_of_examples() -> None:
    one = {"kind": "Node", "metadata": {"name": "a", "labels": {"zone": "zoneA"}}}
    assert [*sketch([{"kind": "apply", "manifests": [one]}]).zones] == ["zoneA"]


def test_the_drawing_of_a_scenario_shows_where_its_pod_lands() -> None:
    spread = scenarios()["spread-one-constraint"]
    assert 'class="dl"' in drawing(spread, ends=True)
    assert 'class="dl"' not in drawing(spread)


@pytest.mark.parametrize("slug", list(scenarios()))
def test_every_scenario_has_a_small_drawing(slug: str) -> None:
    svg = drawing(scenarios()[slug])
    assert svg.startswith('<svg class="dwg"')
    assert 'aria-hidden="true"' in svg
    assert len(svg) < 6000


def test_the_lessons_of_the_course_are_looked_up_by_their_names() -> None:
    assert shelf("lessons")
    assert all("<path" in drawing(lesson.scenario) for lesson in shelf("lessons"))
