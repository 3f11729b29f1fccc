"""The engine gets what a person types, however slow the line is and whoever changes the sandbox meanwhile.

Every form of the workbench is a row of the table; a form without a row fails. ``LATENCIES`` (milliseconds, separated
by commas) tests each row at each latency. Without it, each row is tested at one of them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Request, Route, WebSocketRoute

from tests.browser.conftest import wait_until
from tests.browser.workbench import Eventually, apply, head, open_blank, open_lesson, post, text

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
LATENCIES = [int(number) for number in os.environ.get("LATENCIES", "").split(",") if number]
USUAL = (0, 50, 200, 1000)
SENDS = re.compile(r'<(?:form|input|select|textarea)\b[^>]*?hx-(?:post|get)="([^"]*)"', re.S)
OTHERS = {
    "find/": "only reads, and the last query wins",
    "export/": "only reads",
    "faults/": "a choice that redraws the form of break/",
}
"""Forms that change nothing."""


class Line:
    """A page's connection: requests and live updates take ``latency`` seconds. ``sent`` holds each request's fields."""

    def __init__(self, page: Page) -> None:
        self.page, self.latency = page, 0.0
        self.sent: list[tuple[str, dict[str, list[str]], int]] = []
        self.late: list[tuple[float, Callable[[], None]]] = []
        page.route(re.compile(r"/s/.*/.+"), self._request)
        page.route_web_socket("**/ws/**", self._socket)
        page.on("requestfinished", self._note)

    def _later(self, act: Callable[[], None]) -> None:
        if self.latency:
            self.late.append((time.monotonic() + self.latency, act))
        else:
            act()

    def _request(self, route: Route) -> None:
        self._later(route.continue_)

    def _socket(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        server.on_message(lambda message: self._later(lambda: route.send(message)))

    def _note(self, request: Request) -> None:
        if request.method != "POST":
            return
        body = request.post_data or ""
        fields = {name: [value] for name, value in re.findall(r'name="(\w+)"\r\n\r\n(.*?)\r\n--', body, re.S)}
        response = request.response()
        path = re.sub(r".*/s/[^/]+/[^/]+/", "", request.url)
        self.sent.append((path, fields or parse_qs(body, keep_blank_values=True), response.status if response else 0))

    def flows(self) -> None:
        """Deliver what is due."""
        self.page.evaluate("0")
        due = [act for at, act in self.late if at <= time.monotonic()]
        self.late = [item for item in self.late if item[0] > time.monotonic()]
        for act in due:
            act()

    def until(self, holds: Callable[[], Any]) -> Any:
        def flowing() -> Any:
            self.flows()
            return holds()

        return wait_until(flowing)

    @contextmanager
    def slow(self, latency: float) -> Iterator[None]:
        """Delay the connection inside this block only."""
        self.latency = latency
        yield
        self.until(lambda: not self.late)
        self.latency = 0


@dataclass(frozen=True)
class Row:
    """A form: how to open it, what to type (selector → value), what sends it ("": it sends itself), and to where."""

    path: str
    opens: tuple[str, ...]
    typed: dict[str, str]
    go: str = ""
    gets: dict[str, str] | None = None
    """The fields that the request must have; None: what was typed, by the names of the fields."""

    @property
    def id(self) -> str:
        return f"{self.path} {' '.join(self.typed)}"


NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: typed}}"
WEB, GO = "Deployment:default/web", "#drawer .btn-ink:visible"
NODES = ("#tab-nodes", '[id="nd:n2"]')
TOLERATIONS = "#form-pod details:has([data-rows='toleration']) > summary"
ADD = ("#add:not(dialog[open] *)",)
ROWS = [
    Row(
        "taint/",
        ('[id="n:n2"]', "#insp-taint"),
        {"#taint-key": "a", "#taint-effect": "PreferNoSchedule", "#taint-value": "b"},
        "#taint-go",
    ),
    Row("label/", ('[id="n:n2"]', "#insp-labels"), {"#label-key": "disk", "#label-value": "ssd"}, "#label-go"),
    Row(
        "resize/",
        (".pod[data-pod='default/solo']", "#insp-requests"),
        {"#resize-memory-1": "96Mi", "#resize-cpu-1": "150m"},
        "#resize-go-1",
    ),
    Row("scale/", ("#tab-workloads",), {f'[id="w-n:{WEB}"]': "3"}),
    Row("usage/", NODES, {'[id="use:memory:pod:default/solo"]': "90Mi"}),
    Row("usage/", (*NODES, '[id="more:pod:default/solo"]'), {'[id="use:cpu:pod:default/solo"]': "70m"}),
    Row("usage/", NODES, {'[id="slide:pod:default/solo"]': "+"}, gets={"amount": "memory"}),
    Row(
        "kubelet/",
        (*NODES, "#nd-kubelet"),
        {"#nd-kubelet-text": "evictionHard: {memory.available: 200Mi}"},
        "#nd-kubelet-go",
    ),
    Row("do/assumed-ttl/", ("#tab-cache",), {"#assumed-ttl": "30"}),
    Row(
        "do/admission/",
        ("#tab-configuration",),
        {"[id='admission-LimitPodHardAntiAffinityTopology']": "✓"},
        gets={"enabled": "1"},
    ),
    Row("do/kubernetes/", ("#tab-configuration",), {"#version": "v1.36"}, "#version-change", {"version": "v1.36"}),
    Row(
        "configure/",
        ("#tab-configuration", "#configure", "[data-preset='']"),
        {'[id="cf-weight:NodeAffinity"]': "7"},
        "#configuration-apply",
        {"configuration": "weight: 7"},
    ),
    Row(
        "configure/",
        ("#configure", "[data-preset='']"),
        {
            "#cf-percentageOfNodesToScore": "33",
            "[id='cf-plugin:ImageLocality']": "✗",
            '[id="cf-weight:TaintToleration"]': "9",
        },
        "#configuration-apply",
        {"configuration": "weight: 9"},
    ),
    Row(
        "configure/",
        ("#configure", "[data-preset='']", "[id='cf-add-expression:few-pods']"),
        {"[id='cf-expression:0.filter']": "pods.size() < 5"},
        "#configuration-apply",
        {"configuration": "pods.size() < 5"},
    ),
    Row("break/", ("#break",), {"#fault-answer": "wait", "#fault-seconds": "7"}, "#fault-go"),
    Row("add/node/", (*ADD, "#add-node"), {"#form-node [name=name]": "n9", "#form-node [name=cpu]": "7"}, GO),
    Row(
        "add/pod/",
        (*ADD, "#add-pod", TOLERATIONS, "[data-add-row='toleration']"),
        {"#form-pod [name=name]": "typed", "#form-pod [name=toleration_key]": "gpu"},
        GO,
    ),
    Row(
        "add/workload/",
        (*ADD, "#add-workload"),
        {"#form-workload [name=name]": "wide", "#form-workload [name=replicas]": "2"},
        GO,
    ),
    Row(
        "add/priority-class/",
        (*ADD, "#add-more", '[data-kind-tab="priority-class"]'),
        {"#form-priority-class [name=name]": "urgent", "#form-priority-class [name=value]": "99"},
        GO,
    ),
    Row(
        "add/device-claim/",
        (*ADD, "#add-more", '[data-kind-tab="device-claim"]', "#form-device-claim [data-add-row='device_request']"),
        {"#form-device-claim [name=name]": "typed", "#form-device-claim [name=device_request_deviceClassName]": "gpu"},
        GO,
    ),
    Row("apply/", (*ADD, "#add-paste", "[data-manifest='budget']"), {"#manifests": NAMESPACE}, "#form-paste .btn-ink"),
    Row("edit/Node/", ('[id="n:n2"]', "#insp-edit"), {"#form-edit [name=cpu]": "6"}, GO),
    Row(
        "replicas/",
        ("#tab-leader", "#replicas-set"),
        {"#replicas-count": "2", "#replicas-lease": "20s"},
        "#replicas-go",
    ),
    Row("replica/", ("#clock-1",), {"#skew-1": "12"}, "#ahead-1"),
    Row("replica/", (), {"#rate-1": "1.5"}, "#set-rate-1"),
    Row(
        "drain/",
        ('[id="n:n2"]',),
        {"#insp-ignore_daemonsets": "✓", "#insp-delete_emptydir_data": "✓"},
        "#insp-drain",
        {"ignore_daemonsets": "1", "delete_emptydir_data": "1"},
    ),
    Row("drain/", ('[id="n:n2"]', "#tab-evictions"), {"#ev-force": "✓"}, "#ev-drain", {"force": "1"}),
]


def test_the_table_has_every_form_of_the_workbench() -> None:
    results = set()
    for path in [*TEMPLATES.glob("panels/*.html"), *TEMPLATES.glob("fragments/*.html")]:
        tags = re.findall(
            r"<(?:form|input|select|textarea)\b[^>]*?hx-(?:post|get)=\"([^\"]*)\"", path.read_text(), re.S
        )
        results |= set(tags)
    rows = {row.path for row in ROWS}
    forms = {"{{ form.action }}": ("add/", "edit/"), "{{ path }}": ()}  # the second is tested with a lesson, below
    for tag in results - set(OTHERS):
        assert tag in rows or tag in forms, tag
        for start in forms.get(tag, ()):
            assert any(path.startswith(start) for path in rows)
    assert rows - {row.path for row in ROWS if row.path.startswith(("add/", "edit/"))} <= results


def manifest(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **spec}


def pod(**more: Any) -> dict[str, Any]:
    return {
        "containers": [{"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}],
        **more,
    }


def sandbox(page: Page, eventually: Eventually) -> None:
    """Create two nodes, a pod on one of them, and a Deployment."""
    open_blank(page)
    room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    nodes = [manifest("Node", name, status={"capacity": room, "allocatable": room}) for name in ("n1", "n2")]
    labels = {"app": "web"}
    web = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod()},
    }
    apply(
        page,
        *nodes,
        manifest("Pod", "solo", spec=pod(nodeName="n2")),
        manifest("Deployment", "web", apiVersion="apps/v1", spec=web),
    )
    post(page, "do/settle/")
    eventually(lambda: head(page) == 2)


def show(page: Page, row: Row, line: Line) -> None:
    first = next(iter(row.typed))
    for selector in row.opens:
        button = page.locator(selector).first
        line.until(lambda button=button: button.is_visible())
        if button.evaluate("element => !element.matches('details[open] > summary')"):
            button.click()
    line.until(lambda: page.locator(first).is_visible() or page.locator(f"{first} + *, .editor:has({first})").count())


def type_in(page: Page, selector: str, value: str) -> None:
    """Type as a person does, without leaving the field."""
    field = page.locator(selector).last
    if value in ("✓", "✗"):
        field.click()
    elif value == "+":
        field.press("ArrowRight")
    elif field.evaluate("field => field.tagName === 'SELECT'"):
        field.select_option(value)
    elif selector == "#manifests":
        page.evaluate("text => ace.edit('editor').session.setValue(text)", value)
    else:
        field.fill(value)


def shown(page: Page, selector: str, value: str) -> bool:
    field = page.locator(selector).last
    if value in ("✓", "✗"):
        return field.is_checked() == (value == "✓")
    return value == "+" or field.input_value().strip() == value.strip()


@pytest.fixture
def line(page: Page) -> Line:
    return Line(page)


def up_to_date(page: Page, line: Line) -> int:
    """Wait until the page shows all commands, some of them from the row before. Return how many there are."""
    toolbar = page.url.partition("?")[0] + "panel/toolbar/"
    # A busy machine may answer later that the sandbox is free.
    match = line.until(lambda: re.search(r'data-head="(\d+)"', page.request.get(toolbar).text()))
    line.until(lambda: head(page) == int(match[1]))
    return int(match[1])


def drive(page: Page, line: Line, row: Row, latency: int) -> None:
    """Fill in and send a form while somebody else changes the sandbox: between keys, before the click, and after it."""
    show(page, row, line)
    before, sent = up_to_date(page, line), len(line.sent)
    names = {selector: page.locator(selector).last.get_attribute("name") or "" for selector in row.typed}
    itself = not row.go
    with line.slow(latency / 1000):
        *first, last = row.typed.items()
        for selector, value in first:
            type_in(page, selector, value)
        if first or not itself:
            post(page, "do/advance/", seconds="1")
            line.until(lambda: head(page) == before + 1)
        type_in(page, *last)
        assert all(shown(page, *each) for each in row.typed.items()), row.id
        post(page, "do/advance/", seconds="1")
        if not itself:
            page.locator(row.go).first.click(no_wait_after=True)
        elif last[1] not in ("✓", "✗", "+") and names[last[0]] != "seconds":
            page.keyboard.press("Tab")
        post(page, "do/advance/", seconds="1")
        matching = lambda: [entry for entry in line.sent[sent:] if entry[0].startswith(row.path)]  # noqa: E731
        line.until(matching)
    _, body, status = matching()[-1]
    assert 200 <= status < 300, (row.id, status, body)
    for name, value in (row.gets or {names[selector]: value for selector, value in row.typed.items()}).items():
        assert value.strip() in body[name][0], (row.id, latency, body)
    line.until(lambda: not page.locator("dialog[open]").count())
    line.until(lambda: page.evaluate("document.querySelectorAll('.htmx-request').length") == 0)


@pytest.mark.parametrize("latency", LATENCIES or [None])
def test_the_engine_gets_what_is_on_the_screen_at_the_click(
    page: Page, line: Line, eventually: Eventually, latency: int | None
) -> None:
    sandbox(page, eventually)
    for number, row in enumerate(ROWS):
        drive(page, line, row, USUAL[number % len(USUAL)] if latency is None else latency)


def test_an_answer_in_a_lesson_stays_while_others_step_and_is_sent(page: Page, line: Line) -> None:
    open_lesson(page, "priority-and-priority-classes")
    line.until(lambda: head(page) >= 0)
    choice, before = page.locator(".les-q input").nth(1), head(page)
    with line.slow(0.2):
        choice.check()
        post(page, "do/advance/", seconds="1")
        line.until(lambda: head(page) == before + 1)
        assert choice.is_checked()
        wanted = choice.get_attribute("value")
        post(page, "do/advance/", seconds="1")
        page.locator(".les-q [type=submit]").click(no_wait_after=True)
        line.until(lambda: any(path == "lesson/answer/" for path, _, _ in line.sent))
    assert [body["named"] for path, body, _ in line.sent if path == "lesson/answer/"] == [[wanted]]


FIELD = f'[id="w-n:{WEB}"]'


@pytest.fixture
def workloads(page: Page, line: Line, eventually: Eventually) -> Page:
    sandbox(page, eventually)
    page.locator("#tab-workloads").click()
    line.until(lambda: page.locator(FIELD).is_visible())
    return page


def replicas(page: Page, number: str, who: str = "") -> None:
    post(page, "scale/", kind="Deployment", key="default/web", replicas=number, who=who)


@pytest.mark.parametrize("leaves", [False, True], ids=["still in the field", "having left it"])
def test_a_value_changed_by_somebody_else_shows_beside_the_typed_one(
    workloads: Page, line: Line, eventually: Eventually, leaves: bool
) -> None:
    page, before = workloads, head(workloads)
    page.locator("[id='n:n2']").click()
    page.locator("#insp-labels").click()
    page.locator("#label-key").fill("disk")
    field, typed = ("#label-key", "disk") if leaves else (FIELD, "5")
    page.locator(field).fill(typed)
    if leaves:
        page.locator("#label-value").focus()
    replicas(page, "4", "Ana")
    line.until(lambda: head(page) == before + 1)
    assert page.locator(field).input_value() == typed
    if leaves:
        assert page.locator(".meanwhile").count() == 0, "the field did not change"
        return
    assert text(page, ".meanwhile") == "Now 4, by Ana"
    page.locator(FIELD).press("Enter")
    line.until(lambda: page.locator(FIELD).get_attribute("value") == "5")
    eventually(lambda: page.locator(".meanwhile").count() == 0)
    assert page.locator(FIELD).input_value() == "5"


def test_a_click_on_its_note_takes_the_other_value(workloads: Page, line: Line) -> None:
    page, before = workloads, head(workloads)
    page.locator(FIELD).fill("5")
    replicas(page, "4")
    line.until(lambda: page.locator(".meanwhile").count() == 1)
    page.locator(".meanwhile").click()
    line.until(lambda: page.locator(".meanwhile").count() == 0)
    page.keyboard.press("Tab")
    post(page, "do/advance/", seconds="1")
    line.until(lambda: head(page) == before + 2)
    assert page.locator(FIELD).input_value() == "4"


def test_ten_quick_clicks_on_plus_are_ten_replicas_more(workloads: Page, line: Line) -> None:
    page = workloads
    plus = page.locator(f'[id="w-more:{WEB}"]').bounding_box()
    assert plus is not None
    with line.slow(0.2):
        for _ in range(10):
            page.mouse.click(plus["x"] + plus["width"] / 2, plus["y"] + plus["height"] / 2)
        assert page.locator(FIELD).input_value() == "11"
        line.until(lambda: page.locator(FIELD).get_attribute("value") == "11")
    assert page.locator(FIELD).input_value() == "11"


def test_a_half_typed_form_returns_with_its_node(workloads: Page, line: Line) -> None:
    page = workloads
    for node, typed in (("n1", ""), ("n2", "half")):
        page.locator(f"[id='n:{node}']").click()
        line.until(lambda node=node: text(page, "#panel-inspector h3") == node)
        if node == "n1":
            page.locator("#insp-taint").click()
        page.locator("#taint-key").fill(typed)
    for node, typed in (("n1", ""), ("n2", "half")):
        page.locator(f"[id='n:{node}']").click()
        line.until(lambda node=node: text(page, "#panel-inspector h3") == node)
        assert page.locator("#taint-key").input_value() == typed
