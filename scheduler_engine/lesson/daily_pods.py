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
        "text": f"{to_pod(name)} belongs on {to_node(target)}, the node of the pool {pool}. Its nodeSelector requires "
        f"that pool. There are {len(names)} nodes with four CPUs each, but no node passes. Read the reason for each "
        "node in [the table](tab:filter).",
        "task": f"Get {name} onto {target}. Do not delete the pod, and do not remove the taint.",
        "check": [
            item(f"{name} runs on {target}.", {"pod": f"default/{name}", "node": target, "phase": "Running"}),
            item(f"{target} still has its taint.", {"object": f"Node {target}", "has": {"spec": {"taints": [taint]}}}),
            item(f"{name} has never been deleted.", {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            f"Two plugins refuse nodes here. Which one refuses {target}?",
            "A taint keeps away every pod that does not tolerate it. You can add tolerations to a waiting pod.",
            f"Give {name} a toleration with the key {taint['key']}, and the value {value} or the operator Exists.",
        ],
        "right": [[tolerate(value=value), SETTLED], [tolerate(operator="Exists"), SETTLED]],
        "wrong": [
            wrong(f"{name} runs on {target}", tolerate(value="yes"), SETTLED),
            wrong(f"{target} still has its taint", untaint(target, taint["key"]), SETTLED),
        ],
        "then": f"The nodeSelector allowed only {target}, and the taint kept {name} away from it. The message named "
        "the taint that the pod did not tolerate. For dedicated nodes you need both a selector and a toleration.",
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "TaintToleration", "attempt": 1}],
    }
    head = {
        "title": f"{name} and the pool {pool}",
        "group": "Filter",
        "about": "A pod selects a node, but the node does not accept it.",
        "source": f"Kubernetes documentation, “Taints and Tolerations”: {DOCS}/taint-and-toleration/",
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={"pool": pool})), {"settle": {}}]
    return document(
        draw,
        head,
        setup,
        part,
        ["A nodeSelector limits a pod to some nodes. A toleration only lets it onto tainted ones."],
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
        "text": f"{to_pod(name)} has been waiting since it was created. The {len(names)} nodes are empty. The pod is "
        f"meant for {to_node(target)}. Select the pod, and compare its spec with the labels of the node.",
        "task": f"Get the scheduler to place a pod {name} on {target}. Keep the nodes open to others, and add none.",
        "check": [
            item(f"{name} runs on {target}.", {"pod": f"default/{name}", "node": target, "phase": "Running"}),
            item("The scheduler chose the node.", {"winner": f"default/{name}", "node": target}),
            item(
                f"{name} still has a nodeSelector for {label}.",
                {"verdict": f"default/{name}", "node": next(each for each in names if each != target), "passes": False},
            ),
            item(
                f"{target} still accepts other pods.",
                {"object": f"Node {target}", "has": {"spec": {"unschedulable": None}}},
            ),
            same_nodes(names),
        ],
        "hints": [
            f"Which plugin refuses {target}, and what does it compare?",
            f"Compare the label {label} letter by letter, on the node and in the nodeSelector.",
            f"{name} requires {slip}, but the node has {true}. Change the label of {target}, or replace the pod.",
        ],
        "right": [
            [patch("Node", target, {"metadata": {"labels": {label: slip}}}), wait(15)],
            [replace(pod(name, app, milli, nodeSelector={label: true})), SETTLED],
        ],
        "wrong": [
            wrong(IMMUTABLE, patch("Pod", f"default/{name}", {"spec": {"nodeSelector": {label: true}}})),
            wrong(f"{name} runs on {target}", wait(400)),
        ],
        "then": f"{name} required {label}: {slip}, but {target} had {label}: {true}. So NodeAffinity refused every "
        "node. You cannot change the nodeSelector of an existing pod, but you can change the label of a node.",
        "expect": [{"verdict": f"default/{name}", "node": target, "plugin": "NodeAffinity", "attempt": 1}],
    }
    head = {
        "title": f"{name} waits, but the nodes are empty",
        "group": "Filter",
        "about": "All nodes are empty, but a pod fits on none of them.",
        "source": f"Kubernetes documentation, “Assigning Pods to Nodes”: {DOCS}/assign-pod-node/",
        "par": 1,
        "tab": "filter",
    }
    setup = [apply(*nodes, pod(name, app, milli, nodeSelector={label: slip})), {"settle": {}}]
    return document(draw, head, setup, part, ["The scheduler compares label values letter by letter."])


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
        "text": f"{to_pod(name)} and {to_pod('other-1')} were created together, with equal requests. other-1 runs. "
        f"The scheduler has never tried {name}. The person who should have released it has left the company. Look at "
        "[the queues](pane:queues).",
        "task": f"Get {name} onto a node. Do not delete it.",
        "check": [
            item(f"{name} runs.", runs(name)),
            item("The scheduler chose the node.", {"winner": f"default/{name}"}),
            item(f"{name} has never been deleted.", {"never": "deleted", "of": f"default/{name}"}),
        ],
        "hints": [
            f"In which lane is {name}, and why are pods in that lane?",
            "Two entries in its spec hold it back. You can remove both, but you cannot add any.",
            f"Remove {words[0]} and {words[1]} from the schedulingGates of {name}. Then press Settle.",
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
        "then": f"{name} had two scheduling gates, {words[0]} and {words[1]}. So it stayed in the lane gated, and the "
        "scheduler never tried it. When the last gate is removed, a pod moves to activeQ without backoff.",
        "expect": [{"waits": f"default/{name}", "in": "nowhere"}],
    }
    head = {
        "title": f"{name} is not even tried",
        "group": "The queue",
        "about": "A pod waits, and the scheduler ignores it.",
        "source": f"Kubernetes documentation, “Pod Scheduling Readiness”: {DOCS}/pod-scheduling-readiness/",
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
        ["The scheduler never tries a pod with a scheduling gate, whatever happens in the cluster."],
    )


PROBLEMS = (toleration, selector, gate)
