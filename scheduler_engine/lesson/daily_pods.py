"""Problems of the day in which one pod waits, because of its own spec or of what is on the nodes."""

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

IMMUTABLE = "pod updates may not change fields other than"


def toleration(draw: Random) -> Data:
    """A pod may go to only one node, and lacks the toleration for its taint."""
    app, pool = draw.choice(APPS), draw.choice(POOLS)
    value = draw.choice(("reserved", "team-a", "team-b", "night", "paid"))
    names = node_names(draw, draw.randint(2, 4))
    milli, target, name = draw.randrange(250, 2000, 250), draw.choice(names), f"{app}-1"
    taint = {"key": f"example.com/{pool}", "value": value, "effect": "NoSchedule"}
    nodes = [node(each, 4, {"pool": pool}, [taint]) if each == target else node(each) for each in names]

    def tolerate(**more: str) -> Data:
        return patch("Pod", f"default/{name}", {"spec": {"tolerations": [{"key": taint["key"], **more}]}})

    part = {
        "text": f"{to_pod(name)} belongs on {to_node(target)}, the node of the pool {pool}, and its nodeSelector says "
        f"so. There are {len(names)} nodes with four CPUs each, and none of them takes it. See what each of them says "
        "in [the table](tab:filter).",
        "task": f"Bring {name} to {target}. It stays the same pod, and the node keeps its taint.",
        "check": [
            item(f"{name} runs on {target}.", {"pod": f"default/{name}", "node": target, "phase": "Running"}),
            item(f"{target} still has its taint.", {"object": f"Node {target}", "has": {"spec": {"taints": [taint]}}}),
            item(f"{name} has never been deleted.", {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            f"Two plugins refuse nodes here. Which one refuses {target}?",
            "A taint keeps away every pod that does not tolerate it. Tolerations may be added to a pod that waits.",
            f"Add a toleration with the key {taint['key']} to {name}, and the value {value} or the operator Exists.",
        ],
        "right": [[tolerate(value=value), SETTLED], [tolerate(operator="Exists"), SETTLED]],
        "wrong": [
            wrong(f"{name} runs on {target}", tolerate(value="yes"), SETTLED),
            wrong(f"{target} still has its taint", untaint(target, taint["key"]), SETTLED),
        ],
        "then": f"The nodeSelector led to {target}, and the taint kept {name} away from it. One sees it in the "
        "message, which names the taint that nobody tolerated. A selector and a toleration are two things, and "
        "dedicated nodes need both.",
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "TaintToleration", "attempt": 1}],
    }
    head = {
        "title": f"{name} and the pool {pool}",
        "group": "Filter",
        "about": "A pod knows where it belongs, and does not get there.",
        "source": f"Kubernetes documentation, “Taints and Tolerations”: {DOCS}/taint-and-toleration/",
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={"pool": pool})), {"settle": {}}]
    return document(
        draw, head, setup, part, ["A nodeSelector limits a pod to some nodes; a toleration only lets it in."]
    )


SLIPS = (
    ("disk", "ssd", "sdd"),
    ("tier", "frontend", "front-end"),
    ("arch", "arm64", "arm-64"),
    ("rack", "r12", "r-12"),
    ("network", "10g", "10-g"),
    ("site", "berlin", "Berlin"),
)
"""Label, its value on nodes, and the pod's requested value."""


