"""What differs between a sandbox and another run of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.storage import branches
from sandbox.words.say import say
from scheduler_engine.errors import NothingToDo
from scheduler_engine.testing import make_node, make_pod

pytestmark = pytest.mark.django_db

SETTLE = {"kind": "settle"}
PACKING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 9}]}},
                }
            ],
            "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
        }
    ],
}


def configure(configuration: Any) -> dict[str, Any]:
    return {"kind": "configure", "configuration": configuration}


def apply(*builders: Any) -> dict[str, Any]:
    return {"kind": "apply", "manifests": [builder.obj() for builder in builders]}


@pytest.fixture
def packed(visitor: Any) -> Any:
    """Return a visitor whose pods are packed on n1, which a pod uses already; by default they would go to n2."""
    small = [make_node(name).capacity(cpu="4", memory="8Gi", pods="9") for name in ("n1", "n2")]
    for command in (
        apply(*small, make_pod("first").cpu("1").node("n1")),
        configure(PACKING),
        apply(make_pod("second").cpu("1"), make_pod("third").cpu("8")),
        SETTLE,
    ):
        store.execute(visitor.sandbox, command)
    return visitor


def text_of(html: str, part: str) -> str:
    """Return the text of an element with this id, up to the end of its section."""
    section = html.partition(f'id="{part}"')[2].partition("</section>")[0].partition(">")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", section)).strip()


def compared(visitor: Any, status: int = 200, **query: str) -> str:
    answer = visitor.get("differences/", **query)
    assert answer.status_code == status
    return str(answer.content.decode())


@pytest.mark.parametrize("configuration", ["before", "default"])
def test_another_configuration_moves_a_pod_and_the_page_says_why(packed: Any, configuration: str) -> None:
    html = compared(packed, configuration=configuration)
    first = text_of(html, "first")
    assert "default/second, attempt 1" in first
    assert "n1, highest total of 2 nodes" in first
    assert "n2, highest total of 2 nodes" in first
    assert 'NodeResourcesFit, scoringStrategy.type: "MostAllocated", "LeastAllocated"' in first.replace("&#34;", '"')
    assert text_of(html, "placements").endswith("default/second n1 n2")
    assert re.search(r'href="/s/[^"]+\?at=4\.\d+"', html)


def test_the_scores_that_decided_add_up(packed: Any) -> None:
    html = compared(packed, configuration="before")
    rows = re.findall(r'<tr><th scope="row">([^<]+)</th>((?:<td>[^<]*</td>){5})</tr>', html)
    scores = {name: re.findall(r"<td>([^<]*)</td>", cells) for name, cells in rows}
    total = scores.pop("Total")
    assert "NodeResourcesFit" in scores
    moved = sum(int(cells[4].replace("−", "-")) for cells in scores.values())
    assert moved == int(total[4].replace("−", "-"))
    here, other = int(total[0]) - int(total[1]), int(total[2]) - int(total[3])
    assert moved == other - here


def test_only_the_last_change_of_the_configuration_is_left_out(packed: Any) -> None:
    store.execute(packed.sandbox, configure(PACKING))
    store.execute(packed.sandbox, apply(make_pod("fourth").cpu("1")))
    store.execute(packed.sandbox, SETTLE)
    assert say("differences.same") in compared(packed, configuration="before")
    assert text_of(compared(packed, configuration="default"), "placements").endswith("default/second n1 n2")


def test_the_present_configuration_is_played_from_the_start(visitor: Any) -> None:
    small = [make_node(name).capacity(cpu="4", memory="8Gi", pods="9") for name in ("n1", "n2")]
    for command in (apply(*small, make_pod("first").cpu("1").node("n1")), apply(make_pod("second").cpu("1")), SETTLE):
        store.execute(visitor.sandbox, command)
    store.execute(visitor.sandbox, configure(None))
    store.execute(visitor.sandbox, configure(PACKING))
    assert say("differences.same") in compared(visitor, configuration="default")
    html = compared(visitor, configuration="now")
    assert text_of(html, "placements").endswith("default/second n2 n1")
    assert 'href="?configuration=now" aria-current="page"' in html
    assert 'id="compare-now"' in visitor.get("panel/configuration/").content.decode()
    # At an earlier moment, the present configuration is that of the moment.
    assert say("differences.same") in compared(visitor, configuration="now", at="4.9999")


def test_without_a_change_of_the_configuration_there_is_no_earlier_one(visitor: Any) -> None:
    store.execute(visitor.sandbox, apply(make_node("n1")))
    html = compared(visitor, configuration="default")
    for configuration in ("before", "now"):
        assert f"?configuration={configuration}" not in html
        assert say("differences.not-configured") in compared(visitor, configuration=configuration)


def test_a_pod_that_waits_in_both_runs_is_only_counted(packed: Any) -> None:
    html = compared(packed, configuration="default")
    assert say("differences.alike", count=1) in html
    assert 'id="pending"' not in html


def test_a_branch_is_compared_as_it_ended(packed: Any) -> None:
    store.go_to(packed.sandbox, lambda position: 3)
    store.execute(packed.sandbox, apply(make_pod("blocker").cpu("3").node("n1")))
    store.execute(packed.sandbox, SETTLE)
    (branch,) = branches.branches_of(packed.row())
    html = compared(packed, branch=str(branch.key))
    assert "default/blocker n1 no such pod" in text_of(html, "placements")
    assert "default/second n2 n1" in text_of(html, "placements")
    assert packed.log() == packed.log()[:3] + packed.log()[3:5]  # Nothing was reopened.
    assert [item.key for item in branches.branches_of(packed.row())] == [branch.key]


def test_the_same_run_with_its_own_seed_has_no_differences(packed: Any) -> None:
    assert say("differences.same") in compared(packed, seed=str(packed.sandbox.seed))


STEPS = {
    "settle": [SETTLE],
    "run": [{"kind": "run"}],
    "pod by pod": [{"kind": "pod"}] * 2,
    "stage by stage": [{"kind": "stage"}] * 40,
    "time passes": [{"kind": "advance", "seconds": 5}, {"kind": "advance", "seconds": 60}],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=[*STEPS])
def test_a_pod_that_had_gone_elsewhere_takes_the_room_of_the_next_one(visitor: Any, steps: Any) -> None:
    """Both pods prefer n1, which is larger, and only one of them fits on each node."""
    larger = make_node("n1").capacity(cpu="5", memory="8Gi", pods="9")
    smaller = make_node("n2").capacity(cpu="4", memory="8Gi", pods="9")
    pods = [make_pod(name).cpu(cpu) for name, cpu in (("a", "3"), ("b", "3"))]
    for command in (apply(larger, smaller, *pods), *steps):
        try:
            store.execute(visitor.sandbox, command)
        except NothingToDo:
            break
    html = compared(visitor, cycle="1", node="n2")
    assert text_of(html, "placements").endswith("default/a n1 n2 default/b n2 n1")
    first = text_of(html, "first")
    assert "default/a, attempt 1" in first
    assert "no such attempt" in first
    assert 'id="pending"' not in html


def test_where_a_pod_does_not_fit_its_kubelet_refuses_it(visitor: Any) -> None:
    nodes = [make_node(name).capacity(cpu=cpu, memory="8Gi", pods="9") for name, cpu in (("n1", "4"), ("n2", "1"))]
    for command in (apply(*nodes, make_pod("a").cpu("3")), {"kind": "run"}):
        store.execute(visitor.sandbox, command)
    assert text_of(compared(visitor, cycle="1", node="n2"), "placements").endswith("default/a n1 n2 (Failed: OutOfcpu)")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"cycle": "9", "node": "n2"}, "This run has no cycle 9."),
        ({"cycle": "1", "node": "n9"}, "There was no node n9 before the attempt."),
    ],
    ids=["no such cycle", "no such node"],
)
def test_an_attempt_or_node_that_is_not_there_is_reported(packed: Any, query: dict[str, str], says: str) -> None:
    html = compared(packed, 404, **query)
    assert say("differences.problem") in html
    assert says in html


def test_the_inspector_asks_what_if_the_pod_had_gone_to_another_node(packed: Any) -> None:
    panel = packed.get("panel/inspector/", cycle="1", node="n2").content.decode()
    assert re.search(r'href="differences/\?cycle=1&amp;node=n2"', panel)
    panel = packed.get("panel/inspector/", cycle="1", node="n1").content.decode()
    assert "differences/?" not in panel


def test_commands_that_the_other_cluster_refuses_are_reported(packed: Any) -> None:
    store.execute(packed.sandbox, {"kind": "evict", "pod": "default/second"})
    other = {**PACKING, "profiles": [{**PACKING["profiles"][0], "schedulerName": "packer"}]}
    store.execute(packed.sandbox, configure(other))
    store.execute(packed.sandbox, {"kind": "fault", "plugin": "NodeName", "point": "filter", "answer": "deny",
                                   "profile": "packer"})  # fmt: skip
    html = compared(packed, configuration="before")
    assert "The cluster of the other run refused 1 command" in html


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 400),
        ({"configuration": "newest"}, 400),
        ({"seed": "-1"}, 400),
        ({"seed": "99999999999"}, 400),
        ({"seed": "1e3"}, 400),
        ({"cycle": "1"}, 400),
        ({"cycle": "0", "node": "n1"}, 400),
        ({"cycle": "1", "node": "n" * 254}, 400),
        ({"branch": "77"}, 404),
        ({"branch": "x"}, 404),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused(visitor: Any, query: dict[str, str], status: int) -> None:
    answer = visitor.get("differences/", **query)
    assert answer.status_code == status
    if status == 400:
        assert "Compare with a branch" in answer.content.decode()


@pytest.fixture
def longer(packed: Any) -> Any:
    """Return the sandbox of ``packed`` with two more commands after its fourth: a pod comes and is bound."""
    for command in (apply(make_pod("fourth").cpu("1")), SETTLE):
        store.execute(packed.sandbox, command)
    return packed


def test_both_runs_end_at_an_earlier_moment(longer: Any) -> None:
    html = compared(longer, configuration="default", at="4.9999")
    assert say("common.of-earlier-moment") in html
    assert "default/second n1 n2" in text_of(html, "placements")
    assert "default/fourth" not in html
    assert "pods with a node 2 2" in text_of(html, "figures")
    assert "pods with a node 3 3" in text_of(compared(longer, configuration="default"), "figures")
    before = compared(longer, configuration="default", at="3.9999")
    assert say("differences.same") in before  # No pod was tried yet.
    assert f'href="{longer.url()}?at=4.9999"' in html
    assert 'id="present" href="?configuration=default"' in html
    assert 'href="?configuration=before&amp;at=4.9999"' in html


MOMENTS = {
    "a command without time": ([SETTLE], "4.20"),
    "the middle of a stretch of time": ([{"kind": "advance", "seconds": 30}], "4.20"),
    "the middle of a run": ([{"kind": "run"}], "4.20"),
    "between two stages": ([{"kind": "stage"}] * 6, "6.9999"),
}


@pytest.mark.parametrize(("steps", "at"), MOMENTS.values(), ids=[*MOMENTS])
def test_the_same_run_does_not_differ_at_any_moment(visitor: Any, steps: list[dict[str, Any]], at: str) -> None:
    """Its own seed plays it again: the second run must end at the same moment."""
    small = [make_node(name).capacity(cpu="4", memory="8Gi", pods="9") for name in ("n1", "n2")]
    for command in (apply(*small), configure(PACKING), apply(make_pod("a").cpu("1"), make_pod("b").cpu("1")), *steps):
        store.execute(visitor.sandbox, command)
    assert say("differences.same") in compared(visitor, seed=str(visitor.sandbox.seed), at=at)


@pytest.mark.parametrize("steps", STEPS.values(), ids=[*STEPS])
def test_a_pod_goes_elsewhere_and_both_runs_end_at_an_earlier_moment(visitor: Any, steps: Any) -> None:
    larger = make_node("n1").capacity(cpu="5", memory="8Gi", pods="9")
    smaller = make_node("n2").capacity(cpu="4", memory="8Gi", pods="9")
    for command in (apply(larger, smaller, make_pod("a").cpu("3"), make_pod("b").cpu("3")), *steps):
        try:
            store.execute(visitor.sandbox, command)
        except NothingToDo:
            break
    at = len(visitor.log())
    store.execute(visitor.sandbox, apply(make_pod("c").cpu("1")))
    store.execute(visitor.sandbox, {"kind": "run"})
    html = compared(visitor, cycle="1", node="n2", at=f"{at}.99999")
    assert text_of(html, "placements").endswith("default/a n1 n2 default/b n2 n1")
    assert "default/c" not in html
    assert "This run has no cycle 1." in compared(visitor, 404, cycle="1", node="n2", at="1.9999")


@pytest.mark.parametrize("goes_back", [False, True], ids=["in view", "went back there"])
def test_a_pod_goes_elsewhere_and_both_runs_end_right_after_its_attempt(visitor: Any, goes_back: bool) -> None:
    """The attempt is in the middle of a run. What comes after it must not happen in the other run either."""
    nodes = [make_node(name).capacity(cpu=cpu, memory="8Gi", pods="9") for name, cpu in (("n1", "16"), ("n2", "4"))]
    for command in (apply(*nodes, *(make_pod(name).cpu("1") for name in "abc")), {"kind": "run"}):
        store.execute(visitor.sandbox, command)
    panel = visitor.get("panel/inspector/", pod="default/b").content.decode()
    at = re.search(r'id="att-2"[^>]*data-at="([\d.]+)"', panel)[1]  # type: ignore[index]
    if goes_back:
        visitor.client.post(f"{visitor.url()}go-back/", {"at": at})
    html = compared(visitor, cycle="2", node="n2", **({} if goes_back else {"at": at}))
    assert text_of(html, "placements").endswith("default/b n1 n2")
    assert "default/c" not in text_of(html, "placements")


def test_an_earlier_moment_is_compared_with_the_present(longer: Any) -> None:
    html = compared(longer, at="4.9999")
    assert say("differences.moments") in html
    assert say("differences.then") in html
    assert say("differences.now") in html
    assert say("differences.second") not in html
    assert text_of(html, "placements").endswith("default/fourth no such pod n1")
    assert "pods with a node 2 3" in text_of(html, "figures")
    assert 'id="first"' not in html
    assert 'id="present"' not in html
    assert re.search(r'href="\?at=4.9999" aria-current="page"', html)
    assert 'href="?configuration=default&amp;at=4.9999"' in html


def test_the_present_does_not_differ_from_itself(packed: Any) -> None:
    assert say("differences.same-moments") in compared(packed, at="4.99999")


def test_pods_that_were_evicted_since_are_listed(packed: Any) -> None:
    store.execute(packed.sandbox, {"kind": "evict", "pod": "default/second"})
    html = compared(packed, at="4.9999")
    assert "default/second by a request to evict" in text_of(html, "evictions")
    assert say("differences.evictions-since") in html


def test_the_workbench_leads_from_its_moment(longer: Any) -> None:
    panel = longer.get("panel/configuration/", at="3.3").content.decode()
    assert re.search(r'href="differences/\?configuration=default&amp;at=3\.\d+"', panel)
    panel = longer.get("panel/inspector/", cycle="1", node="n2", at="4.99").content.decode()
    assert re.search(r'href="differences/\?cycle=1&amp;node=n2&amp;at=4\.\d+"', panel)
    assert 'href="differences/?at=3.3"' in longer.watching().get("branches/", at="3.3").content.decode()
    assert "differences/?at" not in longer.get("branches/").content.decode()


def test_those_who_only_watch_may_compare(packed: Any) -> None:
    assert "default/second" in compared(packed.watching(), configuration="default")


def test_the_other_run_may_take_too_much_work(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store.execute(packed.sandbox, SETTLE)
    compared(packed, configuration="default")
    monkeypatch.setattr("scheduler_engine.effort.MOST_ENTRIES", 20)
    html = compared(packed, configuration="default")
    assert say("differences.problem") in html
    assert 'id="figures"' not in html


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"with": "/s/nothing/"}, "errors.no-other-sandbox"),
        ({"with": "http://["}, "errors.no-other-sandbox"),
        ({"branch": "77"}, "errors.no-branch"),
    ],
    ids=["another sandbox", "no address", "a branch"],
)
def test_a_run_that_does_not_exist_is_reported_on_the_page(packed: Any, query: dict[str, str], says: str) -> None:
    page = packed.client.get(packed.url("differences/"), query, HTTP_ACCEPT="text/html", HTTP_SEC_FETCH_MODE="navigate")
    assert page.status_code == 404
    html = page.content.decode()
    assert html.count(say(says)) == 1
    field = f'name="with" value="{query.get("with")}" aria-invalid="true" aria-describedby="with-e"'
    assert (field in html) == ("with" in query)
    assert f'href="{packed.url()}">{say("differences.back")}' in html
    assert "configuration=default" in html
    assert 'id="figures"' not in html


def test_a_very_long_name_of_a_node_is_cut_in_the_table(visitor: Any) -> None:
    long = "-".join(["a-name-that-says-all-about-it"] * 4)
    node = make_node(long).label("kubernetes.io/hostname", "n").capacity(cpu="4", pods="9")
    for command in (apply(node), SETTLE, apply(make_pod("p").cpu("1")), SETTLE):
        store.execute(visitor.sandbox, command)
    placed = compared(visitor, at="2.99").partition('id="placements"')[2].partition("</section>")[0]
    assert f'<td><span class="cut" title="{long}">{long}</span></td>' in placed
