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

TAINT = {"key": "maintenance", "effect": "NoSchedule"}


def _all_run(app: str, count: int) -> Data:
    return item(f"All {count} pods of {app} run.", *(runs(f"{app}-{number}") for number in range(count)))


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
        "text": f"The StatefulSet {app} has {count} replicas, {all_to_pods(app, count)}. They refuse to share a node. "
        f"There are {len(names)} nodes, and somebody did maintenance on {to_node(shut)}. {len(names) - 1} of the "
        "replicas run. See in [the queues](pane:queues) which pods wait, and why.",
        "task": f"Get each of the {count} replicas onto a separate node. Do not change the anti-affinity of {app}, and "
        "delete no pod.",
        "check": [
            _all_run(app, count),
            item(
                f"No two of them share a node, and all keep the label app={app}.",
                {"distinctNodes": {"selector": {"app": app}}},
                *labelled(app, count),
            ),
            item(f"{app} still has its anti-affinity.", _template(app, "affinity", affinity)),
            item("No pod has been deleted.", {"never": "deleted"}),
        ],
        "hints": [
            f"How many nodes do {count} such pods need, and how many can they use now?",
            f"{shut} accepts no pods. Even if it did, there would be one node too few.",
            f"{f'Uncordon {shut}' if cordoned else f'Remove the taint from {shut}'}, and add one node.",
        ],
        "right": [[opened, more, wait(15)], [apply(node("extra-1"), node("extra-2")), wait(15)]],
        "wrong": [
            wrong(f"All {count} pods of {app} run", opened, wait(15)),
            wrong(f"All {count} pods of {app} run", more, wait(15)),
        ],
        "then": f"{count} replicas that avoid each other need {count} nodes, but they could use only {len(names) - 1}. "
        "The message counted the nodes that *didn't match pod anti-affinity rules*, and the closed one. Opening a "
        "node costs less than adding one.",
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": f"{count} replicas of {app}",
        "group": "Affinity",
        "about": "Replicas that avoid each other, and too few nodes.",
        "source": f"Kubernetes documentation, “Assigning Pods to Nodes”: {DOCS}/assign-pod-node/",
        "par": 11,
        "tab": "filter",
    }
    return document(
        draw,
        head,
        begin,
        part,
        ["With required anti-affinity over host names there are never more replicas than nodes."],
    )


