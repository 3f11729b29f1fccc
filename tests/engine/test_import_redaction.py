"""Only allow-listed fields of a dump come through, whatever the others hold. Equal values get equal stand-ins."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.fields import TYPES
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.importing import Choices, Import, StandIns, gather, prepare
from scheduler_engine.importing.draft import ORDER
from scheduler_engine.importing.kept import KEPT, STAND_INS
from scheduler_engine.simulation import Simulation
from tests.engine.dumps import as_list
from tests.engine.marked import MARKER, Markers, objects

Manifest = dict[str, Any]

ALLOWED = {f"{kind}.{name}" for kind, fields in KEPT.items() for name in fields if (kind, name) not in STAND_INS}
SECRETS = (
    *("mountOptions", "parameters", "volumeAttributes", "options", "repository", "revision", "targetPortal", "iqn"),
    *("volumeHandle", "volumeID", "pdName", "diskURI", "path", "server", "monitors", "keyring", "user", "hostnames"),
    *(
        "nameservers",
        "searches",
        "externalName",
        "clusterIP",
        "serviceAccountName",
        "secretName",
        "secretRef",
        "nodeID",
    ),
    *("imagePullSecrets", "env", "envFrom", "command", "args", "livenessProbe", "lifecycle", "workingDir", "podIP"),
    *("description", "handler", "providerID", "addresses", "nodeInfo", "managedFields", "securityContext", "data"),
    *("hostname", "subdomain", "dataSource", "attachmentMetadata", "audience", "containerID"),
)
"""Fields that hold secrets, addresses or machine names."""


def gathered(*items: Manifest) -> Any:
    return gather(json.dumps(as_list(list(items))).encode())


def imported(*items: Manifest, **choices: Any) -> Import:
    return prepare(gathered(*items), Choices(**choices))


@pytest.mark.parametrize("kind", ORDER)
def test_every_text_that_an_import_keeps_is_in_an_allowed_field(kind: str) -> None:
    markers = Markers()
    item = markers.struct(kind) | {"kind": kind, "apiVersion": KINDS[kind].api_versions[0]}
    read = gathered(item)
    places = markers.places_in(json.dumps(read.as_json()))
    assert places, "the test would check nothing"
    assert places <= ALLOWED
    assert "annotations" not in str(places)
    assert len(markers.places) > len(places)


def test_no_field_for_secrets_or_addresses_is_on_the_list() -> None:
    kept = {name for kind, names in KEPT.items() for name in names if (kind, name) not in STAND_INS}
    assert kept.isdisjoint(SECRETS)
    assert {name for fields in TYPES.values() for name in fields} >= set(SECRETS), "each is a field of Kubernetes"


def test_the_list_names_only_fields_that_there_are_and_every_type_that_it_leads_to() -> None:
    for kind, names in KEPT.items():
        assert set(names) <= TYPES[kind].keys(), kind
        for name in names:
            known = TYPES[kind][name].type
            assert known not in TYPES or known in KEPT, f"{kind}.{name}"


def filled() -> tuple[Markers, list[Manifest]]:
    markers = Markers()
    return markers, [markers.filled(item, item["kind"]) for item in objects()]


@pytest.mark.parametrize("anonymous", [False, True], ids=["real names", "made-up names"])
def test_a_cluster_full_of_secrets_is_imported_whole_and_without_them(anonymous: bool) -> None:
    markers, items = filled()
    assert set(KEPT) == set(markers.types), "every type of the list is tested"
    result = imported(*items, anonymous=anonymous)
    assert result.skipped == ()
    assert {item["kind"] for item in result.objects} == set(ORDER)
    simulation = Simulation(configuration=result.configuration)
    for command in result.commands():
        simulation.execute(commands.from_json(command))
    text = json.dumps([result.commands(), [str(item) for item in result.notices]])
    assert markers.places_in(text) == set()
    assert len(simulation.api.pods()) == 2


def test_the_scheduler_says_of_a_pod_without_a_node_is_for_the_page_alone() -> None:
    result = imported(*objects())
    assert [item.message for item in result.summary.waiting] == ["0/1 nodes are available."]
    assert "nodes are available" not in json.dumps(result.commands())
    assert [item.message for item in imported(*objects(), anonymous=True).summary.waiting] == [""]


def test_a_value_of_a_wrong_type_says_nothing() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": ["zq1qz"]}, "spec": "zq2qz"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": {"zq3qz": 1}}, "spec": {"taints": {"a": "zq4qz"}}}
    other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"taints": [{"key": ["zq5qz"]}]}}
    read = gathered(pod, node, other)
    assert not MARKER.search(json.dumps(read.as_json()))
    assert {item.kind for item in prepare(gathered(*objects(), pod, node, other)).skipped} == {"Pod", "Node"}


def test_a_configuration_comes_without_addresses_keys_and_strange_arguments() -> None:
    markers = Markers()
    configuration = markers.configuration() | {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    read = gathered(*objects(), configuration)
    types = {place.partition(".")[0] for place in markers.places_in(json.dumps(read.as_json()))}
    assert types == {"Plugin", "PluginConfig", "KubeSchedulerProfile", "LeaderElectionConfiguration"}
    assert not markers.places_in(json.dumps(read.as_json())) & {"PluginConfig.args"}


def test_an_unknown_field_of_a_configuration_is_named_and_its_value_is_dropped() -> None:
    version = "kubescheduler.config.k8s.io/v1"
    profile = {"schedulerName": "a", "odd": {"a": "zq2qz"}}
    configuration = {
        "apiVersion": version,
        "kind": "KubeSchedulerConfiguration",
        "strange": "zq1qz",
        "profiles": [profile],
    }
    read = gathered(*objects(), configuration)
    assert not MARKER.search(json.dumps(read.as_json()))
    assert "strange" in prepare(read).skipped[0].reason


@pytest.mark.parametrize("name", [["NodeResourcesFit"], {"a": "b"}, 5])
def test_a_plugin_name_that_is_not_text_is_refused_and_the_cluster_is_imported(name: Any) -> None:
    version = "kubescheduler.config.k8s.io/v1"
    profile = {"pluginConfig": [{"name": name, "args": {"scoringStrategy": {"type": "zq1qz"}}}]}
    configuration = {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    assert not MARKER.search(json.dumps(gathered(*objects(), configuration).as_json()))
    result = imported(*objects(), configuration)
    assert result.configuration is None
    assert result.skipped[0].kind == "KubeSchedulerConfiguration"


def test_extenders_are_refused_without_saying_where_they_are() -> None:
    extender = {"urlPrefix": "https://zq1qz", "tlsConfig": {"keyData": "enExcXo="}}
    version = "kubescheduler.config.k8s.io/v1"
    configuration = {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "extenders": [extender]}
    result = imported(*objects(), configuration)
    assert result.configuration is None
    assert "asks no extenders" in result.skipped[0].reason


def test_simulated_extenders_come_in_without_keys() -> None:
    simulated = {"urlPrefix": "simulated://gpus", "filterVerb": "filter", "simulated": {"filter": "node.name == 'a'"}}
    version = "kubescheduler.config.k8s.io/v1"
    configuration = {"apiVersion": version, "kind": "KubeSchedulerConfiguration"}
    result = imported(*objects(), configuration | {"extenders": [simulated | {"tlsConfig": {"keyData": "enExcXo="}}]})
    assert result.configuration is not None
    assert result.configuration["extenders"] == [simulated]
    mixed = imported(*objects(), configuration | {"extenders": [simulated, {"urlPrefix": "https://zq1qz"}]})
    assert mixed.configuration is None


# --- stand-ins --------------------------------------------------------------------------------------------------------


def volume(name: str, **source: Any) -> Manifest:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], **source}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def test_identifiers_are_equal_where_they_were_equal() -> None:
    csi = [
        volume(name, csi={"driver": "d", "volumeHandle": handle})
        for name, handle in (("a", "x"), ("b", "y"), ("c", "x"))
    ]
    result = imported(*csi)
    handles = [item["spec"]["csi"]["volumeHandle"] for item in result.objects]
    assert handles == ["vol-1", "vol-2", "vol-1"]


def test_they_are_so_across_files_and_fields() -> None:
    stand_ins = StandIns()
    first = gather(json.dumps(volume("a", gcePersistentDisk={"pdName": "disk"})).encode(), stand_ins=stand_ins)
    other = gather(json.dumps(volume("b", cinder={"volumeID": "disk"})).encode(), stand_ins=stand_ins)
    assert first.objects[0]["spec"]["gcePersistentDisk"]["pdName"] == "vol-1"
    assert other.objects[0]["spec"]["cinder"]["volumeID"] == "vol-1"


@pytest.mark.parametrize(
    ("real", "stand_in"),
    [
        ("vol-0a1", "vol-1"),
        ("aws://eu-west-1a/vol-0a1", "aws:///vol-1"),
        ("aws:///vol-0a1", "aws:///vol-1"),
        ("aws://eu-west-1a/other", "aws://vol-1"),
        ("/subscriptions/s/disks/d", "/subscriptions/vol-1"),
        ("https://account.blob.example/d.vhd", "https://vol-1"),
        ("rbd", "rbd"),
        ("", ""),
    ],
)
def test_an_identifier_keeps_how_it_is_read(real: str, stand_in: str) -> None:
    assert StandIns().of("vol-{}", real) == stand_in


def test_two_ways_to_write_an_identifier_stay_two_ways_to_write_one() -> None:
    stand_ins = StandIns()
    assert stand_ins.of("vol-{}", "vol-0a1") == "vol-1"
    assert stand_ins.of("vol-{}", "aws://eu-west-1a/vol-0a1") == "aws:///vol-1"


def disk_pod(name: str, node: str, volumes: list[Manifest]) -> Manifest:
    spec = {"containers": [{"name": "c", "image": "x"}], "volumes": volumes, **({"nodeName": node} if node else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


SHARED: dict[str, Manifest] = {
    "GCE": {"gcePersistentDisk": {"pdName": "d"}},
    "AWS": {"awsElasticBlockStore": {"volumeID": "vol-d"}},
    "iSCSI": {"iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:d", "lun": 2}},
    "RBD": {"rbd": {"monitors": ["m1", "m2"], "image": "d", "pool": "rbd", "keyring": "/k"}},
}


@pytest.mark.parametrize("name", SHARED)
def test_two_pods_exclude_each_other_by_a_disk_as_in_the_cluster(name: str) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"capacity": {"cpu": "4", "pods": "9"}},
    }
    disk = [{"name": "v", **SHARED[name]}]
    without_pool = json.loads(json.dumps(disk).replace(', "pool": "rbd"', ""))
    result = imported(node, disk_pod("holds", "n1", disk), disk_pod("wants", "", without_pool))
    simulation = Simulation()
    for command in result.commands():
        simulation.execute(commands.from_json(command))
    simulation.execute(commands.Run())
    wants = simulation.api.pod("default/wants")
    assert wants is not None
    assert "no available disk" in str(wants.condition("PodScheduled"))


def test_the_notices_list_omissions_and_replacements() -> None:
    _, items = filled()
    notices = {item.key: item for item in imported(*items).notices}
    assert notices.keys() >= {
        "environment",
        "commands",
        "annotations",
        "volumes",
        "volume-places",
        "stand-ins",
        "fields",
    }
    assert "volumeHandle" in notices["stand-ins"].examples
    assert notices["volume-places"].count == 1
