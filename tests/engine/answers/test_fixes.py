"""Each kind of change is found, and lets the pod run when it is made for real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.answers.changes import RANKS, commands_for, edited
from scheduler_engine.answers.fix_phrases import none_found, sentence, step
from scheduler_engine.answers.fixes import Fix, fixes
from scheduler_engine.answers.looking import scratch
from scheduler_engine.answers.patches import patches
from scheduler_engine.answers.remedies_resources import lowered
from scheduler_engine.answers.shown import of_author
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import Pod
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, NodeBuilder, PodBuilder, make_node, make_pod, make_priority_class
from tests.engine.controllers import daemon_set, deployment, replica_set
from tests.engine.expression_plugin import declaring
from tests.engine.random_clusters import claim_of, configuration, storage_class, volume_of

Data = dict[str, Any]
WEB = {"app": "web"}


def node(name: str, zone: str = "a", cpu: str = "4") -> NodeBuilder:
    return make_node(name).capacity(cpu=cpu, memory="8Gi", pods="10").zone(zone).label(HOSTNAME, name)


SPREADING: Data = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
                        ],
                    },
                }
            ]
        }
    ],
}
"""Spread all pods of a Service over zones."""


def make_service(name: str, selector: dict[str, str]) -> Data:
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": selector, "ports": [{"port": 80}]},
    }


WANTED: Data = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
    "storageClassName": "gone",
}
"""A claim's spec."""


def eager(name: str) -> Data:
    """Return a Deployment whose pod ends at once when it is deleted, and is more important than other pods."""
    pod = {"terminationGracePeriodSeconds": 0, "priority": 10}
    return deployment(name, 1, cpu="2", pod=pod)


def two_containers(first: str, second: str) -> PodBuilder:
    """Return a pod that asks for two amounts of cpu."""
    containers = [
        {"name": name, "image": "x", "resources": {"requests": {"cpu": amount}}}
        for name, amount in (("a", first), ("b", second))
    ]
    return make_pod("p").spec(containers=containers)


def web(name: str, where: str) -> PodBuilder:
    return make_pod(name).labels(WEB).node(where)


@dataclass(frozen=True)
class Case:
    """``finds``: kinds of the changes → the sentence, "" = no such fix. ``beside``: objects besides the pod ``p``."""

    pod: PodBuilder
    beside: Sequence[Any]
    finds: dict[tuple[str, ...], str] = field(default_factory=dict)


