"""The page that waits for an answer, what it asks for, and how it shows the progress of a real worker."""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.utils.http import urlencode

from sandbox.changes import store
from sandbox.pool import engines, turns
from sandbox.pool.lanes import Pending
from sandbox.pool.pool import Pool
from sandbox.runtime.callers import Caller, stopped_by, working_for
from sandbox.storage.records import START, Plan
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import Stopped
from sandbox.worker.messages import Call
from sandbox.worker.other_run import Other
from sandbox.worker.room import Asked
from sandbox.worker.so_far import SoFar
from scheduler_engine.testing import make_node, make_pod
from tests.engine.controllers import deployment
from tests.sandbox.conftest import JOB_SECONDS
from tests.waiting import until

BROWSER = {"HTTP_ACCEPT": "text/html,application/xhtml+xml,*/*;q=0.8"}
PATHS = {
    "fixes": {"pod": "default/web"},
    "fit": {"pod": "default/web"},
    "headroom": {},
    "leave": {"node": "n1"},
    "differences": {"configuration": "default"},
    "differences with seeds": {"seeds": "10"},
}


@pytest.fixture
def small(visitor: Any) -> Any:
    manifests = [make_node("n1").capacity(cpu="2", pods="9").obj(), make_pod("web").cpu("3").obj()]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": manifests})
    store.execute(visitor.sandbox, {"kind": "settle"})
    return visitor


@pytest.mark.django_db
@pytest.mark.parametrize("name", PATHS)
def test_a_browser_waits_and_a_program_gets_the_answer(small: Any, name: str) -> None:
    path, query = f"{name.split()[0]}/", PATHS[name]
    waiting = small.client.get(small.url(path), query, **BROWSER).content.decode()
    asked = urlencode(query).replace("&", "&amp;")
    assert 'aria-busy="true"' in waiting
    assert f'hx-get="?{asked}&amp;part=answer"' in waiting
    assert f'content="0; url=?{asked}&amp;part=whole"' in waiting
    whole = small.client.get(small.url(path), query | {"part": "whole"}, **BROWSER).content.decode()
    assert whole == small.get(path, **query).content.decode()
    assert "aria-busy" not in whole
    answer = small.client.get(small.url(path), query | {"part": "answer"})
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#answer", "outerHTML")
    main = re.compile(r"<main.*</main>", re.DOTALL)
    shown = answer.content.decode()
    assert main.findall(shown) == main.findall(whole)
    assert "<html" not in shown
    assert re.findall("<title>.*</title>", shown) == re.findall("<title>.*</title>", whole)


@pytest.mark.django_db
def test_a_refusal_is_shown_where_the_page_waits(small: Any) -> None:
    refused = small.client.get(small.url("differences/"), {"seeds": "3", "part": "answer"})
    assert refused.status_code == 400
    text = refused.content.decode()
    assert say("errors.seeds", counts="10, 20, 50, 100") in text
    assert 'href="?seeds=3"' in text
    assert "<html" not in text


