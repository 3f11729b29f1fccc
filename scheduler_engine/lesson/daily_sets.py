"""Daily problems in which replicas must be on separate nodes or zones, or must stay available."""

from __future__ import annotations

from random import Random

from scheduler_engine.lesson.daily_parts import (
    APPS,
    DOCS,
    HOSTNAME,
    ZONE,
    all_to_pods,
    apply,
    as_large,
    asks,
    cordon,
    document,
    item,
    labelled,
    node,
    node_names,
    patch,
    runs,
    stateful_set,
    to_node,
    untaint,
    wait,
    wrong,
)
from scheduler_engine.shapes import Data
from scheduler_engine.words import say

TAINT = {"key": "maintenance", "effect": "NoSchedule"}


def _all_run(app: str, count: int) -> Data:
    return item(
        say("daily-checks.all-run", count=count, app=app), *(runs(f"{app}-{number}") for number in range(count))
    )


def _template(app: str, name: str, has: object) -> Data:
    """Return a check that the template of the StatefulSet still has this value."""
    return {"object": f"StatefulSet default/{app}", "has": {"spec": {"template": {"spec": {name: has}}}}}


def apart(draw: Random) -> Data:
    """Draw replicas that need separate nodes: one more than there are nodes, and one node is closed."""
    app, names = draw.choice(APPS), node_names(draw, draw.randint(3, 5))
    count, shut, cordoned = len(names) + 1, draw.choice(names), draw.random() < 0.5
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [node(each, 4, None, [TAINT] if each == shut and not cordoned else ()) for each in names]
    replicas = stateful_set(app, count, draw.randrange(250, 1500, 250), affinity=affinity)
    begin = [apply(*nodes), *([cordon(shut)] if cordoned else []), apply(replicas), {"settle": {}}]
    opened, more = cordon(shut, False) if cordoned else untaint(shut, TAINT["key"]), apply(node("extra-1"))
    part = {
        "text": say(
            "daily-apart.text",
            app=app,
            count=count,
            pod_links=all_to_pods(app, count),
            nodes=len(names),
            node_link=to_node(shut),
            usable=len(names) - 1,
        ),
        "task": say("daily-apart.task", count=count, app=app),
        "check": [
            _all_run(app, count),
            item(
                say("daily-checks.none-share", app=app),
                {"distinctNodes": {"selector": {"app": app}}},
                *labelled(app, count),
            ),
            item(say("daily-checks.keeps-anti-affinity", app=app), _template(app, "affinity", affinity)),
            item(say("daily-checks.none-deleted"), {"never": "deleted"}),
        ],
        "hints": [
            say("daily-apart.hint-1", count=count),
            say("daily-apart.hint-2", node=shut),
            say("daily-apart.uncordon" if cordoned else "daily-apart.untaint", node=shut),
        ],
        "right": [[opened, more, wait(15)], [apply(node("extra-1"), node("extra-2")), wait(15)]],
        "wrong": [
            wrong(say("daily-checks.all-run", count=count, app=app), opened, wait(15)),
            wrong(say("daily-checks.all-run", count=count, app=app), more, wait(15)),
        ],
        "then": say("daily-apart.then", count=count, usable=len(names) - 1),
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": say("daily-apart.title", count=count, app=app),
        "group": say("daily-apart.group"),
        "about": say("daily-apart.about"),
        "source": say("daily-apart.source", docs=DOCS),
        "par": 11,
        "tab": "filter",
    }
    return document(
        draw,
        head,
        begin,
        part,
        [say("daily-apart.know")],
    )


