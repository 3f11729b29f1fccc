"""How far somebody has come with a part's steps, after any acts: as if it were counted from the start of the part."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from django.test import Client

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.worker import rendering
from scheduler_engine.testing import make_pod

ACTS = 18
PARTS = {
    "taints-that-evict": 2,
    "spread-or-pack": 5,
    "assume-and-bind": 5,
    "two-leaders-at-once": 2,
    "rollouts-and-spread": 3,
    "stepping-and-looking-back": 1,
}
"""Slug of a lesson → number of a part with steps: many, or just time that passes."""


@pytest.mark.django_db
@pytest.mark.parametrize("slug", PARTS)
def test_the_steps_that_are_done_are_counted_the_same_from_the_start(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(slug)
    base, client = Client().post("/new/", {"lesson": slug})["Location"], Client()

    def post(verb: str, **fields: object) -> int:
        return int(client.post(f"{base}{verb}/", fields).status_code)

    for number in range(PARTS[slug]):
        post("lesson/answer", look="1")
        post("lesson/step", part=number)
        post("lesson/turn", part=number + 1)
    post("lesson/answer", look="1")
    tick = lambda: post("do/advance", seconds=1, play="1")  # noqa: E731
    acts: list[Callable[[], object]] = [
        lambda: post("do/stage"),
        lambda: post("do/pod"),
        lambda: post("do/advance", seconds=draw.choice((1, 20))),
        tick,
        lambda: post("do/back"),
        lambda: post("do/forward"),
        lambda: apply(base, f"more-{draw.randrange(9)}"),
        lambda: post("lesson/step", part=PARTS[slug]),
    ]
    chosen = (
        [tick] * 12 if slug == "stepping-and-looking-back" else draw.choices(acts, (3, 3, 2, 5, 2, 1, 1, 1), k=ACTS)
    )
    shown = set()
    for act in (*chosen, lambda: post("lesson/catch-up"), lambda: post("lesson/step", part=PARTS[slug])):
        act()
        panel = client.get(f"{base}panel/lesson/").content
        shown.add(panel)
        with monkeypatch.context() as patch:
            patch.setattr(engines, "_engines", engines.Inside())
            patch.setattr(rendering, "cache", rendering.FragmentCache())
            assert client.get(f"{base}panel/lesson/").content == panel
    assert len(shown) > 1, "nothing that was done shows in the lesson"


@pytest.mark.django_db
@pytest.mark.parametrize("slug", ["preemption", "spread-or-pack", "practice-affinity-3-1"])
@pytest.mark.parametrize("way", ["do/forward", "lesson/catch-up"])
def test_what_was_shown_before_the_start_of_a_part_does_not_count_in_it(slug: str, way: str) -> None:
    """The last command of the setup is not a step of the part."""
    client = Client()
    base = client.post("/new/", {"lesson": slug})["Location"]
    panel = lambda: client.get(f"{base}panel/lesson/").content.decode()  # noqa: E731
    fresh = panel()
    client.post(f"{base}do/back/")
    assert "You went back past the start of this part" in panel()
    client.post(f"{base}{way}/")
    assert panel() == fresh


def apply(base: str, name: str) -> None:
    sandbox = Sandbox.objects.get(pk=base.split("/")[2])
    store.execute(sandbox, {"kind": "apply", "manifests": [make_pod(name).cpu("1").obj()]})