@pytest.mark.django_db
def test_a_page_waits_until_the_sandbox_is_free_and_a_program_is_told(small: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(turns, "PATIENCE_SECONDS", 0.01)
    with turns.turn(small.sandbox.pk):
        again = small.client.get(small.url("fixes/"), {"pod": "default/web", "part": "answer"})
        program = small.get("fixes/", pod="default/web")
    assert (again.status_code, again["HX-Reswap"]) == (200, "outerHTML")
    text = again.content.decode()
    assert say("progress.turn") in text
    assert 'hx-get="?pod=default%2Fweb&amp;part=answer" hx-trigger="load delay:1s"' in text
    assert (program.status_code, say("limits.occupied") in program.content.decode()) == (409, True)
    answer = small.client.get(small.url("fixes/"), {"pod": "default/web", "part": "answer"})
    assert 'id="fix-1"' in answer.content.decode()


@pytest.mark.django_db
def test_a_page_that_waits_takes_no_place_among_the_requests_that_wait(small: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 0)
    with turns.turn(small.sandbox.pk):
        again = small.client.get(small.url("fixes/"), {"pod": "default/web", "part": "answer"})
        program = small.get("fixes/", pod="default/web")
    assert (again.status_code, say("progress.turn") in again.content.decode()) == (200, True)
    assert (program.status_code, say("limits.waiting") in program.content.decode()) == (503, True)


@pytest.mark.django_db
def test_whoever_stopped_an_answer_can_start_it_again(small: Any) -> None:
    page = small.watching().get("fixes/", pod="default/web", part="stopped").content.decode()
    assert say("progress.stopped") in page
    assert 'href="?pod=default%2Fweb"' in page


def test_what_begins_after_a_client_has_left_is_stopped_at_once() -> None:
    caller, stops = Caller(), list[str]()
    with working_for(caller):
        with stopped_by(lambda: stops.append("before")):
            pass
        with stopped_by(lambda: stops.append("during")):
            caller.leave()
        with stopped_by(lambda: stops.append("after")):
            pass
    with stopped_by(lambda: stops.append("nobody left")):
        pass
    assert stops == ["during", "after"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_parts_that_are_shown_already_do_not_come_again(pool: Pool, small: Any) -> None:
    found = engines.read(small.sandbox, jobs.fixes, "default/web")
    news = SoFar("2 of at most 150 changes tried", {**found, "fixes": found["fixes"][:1]})
    call = Call(Plan.of(small.sandbox), START, "fixes", ("default/web", None))
    pool.jobs[-1] = Pending(call, so_far=news)
    first = small.get("fixes/", pod="default/web", part="so-far").content.decode()
    assert news.text in first
    assert first.count('class="scen"') == 1
    shown = re.findall(r"shown=(\d+)", first)[0]
    again = small.get("fixes/", pod="default/web", part="so-far", shown=shown).content.decode()
    assert news.text in again
    assert 'class="scen"' not in again
    assert small.get("fixes/", pod="default/other", part="so-far").status_code == 204
    del pool.jobs[-1]


def large(visitor: Any) -> Any:
    """Fill a sandbox so that its answers take long: 100 workloads want to grow, and each node could go."""
    nodes = [make_node(f"n{n}").zone("abc"[n % 3]).capacity(cpu="4", pods="110").obj() for n in range(300)]
    pod = make_pod("web").cpu("1m").obj()
    workloads = [deployment(f"d{number}", 5, cpu="1m") for number in range(100)]
    store.execute(visitor.sandbox, {"kind": "apply", "manifests": [*nodes, *workloads, pod]})
    store.execute(visitor.sandbox, {"kind": "settle"})
    return visitor


def asked(caller: Caller, visitor: Any, job: Any, *args: Any) -> Future[Any]:
    def work() -> Any:
        with working_for(caller):
            return engines.read(visitor.sandbox, job, *args)

    return ThreadPoolExecutor(1).submit(work)


ASKED = (
    (jobs.still_fits, (None,), r"of 100 workloads counted\. [1-9]\d* copies placed\."),
    (jobs.difference, (Other(seed=7), None), "The other run: "),
    (jobs.leave, ("", "a", None), r"of 1\d\d pods have left\. On the copy: \d+ of \d+ pods bound"),
    (jobs.fit, (Asked("default/web"), None), r"[1-9]\d* copies placed\."),
)
"""A question that takes long, its arguments, and a pattern of its progress."""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_answer_reports_its_progress_and_stops_when_its_client_leaves(pool: Pool, visitor: Any) -> None:
    large(visitor)
    for job, args, words in ASKED:
        reports_and_stops(visitor, job, args, words)
        assert not pool.jobs
    assert store.execute(visitor.sandbox, {"kind": "apply", "manifests": [make_pod("later").obj()]}).head == 3


def reports_and_stops(visitor: Any, job: Any, args: tuple[Any, ...], words: str) -> None:
    caller = Caller()
    answer = asked(caller, visitor, job, *args)

    def told() -> bool:
        news = engines.so_far(visitor.sandbox, job, *args)
        return news is not None and bool(re.search(words, news.text))

    until(told)
    assert not answer.done(), words
    caller.leave()
    with pytest.raises(Stopped):
        answer.result(JOB_SECONDS)
