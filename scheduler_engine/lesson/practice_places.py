"""Questions of practice about where pods may be: affinity, topology spread, scores."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.lesson.daily_parts import APPS, HOSTNAME, ZONE, apply, node, node_names, pod
from scheduler_engine.lesson.model import Question
from scheduler_engine.lesson.practice_parts import (
    Asked,
    Column,
    Draw,
    Trait,
    asked,
    cpu,
    emptiest,
    flow,
    infos,
    label,
    list_nodes,
    memory,
    name_of,
    pod_with,
    pods,
    sized,
    taints,
)
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.words import say

ZONES = ("east", "west", "north", "south")
"""At level 1 of topology spread all four are used, else the first three."""
LABELS = {"disk": ("ssd", "hdd", "nvme"), "tier": ("web", "data")}
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def running(simulation: Simulation) -> list[str]:
    """Return the apps of the pods on nodes, in order of their creation."""
    return [*dict.fromkeys(each.labels["app"] for each in simulation.api.pods() if each.node_name)]


# --- affinity --------------------------------------------------------------------------------------------------------


def affinity_cluster(draw: Random, level: int) -> list[Data]:
    """Draw nodes with labels, and from level 2 on pods of two apps; at level 3 those of the second refuse the third."""
    names = node_names(draw, 4 if level == 1 else 6)
    nodes = []
    for number, name in enumerate(names):
        labels = {key: draw.choice(values) for key, values in LABELS.items() if draw.random() < 0.75}
        nodes.append(node(name, 8, labels | {ZONE: ZONES[number % 3]}))
    if level == 1:
        return [apply(*nodes), {"settle": {}}]
    apps, placed = draw.sample(APPS, 3), []
    for number, app in enumerate(apps[:2]):
        for name in draw.sample(names, draw.randint(1, 2)):
            more = _apart(apps[2], HOSTNAME) if number and level > 2 else {}
            placed.append(pod(f"{app}-on-{name.rpartition('-')[2]}", app, 100, nodeName=name, **more))
    return [apply(*nodes, *placed), {"settle": {}}]


def _term(app: str, topology: str) -> Data:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology}


def _apart(app: str, topology: str) -> Data:
    return {"affinity": {"podAntiAffinity": {REQUIRED: [_term(app, topology)]}}}


def _expression(draw: Random) -> Data:
    key = draw.choice([*LABELS])
    operator = draw.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    values = {"values": sorted(draw.sample(LABELS[key], draw.randint(1, len(LABELS[key]) - 1)))}
    return {"key": key, "operator": operator} | (values if operator in ("In", "NotIn") else {})


def _node_affinity(terms: Sequence[Sequence[Data]]) -> Data:
    required = {"nodeSelectorTerms": [{"matchExpressions": [*term]} for term in terms]}
    return {"affinity": {"nodeAffinity": {REQUIRED: required}}}


def _one(draw: Random, simulation: Simulation) -> Trait:
    found = _expression(draw)
    return Trait(
        _node_affinity([[found]]), say("practice.requires", one=f"`{flow(found)}`"), say("practice.rule-operators")
    )


def _both(draw: Random, simulation: Simulation) -> Trait:
    one, other = _expression(draw), _expression(draw)
    text = say("practice.requires-both", one=f"`{flow(one)}`", other=f"`{flow(other)}`")
    return Trait(_node_affinity([[one, other]]), text, say("practice.rule-both"))


def _either(draw: Random, simulation: Simulation) -> Trait:
    one, other = _expression(draw), _expression(draw)
    text = say("practice.requires-either", one=f"`{flow(one)}`", other=f"`{flow(other)}`")
    return Trait(_node_affinity([[one], [other]]), text, say("practice.rule-either"))


def _beside(draw: Random, simulation: Simulation, topology: str = HOSTNAME) -> Trait:
    app = draw.choice(running(simulation))
    spec = {"affinity": {"podAffinity": {REQUIRED: [_term(app, topology)]}}}
    place = "node" if topology == HOSTNAME else "zone"
    return Trait(spec, say(f"practice.beside-{place}", app=app), say(f"practice.rule-beside-{place}"))


def _away(draw: Random, simulation: Simulation, topology: str = HOSTNAME) -> Trait:
    app = draw.choice(running(simulation))
    place = "node" if topology == HOSTNAME else "zone"
    return Trait(_apart(app, topology), say(f"practice.away-{place}", app=app), say(f"practice.rule-away-{place}"))


def _beside_in_zone(draw: Random, simulation: Simulation) -> Trait:
    return _beside(draw, simulation, ZONE)


def _away_from_zone(draw: Random, simulation: Simulation) -> Trait:
    return _away(draw, simulation, ZONE)


def refusing(simulation: Simulation) -> dict[str, dict[str, str]]:
    """Return app → the running pods that refuse its pods, each with the topology in which it does."""
    found: dict[str, dict[str, str]] = {}
    for each in simulation.api.pods():
        terms = (each.affinity or {}).get("podAntiAffinity", {}).get(REQUIRED, ()) if each.node_name else ()
        for term in terms:
            app = term["labelSelector"]["matchLabels"]["app"]
            found.setdefault(app, {})[each.key] = term["topologyKey"]
    return found


def _refused(draw: Random, simulation: Simulation) -> Trait:
    """Draw nothing for the pod itself: it has a label that running pods refuse on their nodes."""
    by_app = refusing(simulation)
    apps = [app for app, pods in by_app.items() if {*pods.values()} == {HOSTNAME}]
    if not apps:
        return _away(draw, simulation)
    app = draw.choice(apps)
    listed = ", ".join(f"[{key.rpartition('/')[2]}](pod:{key})" for key in by_app[app])
    return Trait({"app": app}, say("practice.refused", app=app, pods=listed), say("practice.rule-refused"))


AFFINITIES: tuple[tuple[Draw, ...], ...] = (
    (_one, _both),
    (_both, _either, _beside, _away),
    (_beside_in_zone, _away_from_zone, _refused, _either),
)
"""Traits of a pod, by level."""


def affinity(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which nodes pass for a pod with affinity or anti-affinity."""
    trait = draw.choice(AFFINITIES[level - 1])(draw, simulation)
    # What a pod of an earlier question refuses is in no text, so it must not decide.
    app = trait.spec.pop("app", "") or draw.choice([each for each in APPS if each not in refusing(simulation)])
    name, of_nodes = f"{app}-{number + 1}", "nodeAffinity" in trait.spec.get("affinity", {})
    columns: list[Column] = [label("disk"), label("tier")] if of_nodes else [label(ZONE), pods]
    facts, question = list_nodes(simulation, *columns), Question("passes", f"default/{name}")
    tempting = draw.sample(emptiest(simulation), len(infos(simulation)))
    return asked(simulation, pod_with(name, app, 100, [trait]), [trait], question, facts, tempting)