def resource(kind: str, name: str, **spec: Any) -> Data:
    metadata = {"name": name, **({"namespace": "default"} if kind == "ResourceClaimTemplate" else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def template(kind: str) -> Data:
    request = {"name": "r", "exactly": {"deviceClassName": kind}}
    return resource("ResourceClaimTemplate", kind, spec={"devices": {"requests": [request]}})


def claiming(name: str, kind: str) -> PodBuilder:
    return make_pod(name).spec(resourceClaims=[{"name": "it", "resourceClaimTemplateName": kind}])


KINDS = {"gpu": ["g0", "g1"], "nic": ["n0"]}
DEVICES = [
    node("n"),
    resource(
        "ResourceSlice",
        "s",
        driver="d.example.com",
        nodeName="n",
        pool={"name": "n", "generation": 1, "resourceSliceCount": 1},
        devices=[
            {"name": name, "attributes": {"kind": {"string": kind}}} for kind, names in KINDS.items() for name in names
        ],
    ),
    *(
        resource(
            "DeviceClass",
            kind,
            selectors=[{"cel": {"expression": f"device.attributes['d.example.com'].kind == '{kind}'"}}],
        )
        for kind in KINDS
    ),
    *map(template, KINDS),
]
P = "default/p"
CASES = {
    "a taint": Case(
        make_pod("p"),
        [node("n").taint("dedicated", "gpu")],
        {
            ("tolerate",): "Let the pod tolerate dedicated=gpu:NoSchedule. Then n passes.",
            ("untaint",): "Remove the taint dedicated=gpu:NoSchedule from n. Then n passes.",
        },
    ),
    "a cordon": Case(
        make_pod("p"),
        [node("n").cordoned()],
        {("uncordon",): "Uncordon n. Then n passes.", ("node",): "Add a node like n. Then n-2 passes."},
    ),
    "too little cpu": Case(
        make_pod("p").cpu("3500m"),
        [node("n"), make_pod("other").cpu("2100m").node("n")],
        {
            ("request",): "Ask for cpu ≤ 1900m: it asks for 3500m, but n has 1900m free. Then n passes.",
            ("enlarge",): "Give n more cpu: 5600m instead of 4000m. Then n passes.",
            ("delete",): "Delete other on n. Then n passes.",
            ("priority",): "Use the PriorityClass priority-1, with the priority 1. Then preemption deletes other on n.",
        },
    ),
    "too little of a device": Case(
        make_pod("p").request({"example.com/gpu": "2"}).limit({"example.com/gpu": "2"}),
        [node("n").capacity({"example.com/gpu": "1"})],
        {("request",): "Ask for example.com/gpu ≤ 1: it asks for 2, but n has 1 free. Then n passes."},
    ),
    "no place for a pod": Case(
        make_pod("p"),
        [make_node("n").capacity(cpu="4", pods="1"), make_pod("other").node("n")],
        {
            ("enlarge",): "Give n more pods: 2 instead of 1. Then n passes.",
            ("delete",): "Delete other on n. Then n passes.",
        },
    ),
    "a label": Case(
        make_pod("p").node_selector({"disk": "ssd"}),
        [node("n").label("disk", "hdd")],
        {
            ("selector-value",): "Select disk=hdd instead of disk=ssd in nodeSelector. Then n passes.",
            ("unselect",): "Remove disk=ssd from nodeSelector. Then n passes.",
            ("label",): "Label n with disk=ssd. Then n passes.",
        },
    ),
    "a required node affinity": Case(
        make_pod("p").node_affinity(ZONE, ["b"]),
        [node("n")],
        {
            ("no-node-affinity",): "Remove the required node affinity. Then n passes.",
            ("label",): f"Label n with {ZONE}=b. Then n passes.",
        },
    ),
    "one of two expressions": Case(
        make_pod("p").spec(
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": ZONE, "operator": "In", "values": ["a"]},
                                    {"key": "disk", "operator": "Exists"},
                                ]
                            }
                        ]
                    }
                }
            }
        ),
        [node("n")],
        {("node-affinity",): "Remove the requirement disk Exists from the node affinity. Then n passes."},
    ),
    "a node that does not exist": Case(
        make_pod("p").spec(
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
                        ]
                    }
                }
            }
        ),
        [node("n")],
        {("no-node-affinity",): "Remove the required node affinity. Then n passes."},
    ),
    "spread": Case(
        make_pod("p").labels(WEB).spread(ZONE, WEB),
        [node("n"), node("m", "b").taint("x"), web("w", "n")],
        {
            ("skew",): f"Allow a maxSkew of 2 instead of 1 for {ZONE}. Then n passes.",
            ("soften",): f"Let the spread over {ZONE} be ScheduleAnyway. Then n passes.",
            ("delete",): "Delete w on n. Then n passes.",
            ("tolerate",): "Let the pod tolerate x:NoSchedule. Then m passes.",
        },
    ),
    "spread, and a soft constraint for the same key": Case(
        make_pod("p").labels(WEB).spread(ZONE, WEB).spread(ZONE, WEB, when="ScheduleAnyway"),
        [node("n"), node("m", "b").taint("x"), web("w", "n")],
        {("unspread",): f"Remove the spread constraint over {ZONE}. Then n passes."},
    ),
    "the default spread of a profile": Case(
        make_pod("p").labels(WEB),
        [
            commands.Configure(SPREADING),
            make_service("web", WEB),
            node("n"),
            node("m", "b").cordoned(),
            web("w", "n"),
        ],
        {("delete",): "Delete w on n. Then n passes."},
    ),
    "affinity": Case(
        make_pod("p").affinity(ZONE, {"app": "db"}),
        [node("n")],
        {("affinity",): f"Remove term 1 of the required pod affinity ({ZONE}). Then n passes."},
    ),
    "anti-affinity": Case(
        make_pod("p").labels(WEB).anti_affinity(HOSTNAME, WEB),
        [node("n"), web("w", "n")],
        {
            ("anti-affinity",): f"Remove term 1 of the required pod anti-affinity ({HOSTNAME}). Then n passes.",
            ("delete",): "Delete w on n. Then n passes.",
            ("node",): "Add a node like n. Then n-2 passes.",
        },
    ),
    "another pod's anti-affinity": Case(
        make_pod("p").labels(WEB),
        [node("n"), make_pod("w").anti_affinity(ZONE, WEB).node("n")],
        {
            ("neighbour",): "Remove the anti-affinity with which w keeps it off n. Then n passes.",
            ("delete",): "Delete w on n. Then n passes.",
        },
    ),
    "a host port": Case(
        make_pod("p").host_port(80),
        [node("n"), make_pod("w").host_port(80).node("n")],
        {
            ("port",): "Use the host port 81 instead of 80. Then n passes.",
            ("delete",): "Delete w on n. Then n passes.",
        },
    ),
    "a gate": Case(
        make_pod("p").gate("wait"), [node("n")], {("ungate",): "Remove the scheduling gates wait. Then n passes."}
    ),
    "an unknown scheduler": Case(
        make_pod("p").scheduler("mine"),
        [node("n")],
        {("scheduler",): "Use the scheduler default-scheduler: none here is called mine. Then n passes."},
    ),
    "a missing claim": Case(
        make_pod("p").claim("data"), [node("n")], {("volume",): "Remove the volume data. Then n passes."}
    ),
    "a missing claim, and a class that makes volumes": Case(
        make_pod("p").claim("data"),
        [node("n"), storage_class("none", "kubernetes.io/no-provisioner"), storage_class("slow", "csi.example.com")],
        {
            ("claim",): "Create the PersistentVolumeClaim data with the StorageClass slow. Then n passes.",
            ("volume",): "Remove the volume data. Then n passes.",
        },
    ),
    "a missing claim, and a class that makes volumes at once": Case(
        make_pod("p").claim("data"),
        [node("n"), storage_class("fast", "csi.example.com", volumeBindingMode="Immediate")],
        {("claim",): "Create the PersistentVolumeClaim data with the StorageClass fast. Then n passes."},
    ),
    "a missing claim, and a small volume": Case(
        make_pod("p").claim("data"),
        [
            node("n"),
            storage_class("disks", "kubernetes.io/no-provisioner"),
            volume_of("disk", storageClassName="disks", capacity={"storage": "500Mi"}, accessModes=["ReadWriteMany"]),
        ],
        {("claim",): "Create the PersistentVolumeClaim data with the StorageClass disks. Then n passes."},
    ),
    "a claim whose class does not exist": Case(
        make_pod("p").claim("data"),
        [node("n"), storage_class("slow", "csi.example.com"), claim_of("data", {"storageClassName": "gone"})],
        {
            ("claim-class",): "Use the StorageClass slow for the claim data. Then n passes.",
            ("class",): "Create the StorageClass gone with the provisioner csi.example.com. Then n passes.",
            ("volume",): "Remove the volume data. Then n passes.",
        },
    ),
    "a claim whose class does not exist, and a driver": Case(
        make_pod("p").claim("data"),
        [
            node("n"),
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIDriver",
                "metadata": {"name": "csi.example.com"},
                "spec": {},
            },
            claim_of("data", {"storageClassName": "gone"}),
        ],
        {("class",): "Create the StorageClass gone with the provisioner csi.example.com. Then n passes."},
    ),
    "a claim whose class does not exist, and nothing that makes volumes": Case(
        make_pod("p").claim("data"),
        [node("n"), claim_of("data", {"storageClassName": "gone"})],
        {("volume",): "Remove the volume data. Then n passes.", ("class",): ""},
    ),
    "a claim for which nobody makes a volume": Case(
        make_pod("p").claim("data"),
        [
            node("n"),
            storage_class("disks", "kubernetes.io/no-provisioner"),
            storage_class("slow", "csi.example.com"),
            claim_of("data", {"storageClassName": "disks"}),
        ],
        {("claim-class",): "Use the StorageClass slow for the claim data. Then n passes."},
    ),
    "an ephemeral claim whose class does not exist": Case(
        make_pod("p").spec(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": WANTED}}}]),
        [node("n"), storage_class("slow", "csi.example.com")],
        {("claim-class",): "Use the StorageClass slow for the claim p-scratch. Then n passes."},
    ),
    "a resource claim": Case(
        make_pod("p").spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "a-gpu"}]),
        [node("n")],
        {("resource-claims",): "Remove the resource claim a-gpu from the pod. Then n passes."},
    ),
    "devices that a less important pod has": Case(
        claiming("p", "gpu"),
        [
            *DEVICES,
            claiming("w", "gpu"),
            claiming("v", "gpu").priority(-1),
            claiming("x", "nic").priority(-2),
            commands.Run(),
        ],
        {
            ("delete",): "Delete v on n. Then n passes.",
            ("resource-claims",): "Remove the resource claim it from the pod. Then n passes.",
        },
    ),
    "a full node": Case(
        make_pod("p").cpu("1"),
        [node("n"), make_pod("w").cpu("4").node("n")],
        {("enlarge",): "Give n more cpu: 5000m instead of 4000m. Then n passes.", ("request",): ""},
    ),
    "a pod that is made again at once": Case(
        make_pod("p").cpu("2"),
        [node("n", cpu="2"), eager("db")],
        {
            ("scale",): "Scale Deployment db down from 1 to 0. Then n passes.",
            ("delete",): "",
        },
    ),
    "a policy that forbids preemption": Case(
        make_pod("p").cpu("3").priority_class("high-but-kind"),
        [
            make_priority_class("high-but-kind", 5, "Never"),
            make_priority_class("urgent", 9),
            node("n"),
            make_pod("w").cpu("3").node("n"),
        ],
        {("priority",): "Use the PriorityClass urgent, with the priority 9. Then preemption deletes w on n."},
    ),
    "two terms of affinity": Case(
        make_pod("p").affinity(ZONE, {"app": "db"}).affinity(HOSTNAME, {"app": "cache"}),
        [node("n")],
        {("no-affinity",): "Remove the required pod affinity. Then n passes."},
    ),
    "a gate and a taint": Case(
        make_pod("p").gate("wait"),
        [node("n").taint("x")],
        {("ungate", "tolerate"): "Remove the scheduling gates wait. Let the pod tolerate x:NoSchedule. Then n passes."},
    ),
    "cpu, a label and a taint": Case(
        make_pod("p").cpu("9").node_selector({"disk": "ssd"}),
        [node("n").taint("x")],
        {
            ("tolerate", "request", "unselect"): "Let the pod tolerate x:NoSchedule. Ask for cpu ≤ 4000m: it asks for"
            " 9000m, but n has 4000m free. Remove disk=ssd from nodeSelector. Then n passes."
        },
    ),
    "four obstacles": Case(
        make_pod("p").cpu("9").node_selector({"disk": "ssd"}),
        [node("n").taint("x").taint("y"), node("m").taint("z").taint("y")],
    ),
}


