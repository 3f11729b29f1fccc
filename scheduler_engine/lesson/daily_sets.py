"""Problems of the day in which several replicas must be apart, or always be available."""

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
    """Check that the StatefulSet's template still has this."""
    return {"object": f"StatefulSet default/{app}", "has": {"spec": {"template": {"spec": {name: has}}}}}


def apart(draw: Random) -> Data:
    """One replica more than nodes, each on a separate node; one node is cordoned as well."""
    app, names = draw.choice(APPS), node_names(draw, draw.randint(3, 5))
    count, shut, cordoned = len(names) + 1, draw.choice(names), draw.random() < 0.5
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [node(each, 4, None, [TAINT] if each == shut and not cordoned else ()) for each in names]
    replicas = stateful_set(app, count, draw.randrange(250, 1500, 250), affinity=affinity)
    begin = [apply(*nodes), *([cordon(shut)] if cordoned else []), apply(replicas), {"settle": {}}]
    opened, more = cordon(shut, False) if cordoned else untaint(shut, TAINT["key"]), apply(node("extra-1"))
    part = {
        "text": f"The StatefulSet {app} has {count} replicas, {all_to_pods(app, count)}, which refuse to share a "
        f"node. There are {len(names)} nodes, and on {to_node(shut)} somebody has been at work. {len(names) - 1} of "
        "the replicas run. See who waits in [the queues](pane:queues), and why.",
        "task": f"Bring all {count} replicas to nodes of their own. What {app} asks for stays, and so do the pods "
        "that run.",
        "check": [
            _all_run(app, count),
            item(
                f"No two of them share a node, and all keep the label app={app}.",
                {"distinctNodes": {"selector": {"app": app}}},
                *labelled(app, count),
            ),
            item(f"{app} still asks for anti-affinity.", _template(app, "affinity", affinity)),
            item("No pod has been deleted.", {"never": "deleted"}),
        ],
        "hints": [
            f"How many nodes do {count} such pods need, and how many can they use now?",
            f"{shut} is shut, and even with it there is one node too few.",
            f"Open {shut} ({'uncordon it' if cordoned else 'take its taint'}), and add one node.",
        ],
        "right": [[opened, more, wait(15)], [apply(node("extra-1"), node("extra-2")), wait(15)]],
        "wrong": [
            wrong(f"All {count} pods of {app} run", opened, wait(15)),
            wrong(f"All {count} pods of {app} run", more, wait(15)),
        ],
        "then": f"{count} replicas that refuse one another need {count} nodes, and {len(names) - 1} could be used. "
        "One sees it in the message, which counts nodes that *didn't match pod anti-affinity rules* beside the one "
        "that is shut. Opening a node costs less than adding one.",
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": f"{count} replicas of {app}",
        "group": "Affinity",
        "about": "Replicas that refuse one another, and too few nodes.",
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
    """A zone counts for the spread, but accepts no pods: its one node is cordoned, or too small."""
    app, cause = draw.choice(APPS), draw.choice(("cordoned", "tainted", "small"))
    zones = draw.sample(("east", "west", "north", "south", "middle"), draw.randint(2, 3))
    told = "too small" if cause == "small" else cause
    count, names, milli = 2 * len(zones), node_names(draw, len(zones)), draw.randrange(500, 1001, 250)
    lost, zone = names[-1], zones[-1]
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
        "text": f"{app} wants {count} replicas, {all_to_pods(app, count)}, over {len(zones)} zones with a maxSkew of "
        f"1. Only some of them run, although {to_node(names[0])} has much room. Look at [the map](pane:cluster), and "
        f"at zone {zone} with {to_node(lost)} above all.",
        "task": f"Let all {count} replicas run. {app} keeps its constraint, and no zone and no pod goes away.",
        "check": [
            _all_run(app, count),
            item(
                "No zone has more than one more than another.",
                {"skew": {"selector": {"app": app}, "per": ZONE, "atMost": 1}},
            ),
            item(
                f"Each zone has two pods of {app}, all of them replicas.",
                {"count": {"selector": {"app": app}, "per": ZONE, "equals": dict.fromkeys(zones, 2)}},
                *labelled(app, count),
            ),
            item(f"{app} still has its constraint.", _template(app, "topologySpreadConstraints", [constraint])),
            asks({f"{app}-{number}": milli for number in range(count)}),
            item(
                f"{lost} has not grown, and is not overcommitted.",
                as_large(lost, last["status"]["capacity"]["cpu"]),
                *([{"requested": lost, "cpu": "0", "memory": "0"}] if cause == "small" else []),
            ),
            item("No pod has been deleted.", {"never": "deleted"}),
        ],
        "hints": [
            f"How many pods of {app} are in each zone, and how many more may one have than the one with the fewest?",
            f"Zone {zone} counts, with no pod in it, as long as there is a node. Why does {lost} take none?",
            f"{lost} is {told}. " + (f"Add a node in zone {zone}." if cause == "small" else f"Open {lost} again."),
        ],
        "right": ways,
        "wrong": [
            wrong(f"All {count} pods of {app} run", apply(node("extra-1", 8, {ZONE: zones[0]})), wait(15)),
            wrong(f"All {count} pods of {app} run", wait(400)),
        ],
        "then": f"Zone {zone} was a domain of the constraint, with no pod, so that each other zone could have one. "
        f"One sees it in the message *didn't match pod topology spread constraints*. {lost} was {told}, and that "
        "alone does not take a zone out of the count.",
        "expect": [{"failed": f"default/{app}-{count - 1}", "attempt": 1}],
    }
    head = {
        "title": f"{app} stops half-way",
        "group": "Spread",
        "about": "A constraint keeps pods from nodes that have much room.",
        "source": f"Kubernetes documentation, “Pod Topology Spread Constraints”: {DOCS}/topology-spread-constraints/",
        "par": 10 if cause == "small" else 1,
        "tab": "filter",
    }
    return document(
        draw,
        head,
        begin,
        part,
        ["A zone counts as long as one of its nodes does. A taint or a lack of room does not change that by default."],
    )