def spread(draw: Random) -> Data:
    """Draw a zone that counts for the spread but accepts no pods: its node is cordoned, tainted or too small."""
    app, cause = draw.choice(APPS), draw.choice(("cordoned", "tainted", "small"))
    zones = draw.sample(("east", "west", "north", "south", "middle"), draw.randint(2, 3))
    problem = "too small" if cause == "small" else cause
    count, names, milli = 2 * len(zones), node_names(draw, len(zones)), draw.randrange(500, 1001, 250)
    lost, zone = names[-1], zones[-1]
    remedies = {"cordoned": "Uncordon it", "tainted": "Remove its taint", "small": f"Add a node in zone {zone}"}
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
        "text": f"{app} has {count} replicas, {all_to_pods(app, count)}, spread over {len(zones)} zones with maxSkew "
        f"1. Only some of them run, although {to_node(names[0])} has much room. Look at [the map](pane:cluster), above "
        f"all at {to_node(lost)} in zone {zone}.",
        "task": f"Get all {count} replicas to run. {app} keeps its constraint. Remove no zone, and delete no pod.",
        "check": [
            _all_run(app, count),
            item(
                "The pod counts of any two zones differ by at most one.",
                {"skew": {"selector": {"app": app}, "per": ZONE, "atMost": 1}},
            ),
            item(
                f"Each zone has two pods of {app}, and all replicas keep the label app={app}.",
                {"count": {"selector": {"app": app}, "per": ZONE, "equals": dict.fromkeys(zones, 2)}},
                *labelled(app, count),
            ),
            item(f"{app} still has its constraint.", _template(app, "topologySpreadConstraints", [constraint])),
            asks({f"{app}-{number}": milli for number in range(count)}),
            item(
                f"{lost} has its old capacity, and is not overcommitted.",
                as_large(lost, last["status"]["capacity"]["cpu"]),
                *([{"requested": lost, "cpu": "0", "memory": "0"}] if cause == "small" else []),
            ),
            item("No pod has been deleted.", {"never": "deleted"}),
        ],
        "hints": [
            f"How many pods of {app} are in each zone? How many more may a zone have than the one with the fewest?",
            f"Zone {zone} has no pod, but it counts as long as it has a node. Why does {lost} accept none?",
            f"{lost} is {problem}. {remedies[cause]}.",
        ],
        "right": ways,
        "wrong": [
            wrong(f"All {count} pods of {app} run", apply(node("extra-1", 8, {ZONE: zones[0]})), wait(15)),
            wrong(f"All {count} pods of {app} run", wait(400)),
        ],
        "then": f"Zone {zone} counted as a domain with no pod, so each other zone could have only one. The message "
        f"said *didn't match pod topology spread constraints*. {lost} was {problem}, but by default its zone counts "
        "all the same.",
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": f"{app} stops halfway",
        "group": "Spread",
        "about": "A spread constraint keeps pods off nodes with much room.",
        "source": f"Kubernetes documentation, “Pod Topology Spread Constraints”: {DOCS}/topology-spread-constraints/",
        "par": 10 if cause == "small" else 1,
        "tab": "filter",
    }
    return document(
        draw,
        head,
        begin,
        part,
        ["A zone counts as long as one of its nodes does. By default taints and lack of room do not change that."],
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
        "text": f"Somebody started to drain {to_node(first)} {waited} seconds ago. Its {count} pods, "
        f"{all_to_pods(app, count)}, are still there. In [Evictions](tab:evictions) every answer is 429. "
        f"{to_node(names[-1])} has enough room. A PodDisruptionBudget requires {count} healthy pods of {app}.",
        "task": f"Get the drain of {first} to finish. Do not change the budget, and do not bypass it by deleting pods.",
        "check": [
            item(
                f"{first} is empty, and still cordoned.",
                {"requested": first, "cpu": "0", "memory": "0"},
                {"object": f"Node {first}", "has": {"spec": {"unschedulable": True}}},
            ),
            item("The drain has finished.", {"trace": ["answered 429", "answered 200", f"Drain of {first} finished"]}),
            item(
                f"The budget still requires {count} pods.",
                {
                    "object": f"PodDisruptionBudget default/{app}",
                    "has": {"spec": {"minAvailable": count, "selector": selected}},
                },
            ),
            item(
                f"At least {count} pods of {app} were ready at all times.",
                {"ready": {"selector": selected["matchLabels"], "atLeast": count}},
            ),
            item(
                "The Eviction API evicted each pod.",
                *({"order": [{"evicted": f"default/{app}-{number}"}]} for number in range(count)),
            ),
            _all_run(app, count),
        ],
        "hints": [
            "How many pods are healthy, how many does the budget require, and how many can be spared?",
            "The API server allows an eviction as soon as one healthy pod more than required is there.",
            f"Scale {app} to {grown}, and let {40 * count} seconds pass.",
        ],
        "right": [
            [{"scale": {"object_kind": "StatefulSet", "key": f"default/{app}", "replicas": grown}}, wait(45 * count)],
            [patch("StatefulSet", f"default/{app}", {"spec": {"replicas": grown + 1}}), wait(45 * count)],
        ],
        "wrong": [
            wrong(f"{first} is empty", wait(300)),
            wrong(
                f"The budget still requires {count}",
                patch("PodDisruptionBudget", f"default/{app}", {"spec": {"minAvailable": count - 1}}),
                wait(45 * count),
            ),
            wrong(
                f"At least {count} pods of {app} were ready at all times",
                *({"delete": {"object_kind": "Pod", "key": f"default/{app}-{number}"}} for number in range(count)),
                wait(45 * count),
            ),
        ],
        "then": f"The budget required {count} of {count} pods, so none could be spared. The answer named both numbers. "
        "With one more replica the drain continued, one pod after the other.",
        "expect": [{"trace": [f"needs {count} healthy pods and has {count} currently"]}],
    }
    head = {
        "title": f"{first} is never empty",
        "group": "Eviction",
        "about": "A drain asks again and again, and always gets the same answer.",
        "source": f"Kubernetes documentation, “API-initiated Eviction”: {DOCS}/api-eviction/",
        "par": 1 + 5 * count,
        "tab": "evictions",
    }
    know = "If a budget requires every replica, a drain waits until its timeout. Without a timeout it waits forever."
    return document(draw, head, begin, part, [know])


PROBLEMS = (apart, spread, drain)
