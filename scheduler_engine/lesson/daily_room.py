"""Daily problems in which a pod waits because no node has room for it, but you can make room."""

from __future__ import annotations

from random import Random

from scheduler_engine.lesson.daily_parts import (
    APPS,
    DOCS,
    apply,
    asks,
    delete,
    document,
    item,
    node,
    node_names,
    pod,
    replace,
    runs,
    same_nodes,
    stays,
    to_pod,
    wait,
    wrong,
)
from scheduler_engine.shapes import Data
from scheduler_engine.words import say


def fragments(draw: Random) -> Data:
    """Draw a cluster with enough free CPU, but not on one node: only one of the test runs makes room if deleted."""
    app, keep = draw.sample(APPS, 2)
    names = node_names(draw, draw.randint(3, 5))
    name, need, target = f"{app}-1", draw.randrange(2000, 3001, 250), draw.choice(names)
    setup: list[Data] = [apply(*(node(each) for each in names))]
    left: dict[str, int] = {}
    pods: list[Data] = []
    for number, each in enumerate(names):
        free = draw.randrange(1000, need - 499, 250)
        scratch = need - free + draw.choice((0, 250)) if each == target else need - free - 250
        kept = 4000 - free - scratch
        left |= {f"{keep}-{number}": kept} | ({} if each == target else {f"test-{number}": scratch})
        pods.append(pod(f"{keep}-{number}", keep, kept, nodeName=each))
        pods.append(pod(f"test-{number}", "test", scratch, nodeName=each))
    setup += [apply(*pods), {"settle": {}}, apply(pod(name, app, need)), {"settle": {}}]
    place = names.index(target)
    other = (place + 1) % len(names)
    part = {
        "text": say(
            "daily-fragments.text",
            pod_link=to_pod(name),
            milli=need,
            nodes=len(names),
            kept=keep,
            kept_link=to_pod(f"{keep}-{place}"),
            test_link=to_pod(f"test-{place}"),
        ),
        "task": say("daily-fragments.task", pod=name, kept=keep),
        "check": [
            item(
                say("daily-checks.runs-as-chosen", pod=name),
                runs(name),
                {"winner": f"default/{name}", "node": target},
                {"requested": target, "cpu": f"{left[f'{keep}-{place}'] + need}m", "memory": "256Mi"},
            ),
            item(
                say("daily-checks.none-of-deleted", kept=keep),
                *({"never": "deleted", "of": f"default/{keep}-{number}"} for number in range(len(names))),
            ),
            item(
                say("daily-checks.tests-run"),
                *(runs(f"test-{number}") for number in range(len(names)) if number != place),
            ),
            asks({name: need} | left),
            item(say("daily-checks.none-resized"), {"never": "resized"}),
            same_nodes(names),
        ],
        "hints": [
            say("daily-fragments.hint-1"),
            say("daily-fragments.hint-2", milli=need),
            say("daily-fragments.hint-3", number=place, node=target),
        ],
        "right": [
            [delete(f"test-{place}"), wait(45)],
            [{"evict": {"pod": f"default/test-{place}"}}, wait(45)],
        ],
        "wrong": [
            wrong(say("daily-checks.runs", pod=name), delete(f"test-{other}"), wait(45)),
            wrong(say("daily-checks.same-nodes"), apply(node("extra-1", 8)), wait(20)),
        ],
        "then": say("daily-fragments.then", node=target, milli=need),
        "expect": [{"failed": f"default/{name}", "attempt": 1}],
    }
    head = {
        "title": say("daily-fragments.title", pod=name),
        "group": say("daily-fragments.group"),
        "about": say("daily-fragments.about"),
        "source": say("daily-fragments.source"),
        "par": 5,
        "tab": "filter",
    }
    return document(draw, head, setup, part, [say("daily-fragments.know")])


def never_preempts(draw: Random) -> Data:
    """Draw a pod of high priority that waits, because its class never preempts."""
    app, low, kept = draw.sample(APPS, 3)
    names = node_names(draw, draw.randint(2, 4))
    value, name, place = draw.randrange(1000, 90000, 1000), f"{app}-1", draw.randrange(0, 2)
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": each}, "value": value}
        | ({"preemptionPolicy": "Never"} if each == "patient" else {})
        for each in ("patient", "urgent")
    ]
    pods = [pod(f"{low}-{number}", low, 3000, nodeName=each) for number, each in enumerate(names)]
    vital = pod(f"{kept}-1", kept, 1000, nodeName=names[place])
    small = delete(f"{kept}-1")
    part = {
        "text": say(
            "daily-never-preempts.text",
            pod_link=to_pod(name),
            value=value,
            nodes=len(names),
            app=low,
            low_link=to_pod(f"{low}-0"),
            pod=name,
            kept_link=to_pod(f"{kept}-1"),
        ),
        "task": say("daily-never-preempts.task", pod=name, value=value, app=low),
        "check": [
            item(
                say("daily-checks.runs-with-priority", pod=name, value=value),
                runs(name),
                {"winner": f"default/{name}"},
                {"object": f"Pod default/{name}", "has": {"spec": {"priority": value}}},
            ),
            stays(f"{kept}-1"),
            item(
                say("daily-checks.one-left", app=low),
                {
                    "spans": {
                        "selector": {"app": low},
                        "per": "kubernetes.io/hostname",
                        "atLeast": len(names) - 1,
                        "atMost": len(names) - 1,
                    }
                },
            ),
            asks({name: 2000, f"{kept}-1": 1000}),
            item(say("daily-checks.none-resized"), {"never": "resized"}),
            same_nodes(names),
        ],
        "hints": [
            say("daily-never-preempts.hint-1", pod=name),
            say("daily-never-preempts.hint-2"),
            say("daily-never-preempts.hint-3", app=low, pod=name),
        ],
        "right": [
            [{"evict": {"pod": f"default/{low}-{1 - place}"}}, wait(45)],
            [replace(pod(name, app, 2000, priorityClassName="urgent")), wait(45)],
        ],
        "wrong": [
            wrong(say("daily-checks.never-deleted", pod=f"{kept}-1"), small, wait(45)),
            wrong(say("daily-checks.runs", pod=name), wait(400)),
        ],
        "then": say("daily-never-preempts.then", pod=name),
        "expect": [{"never": "preempted"}],
    }
    head = {
        "title": say("daily-never-preempts.title", pod=name),
        "group": say("daily-never-preempts.group"),
        "about": say("daily-never-preempts.about"),
        "source": say("daily-never-preempts.source", docs=DOCS),
        "par": 5,
        "tab": "preemption",
    }
    nodes = [node(each) for each in names]
    setup = [
        apply(*classes, *nodes),
        apply(*pods, vital),
        {"settle": {}},
        apply(pod(name, app, 2000, priorityClassName="patient")),
        {"settle": {}},
    ]
    return document(
        draw,
        head,
        setup,
        part,
        [say("daily-never-preempts.know")],
    )


PROBLEMS = (fragments, never_preempts)