def pending(case: Case) -> Simulation:
    """Return a simulation in which ``p`` was tried."""
    simulation = Simulation()
    for item in (*case.beside, case.pod):
        manifest = item if isinstance(item, dict | commands.Command) else item.obj()
        simulation.execute(manifest if isinstance(manifest, commands.Command) else commands.Apply((manifest,)))
    simulation.execute(commands.Run())
    return simulation


def found(simulation: Simulation, key: str = P) -> dict[tuple[str, ...], Fix]:
    pod = simulation.api.pod(key)
    assert pod is not None
    proved = [item.fix for item in fixes(simulation, pod) if item.fix is not None]
    by_kinds = {tuple(item.kind for item in fix.changes): fix for fix in proved}
    assert len(by_kinds) == len(proved)
    return by_kinds


def runs_after(simulation: Simulation, fix: Fix, key: str = P) -> str:
    """Make the changes for real, let time pass, and return the pod's node."""
    twin = scratch(simulation)
    for command in commands_for(twin, fix.edits):
        twin.execute(command)
    for _ in range(3):
        twin.execute(commands.Advance(400))
    pod = twin.api.pod(key)
    return pod.node_name if pod is not None else ""


@pytest.mark.parametrize("name", CASES)
def test_a_case(name: str) -> None:
    simulation, case = pending(CASES[name]), CASES[name]
    before = trace_digest(simulation)
    by_kinds = found(simulation)
    sentences = {kinds: sentence(by_kinds[kinds]) if kinds in by_kinds else "" for kinds in case.finds}
    assert sentences == case.finds
    assert case.finds or not by_kinds
    for fix in by_kinds.values():
        assert runs_after(simulation, fix) == fix.node, fix
    assert trace_digest(simulation) == before