def selector(draw: Random) -> Data:
    """A pod requests, by a slip, a label that no node has."""
    app, (label, true, slip) = draw.choice(APPS), draw.choice(SLIPS)
    names = node_names(draw, draw.randint(2, 5))
    target, name, milli = draw.choice(names), f"{app}-{draw.randint(1, 9)}", draw.randrange(250, 1500, 250)
    nodes = [node(each, 4, {label: true if each == target else "other"}) for each in names]
    part = {
        "text": f"{to_pod(name)} has been waiting since it came. The {len(names)} nodes are empty, and it is meant "
        f"for {to_node(target)}. Choose it, and read its spec beside the labels of the node.",
        "task": f"Bring a pod {name} to {target}, chosen by the scheduler. The nodes stay open to others, and none is "
        "added.",
        "check": [
            item(f"{name} runs on {target}.", {"pod": f"default/{name}", "node": target, "phase": "Running"}),
            item("The scheduler chose the node.", {"winner": f"default/{name}", "node": target}),
            item(
                f"{name} still has a nodeSelector for {label}.",
                {"verdict": f"default/{name}", "node": next(each for each in names if each != target), "passes": False},
            ),
            item(f"{target} takes other pods.", {"object": f"Node {target}", "has": {"spec": {"unschedulable": None}}}),
            same_nodes(names),
        ],
        "hints": [
            f"Which plugin refuses {target}, and what does it compare?",
            f"Look at the label {label} letter by letter: on the node, and in the nodeSelector.",
            f"{name} asks for {slip}, and the node has {true}. Change the label of {target}, or replace the pod.",
        ],
        "right": [
            [patch("Node", target, {"metadata": {"labels": {label: slip}}}), wait(15)],
            [replace(pod(name, app, milli, nodeSelector={label: true})), SETTLED],
        ],
        "wrong": [
            wrong(IMMUTABLE, patch("Pod", f"default/{name}", {"spec": {"nodeSelector": {label: true}}})),
            wrong(f"{name} runs on {target}", wait(400)),
        ],
        "then": f"{name} asked for {label}: {slip}, and {target} has {label}: {true}. One sees it in NodeAffinity, "
        "which refuses every node. The selector of a pod that exists cannot be changed, but the label of a node can.",
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "NodeAffinity", "attempt": 1}],
    }
    head = {
        "title": f"{name} waits, and the nodes are empty",
        "group": "Filter",
        "about": "A pod finds none of the nodes good enough.",
        "source": f"Kubernetes documentation, “Assigning Pods to Nodes”: {DOCS}/assign-pod-node/",
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={label: slip})), {"settle": {}}]
    return document(draw, head, setup, part, ["Values of labels are compared letter by letter."])


def gate(draw: Random) -> Data:
    """Somebody set gates on a pod, and nobody removes them."""
    app, names = draw.choice(APPS), node_names(draw, draw.randint(1, 4))
    words = draw.sample(("quota", "licence", "approval", "budget", "audit", "image-scan"), 2)
    name, milli = f"{app}-{draw.randint(1, 9)}", draw.randrange(250, 2000, 250)
    gates = [{"name": f"example.com/{word}"} for word in words]
    beside = pod("other-1", "other", milli)

    def leave(left: list[dict[str, str]] | None) -> Data:
        return patch("Pod", f"default/{name}", {"spec": {"schedulingGates": left}})

    part = {
        "text": f"{to_pod(name)} and {to_pod('other-1')} came together and ask for the same. other-1 runs. {name} has "
        "no failed attempt, and no attempt at all. Whoever should have let it go has left the company. Look at [the "
        "queues](pane:queues).",
        "task": f"Bring {name} to a node. It stays the same pod.",
        "check": [
            item(f"{name} runs.", runs(name)),
            item("The scheduler chose the node.", {"winner": f"default/{name}"}),
            item(f"{name} has never been deleted.", {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            f"In which lane is {name}, and what brings a pod there?",
            "Its spec has two lines that hold it back. Both may be taken away, and none can be added.",
            f"Take {words[0]} and {words[1]} out of the schedulingGates of {name}; then press Settle.",
        ],
        "right": [
            [leave(None), SETTLED],
            [apply(pod(name, app, milli)), SETTLED],
            [leave(gates[1:]), leave(None), SETTLED],
        ],
        "wrong": [
            wrong(f"{name} runs", leave(gates[1:]), SETTLED),
            wrong(f"{name} runs", apply(node("extra-1", 16)), wait(400)),
        ],
        "then": f"{name} had two scheduling gates, {words[0]} and {words[1]}. One sees it in the lane gated: nobody "
        "had tried it. When the last gate goes, a pod comes into activeQ without backoff.",
        "expect": [{"waits": f"default/{name}", "in": "nowhere"}],
    }
    head = {
        "title": f"{name} is not even tried",
        "group": "The queue",
        "about": "A pod waits, and nobody looks at it.",
        "source": f"Kubernetes documentation, “Pod Scheduling Readiness”: {DOCS}/pod-scheduling-readiness/",
        "par": 1,
    }
    setup = [
        apply(*(node(each) for each in names), pod(name, app, milli, schedulingGates=gates), beside),
        {"settle": {}},
    ]
    return document(
        draw, head, setup, part, ["A pod with a scheduling gate is not tried, whatever else happens in the cluster."]
    )


PROBLEMS = (toleration, selector, gate)
