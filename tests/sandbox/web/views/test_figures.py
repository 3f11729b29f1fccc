"""Figures: the drawing of each choice is that of the engine, at addresses that name it."""

from __future__ import annotations

import re
from html import unescape
from inspect import unwrap
from typing import Any

import pytest
import yaml
from django.test import Client, RequestFactory

from sandbox.content.figures import chosen, figures
from sandbox.pool import engines
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.web.views import figures as views
from sandbox.web.views import pages
from sandbox.worker.errors import Busy
from scheduler_engine.lesson.figures import Figure, played
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev

pytestmark = pytest.mark.django_db
FIRST = "a-pod-that-grows"


def plain(html: str) -> str:
    """Return the text of HTML in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def drawn(name: str) -> str:
    answer = Client().get(f"/figures/{name}/")
    assert answer.status_code == 200
    return answer.content.decode()


def nodes(html: str) -> dict[str, str]:
    """Return node → text of its card."""
    cards = re.findall(r'<article class="node.*?</article>', html, re.DOTALL)
    return {plain(card).split()[0]: plain(card) for card in cards}


def selected(simulation: Simulation) -> list[str]:
    """Return the node that was selected, or the one that the pod is nominated to."""
    events = [entry.event for entry in simulation.recorder.entries]
    hosts = [event.node for event in events if isinstance(event, ev.HostSelected)]
    return hosts or [pod.nominated_node_name for pod in simulation.api.pods() if pod.nominated_node_name]


@pytest.mark.parametrize("slug", list(figures()))
def test_every_choice_shows_the_node_that_the_engine_selects(slug: str) -> None:
    figure: Figure = figures()[slug]
    for choice in figure.choices():
        nodes_of_engine = selected(played(figure, choice))
        html = drawn("-".join((slug, *map(str, choice))))
        best = re.findall(r'<article class="node[^"]*is-best[^"]*">.*?<b class="node-n">(.*?)</b>', html, re.DOTALL)
        assert best == nodes_of_engine, figure.words(choice)
        sentence = plain(html.split('<p class="fig-now"')[1].split("</p>")[0])
        assert best[0] in sentence if best else "Waits:" in plain(html), figure.words(choice)


def test_a_figure_says_why_no_node_fits() -> None:
    cards = nodes(drawn(f"{FIRST}-6-1"))
    assert "dedicated taint" in cards["node-c2"]
    assert "cpu" in cards["node-a1"]
    assert "none of 6 nodes fits" in plain(drawn(f"{FIRST}-6-1"))


def test_a_figure_says_that_evicting_pods_does_not_help_either() -> None:
    """What Filter says alone, that evicting pods could help, would contradict the cards of the end."""
    now = drawn(f"{FIRST}-6-1").split('<p class="fig-now"')[1].split("</p>")[0]
    filtered, after = (plain(sentence) for sentence in now.split("<br>"))
    assert "on 3, evicting pods could change that" in filtered
    assert after == "api at PostFilter : where evicting pods could help, no pod has a lower priority."
    assert "<br>" not in drawn(f"{FIRST}-6-0").split('<p class="fig-now"')[1].split("</p>")[0]
    assert "<br>" not in drawn("preemption-2-1-0").split('<p class="fig-now"')[1].split("</p>")[0]


@pytest.mark.parametrize(
    "name", ["nothing", f"{FIRST}-9-0", f"{FIRST}-1", f"{FIRST}-01-0", f"{FIRST}-1-0-0", f"{FIRST}-1-0x", f"{FIRST}-"]
)
@pytest.mark.parametrize("place", ["/figures/", "/embed/figure/"])
def test_other_names_are_not_found(place: str, name: str) -> None:
    assert chosen(name) is None
    assert Client().get(f"{place}{name}/").status_code == 404


def test_the_first_page_shows_its_figure_without_a_script_and_creates_nothing() -> None:
    html = Client().get("/").content.decode()
    assert nodes(html) == nodes(drawn(FIRST))
    assert Sandbox.objects.count() == 0


def landing() -> Any:
    """Return the first page as it is drawn now, whatever was drawn before."""
    request = RequestFactory().get("/")
    return unwrap(pages.landing)(request)


def test_while_no_worker_answers_the_first_page_fetches_its_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise Busy("not now")

    monkeypatch.setattr(engines, "of_file", busy)
    answer = landing()
    assert answer.headers["Cache-Control"] == "no-store"
    assert f'data-figure="/figures/{FIRST}"' in answer.content.decode()


def test_without_figures_the_first_page_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pages, views):
        monkeypatch.setattr(module, "chosen", lambda name: None)
    answer = landing()
    assert (answer.status_code, "Cache-Control" in answer.headers) == (200, False)
    assert "data-figure" not in answer.content.decode()
    assert 'class="fig"' not in answer.content.decode()


def test_a_button_opens_the_figure_as_it_stands() -> None:
    client = Client()
    assert 'name="figure" value="a-pod-that-grows-6-1"' in drawn(f"{FIRST}-6-1")
    answer = client.post("/new/", {"figure": f"{FIRST}-6-1"}, follow=True)
    page = plain(answer.content.decode())
    assert "A pod that grows" in page
    assert "node-c2" in page
    assert "PostFilter" in page
    assert client.post("/new/", {"figure": "nothing"}).status_code == 404


def test_an_embed_has_the_figure_alone_and_a_link_to_the_site() -> None:
    html = Client().get("/embed/figure/topology-spread-3-0-0/").content.decode()
    assert nodes(html) == nodes(drawn("topology-spread-3-0-0"))
    assert 'target="_blank"' in html


OWN = {
    "kind": "Lesson",
    "title": "My lesson",
    "parts": [
        {"text": "Nothing."},
        {
            "text": "Drag.",
            "figure": {
                "change": [{"name": "cpu", "say": "CPU", "values": ["1", "2", "9"]}],
                "setup": [
                    {
                        "apply": [
                            {
                                "apiVersion": "v1",
                                "kind": "Node",
                                "metadata": {"name": "n1"},
                                "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "9"}},
                            },
                            {
                                "apiVersion": "v1",
                                "kind": "Pod",
                                "metadata": {"name": "web"},
                                "spec": {
                                    "containers": [
                                        {"name": "m", "image": "m", "resources": {"requests": {"cpu": "$cpu"}}}
                                    ]
                                },
                            },
                        ]
                    }
                ],
            },
        },
    ],
}


def test_an_uploaded_lesson_has_its_figure_in_its_own_sandbox_only() -> None:
    client = Client()
    answer = client.post("/lessons/open/", {"text": yaml.safe_dump(OWN)})
    base = answer.headers["Location"]
    client.post(f"{base}lesson/turn/", {"part": "1"})
    assert 'data-figure="figure/2"' in client.get(base).content.decode()
    assert "selected" in nodes(client.get(f"{base}figure/2/").content.decode())["n1"]
    assert "selected" in nodes(client.get(f"{base}figure/2-1/").content.decode())["n1"]
    assert "cpu" in nodes(client.get(f"{base}figure/2-2/").content.decode())["n1"]
    sandbox = Sandbox.objects.get()
    watching = base.replace(base.split("/")[3], tokens.view_token(base.split("/")[3]))
    assert client.get(f"{watching}figure/2/").status_code == 200
    assert client.get(f"/s/{sandbox.pk}/{'x' * 32}/figure/2/").status_code == 404
    missing = ("figure/1/", "figure/3/", "figure/0/", "figure/2-3/", "figure/2-0-0/", "figure/2-01/")
    assert [client.get(f"{base}{path}").status_code for path in missing] == [404] * len(missing)


def test_the_text_of_an_installed_lesson_names_the_figure_that_all_share() -> None:
    client = Client()
    base = client.post("/new/", {"lesson": "topology-spread"}).headers["Location"]
    assert "data-figure" not in client.get(base).content.decode()
    for part in ("1", "2"):
        client.post(f"{base}lesson/turn/", {"part": part})
    assert 'data-figure="/figures/topology-spread-3"' in client.get(base).content.decode()