def test_every_kind_of_change_has_a_case() -> None:
    covered = {kind for case in CASES.values() for kinds, text in case.finds.items() if text for kind in kinds}
    assert sorted(set(RANKS) - covered) == []


def test_a_pod_that_fits_needs_no_fix() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n").obj(), make_pod("p").obj())))
    assert found(simulation) == {}


def test_what_stops_a_pod_that_passes_every_filter_is_told() -> None:
    simulation = Simulation(configuration=declaring(permit="false", message="not today"))
    simulation.execute(commands.Apply((node("n").obj(), make_pod("p").obj())))
    simulation.execute(commands.Run())
    pod = simulation.api.pod(P)
    assert pod is not None
    assert [*fixes(simulation, pod)] == []
    assert none_found(simulation, pod, 0) == (
        "A node passes every filter for default/p, but a later stage stops it. The scheduler says: 0/1 nodes are "
        "available: 1 not today."
    )


def test_a_filter_that_breaks_has_no_remedy() -> None:
    """Without its PreFilter, NodeResourcesFit gives an error instead of a verdict."""
    broken = configuration()
    broken["profiles"][0]["plugins"] = {"preFilter": {"disabled": [{"name": "NodeResourcesFit"}]}}
    simulation = Simulation(configuration=broken)
    simulation.execute(commands.Apply((node("n1").obj(), make_pod("p").cpu("9").obj())))
    pod = simulation.api.pod("default/p")
    assert pod is not None
    assert [item.fix for item in fixes(simulation, pod) if item.fix is not None] == []