# --- topology spread -------------------------------------------------------------------------------------------------


def spread_cluster(draw: Random, level: int) -> list[Data]:
    """Draw four zones of one node, from level 2 on three of two, with pods of two apps; at 3 one node is tainted."""
    names, apps, zones = node_names(draw, 4 if level == 1 else 6), draw.sample(APPS, 2), 4 if level == 1 else 3
    tainted = draw.choice(names) if level > 2 else ""
    nodes, placed = [], []
    for number, name in enumerate(names):
        taint = [{"key": "maintenance", "value": "now", "effect": "NoSchedule"}] if name == tainted else ()
        nodes.append(node(name, 8, {ZONE: ZONES[number % zones]}, taint))
        for app in apps:
            for copy in range(draw.randint(0, 3 if level == 1 else 2)):
                placed.append(pod(f"{app}-on-{name.rpartition('-')[2]}-{copy + 1}", app, 100, nodeName=name))
    placed += [pod(f"{app}-first", app, 100, nodeName=names[0]) for app in apps]
    return [apply(*nodes, *placed), {"settle": {}}]


def _count(app: str) -> Column:
    def column(info: NodeInfo) -> str:
        return say("practice.pods-of", count=sum(each.pod.labels.get("app") == app for each in info.pods), app=app)

    return column


SPREADS: tuple[Data, ...] = (
    {"topologyKey": ZONE},
    {"topologyKey": HOSTNAME},
    {"topologyKey": ZONE, "minDomains": 4},
    {"topologyKey": ZONE, "nodeTaintsPolicy": "Honor"},
)
"""Constraints; the first ``level + 1`` are drawn at a level, and from level 2 on."""