def drain(draw: Random) -> Data:
    """A budget requires every replica, and a node is being drained."""
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
        "text": f"For {waited} seconds somebody has been draining {to_node(first)}. Its {count} pods, "
        f"{all_to_pods(app, count)}, are still there, and [Evictions](tab:evictions) has 429 as the only answer. "
        f"There is room enough on {to_node(names[-1])}. A PodDisruptionBudget wants {count} pods of {app}.",
        "task": f"Let the drain of {first} end by itself. The budget stays as it is, and nobody is deleted past it.",
        "check": [
            item(
                f"{first} is empty, and still cordoned.",
                {"requested": first, "cpu": "0", "memory": "0"},
                {"object": f"Node {first}", "has": {"spec": {"unschedulable": True}}},
            ),
            item("The drain has finished.", {"trace": ["answered 429", "answered 200", f"Drain of {first} finished"]}),
            item(
                f"The budget still wants {count}.",
                {
                    "object": f"PodDisruptionBudget default/{app}",
                    "has": {"spec": {"minAvailable": count, "selector": selected}},
                },
            ),
            item(
                f"{count} pods of {app} have been ready all the time.",
                {"ready": {"selector": selected["matchLabels"], "atLeast": count}},
            ),
            item(
                "Each pod left by the Eviction API.",
                *({"order": [{"evicted": f"default/{app}-{number}"}]} for number in range(count)),
            ),
            _all_run(app, count),
        ],
        "hints": [
            "How many pods are healthy, how many does the budget want, and what is left over?",
            "An eviction is agreed to as soon as there is one healthy pod more than the budget wants.",
            f"Scale {app} to {grown}, and let {40 * count} seconds pass.",
        ],
        "right": [
            [{"scale": {"object_kind": "StatefulSet", "key": f"default/{app}", "replicas": grown}}, wait(45 * count)],
            [patch("StatefulSet", f"default/{app}", {"spec": {"replicas": grown + 1}}), wait(45 * count)],
        ],
        "wrong": [
            wrong(f"{first} is empty", wait(300)),
            wrong(
                f"The budget still wants {count}",
                patch("PodDisruptionBudget", f"default/{app}", {"spec": {"minAvailable": count - 1}}),
                wait(45 * count),
            ),
            wrong(
                f"{count} pods of {app} have been ready all the time",
                *({"delete": {"object_kind": "Pod", "key": f"default/{app}-{number}"}} for number in range(count)),
                wait(45 * count),
            ),
        ],
        "then": f"The budget wanted {count} of {count} pods, so that none could ever be spared. One sees it in the "
        "answer, which names both numbers. With one replica more the drain goes on, one pod after the other.",
        "expect": [{"trace": [f"needs {count} healthy pods and has {count} currently"]}],
    }
    head = {
        "title": f"{first} does not get empty",
        "group": "Eviction",
        "about": "A drain asks and asks, and gets the same answer.",
        "source": f"Kubernetes documentation, “API-initiated Eviction”: {DOCS}/api-eviction/",
        "par": 1 + 5 * count,
        "tab": "evictions",
    }
    know = "A budget that wants every replica lets a drain wait until its timeout, and without a timeout for ever."
    return document(draw, head, begin, part, [know])


PROBLEMS = (apart, spread, drain)