def spread(draw: Random) -> Data:
    """Draw a zone that counts for the spread but accepts no pods: its node is cordoned, tainted or too small."""
    app, cause = draw.choice(APPS), draw.choice(("cordoned", "tainted", "small"))
    zones = draw.sample(("east", "west", "north", "south", "middle"), draw.randint(2, 3))
    problem = say(f"daily-spread.is-{cause}")
    count, names, milli = 2 * len(zones), node_names(draw, len(zones)), draw.randrange(500, 1001, 250)
    lost, zone = names[-1], zones[-1]
    remedy = say(f"daily-spread.remedy-{cause}", zone=zone)
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    constraint |= {"labelSelector": {"matchLabels": {"app": app}}}
    nodes = [node(name, 8, {ZONE: each}) for name, each in zip(names[:-1], zones, strict=False)]
    taints = [TAINT] if cause == "tainted" else ()
    last = node(lost, 1 if cause == "small" else 8, {ZONE: zone}, taints)
    if cause == "small":
        last["status"]["capacity"]["cpu"] = "200m"
    replicas = stateful_set(app, count, milli, topologySpreadConstraints=[constraint])
    begin = [apply(*nodes, last), *([cordon(lost)] if cause == "cordoned" else []), apply(replicas), {"settle": {}}]
    bought = apply(node("extra-1", 8, {ZONE: zone}))
    opened = {"cordoned": cordon(lost, False), "tainted": untaint(lost, TAINT["key"]), "small": bought}[cause]
    ways = [[opened, wait(15)], *([[bought, wait(15)]] if opened != bought else [])]
    part = {
        "text": say(
            "daily-spread.text",
            app=app,
            count=count,
            pod_links=all_to_pods(app, count),
            zones=len(zones),
            other_link=to_node(names[0]),
            node_link=to_node(lost),
            zone=zone,
        ),
        "task": say("daily-spread.task", count=count, app=app),
        "check": [
            _all_run(app, count),
            item(
                say("daily-checks.even"),
                {"skew": {"selector": {"app": app}, "per": ZONE, "atMost": 1}},
            ),
            item(
                say("daily-checks.two-in-each", app=app),
                {"count": {"selector": {"app": app}, "per": ZONE, "equals": dict.fromkeys(zones, 2)}},
                *labelled(app, count),
            ),
            item(
                say("daily-checks.keeps-constraint", app=app), _template(app, "topologySpreadConstraints", [constraint])
            ),
            asks({f"{app}-{number}": milli for number in range(count)}),
            item(
                say("daily-checks.keeps-capacity", node=lost),
                as_large(lost, last["status"]["capacity"]["cpu"]),
                *([{"requested": lost, "cpu": "0", "memory": "0"}] if cause == "small" else []),
            ),
            item(say("daily-checks.none-deleted"), {"never": "deleted"}),
        ],
        "hints": [
            say("daily-spread.hint-1", app=app),
            say("daily-spread.hint-2", zone=zone, node=lost),
            say("daily-spread.hint-3", node=lost, problem=problem, remedy=remedy),
        ],
        "right": ways,
        "wrong": [
            wrong(
                say("daily-checks.all-run", count=count, app=app), apply(node("extra-1", 8, {ZONE: zones[0]})), wait(15)
            ),
            wrong(say("daily-checks.all-run", count=count, app=app), wait(400)),
        ],
        "then": say("daily-spread.then", zone=zone, node=lost, problem=problem),
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": say("daily-spread.title", app=app),
        "group": say("daily-spread.group"),
        "about": say("daily-spread.about"),
        "source": say("daily-spread.source", docs=DOCS),
        "par": 10 if cause == "small" else 1,
        "tab": "filter",
    }
    return document(
        draw,
        head,
        begin,
        part,
        [say("daily-spread.know")],
    )


def drain(draw: Random) -> Data:
    """Draw a drain that a budget blocks, because it requires every replica."""
    app, count = draw.choice(APPS), draw.randint(2, 4)
    names, waited = node_names(draw, draw.randint(2, 4)), draw.randrange(30, 91, 10)
    selected = {"matchLabels": {"app": app}}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app}}
    budget |= {"spec": {"minAvailable": count, "selector": selected}}
    first, later = names[0], names[1:]
    begin = [apply(node(first), budget, stateful_set(app, count, draw.randrange(250, 751, 250))), {"settle": {}}]
    begin += [apply(*(node(each) for each in later)), {"drain": {"node": first}}, wait(waited)]
    grown = count + 1
    part = {
        "text": say(
            "daily-drain.text",
            node_link=to_node(first),
            seconds=waited,
            count=count,
            pod_links=all_to_pods(app, count),
            other_link=to_node(names[-1]),
            app=app,
        ),
        "task": say("daily-drain.task", node=first),
        "check": [
            item(
                say("daily-checks.empty", node=first),
                {"requested": first, "cpu": "0", "memory": "0"},
                {"object": f"Node {first}", "has": {"spec": {"unschedulable": True}}},
            ),
            item(
                say("daily-checks.drain-finished"),
                {"trace": ["answered 429", "answered 200", f"Drain of {first} finished"]},
            ),
            item(
                say("daily-checks.keeps-budget", count=count),
                {
                    "object": f"PodDisruptionBudget default/{app}",
                    "has": {"spec": {"minAvailable": count, "selector": selected}},
                },
            ),
            item(
                say("daily-checks.always-ready", count=count, app=app),
                {"ready": {"selector": selected["matchLabels"], "atLeast": count}},
            ),
            item(
                say("daily-checks.all-evicted"),
                *({"order": [{"evicted": f"default/{app}-{number}"}]} for number in range(count)),
            ),
            _all_run(app, count),
        ],
        "hints": [
            say("daily-drain.hint-1"),
            say("daily-drain.hint-2"),
            say("daily-drain.hint-3", app=app, more=grown, seconds=40 * count),
        ],
        "right": [
            [{"scale": {"object_kind": "StatefulSet", "key": f"default/{app}", "replicas": grown}}, wait(45 * count)],
            [patch("StatefulSet", f"default/{app}", {"spec": {"replicas": grown + 1}}), wait(45 * count)],
        ],
        "wrong": [
            wrong(say("daily-checks.empty-begins", node=first), wait(300)),
            wrong(
                say("daily-checks.keeps-budget-begins", count=count),
                patch("PodDisruptionBudget", f"default/{app}", {"spec": {"minAvailable": count - 1}}),
                wait(45 * count),
            ),
            wrong(
                say("daily-checks.always-ready", count=count, app=app),
                *({"delete": {"object_kind": "Pod", "key": f"default/{app}-{number}"}} for number in range(count)),
                wait(45 * count),
            ),
        ],
        "then": say("daily-drain.then", count=count),
        "expect": [{"trace": [f"needs {count} healthy pods and has {count} currently"]}],
    }
    head = {
        "title": say("daily-drain.title", node=first),
        "group": say("daily-drain.group"),
        "about": say("daily-drain.about"),
        "source": say("daily-drain.source", docs=DOCS),
        "par": 1 + 5 * count,
        "tab": "evictions",
    }
    return document(draw, head, begin, part, [say("daily-drain.know")])


PROBLEMS = (apart, spread, drain)
