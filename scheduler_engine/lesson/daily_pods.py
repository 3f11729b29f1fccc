"""Daily problems in which one pod waits, because of its spec or the nodes' labels and taints."""

from __future__ import annotations

from random import Random

from scheduler_engine.lesson.daily_parts import (
    APPS,
    DOCS,
    POOLS,
    SETTLED,
    apply,
    document,
    item,
    node,
    node_names,
    patch,
    pod,
    replace,
    runs,
    same_nodes,
    to_node,
    to_pod,
    untaint,
    wait,
    wrong,
)
from scheduler_engine.shapes import Data
from scheduler_engine.words import say

IMMUTABLE = "pod updates may not change fields other than"


def toleration(draw: Random) -> Data:
    """Draw a pod that may go to only one node, and does not tolerate its taint."""
    app, pool = draw.choice(APPS), draw.choice(POOLS)
    value = draw.choice(("reserved", "team-a", "team-b", "night", "paid"))
    names = node_names(draw, draw.randint(2, 4))
    milli, target, name = draw.randrange(250, 2000, 250), draw.choice(names), f"{app}-1"
    taint = {"key": f"example.com/{pool}", "value": value, "effect": "NoSchedule"}
    nodes = [node(each, 4, {"pool": pool}, [taint]) if each == target else node(each) for each in names]

    def tolerate(**more: str) -> Data:
        return patch("Pod", f"default/{name}", {"spec": {"tolerations": [{"key": taint["key"], **more}]}})

    part = {
        "text": say(
            "daily-toleration.text", pod_link=to_pod(name), node_link=to_node(target), pool=pool, nodes=len(names)
        ),
        "task": say("daily-toleration.task", pod=name, node=target),
        "check": [
            item(
                say("daily-checks.runs-on", pod=name, node=target),
                {"pod": f"default/{name}", "node": target, "phase": "Running"},
            ),
            item(
                say("daily-checks.keeps-taint", node=target),
                {"object": f"Node {target}", "has": {"spec": {"taints": [taint]}}},
            ),
            item(say("daily-checks.never-deleted", pod=name), {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            say("daily-toleration.hint-1", node=target),
            say("daily-toleration.hint-2"),
            say("daily-toleration.hint-3", pod=name, key=taint["key"], value=value),
        ],
        "right": [[tolerate(value=value), SETTLED], [tolerate(operator="Exists"), SETTLED]],
        "wrong": [
            wrong(say("daily-checks.runs-on", pod=name, node=target), tolerate(value="yes"), SETTLED),
            wrong(say("daily-checks.keeps-taint", node=target), untaint(target, taint["key"]), SETTLED),
        ],
        "then": say("daily-toleration.then", node=target, pod=name),
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "TaintToleration", "attempt": 1}],
    }
    head = {
        "title": say("daily-toleration.title", pod=name, pool=pool),
        "group": say("daily-toleration.group"),
        "about": say("daily-toleration.about"),
        "source": say("daily-toleration.source", docs=DOCS),
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={"pool": pool})), {"settle": {}}]
    return document(
        draw,
        head,
        setup,
        part,
        [say("daily-toleration.know")],
    )


SLIPS = (
    ("disk", "ssd", "sdd"),
    ("tier", "frontend", "front-end"),
    ("arch", "arm64", "arm-64"),
    ("rack", "r12", "r-12"),
    ("network", "10g", "10-g"),
    ("site", "berlin", "Berlin"),
)
"""Label, its value on the node, and the mistyped value in the pod's nodeSelector."""


