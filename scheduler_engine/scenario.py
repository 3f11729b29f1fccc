"""Scenarios: a cluster to open with one click, what should come out of it in words, and a check that it does.

A scenario is a YAML file: ``title``, ``group`` (row of the feature list), ``about``, ``outcome``, ``source``, ``seed``,
``configuration``, ``queue_rules`` (``v1.34`` or ``design-doc``), ``tab`` (what a workbench shows first), ``setup`` and
``then`` (lists of commands, one key each: ``apply: […]``, ``run: {}`` …; in ``then`` also ``refused: text`` and
``say: text``), ``expect`` (assertions, see ``ASSERTIONS``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.errors import Rejected
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import LockChanged
from scheduler_engine.trace.text import line

BESIDE = ("refused", "say")
"""Keys that may stand beside the command of a step in ``then``."""
FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "scenarios"

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """``setup`` are the commands (JSON form) executed when it is opened, ``then`` those that a visitor would press.

    ``tab``: which tab of the workbench it is about, "" = the one of the stage at hand.
    """

    slug: str
    title: str
    group: str
    about: str
    outcome: str
    source: str
    seed: int = 42
    configuration: Data | None = None
    queue_rules: str = "v1.34"
    tab: str = ""
    setup: tuple[Data, ...] = ()
    then: tuple[Data, ...] = ({"kind": "run"},)
    expect: tuple[Data, ...] = field(default=())

    def open(self) -> Simulation:
        """A simulation with the setup executed. Raises Rejected when a command is refused."""
        simulation = Simulation(seed=self.seed, configuration=self.configuration, queue_rules=self.queue_rules)
        play(simulation, self.setup)
        return simulation


def play(simulation: Simulation, steps: Sequence[Data]) -> None:
    """Execute commands given in their JSON form. Raises Rejected when one is refused, but for a step with ``refused``:
    that one must be, with this text among its reasons.
    """
    for step in steps:
        wanted = step.get("refused")
        try:
            simulation.execute(commands.from_json(command_of(step)))
        except Rejected as refusal:
            if wanted is None or wanted not in str(refusal):
                raise
        else:
            if wanted is not None:
                raise Rejected(f"{step['kind']} should have been refused: {wanted}")


def command_of(step: Data) -> Data:
    """The command of a step, without what stands beside it."""
    return {name: value for name, value in step.items() if name not in BESIDE}


def load_scenarios(folder: Path = FOLDER) -> list[Scenario]:
    """Every scenario of a folder, in the order of their file names. Raises Rejected when a file is none."""
    return [load_scenario(path) for path in sorted(folder.glob("*.yaml"))]


def load_scenario(path: Path) -> Scenario:
    """One scenario from its file; a leading number in the file name only orders the list."""
    documents = read_documents(path.read_bytes())
    data = documents[0].data if documents else None
    if not isinstance(data, dict) or documents[0].duplicates:
        raise Rejected(f"{path.name}: a scenario must be a mapping without duplicate keys")
    known = Scenario.__dataclass_fields__.keys() - {"slug"}
    unknown = sorted(data.keys() - known)
    missing = sorted({"title", "group", "about", "outcome", "source", "setup"} - data.keys())
    if unknown or missing:
        raise Rejected(f"{path.name}: unknown keys {unknown}, missing keys {missing}")
    if data.get("queue_rules", "v1.34") not in QUEUES:
        raise Rejected(f"{path.name}: queue_rules must be {' or '.join(QUEUES)}")
    if not isinstance(data.get("tab", ""), str):
        raise Rejected(f"{path.name}: tab must be the name of a tab of the workbench")
    for name in ("setup", "then"):
        if name in data:
            data[name] = tuple(_command(step, path, BESIDE if name == "then" else ()) for step in data[name])
    data["expect"] = tuple(data.get("expect") or ())
    slug = path.stem.split("-", 1)[1] if path.stem[:2].isdigit() else path.stem
    return Scenario(slug=slug, **data)


def _command(step: Any, path: Path, beside: tuple[str, ...]) -> Data:
    """``apply: […]`` or ``run: {…}`` as a command in its JSON form, and the texts that may stand ``beside`` it."""
    texts = {name: step[name] for name in beside if name in step} if isinstance(step, dict) else {}
    named = [name for name in step if name not in texts] if isinstance(step, dict) else []
    if len(named) != 1 or not all(isinstance(text, str) for text in texts.values()):
        raise Rejected(f"{path.name}: a step has one key, the command")
    kind, fields = named[0], step[named[0]]
    if isinstance(fields, dict):
        # A bare ``on`` is the boolean true in YAML 1.1, as a key too.
        fields = {"on" if name == "true" else name: value for name, value in fields.items()}
    command = {"kind": kind, "manifests": fields} if kind == "apply" else {"kind": kind, **(fields or {})}
    commands.from_json(command)
    return command | texts


def check(simulation: Simulation, scenario: Scenario) -> list[str]:
    """Every expectation of ``scenario`` that does not hold now, in words."""
    failures: list[str] = []
    for expectation in scenario.expect:
        name = next(iter(expectation))
        if name not in ASSERTIONS:
            failures.append(f"unknown expectation {name!r}")
            continue
        failures += ASSERTIONS[name](simulation, expectation)
    return failures


def _pods(simulation: Simulation, selector: Mapping[str, str], namespace: str = "default") -> list[Pod]:
    matches = selector_from({"matchLabels": dict(selector)}).matches
    return [pod for pod in simulation.api.pods(namespace) if matches(pod.labels)]


def _pod(simulation: Simulation, expectation: Data) -> list[str]:
    """``pod`` with ``node``, ``nodes`` (any of them) or ``pending``, ``phase``; ``terminating``: whether it is being
    deleted; ``message``: its PodScheduled condition's text.
    """
    key = expectation["pod"]
    pod = simulation.api.pod(key)
    if pod is None:
        return [f"{key}: does not exist"]
    allowed = [""] if expectation.get("pending") else expectation.get("nodes", [expectation.get("node", pod.node_name)])
    failures: list[str] = []
    if pod.node_name not in allowed:
        wanted = " or ".join(allowed) if allowed != [""] else "no node"
        failures.append(f"{key}: expected {wanted}, is on {pod.node_name or 'no node'}")
    if "nominated" in expectation and pod.nominated_node_name != expectation["nominated"]:
        failures.append(f"{key}: nominated to {pod.nominated_node_name or 'no node'}, not {expectation['nominated']}")
    if "phase" in expectation and pod.phase != expectation["phase"]:
        failures.append(f"{key}: is {pod.phase}, not {expectation['phase']}")
    if "terminating" in expectation and pod.terminating != expectation["terminating"]:
        failures.append(f"{key}: is {'' if pod.terminating else 'not '}being deleted")
    if "message" in expectation:
        message = (pod.condition("PodScheduled") or {}).get("message", "")
        if message != expectation["message"]:
            failures.append(f"{key}: message {message!r}, expected {expectation['message']!r}")
    return failures


def _node_order(simulation: Simulation, expectation: Data) -> list[str]:
    order = [info.name for info in simulation.scheduler.snapshot.list()]
    return [] if order == expectation["nodeOrder"] else [f"node order {order}, expected {expectation['nodeOrder']}"]


def _count(simulation: Simulation, expectation: Data) -> list[str]:
    """Pods that match ``selector``, counted ``per`` value of a node label."""
    wanted = expectation["count"]
    found: dict[str, int] = {}
    for pod in _pods(simulation, wanted["selector"]):
        node = simulation.api.get("Node", pod.node_name)
        if node is not None:
            domain = node.labels.get(wanted["per"], "")
            found[domain] = found.get(domain, 0) + 1
    if found == {key: number for key, number in wanted["equals"].items() if number}:
        return []
    return [f"{wanted['selector']} per {wanted['per']}: {found}, expected {wanted['equals']}"]


def _gone(simulation: Simulation, expectation: Data) -> list[str]:
    key = expectation["gone"]
    return [] if simulation.api.pod(key) is None else [f"{key}: still exists"]


def _distinct_nodes(simulation: Simulation, expectation: Data) -> list[str]:
    """No two matching pods on one node."""
    pods = _pods(simulation, expectation["distinctNodes"]["selector"])
    nodes = [pod.node_name for pod in pods if pod.node_name]
    shared = sorted({name for name in nodes if nodes.count(name) > 1})
    return [f"{', '.join(shared)}: more than one of {expectation['distinctNodes']['selector']}"] if shared else []


def _together(simulation: Simulation, expectation: Data) -> list[str]:
    """Every pod that matches ``selector`` is on a node with one that matches ``beside``."""
    wanted = expectation["together"]
    hosts = {pod.node_name: pod.name for pod in _pods(simulation, wanted["beside"]) if pod.node_name}
    return [
        f"{pod.key}: {pod.node_name or 'no node'} has none of {wanted['beside']}"
        for pod in _pods(simulation, wanted["selector"])
        if pod.node_name not in hosts
    ]


def _waits(simulation: Simulation, expectation: Data) -> list[str]:
    """The pod waits ``in`` this lane of the queue; ``seconds``: its backoff, from the failure to the end."""
    key, queue = expectation["waits"], simulation.scheduler.queue
    lane = queue.lane_of(key)
    if lane != expectation["in"]:
        return [f"{key}: in {lane or 'no queue'}, expected in {expectation['in']}"]
    if "seconds" not in expectation:
        return []
    info = queue.backoff_q.get(key)
    until = queue.backoff_q.expiration_us(info) if info is not None else None
    seconds = (until - info.timestamp_us) / SECOND_US if info is not None and until is not None else 0
    wanted = expectation["seconds"]
    return [] if seconds == wanted else [f"{key}: backs off for {seconds:g} s, expected {wanted:g} s"]


def _object(simulation: Simulation, expectation: Data) -> list[str]:
    """``object``: kind and key in one text; ``has``: fields of its manifest, None for one that is not there."""
    kind, _, key = str(expectation["object"]).partition(" ")
    found = simulation.api.get(kind, key)
    if found is None:
        return [f"{kind} {key}: does not exist"]
    return [f"{kind} {key}: {problem}" for problem in _differences(found.manifest, expectation["has"], "")]


def _differences(held: Any, wanted: Any, path: str) -> list[str]:
    if isinstance(wanted, Mapping) and isinstance(held, (Mapping, type(None))):
        held = held or {}
        named = ((f"{path}.{name}".lstrip("."), name) for name in wanted)
        return [problem for inside, name in named for problem in _differences(held.get(name), wanted[name], inside)]
    return [] if held == wanted else [f"{path} is {held!r}, expected {wanted!r}"]


def _requested(simulation: Simulation, expectation: Data) -> list[str]:
    """What the pods on the node ``requested`` ask for together: ``cpu``, ``memory``."""
    name = expectation["requested"]
    info = simulation.scheduler.cache.nodes.get(name)
    if info is None:
        return [f"{name}: does not exist"]
    found = {"cpu": info.requested.milli_cpu, "memory": info.requested.memory}
    wanted = {"cpu": parse_quantity(expectation["cpu"]).milli_value(), "memory": _bytes(expectation["memory"])}
    return [] if found == wanted else [f"{name}: {found} requested, expected {wanted}"]


def _bytes(text: str) -> int:
    return parse_quantity(text).value()


def _trace(simulation: Simulation, expectation: Data) -> list[str]:
    """Lines of the trace that hold these texts, in this order."""
    told = (line(entry.event) for entry in simulation.recorder.entries)
    missing = [text for text in expectation["trace"] if not any(text in said for said in told)]
    return [f"the trace does not tell, after what stands before it: {missing[0]!r}"] if missing else []


def _leader(simulation: Simulation, expectation: Data) -> list[str]:
    """The replica that leads, a list when several do; ``transitions``: leaderTransitions in the lock."""
    wanted = expectation["leader"]
    names = [wanted] if isinstance(wanted, str) else wanted
    leaders = [replica.name for replica in simulation.replicas.leaders()]
    failures = [] if leaders == names else [f"{', '.join(leaders) or 'nobody'} leads, expected {', '.join(names)}"]
    if "transitions" in expectation:
        written = (entry.event for entry in reversed(simulation.recorder.entries))
        found = next((event.leader_transitions for event in written if isinstance(event, LockChanged)), None)
        if found != expectation["transitions"]:
            failures.append(f"{found} transitions in the lock, expected {expectation['transitions']}")
    return failures


ASSERTIONS: dict[str, Callable[[Simulation, Data], list[str]]] = {
    "pod": _pod,
    "nodeOrder": _node_order,
    "count": _count,
    "gone": _gone,
    "distinctNodes": _distinct_nodes,
    "together": _together,
    "waits": _waits,
    "object": _object,
    "requested": _requested,
    "trace": _trace,
    "leader": _leader,
}
"""First key of an expectation → the function that says what is wrong with it."""