def spread(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which nodes pass for a pod with a constraint; from level 2 on it may not match its own selector."""
    app = draw.choice(running(simulation)[:2])
    others = [each for each in APPS if each != app]
    own = app if level == 1 or draw.random() < 0.7 else draw.choice(others)
    constraint = {"maxSkew": draw.randint(1, 2), **draw.choice(SPREADS[: (1, 2, 4)[level - 1]])}
    text = say("practice.spreads", constraint=f"`{flow(constraint)}`", app=app, own=own)
    constraint |= {"whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": app}}}
    rules = [say("practice.rule-skew")]
    rules += [say("practice.rule-own-label")] if own != app else []
    rules += [say(f"practice.rule-{key}") for key in ("minDomains", "nodeTaintsPolicy") if key in constraint]
    trait = Trait({"topologySpreadConstraints": [constraint]}, text, " ".join(rules))
    name = f"{own}-{number + 1}"
    facts = list_nodes(simulation, label(ZONE), _count(app), taints)
    most = sorted(infos(simulation), key=lambda info: len(info.pods), reverse=True)
    manifest, question = pod_with(name, own, 100, [trait]), Question("passes", f"default/{name}")
    return asked(simulation, manifest, [trait], question, facts, [info.name for info in most])


# --- scores ----------------------------------------------------------------------------------------------------------


USED = {2: (3, 20), 4: (20, 45), 8: (70, 120)}
"""CPUs of a node → how many times 50m its pod requests: large nodes have more left, but a smaller share."""
SCORE_RULES = ("share", "balance", "weights")
"""Names of the rules, by level."""


def score_cluster(draw: Random, level: int) -> list[Data]:
    """Draw nodes that are partly used: at level 1 CPU and memory alike, at level 3 with labels and taints."""
    names = node_names(draw, 4 + level)
    nodes, placed = [], []
    for name in names:
        size = draw.choice([*USED])
        soft = [{"key": "lifecycle", "value": "spot", "effect": "PreferNoSchedule"}]
        labels = {"disk": draw.choice(LABELS["disk"])} if level > 2 else None
        nodes.append(node(name, size, labels, soft if level > 2 and draw.random() < 0.4 else ()))
        milli = 50 * draw.randint(*USED[size])
        mib = milli * 2 if level == 1 else draw.randrange(256, 1024 * size, 256)
        app = draw.choice(APPS)
        filled = pod_with(f"{app}-on-{name.rpartition('-')[2]}", app, milli, [sized(milli, mib)])
        filled["spec"]["nodeName"] = name
        placed.append(filled)
    return [apply(*nodes, *placed), {"settle": {}}]


def _prefers(draw: Random) -> Trait:
    expression = {"key": "disk", "operator": "In", "values": [draw.choice(LABELS["disk"])]}
    weight = draw.choice((1, 20, 60, 100))
    preferred = [{"weight": weight, "preference": {"matchExpressions": [expression]}}]
    text = say("practice.prefers", weight=weight, expression=f"`{flow(expression)}`")
    return Trait({"affinity": {"nodeAffinity": {PREFERRED: preferred}}}, text, say("practice.rule-prefers"))


def scores(draw: Random, level: int, number: int, simulation: Simulation) -> Asked:
    """Ask which node a pod gets."""
    name, app = name_of(draw, number)
    milli = draw.randrange(250, 1001, 50)
    mib = milli * 2 if level == 1 else draw.choice((128, 512, 1024, 2048))
    traits = [sized(milli, mib)]
    traits += [_prefers(draw)] if level > 2 and draw.random() < 0.6 else []
    rules = [say(f"practice.rule-scores-{SCORE_RULES[level - 1]}")]
    told = [Trait({}, say("practice.memory", mib=mib), " ".join(rules)), *traits[1:]]
    columns: list[Column] = [cpu, memory, *([label("disk"), taints] if level > 2 else [])]
    question, facts = Question("winner", f"default/{name}"), list_nodes(simulation, *columns)
    return asked(simulation, pod_with(name, app, milli, traits), told, question, facts, emptiest(simulation))