def test_a_pod_that_its_owner_makes_again_is_named_as_such() -> None:
    simulation = Simulation()
    simulation.execute(
        commands.Apply((make_node("n").capacity(cpu="2", pods="9").obj(), replica_set("db", 1, cpu="2")))
    )
    simulation.execute(commands.Run())
    simulation.execute(commands.Apply((make_pod("web").cpu("1").obj(),)))
    simulation.execute(commands.Run())
    pod = simulation.api.existing("Pod", "default/web")
    sentences = [sentence(item.fix) for item in fixes(simulation, pod) if item.fix is not None]
    (owned,) = (item for item in simulation.api.pods() if item.controller_ref)
    text = f"Delete {owned.name} on n: its ReplicaSet db replaces it, but the new pod does not take the room"
    assert f"{text}. Then n passes." in sentences
    assert not any("Scale" in text for text in sentences)


def test_the_template_to_change_is_that_of_the_deployment() -> None:
    simulation = Simulation()
    wanted = deployment("web", 1)
    wanted["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    simulation.execute(commands.Apply((make_node("n").capacity(cpu="2", pods="9").obj(), wanted)))
    simulation.execute(commands.Settle())
    (pod,) = simulation.api.pods()
    found = [item.fix for item in fixes(simulation, pod) if item.fix is not None]
    steps = [step(patch) for fix in found for patch in patches(simulation, fix)]
    assert "The pod belongs to Deployment web. Set these fields in the template there:" in steps


# --- the commands to copy ---


def steps_of(simulation: Simulation, key: str = P) -> dict[tuple[str, ...], list[tuple[str, Any]]]:
    """Return kinds of the changes → text and manifest of each step."""
    return {
        kinds: [(step(patch), patch.manifest) for patch in patches(simulation, fix)]
        for kinds, fix in found(simulation, key).items()
    }


def test_only_fields_that_somebody_wrote_are_shown() -> None:
    """Admission adds tolerations to every pod; defaults fill its constraints and ports."""
    simulation = Simulation()
    wanted = (
        make_pod("p").labels(WEB).spread(ZONE, WEB).host_port(80).toleration("a", "b").node_selector({"disk": "ssd"})
    )
    beside = [
        node("n").taint("x").label("disk", "hdd"),
        node("m", "b").taint("y"),
        make_pod("w").host_port(80).node("n"),
    ]
    simulation.execute(commands.Apply(tuple(item.obj() for item in (*beside, web("v", "n"), wanted))))
    simulation.execute(commands.Run())
    shown = steps_of(simulation)
    manifests = [manifest for steps in shown.values() for _, manifest in steps if manifest is not None]
    written = repr(manifests)
    assert manifests
    assert "not-ready" not in written
    assert "terminationMessagePath" not in written


def test_a_toleration_of_an_owned_pod_is_shown_with_those_of_its_template() -> None:
    simulation = Simulation()
    pod = {"tolerations": [{"key": "a", "operator": "Exists"}]}
    wanted = deployment("web", 1, pod=pod)
    simulation.execute(commands.Apply((node("n").taint("x").obj(), wanted)))
    simulation.execute(commands.Run())
    (waiting,) = simulation.api.pods()
    assert steps_of(simulation, waiting.key)["tolerate",] == [
        (
            "The pod belongs to Deployment web. Set these fields in the template there:",
            {
                "spec": {
                    "tolerations": [*pod["tolerations"], {"key": "x", "operator": "Exists", "effect": "NoSchedule"}]
                }
            },
        )
    ]


def test_a_replaced_pod_shows_its_own_tolerations_and_the_change() -> None:
    """The scheduler of a pod cannot be changed, so the pod is replaced."""
    simulation = Simulation()
    wanted = make_pod("p").spec(tolerations=[{"key": "a", "value": "b"}]).affinity(ZONE, {"app": "db"})
    simulation.execute(commands.Apply((node("n").obj(), wanted.obj())))
    simulation.execute(commands.Run())
    ((text, manifest),) = steps_of(simulation)["affinity",]
    assert text == "Replace the pod p (kubectl replace --force), with these fields:"
    assert manifest == {"spec": {"affinity": {"podAffinity": {}}}}


@pytest.mark.parametrize(
    ("after", "filled", "written", "shown"),
    [
        pytest.param({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1}, id="a default"),
        pytest.param({"a": 1, "b": 3}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 3}, id="a default that changes"),
        pytest.param([{"k": 1, "d": 0}], [{"k": 1, "d": 0}], [{"k": 1}], [{"k": 1}], id="an item with a default"),
        pytest.param([{"k": 1}, {"k": 2}], [{"k": 1}], [], [{"k": 2}], id="an item that is added to one of admission"),
        pytest.param([{"k": 1, "l": [1, 2]}], [], None, [{"k": 1, "l": [1, 2]}], id="everything is new"),
        pytest.param([{"l": [1, 2]}], [{"l": [1, 2]}], [{"l": [1]}], [], id="a list of another length is another one"),
        pytest.param(None, [1], [1], None, id="a field that is removed"),
        pytest.param([{"k": 3}], [{"k": 1}], [{"k": 1}], [{"k": 3}], id="an item that somebody has patched since"),
        pytest.param(
            [{"name": "a", "d": 0, "r": 2}],
            [{"name": "a", "d": 0, "r": 1}],
            [{"name": "a", "r": 1}],
            [{"name": "a", "r": 2}],
            id="a container of which one field changes",
        ),
    ],
)
def test_what_of_a_manifest_its_author_would_recognise(after: Any, filled: Any, written: Any, shown: Any) -> None:
    assert of_author(after, filled, written) == shown