def selector(draw: Random) -> Data:
    """Draw a pod with a typo in its nodeSelector: no node has that value."""
    app, (label, true, slip) = draw.choice(APPS), draw.choice(SLIPS)
    names = node_names(draw, draw.randint(2, 5))
    target, name, milli = draw.choice(names), f"{app}-{draw.randint(1, 9)}", draw.randrange(250, 1500, 250)
    nodes = [node(each, 4, {label: true if each == target else "other"}) for each in names]
    part = {
        "text": say("daily-selector.text", pod_link=to_pod(name), nodes=len(names), node_link=to_node(target)),
        "task": say("daily-selector.task", pod=name, node=target),
        "check": [
            item(
                say("daily-checks.runs-on", pod=name, node=target),
                {"pod": f"default/{name}", "node": target, "phase": "Running"},
            ),
            item(say("daily-checks.scheduler-chose"), {"winner": f"default/{name}", "node": target}),
            item(
                say("daily-checks.keeps-selector", pod=name, label=label),
                {"verdict": f"default/{name}", "node": next(each for each in names if each != target), "passes": False},
            ),
            item(
                say("daily-checks.accepts-others", node=target),
                {"object": f"Node {target}", "has": {"spec": {"unschedulable": None}}},
            ),
            same_nodes(names),
        ],
        "hints": [
            say("daily-selector.hint-1", node=target),
            say("daily-selector.hint-2", label=label),
            say("daily-selector.hint-3", pod=name, mistyped=slip, right=true, node=target),
        ],
        "right": [
            [patch("Node", target, {"metadata": {"labels": {label: slip}}}), wait(15)],
            [replace(pod(name, app, milli, nodeSelector={label: true})), SETTLED],
        ],
        "wrong": [
            wrong(IMMUTABLE, patch("Pod", f"default/{name}", {"spec": {"nodeSelector": {label: true}}})),
            wrong(say("daily-checks.runs-on", pod=name, node=target), wait(400)),
        ],
        "then": say("daily-selector.then", pod=name, label=label, mistyped=slip, node=target, right=true),
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "NodeAffinity", "attempt": 1}],
    }
    head = {
        "title": say("daily-selector.title", pod=name),
        "group": say("daily-selector.group"),
        "about": say("daily-selector.about"),
        "source": say("daily-selector.source", docs=DOCS),
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={label: slip})), {"settle": {}}]
    return document(draw, head, setup, part, [say("daily-selector.know")])


def gate(draw: Random) -> Data:
    """Draw a pod with two scheduling gates that nobody removes."""
    app, names = draw.choice(APPS), node_names(draw, draw.randint(1, 4))
    words = draw.sample(("quota", "licence", "approval", "budget", "audit", "image-scan"), 2)
    name, milli = f"{app}-{draw.randint(1, 9)}", draw.randrange(250, 2000, 250)
    gates = [{"name": f"example.com/{word}"} for word in words]
    beside = pod("other-1", "other", milli)

    def leave(left: list[dict[str, str]] | None) -> Data:
        return patch("Pod", f"default/{name}", {"spec": {"schedulingGates": left}})

    part = {
        "text": say("daily-gate.text", pod_link=to_pod(name), other_link=to_pod("other-1"), pod=name),
        "task": say("daily-gate.task", pod=name),
        "check": [
            item(say("daily-checks.runs", pod=name), runs(name)),
            item(say("daily-checks.scheduler-chose"), {"winner": f"default/{name}"}),
            item(say("daily-checks.never-deleted", pod=name), {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            say("daily-gate.hint-1", pod=name),
            say("daily-gate.hint-2"),
            say("daily-gate.hint-3", gate=words[0], other_gate=words[1], pod=name),
        ],
        "right": [
            [leave(None), SETTLED],
            [apply(pod(name, app, milli)), SETTLED],
            [leave(gates[1:]), leave(None), SETTLED],
        ],
        "wrong": [
            wrong(say("daily-checks.runs", pod=name), leave(gates[1:]), SETTLED),
            wrong(say("daily-checks.runs", pod=name), apply(node("extra-1", 16)), wait(400)),
        ],
        "then": say("daily-gate.then", pod=name, gate=words[0], other_gate=words[1]),
        "expect": [{"waits": f"default/{name}", "in": "nowhere"}],
    }
    head = {
        "title": say("daily-gate.title", pod=name),
        "group": say("daily-gate.group"),
        "about": say("daily-gate.about"),
        "source": say("daily-gate.source", docs=DOCS),
        "par": 1,
    }
    setup = [
        apply(*(node(each) for each in names), pod(name, app, milli, schedulingGates=gates), beside),
        {"settle": {}},
    ]
    return document(
        draw,
        head,
        setup,
        part,
        [say("daily-gate.know")],
    )


PROBLEMS = (toleration, selector, gate)
