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
        "text": f"{to_pod(name)} requests {need}m of CPU. The {len(names)} nodes of four CPUs together have that much "
        f"free, but no single node does. On each node runs a pod of {keep}, such as {to_pod(f'{keep}-{place}')}. It "
        f"must stay. On each node also runs a test, such as {to_pod(f'test-{place}')}. You may delete it.",
        "task": f"Get {name} onto a node. Add no node, delete at most one test, and keep every pod of {keep}.",
        "check": [
            item(
                f"{name} runs, and the scheduler chose the node.",
                runs(name),
                {"winner": f"default/{name}", "node": target},
                {"requested": target, "cpu": f"{left[f'{keep}-{place}'] + need}m", "memory": "256Mi"},
            ),
            item(
                f"No pod of {keep} has been deleted.",
                *({"never": "deleted", "of": f"default/{keep}-{number}"} for number in range(len(names))),
            ),
            item(
                "All other tests still run.",
                *(runs(f"test-{number}") for number in range(len(names)) if number != place),
            ),
            asks({name: need} | left),
            item("No pod has been resized.", {"never": "resized"}),
            same_nodes(names),
        ],
        "hints": [
            "How much is free on each node, and how much would be free without its test?",
            f"One node must have {need}m free. Only one of the tests is large enough to free that much.",
            f"Delete test-{place} on {target}, and let 40 seconds pass.",
        ],
        "right": [
            [delete(f"test-{place}"), wait(45)],
            [{"evict": {"pod": f"default/test-{place}"}}, wait(45)],
        ],
        "wrong": [
            wrong(f"{name} runs", delete(f"test-{other}"), wait(45)),
            wrong("The nodes are the same", apply(node("extra-1", 8)), wait(20)),
        ],
        "then": "The scheduler looks at the free CPU of each node, never at the sum. The message counted every node "
        f"under *Insufficient cpu*. On {target} the free CPU and the test's request added up to at least {need}m.",
        "expect": [{"failed": f"default/{name}", "attempt": 1}],
    }
    head = {
        "title": f"Enough room for {name}",
        "group": "Resources",
        "about": "The cluster has enough free CPU, but a pod does not fit.",
        "source": "Kubernetes documentation, “Resource Management for Pods and Containers”: "
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
        "par": 5,
        "tab": "filter",
    }
    return document(draw, head, setup, part, ["A pod fits only on a node that has room for all of its requests."])


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
        "text": f"{to_pod(name)} has priority {value} and requests two CPUs. On each of the {len(names)} nodes a pod "
        f"of {low}, such as {to_pod(f'{low}-0')}, requests three of the four CPUs. Its priority is 0. Still {name} "
        f"waits, and evicts no pod. {to_pod(f'{kept}-1')} must stay.",
        "task": f"Get a pod {name} with priority {value} to run. Only one pod of {low} may leave. Add no node.",
        "check": [
            item(
                f"{name} runs with priority {value}, and the scheduler chose the node.",
                runs(name),
                {"winner": f"default/{name}"},
                {"object": f"Pod default/{name}", "has": {"spec": {"priority": value}}},
            ),
            stays(f"{kept}-1"),
            item(
                f"One pod of {low} has left, and the others still run.",
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
            item("No pod has been resized.", {"never": "resized"}),
            same_nodes(names),
        ],
        "hints": [
            f"Priority decides which pod is tried first. What does the spec of {name} say about preemption?",
            "Its class is patient, with the preemptionPolicy Never. The class urgent does not set that.",
            f"Evict one pod of {low}, and let 40 seconds pass. Or replace {name} by a pod of the class urgent.",
        ],
        "right": [
            [{"evict": {"pod": f"default/{low}-{1 - place}"}}, wait(45)],
            [replace(pod(name, app, 2000, priorityClassName="urgent")), wait(45)],
        ],
        "wrong": [
            wrong(f"{kept}-1 has never been deleted", small, wait(45)),
            wrong(f"{name} runs", wait(400)),
        ],
        "then": f"{name} had the class patient, which never preempts. The message said so: *not eligible due to "
        "preemptionPolicy=Never*. The scheduler tries such a pod before others, but it waits until there is room.",
        "expect": [{"never": "preempted"}],
    }
    head = {
        "title": f"{name} is important, but waits",
        "group": "Preemption",
        "about": "A pod of high priority waits, while pods of priority 0 run.",
        "source": f"Kubernetes documentation, “Pod Priority and Preemption”: {DOCS}/pod-priority-preemption/",
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
        ["A pod with preemptionPolicy Never is tried before pods of lower priority, but evicts none."],
    )


PROBLEMS = (fragments, never_preempts)