def test_a_replaced_pod_is_written_as_its_author_would_and_keeps_what_was_patched() -> None:
    simulation = Simulation()
    wanted = make_pod("p").labels(WEB).cpu("9").toleration("a", "b")
    simulation.execute(commands.Apply((node("n").obj(), wanted.obj())))
    held = simulation.api.existing("Pod", P).spec["tolerations"]
    patched = [*held, {"key": "late", "operator": "Exists"}]
    simulation.execute(commands.Patch("Pod", P, {"spec": {"tolerations": patched}}))
    simulation.execute(commands.Run())
    (command,) = commands_for(simulation, found(simulation)["request",].edits)
    assert isinstance(command, commands.Replace)
    spec = wanted.obj()["spec"]
    (container,) = spec["containers"]
    assert command.manifest["spec"] == {
        **spec,
        "tolerations": [*spec["tolerations"], patched[-1]],
        "containers": [{**container, "resources": {"requests": {"cpu": "4"}}}],
    }
    simulation.execute(command)
    assert simulation.api.existing("Pod", P).spec["tolerations"] == [*held[:1], patched[-1], *held[1:]]


def test_the_owner_of_a_pod_that_is_made_again_is_scaled_by_kubectl() -> None:
    simulation = pending(CASES["a pod that is made again at once"])
    assert steps_of(simulation)["scale",] == [("kubectl scale deployment db -n default --replicas=0", None)]
    (command,) = commands_for(simulation, found(simulation)["scale",].edits)
    assert command == commands.Patch("Deployment", "default/db", {"spec": {"replicas": 0}})


