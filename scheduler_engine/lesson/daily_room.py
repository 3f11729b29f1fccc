"""Problems of the day in which a pod waits because no single place has room for it, but room can be made."""

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
    """Enough is free, but nowhere in one piece; removing one test run makes room, removing the others does not."""
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
        "text": f"{to_pod(name)} asks for {need}m of CPU. The {len(names)} nodes of four CPUs have that much free in "
        f"sum, but no node has it. On each node stands a pod of {keep}, such as {to_pod(f'{keep}-{place}')}, which "
        f"must stay, and a test run, such as {to_pod(f'test-{place}')}, which may go.",
        "task": f"Bring {name} to a node, without another node and with at most one test run fewer. No pod of {keep} "
        "leaves.",
        "check": [
            item(
                f"{name} runs, where the scheduler found room for it.",
                runs(name),
                {"winner": f"default/{name}", "node": target},
                {"requested": target, "cpu": f"{left[f'{keep}-{place}'] + need}m", "memory": "256Mi"},
            ),
            item(
                f"Every pod of {keep} has stayed.",
                *({"never": "deleted", "of": f"default/{keep}-{number}"} for number in range(len(names))),
            ),
            item(
                "No other test run has gone.",
                *(runs(f"test-{number}") for number in range(len(names)) if number != place),
            ),
            asks({name: need} | left),
            item("No pod has been resized.", {"never": "resized"}),
            same_nodes(names),
        ],
        "hints": [
            "What is free on each node, and what would be free without its test run?",
            f"{need}m have to come together in one place, and only one of the test runs is large enough for that.",
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
        "then": "What is free counts node by node, and never in sum. One sees it in the message: each node is "
        f"counted under *Insufficient cpu*. On {target} free room and test run are together at least {need}m.",
        "expect": [{"failed": f"default/{name}", "attempt": 1}],
    }
    head = {
        "title": f"Room enough for {name}",
        "group": "Resources",
        "about": "Enough is free in the cluster, and a pod does not fit.",
        "source": "Kubernetes documentation, “Resource Management for Pods and Containers”: "
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
        "par": 5,
        "tab": "filter",
    }
    return document(draw, head, setup, part, ["A pod fits where one node has room for all of it."])


def never_preempts(draw: Random) -> Data:
    """A pod of high priority waits, since its class never preempts."""
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
        "text": f"{to_pod(name)} has the priority {value} and asks for two CPUs. On each of the {len(names)} nodes a "
        f"pod of {low}, such as {to_pod(f'{low}-0')}, has three of four CPUs, and a priority of 0. Still {name} "
        f"waits, and nobody has to leave. {to_pod(f'{kept}-1')} must stay.",
        "task": f"Let a pod {name} with the priority {value} run. One pod of {low} may leave, and no node is added.",
        "check": [
            item(
                f"{name} runs, with its priority, and the scheduler chose the node.",
                runs(name),
                {"winner": f"default/{name}"},
                {"object": f"Pod default/{name}", "has": {"spec": {"priority": value}}},
            ),
            stays(f"{kept}-1"),
            item(
                f"One pod of {low} has left, and the others have stayed.",
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
            f"Priority alone decides who is tried first. What does {name} say of preemption?",
            "Its class is patient, with the preemptionPolicy Never. The class urgent has none.",
            f"Evict one pod of {low}, and let 40 seconds pass; or replace {name} by a pod of the class urgent.",
        ],
        "right": [
            [{"evict": {"pod": f"default/{low}-{1 - place}"}}, wait(45)],
            [replace(pod(name, app, 2000, priorityClassName="urgent")), wait(45)],
        ],
        "wrong": [
            wrong(f"{kept}-1 has never left", small, wait(45)),
            wrong(f"{name} runs", wait(400)),
        ],
        "then": f"{name} is of the class patient, which never preempts. One sees it in the message: *not eligible due "
        "to preemptionPolicy=Never*. Such a pod is tried before others, and waits until there is room.",
        "expect": [{"never": "preempted"}],
    }
    head = {
        "title": f"{name} is important, and waits",
        "group": "Preemption",
        "about": "A pod of high priority waits behind pods that have none.",
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
        ["A pod with preemptionPolicy Never is tried before pods of lower priority, and evicts none."],
    )


PROBLEMS = (fragments, never_preempts)
