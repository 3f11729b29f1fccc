"""Every page and state of the site that `make screens` photographs and measures: one journey per group of pictures.

A journey goes from state to state. At each picture it yields a ``Shot``. The page then has a desktop's width, and must
have it again afterwards: whoever takes pictures changes sizes and colours meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from playwright.sync_api import Page

from sandbox.panels import TABS
from sandbox.web.presets.configurations import PRESETS
from scheduler_engine.testing import make_node, make_pod
from tests.engine import dumps
from tests.engine.controllers import deployment
from tests.screens.visit import Shot, Visit

Journey = Callable[[Visit], Iterator[Shot]]
LONGEST = 63
LONGEST_NAME = 253
EXAMPLE = "three-zones-one-gpu-pool"
LESSON = "a-scheduling-cycle"


def long(name: str, most: int = LONGEST) -> str:
    """Return a name as long as Kubernetes allows, with the distinctive part at its end."""
    return f"{'-'.join(['a-name-that-says-all-about-it'] * 9)[: most - len(name) - 1]}-{name}"


def long_cluster(nodes: int = 6) -> list[dict[str, Any]]:
    """Return nodes, zones, labels, taints and pods with the longest names, more pods than there is room for."""
    manifests: list[dict[str, Any]] = [
        make_node(long(f"n{number}", LONGEST_NAME))
        .zone(long(f"zone-{'abc'[number % 3]}"))
        .label("kubernetes.io/hostname", long(f"n{number}"))
        .label(long("label"), long("value"))
        .capacity(cpu="4", memory="16Gi")
        .obj()
        for number in range(nodes)
    ]
    manifests += [
        make_pod(f"{long('running', LONGEST_NAME)[:-2]}{number:02}")
        .cpu("1")
        .node(manifests[number]["metadata"]["name"])
        .obj()
        for number in range(nodes)
    ]
    manifests += [make_pod(long(f"waits-{number}", LONGEST_NAME)).cpu(f"{number}").obj() for number in (1, 2, 5)]
    return manifests


# --- pages ----------------------------------------------------------------------------------------


def site(visit: Visit) -> Iterator[Shot]:
    page = visit.page()
    for name, path in (
        ("start page", "/"),
        ("course", "/course/"),
        ("misconceptions", "/misconceptions/"),
        ("challenges", "/challenges/"),
        ("practice", "/practice/"),
        ("practice, one round", "/practice/spread-2-7/"),
        ("before", "/before/"),
        ("versions", "/versions/"),
        ("workshops", "/workshop/"),
        ("join", "/join/"),
        ("join, no such room", "/join/?code=ABCDEF"),
        ("a link that holds nothing", "/open/"),
        ("not found", "/no-such-page/"),
        ("no such sandbox", "/s/6f2d2a0a-0000-4000-8000-000000000000/none/"),
    ):
        page.goto(path)
        yield Shot(name, page)
    for name, path, field in (
        ("misconceptions, found", "/misconceptions/", "#learn-find"),
        ("start page, nothing found", "/", "#scen-find"),
    ):
        page.goto(path)
        page.locator(field).fill("weight" if "nothing" not in name else "no scenario has these words")
        yield Shot(name, page)
    page.goto("/before/")
    page.locator(".bef-f textarea").fill('{"kind": "Policy", "predicates": [{"name": "PodFitsResources"}]}')
    page.locator(".bef-f button").click()
    yield Shot("before, converted", page)
    page.locator(".bef-f textarea").fill('{"kind": "Policy", "predicates": [{"name": "NoSuch"}]}')
    page.locator(".bef-f button").click()
    yield Shot("before, refused", page)
    page.goto("/workshop/")
    page.locator(".door-f summary").click()
    page.locator("[name=text]").fill("kind: Room\nquestions: 3")
    page.get_by_role("button", name="Open the room").click()
    page.locator("#doors-error").wait_for()
    yield Shot("workshops, refused", page)
    page.goto("/course/")
    page.locator(".own input").set_input_files(
        {"name": "lesson.yaml", "mimeType": "text/yaml", "buffer": b"kind: Lesson"}
    )
    page.locator(".own button").click()
    yield Shot("own lesson, refused", page)


def writing(visit: Visit) -> Iterator[Shot]:
    page = visit.page("/write/?from=elements")
    page.locator(".wr-f iframe:not(.is-behind)").wait_for()
    page.locator("#write-outline button").nth(4).click()
    lesson = page.frame_locator(".wr-f iframe:not(.is-behind)").locator("#panel-lesson[data-part='4']")
    lesson.wait_for()
    yield Shot("a part", page)
    page.evaluate(
        """() => {
            const { session } = ace.edit('write-editor');
            session.doc.setValue(session.getValue().replace('predict: {victims', 'perdict: {victims'));
        }"""
    )
    page.locator("#write-errors .err-go").first.wait_for()
    yield Shot("errors", page)
    page.evaluate(
        """() => {
            const editor = ace.edit('write-editor');
            editor.find('perdict');
            editor.navigateLineEnd();
            editor.focus();
        }"""
    )
    page.keyboard.type("\nt")
    page.locator(".ace_autocomplete").wait_for()
    yield Shot("keys to complete", page)


def importing(visit: Visit) -> Iterator[Shot]:
    page = visit.page("/#import")
    page.locator("#door textarea").fill("kind: List\nitems: &a\n- *a\n")
    page.locator("#door button.btn-ink").click()
    visit.eventually(lambda: "line 3" in page.locator("#door .door-note").inner_text())
    yield Shot("refused at the door", page)
    visit.submit(page, "/import/", text="kind: List\nitems: &a\n- *a\n")
    yield Shot("refused", page)
    example = dumps.cluster(7, nodes=6, pods=30)
    example.add(
        "v1",
        "Pod",
        "checkout",
        "team-1",
        spec=dumps.pod_spec("shop", "64"),
        status=dumps.pending("0/6 nodes are available: 6 Insufficient cpu."),
    )
    example.add(
        "v1",
        "Pod",
        long("pending"),
        long("namespace"),
        spec=dumps.pod_spec("shop", "64"),
        status=dumps.pending("0/6 nodes are available: 6 Insufficient cpu."),
    )
    page.goto("/")
    page.locator("#door input[type=file]").set_input_files(
        {"name": "cluster.yaml", "mimeType": "text/yaml", "buffer": dumps.as_yaml(example.objects)}
    )
    page.wait_for_url("**/import/*/")
    yield Shot("what is in the file", page)
    page.locator(".imp-pods button").first.click()
    page.locator("#app").wait_for()
    yield Shot("opened at a pod", page, "decision")


# --- lessons --------------------------------------------------------------------------------------


def turn(visit: Visit, page: Page, selector: str = "#les-on") -> None:
    part = page.locator("#panel-lesson").get_attribute("data-part")
    page.locator(selector).click()
    visit.eventually(lambda: page.locator("#panel-lesson").get_attribute("data-part") != part)


def do(visit: Visit, page: Page) -> None:
    page.locator("#les-step").click()
    visit.eventually(lambda: page.locator("#les-on").count())


def answer(visit: Visit, page: Page, choice: str) -> None:
    page.locator(f".les-q input[value='{choice}']").check()
    page.locator(".les-q button[type=submit]").click()
    page.locator(".les-q").wait_for(state="detached")


def lesson(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(lesson=LESSON)
    yield Shot("text", page)
    do(visit, page)
    yield Shot("text, done", page)
    turn(visit, page)
    do(visit, page)
    turn(visit, page)
    yield Shot("question", page)
    answer(visit, page, "node-a1")
    yield Shot("answered", page)
    do(visit, page)
    yield Shot("answered wrong", page)
    turn(visit, page)
    answer(visit, page, "node-b1")
    do(visit, page)
    yield Shot("answered right", page)
    for _ in range(3):
        turn(visit, page, "#les-skip") if page.locator("#les-skip").count() else turn(visit, page)
    yield Shot("task", page)
    page.locator("#les-hint").click()
    page.locator(".les-hints li").wait_for()
    yield Shot("hint", page)
    while page.locator("#les-skip").count():
        turn(visit, page, "#les-skip")
    page.locator("#panel-lesson[data-finished]").wait_for()
    yield Shot("end", page)
    page = visit.workbench(lesson="three-queues")
    for _ in range(4):
        turn(visit, page, "#les-skip" if page.locator("#les-skip").count() else "#les-on")
    page.locator(".les-q button[type=submit]").click()
    page.locator(".les-no .toast").wait_for()
    yield Shot("answer, refused", page)


WRONG_BEFORE = {
    "cards": [
        *({"key": "spread-2", "box": 0, "due": 0} for _ in range(3)),
        {"key": "preemption-3", "box": 1, "due": 1},
        {"key": "queue-1", "box": 2, "due": 4_000_000_000_000},
    ]
}
"""Wrong answers of practice as a browser stores them: some are due, one comes back later."""


def practice(visit: Visit) -> Iterator[Shot]:
    page = visit.page("/practice/")
    page.evaluate("value => localStorage.setItem('practice', value)", json.dumps(WRONG_BEFORE))
    page.reload()
    page.locator("#due").wait_for()
    yield Shot("due", page)
    page = visit.workbench(lesson="practice-preemption-3-7")
    yield Shot("round", page, "lesson")
    while not page.locator("#panel-lesson[data-finished]").count():
        page.locator(".les-q input").first.check()
        page.locator(".les-q button[type=submit]").click()
        page.locator(".les-q").wait_for(state="detached")
        do(visit, page)
        if page.locator("#panel-lesson").get_attribute("data-part") == "0":
            yield Shot("round, answered", page, "lesson")
        turn(visit, page)
    yield Shot("round, end", page, "lesson")


def beside_a_lesson(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(lesson=LESSON)
    page.locator("#all-panels").click()
    for choice in ("", "", "node-a1", "node-b1"):
        if choice:
            answer(visit, page, choice)
        do(visit, page)
        turn(visit, page)
    for tab in TABS:
        visit.tab(page, tab)
        yield Shot(tab, page, "decision")


def taught(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench("?tab=leader", lesson="two-leaders-at-once")
    yield Shot("a lesson about leaders", page, "decision")
    page = visit.workbench(lesson="preemption-binds-at-once")
    yield Shot("misconception", page)
    while page.locator("#les-skip").count():
        turn(visit, page, "#les-skip")
    yield Shot("misconception, end", page)
    page = visit.workbench(lesson="nothing-is-scheduled")
    yield Shot("challenge", page)
    page.locator("#les-hint").click()
    page.locator(".les-hints li").wait_for()
    yield Shot("challenge, hint", page)
    turn(visit, page, "#les-skip")
    yield Shot("challenge, end", page)


def predictions(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    page.keyboard.press("p")
    page.locator("#les-predict").wait_for()
    yield Shot("none yet", page, "lesson")
    visit.press(page, "sss")
    page.locator("#les-predict .les-q").wait_for()
    yield Shot("asked", page, "lesson")
    page.locator("#les-predict .les-q input").first.check()
    page.locator("#les-predict .les-q button[type=submit]").click()
    page.locator("#les-predict .les-q").wait_for(state="detached")
    page.locator("#les-predict .les-kept summary").click()
    yield Shot("kept", page, "lesson")
    visit.press(page, "s")
    page.locator("#les-predict .les-last").wait_for()
    yield Shot("revealed", page, "lesson")
    for tab in ("filter", "preemption", "cache", "nodes"):
        visit.tab(page, tab)
        yield Shot(f"beside {tab}", page, "decision")


# --- the workbench --------------------------------------------------------------------------------


ARITHMETIC = {"Filter": "#panel-filter", "Select": "#panel-scores"}
"""Stage → the panel whose first number is opened there."""


def stages(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    yield Shot("opened", page)
    visit.press(page, "sssss")
    yield Shot("PostFilter", page, "decision")
    visit.press(page, "ssss")
    page.locator("#panel-cluster .skew").first.wait_for()
    yield Shot("Filter, pods to spread", page, "cluster")
    visit.press(page, "nnns")
    stage_before = ""
    for _ in range(20):
        stage = (
            page.locator("#panel-ribbon .is-now .st-name").inner_text()
            if page.locator("#panel-ribbon .is-now").count()
            else "between"
        )
        if stage != stage_before:
            yield Shot(stage, page, "decision" if stage in ("Filter", "Score", "Select") else "cluster")
        if stage != stage_before and stage in ARITHMETIC:
            panel = page.locator(ARITHMETIC[stage])
            panel.locator("td button").first.click()
            visit.eventually(lambda panel=panel: panel.locator(".arith:visible").count())
            yield Shot(f"{stage}, arithmetic", page, "decision")
        stage_before = stage
        if stage == "PostBind":
            break
        visit.press(page, "s")
    page.locator("#scroll-time [data-at]").first.click()
    page.locator("#panel-timeline.is-past").wait_for()
    yield Shot("a look at the past", page)


def tabs(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    visit.press(page, "nnnn")
    for tab in TABS:
        visit.tab(page, tab)
        yield Shot(tab, page, "decision")


STORIES = (
    ("workloads", "rolling-update-then-scale-down", "t"),
    ("nodes", "memory-pressure", "t"),
    ("nodes", "node-not-ready", "t"),
    ("evictions", "eviction-stuck", "t"),
    ("evictions", "drain", "t"),
    ("leader", "two-leaders", "t"),
    ("leader", "leader-killed", "t"),
    ("preemption", "preemption-every-rung", "n"),
    ("scores", "balanced-allocation", "n"),
    ("cache", "node-removed", "t"),
    ("configuration", "default-policy-of-v1-22", "n"),
    ("filter", "three-taints-two-tolerations", "n"),
)


def topology(visit: Visit) -> Iterator[Shot]:
    """Visit the boards and the graph: three zones, a hundred nodes, two sides of affinity, long names, no rules."""
    zone, host, web, db = "topology.kubernetes.io/zone", "kubernetes.io/hostname", {"app": "web"}, {"app": "db"}
    page = visit.workbench()
    visit.applied(page, [make_pod("plain").obj()])
    visit.tab(page, "topology")
    page.locator('[data-pod="default/plain"]').first.click()
    page.locator("#tp-affinity").wait_for()
    yield Shot("no rules", page, "decision")
    zones = [make_node(f"{letter}{number}").zone(letter).obj() for letter in "abc" for number in (1, 2)]
    gpu = make_node("gpu").zone("d").taint("gpu", "yes").obj()
    placed = [make_pod(f"web-{number}").labels(web).node(node) for number, node in enumerate(("a1", "a1", "a2", "b1"))]
    placed += [make_pod("db-0").labels(db).node("a1").anti_affinity(zone, {"tier": "batch"})]
    placed += [make_pod("fan").node("b2").affinity(zone, web, weight=40), make_pod("foe").node("c1")]
    placed[-1].anti_affinity(host, web)
    new = make_pod("new").labels({**web, "tier": "batch"}).spread(zone, web, nodeTaintsPolicy="Honor")
    new.spread(host, web, max_skew=2, when="ScheduleAnyway").anti_affinity(zone, db).affinity(zone, web, weight=10)
    visit.applied(page, [*zones, gpu, make_node("lost").obj(), *(pod.obj() for pod in placed), new.obj()])
    page.locator('[data-pod="default/new"]').first.click()
    page.locator("#tp-2").wait_for()
    yield Shot("the next attempt", page, "decision")
    visit.press(page, "e")
    page.locator("#panel-topology tr.is-win, #panel-topology .verd-no").first.wait_for()
    page.locator("#tp-affinity").evaluate("element => element.scrollIntoView()")
    _graph_drawn(visit, page)
    yield Shot("affinity", page, "decision")
    page.context.close()
    page = visit.workbench()
    many = [make_node(f"worker-{number:03}").zone("abc"[number % 3]).obj() for number in range(100)]
    spread = [make_pod(f"web-{number}").labels(web).node(f"worker-{number * 3 % 100:03}") for number in range(60)]
    wide = make_pod("new").labels(web).spread(zone, web).spread(host, web).anti_affinity(host, web)
    visit.applied(page, [*many, *(pod.obj() for pod in spread), wide.obj()])
    visit.tab(page, "topology")
    page.locator('[data-pod="default/new"]').first.click()
    page.locator("#tp-2").wait_for()
    yield Shot("a hundred nodes", page, "decision")
    field = page.locator('[id="find:topology.spread2"]')
    field.fill("worker-03")
    page.locator("#tp-2 [role=status]", has_text="of 100").wait_for()
    yield Shot("a hundred nodes, some found", page, "decision")
    field.fill("nothing")
    page.locator("#tp-2 [role=status]", has_text="nothing").wait_for()
    yield Shot("a hundred nodes, none found", page, "decision")
    field.fill("")
    page.locator("#tp-affinity").scroll_into_view_if_needed()
    _graph_drawn(visit, page)
    yield Shot("a hundred nodes, affinity", page, "decision")
    page.context.close()
    page = visit.workbench()
    long = "a-name-as-long-as-a-label-may-be-with-sixty-three-characters-01"
    nodes = [make_node(f"{long[:-2]}{number:02}").zone(f"{long[:-2]}{number % 3:02}").obj() for number in range(6)]
    other = make_pod(long).labels(web).node(f"{long[:-2]}00").obj()
    named = make_pod(f"{long[:-2]}zz").labels(web).spread(zone, web).anti_affinity(zone, web).obj()
    visit.applied(page, [*nodes, other, named])
    visit.tab(page, "topology")
    page.locator(f'[data-pod="default/{long[:-2]}zz"]').first.click()
    page.locator("#tp-1").wait_for()
    yield Shot("long names", page, "decision")


def _graph_drawn(visit: Visit, page: Page) -> None:
    """Wait for the graph, which a phone does not show."""
    visit.eventually(
        lambda: page.locator("#affinity-graph svg").count() or not page.locator("#affinity-graph").is_visible()
    )


def drains(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario="drain")
    page.locator('#panel-cluster article[data-node="node1"] .node-n').click()
    page.locator("#insp-drain").wait_for()
    visit.tab(page, "evictions")
    yield Shot("a node to drain, nothing evicted", page, "decision")
    page.locator("#insp-drain").click()
    page.locator("#insp-again-node1").wait_for()
    yield Shot("a drain failed, the node", page, "inspector")
    yield Shot("a drain failed", page, "decision")


def two_disks(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario="two-disks")
    for count, name in ((3, "enough was freed"), (2, "nothing could be freed")):
        for _ in range(count):
            visit.press(page, "t")
        for tab in ("nodes", "evictions"):
            visit.tab(page, tab)
            yield Shot(f"{tab}: {name}", page, "decision")


def taken_name(visit: Visit) -> Iterator[Shot]:
    """Visit a deleted pod in flight whose name another one has: its attempt in progress, and over."""
    page = visit.workbench()
    big = make_pod("big").cpu("64").obj()
    visit.applied(page, [make_node("n1").capacity(cpu="2").obj(), big])
    visit.press(page, "ssss")
    visit.commands(page, {"kind": "delete", "object_kind": "Pod", "key": "default/big"})
    visit.applied(page, [make_pod("big").cpu("1").obj()])
    yield Shot("under way", page, "queue")
    visit.press(page, "s")
    page.locator('#panel-queues [data-lane="activeQ"]').click()
    page.locator("#insp-namesake").wait_for()
    yield Shot("over", page, "inspector")
    yield Shot("over, in the queue", page, "queue")


def stories(visit: Visit) -> Iterator[Shot]:
    for tab, scenario, keys in STORIES:
        page = visit.workbench(scenario=scenario)
        visit.press(page, keys)
        visit.tab(page, tab)
        yield Shot(f"{tab}: {scenario}", page, "decision")
        page.context.close()


def slow(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    page.evaluate("document.getElementById('slow').click()")
    page.keyboard.press("e")
    page.locator("#story-steps li").first.wait_for()
    yield Shot("a slow Settle, as a list", page)


def devices(visit: Visit) -> Iterator[Shot]:
    """Visit devices on nodes, the claims that have them, and a pod that finds none."""
    page = visit.workbench(scenario="devices-for-claims")
    visit.press(page, "nnnnn")
    yield Shot("cards", page, "cluster")
    page.locator("#panel-cluster article[data-node]").first.click()
    yield Shot("node chosen", page, "inspector")
    page.locator("#panel-queues [data-pod]").first.click()
    yield Shot("pod chosen", page, "inspector")
    visit.tab(page, "filter")
    page.locator("#panel-filter [data-why='DynamicResources']").first.click()
    yield Shot("Filter", page, "decision")
    page.locator("#search-next").click()
    page.locator("#search-next").click()
    page.locator("#search .is-later").first.wait_for()
    yield Shot("search for devices", page, "decision")


def device_forms(visit: Visit) -> Iterator[Shot]:
    """Visit the forms for devices, classes and claims, filled in, and a pod that names a claim."""
    page = visit.workbench()
    page.locator("#add:not(dialog[open] *)").click()
    page.locator("#add-more").click()
    for slug in ("devices", "device-class", "device-claim"):
        page.locator(f'[data-kind-tab="{slug}"]').click()
        page.locator(f"#form-{slug} [data-values]").last.click()
        visit.eventually(lambda slug=slug: page.locator(f"#form-{slug} .row").count())
        yield Shot(slug, page, "drawer")
    page.locator("#add-pod").click()
    page.locator("#form-pod [data-values]").last.click()
    page.locator("#form-pod .row").last.scroll_into_view_if_needed()
    yield Shot("pod with a claim", page, "drawer")


def unfit(visit: Visit) -> Iterator[Shot]:
    """Visit several candidates, unneeded criteria, and the message of a pod that fits nowhere."""
    page = visit.workbench(scenario="preemption-several-candidates")
    visit.press(page, "n")
    visit.eventually(lambda: page.locator("#panel-preemption").is_visible())
    page.locator("#film-next").click()
    page.locator(".film .is-later").first.wait_for()
    yield Shot("Preemption", page, "decision")
    page = visit.workbench(scenario="nothing-fits")
    visit.press(page, "n")
    yield Shot("long message", page)


def extended(visit: Visit) -> Iterator[Shot]:
    """Visit what a simulated extender says: about nodes, in scores, about candidates; and its settings."""
    page = visit.workbench()
    nodes = [make_node(f"node-{number}").capacity(cpu="4") for number in (1, 2, 3, 4)]
    there = [make_pod(f"there-{number}").cpu(f"{number}").node(f"node-{number}") for number in (1, 2, 3)]
    visit.applied(page, [item.obj() for item in (*nodes, *there, make_pod("web").cpu("1"))])
    [preset] = [preset for preset in PRESETS if preset.slug == "extender"]
    configuration = yaml.safe_load(preset.text)
    visit.commands(page, {"kind": "configure", "configuration": configuration})
    visit.press(page, "ssss")
    page.locator("[id='f:node-3:Extender']").click()
    page.locator("#panel-filter .why").wait_for()
    yield Shot("Filter", page, "decision")
    visit.press(page, "sss")
    page.locator("[id='s:node-4:simulated://power']").click()
    page.locator("#panel-scores .why").wait_for()
    yield Shot("scores", page, "decision")
    visit.tab(page, "configuration")
    yield Shot("configuration", page, "decision")
    [extender] = configuration["extenders"]
    extender["simulated"] |= {"filter": "true", "preempt": 'node.metadata.name != "node-1"'}
    lazy = {"urlPrefix": "simulated://lazy", "filterVerb": "filter", "ignorable": True}
    lazy["simulated"] = {"filter": "true", "answersAfterSeconds": 6}
    both = configuration | {"extenders": [extender | {"preemptVerb": "preempt"}, lazy]}
    full = [make_pod(f"low-{number}").cpu("1").node(f"node-{number}") for number in (1, 2, 4)]
    visit.applied(page, [item.obj() for item in full])
    visit.commands(page, {"kind": "configure", "configuration": both}, {"kind": "settle"})
    visit.applied(page, [make_pod("urgent").cpu("4").priority_class("system-cluster-critical").obj()])
    visit.press(page, "sssss")
    visit.tab(page, "preemption")
    yield Shot("Preemption", page, "decision")


def empty(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench()
    yield Shot("empty", page)
    for tab in TABS:
        visit.tab(page, tab)
        yield Shot(tab, page, "decision")


def long_names(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(lesson=LESSON)
    visit.applied(page, long_cluster())
    visit.press(page, "nnn")
    yield Shot("with a lesson", page, "cluster")
    page.locator("#panel-queues [data-pod]").last.click()
    yield Shot("pod chosen", page, "inspector")
    page.locator("#panel-cluster [data-node]").last.click()
    yield Shot("node chosen", page, "inspector")
    for tab in TABS:
        visit.tab(page, tab)
        yield Shot(tab, page, "decision")
    page = visit.workbench()
    visit.applied(page, long_cluster())
    page.keyboard.press("p")
    visit.press(page, "sssss")
    yield Shot("with Predict", page, "queue")
    page = visit.workbench()
    visit.applied(page, long_cluster())
    visit.press(page, "nnn")
    for tab in ("filter", "scores", "leader", "nodes"):
        visit.tab(page, tab)
        yield Shot(f"{tab}, no lesson", page, "decision")


def many_nodes(visit: Visit) -> Iterator[Shot]:
    cluster = [
        make_node(f"node-{number:03}").zone(f"zone-{'abcd'[number % 4]}").capacity(cpu="4", memory="16Gi").obj()
        for number in range(100)
    ]
    cluster += [make_pod(f"web-{number}").cpu("2").obj() for number in range(8)]
    page = visit.workbench()
    visit.applied(page, cluster)
    yield Shot("cluster", page)
    visit.press(page, "nnssss")
    for tab in ("filter", "scores", "cache", "nodes"):
        visit.tab(page, tab)
        yield Shot(tab, page, "decision")
    page.keyboard.press("p")
    yield Shot("with Predict", page, "cluster")


# --- forms and dialogs ----------------------------------------------------------------------------


def forms(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    page.locator("#add").click()
    for kind in ("node", "pod", "workload", "more", "paste"):
        page.locator(f"#add-{kind}").click()
        yield Shot(f"add {kind}", page)
    page.locator("#add-more").click()
    for kind in page.locator(".drawer-more [data-kind-tab]").all():
        kind.click()
        yield Shot(f"add {kind.inner_text()}", page)


def refused(visit: Visit) -> Iterator[Shot]:
    """Visit errors at fields, at rows and in YAML."""
    page = visit.workbench()
    page.locator("#add").click()
    page.locator("#add-paste").click()
    page.locator("#manifests").fill(
        "kind: Pod\nmetadata: {name: Web}\nspec: {tolerations: [{operator: Equals}]}\n", force=True
    )
    page.locator("#form-paste .btn-ink").click()
    page.locator("#apply-errors .errs").wait_for()
    yield Shot("paste, refused", page)
    page.locator("#add-pod").click()
    page.locator("#form-pod [data-values]", has_text="One per node").click()
    page.locator("#form-pod [name=name]").fill("Not a name")
    page.locator("#form-pod [name=cpu]").fill("lots")
    page.locator("#form-pod .btn-ink").click()
    page.locator("#form-pod .err").first.wait_for()
    yield Shot("pod, refused", page)
    page.locator("#add-node").click()
    page.locator("#form-node [name=name]").fill(long("node", 80))
    page.locator("#form-node .btn-ink").click()
    page.locator("#form-node .err").first.wait_for()
    yield Shot("node, refused", page)


def dialogs(visit: Visit) -> Iterator[Shot]:
    page = visit.workbench(scenario=EXAMPLE)
    visit.press(page, "nnnn")
    page.locator("#panel-queues [data-pod]").last.click()
    page.locator("#panel-inspector .insp-t").wait_for()
    yield Shot("a pod", page, "inspector")
    page.locator("#panel-cluster article[data-node] .node-n").first.click()
    visit.eventually(lambda: "node" in page.locator("#panel-inspector .insp-t").inner_text())
    yield Shot("a node", page, "inspector")
    page.locator("#panel-inspector [data-do=edit]").first.click()
    page.locator("#drawer-edit form").wait_for()
    yield Shot("edit", page)
    page.keyboard.press("Escape")
    for button, name in (("share", "share"), ("export", "export"), ("help", "help"), ("find", "find")):
        page.locator(f"#{button}").click()
        page.locator(f"#dialog-{name}").wait_for()
        if name == "share":
            page.locator("#share-embed summary").click()
            page.frame_locator("#embed-preview").locator("#panel-sentence").wait_for()
        if name == "find":
            page.locator("#find-text").fill("node")
            page.locator("#find-list li").first.wait_for()
        yield Shot(name, page)
        page.evaluate("name => document.getElementById(`dialog-${name}`).close()", name)
    page.locator("#break").click()
    page.locator("#break-form form").wait_for()
    yield Shot("break something", page)
    page.evaluate("document.getElementById('dialog-break').close()")
    visit.tab(page, "leader")
    page.locator("#replicas-set").click()
    page.locator("#form-replicas").wait_for()
    yield Shot("replicas", page)
    page.keyboard.press("Escape")
    visit.tab(page, "configuration")
    page.locator("#configure").click()
    page.locator("#configuration-editor .ace_content").wait_for()
    yield Shot("configuration", page)
    page.evaluate("ace.edit('configuration-editor').setValue('kind: Configuration', 1)")
    page.locator("#configuration-apply").click()
    page.locator("#configuration-errors .errs").wait_for()
    yield Shot("configuration, refused", page)
    page.evaluate("document.getElementById('configuration-drawer').close()")
    visit.press(page, "bs")
    page.locator("#branches").click()
    page.locator("#branch-list li").first.wait_for()
    yield Shot("branches", page)
    page.evaluate("document.getElementById('dialog-branches').close()")
    page.locator("details.about summary.scenario").click()
    yield Shot("about the scenario", page)
    page.keyboard.press("Escape")
    watching = visit.page(str(page.locator("#share-view").get_attribute("value")))
    watching.locator("#app").wait_for()
    yield Shot("who watches", watching)


# --- rooms, embeds, comparison --------------------------------------------------------------------


def room(visit: Visit) -> Iterator[Shot]:
    trainer, person, beamer = visit.page("/workshop/"), visit.page(), visit.page()
    trainer.locator("[name=scenario]").select_option(EXAMPLE)
    trainer.get_by_role("button", name="Open the room").click()
    trainer.locator("#board").wait_for()
    code = trainer.locator(".room-in .room-code").inner_text()
    everybody = (("trainer", trainer), ("participant", person), ("projector", beamer))
    yield Shot("trainer, nobody there", trainer)
    beamer.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))
    person.goto(f"/join/?code={code}")
    yield Shot("join", person)
    person.locator("[name=name]").fill("Somebody with a rather long name to show")
    person.get_by_role("button", name="Join").click()
    for frame in (person.frame_locator("iframe"), beamer.frame_locator("iframe")):
        frame.locator("#panel-sentence").wait_for()
    for name, page in everybody:
        yield Shot(f"{name}, no question", page)
    trainer.get_by_role("button", name="Which node wins").click()
    person.locator("#asked form").wait_for()
    for name, page in everybody:
        yield Shot(f"{name}, asked", page)
    person.locator("#asked").get_by_label("no node", exact=True).check()
    person.locator("#asked").get_by_role("button", name="Answer").click()
    person.locator("#asked [role=status]").wait_for()
    for page in (trainer, beamer):
        visit.eventually(lambda page=page: "1 of 1 have answered" in page.locator("#asked").inner_text())
    for name, page in everybody:
        yield Shot(f"{name}, answered", page)
    person.locator("#asked-box summary").click()
    person.locator("#asked form").wait_for()
    yield Shot("participant, answered, unfolded", person)
    person.locator("#inquiries summary").click()
    person.locator("#asked form").wait_for(state="hidden")
    yield Shot("participant, answered, own question", person)
    late = visit.page(f"/join/{code}/")
    late.locator("[name=name]").fill("Somebody with a name that is too long to show")
    late.get_by_role("button", name="Join").click()
    late.get_by_text("This name has 45").wait_for()
    yield Shot("join, the name is too long", late)
    late.locator("[name=name]").fill("Somebody with a rather long name to show")
    late.get_by_role("button", name="Join").click()
    late.locator("[aria-invalid=true]").wait_for()
    yield Shot("join, the name is taken", late)
    trainer.get_by_role("tab", name="Your sandbox").click()
    own = trainer.frame_locator("iframe")
    own.locator("#do-pod").click()
    visit.eventually(lambda: "PostFilter" in own.locator("#panel-sentence").inner_text())
    yield Shot("trainer, own sandbox", trainer)
    trainer.get_by_role("tab", name="Everyone").click()
    trainer.get_by_role("button", name="Reveal").click()
    visit.eventually(lambda: "You were right" in person.locator("#asked").inner_text())
    for name, page in everybody:
        yield Shot(f"{name}, revealed", page)
    if person.locator("#asked-box").get_attribute("open") is None:
        person.locator("#asked-box summary").click()
    person.locator("#asked meter").first.wait_for()
    yield Shot("participant, revealed, unfolded", person)
    trainer.get_by_role("button", name="Hide question").click()
    person.locator("#asked-box").wait_for(state="detached")
    trainer.get_by_role("button", name="Pause").click()
    person.get_by_text("has paused the room").wait_for()
    trainer.locator("[name=minutes]").fill("5")
    trainer.locator("form:has([name=minutes]) button").first.click()
    person.locator(".timer").wait_for()
    for name, page in everybody:
        yield Shot(f"{name}, frozen, timer", page)
    trainer.get_by_role("button", name="Eyes here").click()
    person.get_by_text("you see the trainer’s sandbox").wait_for()
    person.frame_locator("iframe:visible").locator("#panel-sentence").wait_for()
    yield Shot("participant, eyes here", person)
    late = visit.page(f"/join/?code={code}")
    late.locator("[name=name]").fill("Late")
    late.get_by_role("button", name="Join").click()
    late.frame_locator("iframe:visible").locator("#panel-sentence").wait_for()
    yield Shot("participant, late, eyes here", late)
    trainer.get_by_role("button", name="Somebody with a rather long").click()
    yield Shot("trainer, a person", trainer)
    trainer.get_by_role("button", name="Remove from room").click()
    person.get_by_text("no longer in this room").wait_for()
    yield Shot("participant, taken out", person)
    for switch in ("Resume", "Show own sandboxes"):
        trainer.get_by_role("button", name=switch).click()
    late.locator("#desk-trainer").wait_for(state="detached")
    late.frame_locator("#desk-own").locator("#add").click()
    trainer.locator("[name=scenario]").select_option("nothing-fits")
    trainer.get_by_role("button", name="Send to all").click()
    late.locator("#sent").wait_for()
    yield Shot("participant, sent while typing", late)
    trainer.on("dialog", lambda dialog: dialog.accept())
    trainer.get_by_role("button", name="Close the room").click()
    late.get_by_text("The room is closed").wait_for()
    for name, page in (("trainer", trainer), ("participant", late), ("projector", beamer)):
        yield Shot(f"{name}, closed", page)


PLANNED = """kind: Workshop
title: A room with a plan
plan:
- {title: Arrive, minutes: 15}
- {lesson: why-a-pod-is-pending, minutes: 30}
- {ask: "What did you expect of a pod that fits on no node, before you came here?", title: Before the break, minutes: 5}
- {title: Break, minutes: 15}
- {scenario: three-zones-one-gpu-pool}
"""


def room_at_work(visit: Visit) -> Iterator[Shot]:
    trainer, person, other, beamer = visit.page("/workshop/"), visit.page(), visit.page(), visit.page()
    trainer.get_by_text("Use your own file").click()
    trainer.locator("[name=text]").fill(PLANNED)
    trainer.get_by_role("button", name="Open the room").click()
    trainer.locator("#board").wait_for()
    code = trainer.locator(".room-in .room-code").inner_text()
    beamer.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))
    for page, name in ((person, "Somebody with a rather long name to show"), (other, "Ada")):
        page.goto(f"/join/{code}/")
        page.locator("[name=name]").fill(name)
        page.get_by_role("button", name="Join").click()
        page.frame_locator("iframe").locator("#panel-sentence").wait_for()
    next_row = trainer.locator("#plan-next button")
    for number in (1, 2):
        next_row.click()
        trainer.locator(f"#plan-{number - 1}[aria-current=step]").wait_for()
        next_row.evaluate("button => new Promise((rest) => setTimeout(rest, 1600))")  # The pause after a row.
    person.frame_locator("#desk-own").locator("#panel-lesson h2").wait_for()
    trainer.locator("#stuck tbody tr").first.wait_for()
    person.locator("#inquiries summary").click()
    for text in ("Why there?", "Does a score of zero refuse a node, " * 5):
        person.get_by_label("Your question").fill(text)
        person.get_by_role("button", name="Ask the trainer").click()
        person.locator("#inquiries li").get_by_text(text.strip()).wait_for()
    trainer.get_by_role("button", name="Show on projector").click()
    beamer.locator("#inquiries li").last.wait_for()
    other.locator("#inquiries summary").click()
    for name, page in (("trainer", trainer), ("participant", person), ("other", other), ("projector", beamer)):
        yield Shot(f"{name}, inquiries", page)
    trainer.locator("#assistants summary").click()
    trainer.get_by_role("button", name="Make a link").click()
    assistant = visit.page(str(trainer.locator("#assistants a").get_attribute("href")))
    person.locator("#inquiries summary").click()
    person.locator("#notes summary").click()
    person.locator("#notes textarea").fill("Filter asks every node. " * 20)
    person.locator("#notes-state").get_by_text("Saved", exact=True).wait_for()
    handout, certificate = (
        visit.page(f"{page.url}{name}/") for page, name in ((person, "handout"), (trainer, "certificate"))
    )
    for name, page in (
        ("trainer, assistants", trainer),
        ("assistant", assistant),
        ("participant, notes", person),
        ("handout", handout),
        ("certificate", certificate),
    ):
        yield Shot(name, page)
    person.locator("#notes summary").click()
    next_row.click()
    other.get_by_label("Your answer").fill("That it waits for a node with more room")
    other.locator("#asked").get_by_role("button", name="Answer").click()
    trainer.locator(".free button").click()
    beamer.locator("#asked .bars-l").wait_for()
    for name, page in (("trainer", trainer), ("other", other), ("projector", beamer)):
        yield Shot(f"{name}, free answers", page)
    person.get_by_label("Your answer").fill("Nothing")
    yield Shot("participant, free answer in a lesson", person)


def embeds(visit: Visit) -> Iterator[Shot]:
    page = visit.page()
    for name, path in (
        ("a scenario", f"/embed/scenario/{EXAMPLE}/?steps=1"),
        (
            "a scenario at its end",
            f"/embed/scenario/{EXAMPLE}/?steps=1&at=end&panels=sentence,map,lanes,matrix",
        ),
        ("compact", f"/embed/scenario/{EXAMPLE}/?size=compact"),
        ("a lesson", f"/embed/lesson/{LESSON}/?steps=1"),
        ("no such scenario", "/embed/scenario/no-such/"),
    ):
        page.goto(path)
        yield Shot(name, page)


def comparing(visit: Visit) -> Iterator[Shot]:
    page = visit.page("/")
    page.locator("#compare button").click()
    for frame in page.locator("iframe").all():
        frame.content_frame.locator("#panel-queues").wait_for()
    page.locator("[data-verb=pod]").click()
    left = page.locator("iframe").first.content_frame
    visit.eventually(lambda: left.locator("#panel-toolbar").get_attribute("data-head") != "1")
    yield Shot("two queues", page)
    page = visit.workbench(scenario=EXAMPLE)
    packing = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    fit = {"name": "NodeResourcesFit", "args": {"scoringStrategy": packing}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [fit]}],
    }
    visit.commands(page, {"kind": "configure", "configuration": configuration}, {"kind": "settle"}, {"kind": "run"})
    visit.tab(page, "configuration")
    yield Shot("links in the configuration tab", page)
    base = page.url.partition("?")[0]
    answered(page, f"{base}differences/?configuration=before")
    yield Shot("what differs", page)
    answered(page, f"{base}differences/?seed=42")
    yield Shot("nothing differs", page)
    answered(page, f"{base}differences/?at=1.9999")
    yield Shot("a moment and the present", page)
    answered(page, f"{base}differences/?configuration=default&at=2.9999")
    yield Shot("what differs at a moment", page)
    answered(page, f"{base}fit/?pod=default/web-1&copies=20&shape=node-a1")
    yield Shot("how many fit", page)
    answered(page, f"{base}fit/?pod=default/ml-2&copies=3&shape=node-b1")
    yield Shot("none fits", page)
    answered(page, f"{base}fixes/?pod=default/ml-2")
    yield Shot("what would let it run", page)
    answered(page, f"{base}fixes/?pod=default/web-1")
    yield Shot("it runs", page)
    answered(page, f"{base}leave/?node=node-a1")
    yield Shot("what if a node leaves", page)
    answered(page, f"{base}leave/?zone=eu-b")
    yield Shot("what if a zone is lost", page)
    answered(page, f"{base}headroom/")
    yield Shot("what still fits, no workloads", page)
    page.goto(f"{base}kubectl/")
    yield Shot("use kubectl", page)
    answered(page, f"{base}differences/?kubernetes=v1.36")
    yield Shot("what an upgrade changes", page)
    page = visit.workbench(scenario=EXAMPLE)
    gates = {"OpportunisticBatching": False}
    visit.commands(page, {"kind": "kubernetes", "version": "v1.36", "feature_gates": gates})
    visit.eventually(lambda: "v1.36" in page.locator("#panel-toolbar").inner_text())
    visit.tab(page, "configuration")
    page.locator("#gates").click()
    page.locator("#gates-change").scroll_into_view_if_needed()
    yield Shot("another version with its gates", page)
    page = visit.workbench()
    visit.applied(page, [*equal_cluster(5, 0), *(deployment(*item, cpu="1500m") for item in (("web", 3), ("api", 1)))])
    visit.applied(page, [deployment("training", 1, cpu="8"), deployment(long("workload"), 1, cpu="1")])
    visit.press(page, "e")
    base = page.url.partition("?")[0]
    answered(page, f"{base}headroom/")
    yield Shot("what still fits", page)
    answered(page, f"{base}fit/?kind=Deployment&key=default/{long('workload')}")
    yield Shot("how many fit of a workload", page)
    page = visit.workbench()
    visit.applied(page, [make_pod("web").obj()])
    base = page.url.partition("?")[0]
    answered(page, f"{base}leave/")
    yield Shot("what leaves, no nodes", page)
    answered(page, f"{base}fit/?pod=default/web")
    yield Shot("how many fit, no nodes", page)
    page = visit.workbench()
    visit.applied(page, long_cluster())
    visit.press(page, "e")
    base, pod = page.url.partition("?")[0], long("waits-5", LONGEST_NAME)
    for name, path in (("fixes", "fixes/?pod"), ("fit", "fit/?pod")):
        answered(page, f"{base}{path}=default/{pod}")
        yield Shot(f"{name}, long names", page)
    answered(page, f"{base}differences/?cycle=1&node={long_cluster()[0]['metadata']['name']}")
    yield Shot("what differs, long names", page)


def answered(page: Page, address: str) -> None:
    """Open the page of an answer, and wait for the answer."""
    page.goto(address)
    page.locator("main.ans:not([aria-busy])").wait_for()


def waits(visit: Visit) -> Iterator[Shot]:
    """Yield the page that waits for an answer, with what is found so far, stopped, and refused."""
    page = visit.workbench()
    visit.applied(page, [make_node(f"n{n}").capacity(cpu="4", pods="110").obj() for n in range(300)])
    visit.applied(page, [deployment(f"d{n}", 5, cpu="1m") for n in range(200)])
    visit.press(page, "e")
    base = page.url.partition("?")[0]
    page.goto(f"{base}headroom/")
    yield Shot("an answer on the way", page)
    page.locator("#found tbody tr").first.wait_for()
    yield Shot("an answer on the way, with a part of it", page)
    answered(page, f"{base}leave/?zone=nowhere")
    yield Shot("a zone that is not there", page)
    page.goto(f"{base}headroom/")
    page.locator("#found tbody tr").first.wait_for()
    page.locator("#stop").click()
    page.locator("#stopped").wait_for()
    yield Shot("an answer, stopped", page)
    page = visit.workbench(scenario="bin-packing-most-allocated")
    visit.press(page, "e")
    small = page.url.partition("?")[0]
    for name, query in (("", "configuration=default"), (" with many seeds", "seeds=10"), (" of nothing", "branch=7")):
        page.goto(f"{small}embed/differences/?{query}")
        page.locator("main.ans:not([aria-busy]), #em-refused").wait_for()
        yield Shot(f"an embedded comparison{name}", page)


def equal_cluster(nodes: int, pods: int) -> list[dict[str, Any]]:
    """Return equal nodes in four zones, so that the seed draws where the pods run."""
    return [
        *(
            make_node(f"node-{number:03}").zone(f"zone-{'abcd'[number % 4]}").capacity(cpu="4", memory="16Gi").obj()
            for number in range(nodes)
        ),
        *(make_pod(f"web-{number}").cpu("1").memory("2Gi").obj() for number in range(pods)),
    ]


def luck(visit: Visit) -> Iterator[Shot]:
    packing = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    page = visit.workbench()
    base = page.url.partition("?")[0]
    answered(page, f"{base}differences/?seeds=10")
    yield Shot("many seeds, empty", page)
    answered(page, f"{base}headroom/")
    yield Shot("what still fits, empty", page)
    for name, (nodes, pods) in {"": (5, 8), "100 nodes, ": (100, 12)}.items():
        page = visit.workbench()
        base = page.url.partition("?")[0]
        visit.applied(page, equal_cluster(nodes, pods))
        fit = {"name": "NodeResourcesFit", "args": {"scoringStrategy": packing}}
        profiles = {"profiles": [{"pluginConfig": [fit]}]}
        kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        visit.commands(page, {"kind": "configure", "configuration": {**kind, **profiles}}, {"kind": "run"})
        answered(page, f"{base}differences/?seeds=20")
        yield charts(Shot(f"{name}many seeds", page))
        answered(page, f"{base}differences/?seeds=20&configuration=default")
        yield charts(Shot(f"{name}many seeds, two configurations", page))
        answered(page, f"{base}headroom/")
        yield Shot(f"{name}what still fits", page)
        answered(page, f"{base}reroll/?cycle=1&draws=1000")
        yield Shot(f"{name}draw again", page)
    page = visit.workbench()
    base = page.url.partition("?")[0]
    visit.applied(page, long_cluster())
    visit.press(page, "e")
    answered(page, f"{base}differences/?seeds=10")
    yield charts(Shot("many seeds, long names", page))
    answered(page, f"{base}headroom/")
    yield Shot("what still fits, long names", page)
    answered(page, f"{base}reroll/?cycle=1")
    yield Shot("draw again, long names", page)
    answered(page, f"{base}reroll/?cycle=3")
    yield Shot("draw again, no choice", page)


def charts(shot: Shot) -> Shot:
    """Wait until all charts are drawn."""
    for place in shot.page.locator("[data-chart], [data-heat]").all():
        place.locator(".main-svg").first.wait_for()
    return shot


JOURNEYS: dict[str, Journey] = {
    "stages": stages,
    "room": room,
    "room at work": room_at_work,
    "long names": long_names,
    "lesson": lesson,
    "beside a lesson": beside_a_lesson,
    "practice": practice,
    "forms": forms,
    "refused": refused,
    "stories": stories,
    "slow Settle": slow,
    "two disks": two_disks,
    "taken name": taken_name,
    "drains": drains,
    "topology": topology,
    "tabs": tabs,
    "devices": devices,
    "forms for devices": device_forms,
    "fits nowhere": unfit,
    "extender": extended,
    "empty": empty,
    "site": site,
    "dialogs": dialogs,
    "predict": predictions,
    "many nodes": many_nodes,
    "misconception and challenge": taught,
    "writing": writing,
    "import": importing,
    "embeds": embeds,
    "compare": comparing,
    "luck": luck,
    "waits": waits,
}
"""Group of pictures → the journey to its states, slowest first."""
WHOLE, PAST = "body", "#panel-toolbar, #panel-sentence, #panel-timeline, #panel-status"
IN_THE_SUITE: dict[str, dict[str, str]] = {
    "stages": {"Filter, arithmetic": WHOLE, "Select, arithmetic": "#decision", "a look at the past": PAST},
    "site": dict.fromkeys(
        ("start page", "course", "misconceptions", "challenges", "practice", "before", "versions", "workshops"), WHOLE
    ),
    "import": {"refused at the door": "#door"},
    "embeds": {"a scenario": WHOLE, "a scenario at its end": WHOLE},
    "lesson": {"question": WHOLE, "answered wrong": "#panel-lesson"},
    "misconception and challenge": {"challenge": "#panel-lesson"},
    "writing": {"errors": "#write"},
    "practice": {"due": "#due", "round, end": "#panel-lesson"},
    "fits nowhere": {"Preemption": "#decision", "long message": "#panel-sentence"},
    "refused": {"paste, refused": "#drawer", "pod, refused": "#drawer"},
    "room": {
        "trainer, answered": WHOLE,
        "participant, answered": WHOLE,
        "projector, answered": WHOLE,
        "join, the name is taken": WHOLE,
    },
}
"""Groups that each run of the tests measures. The others show the same panels with other contents.

For each group: the states that axe-core checks, and the part of the page that no other of these states shows. Only the
contrast of this part is checked, since axe-core takes longest for that.
"""