def test_a_pod_of_a_daemon_set_takes_its_place_on_a_new_node_first() -> None:
    """The new node would be large enough without it."""
    simulation = Simulation()
    agent = daemon_set("agent", cpu="2", pod={"priority": 10})
    simulation.execute(commands.Apply((node("n", cpu="2").obj(), agent)))
    simulation.execute(commands.Run())
    simulation.execute(commands.Apply((make_pod("p").cpu("1").obj(),)))
    simulation.execute(commands.Run())
    assert ("node",) not in found(simulation)


@pytest.mark.parametrize(
    ("pod", "most", "requests"),
    [
        pytest.param(make_pod("p").cpu("500m"), 200, ["200m"], id="one container"),
        pytest.param(make_pod("p").cpu("500m"), 0, None, id="nothing is left"),
        pytest.param(make_pod("p").cpu("500m"), -100, None, id="the node has too many pods already"),
        pytest.param(two_containers("500m", "100m"), 300, ["200m", "100m"], id="the larger one is lowered"),
        pytest.param(two_containers("500m", "400m"), 300, ["150m", "150m"], id="both are lowered to the same amount"),
        pytest.param(two_containers("500m", "400m"), 1, None, id="not enough for two"),
        pytest.param(two_containers("500m", "50m"), 30, ["15m", "15m"], id="both keep something"),
    ],
)
def test_the_largest_request_that_fits_is_never_nothing(pod: PodBuilder, most: int, requests: list[str] | None) -> None:
    held = Pod(set_defaults(pod.obj()))
    edits = lowered(held, "cpu", most)
    if edits is None:
        assert requests is None
        return
    after = edited(held.manifest, edits)["spec"]["containers"]
    assert [item["resources"]["requests"]["cpu"] for item in after] == requests
