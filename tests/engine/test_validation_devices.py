"""Claims, templates, classes of devices and slices of resources: what is wrong with them, in Kubernetes' words."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import merge
from scheduler_engine.api.validation import check_update, validate
from scheduler_engine.apiserver.admission import admit
from scheduler_engine.apiserver.device_admission import ADMIN_LABEL
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import Rejected
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import VERSIONS, rules_for

Data = dict[str, Any]

IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is "
    "'[A-Za-z_][A-Za-z0-9_]*')"
)
NAMED = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"


def of_kind(kind: str, spec: Data, **fields: Any) -> Data:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec, **fields}


def claim(*requests: Data, **devices: Any) -> Data:
    return of_kind("ResourceClaim", {"devices": {"requests": list(requests), **devices}})


def wanting(name: str = "r", **fields: Any) -> Data:
    return {"name": name, "exactly": {"deviceClassName": "gpus", **fields}}


def selecting(expression: str) -> Data:
    return wanting(selectors=[{"cel": {"expression": expression}}])


def device_class(*expressions: str) -> Data:
    return of_kind("DeviceClass", {"selectors": [{"cel": {"expression": text}} for text in expressions]})


def offering(*devices: Data, **fields: Any) -> Data:
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    return of_kind("ResourceSlice", {"driver": "d", "pool": pool, "nodeName": "n", "devices": list(devices), **fields})


def device(name: str = "gpu-0", **fields: Any) -> Data:
    return {"name": name, **fields}


EXPENSIVE = (
    "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a < b))))"
)
REQUEST, DEVICE = "spec.devices.requests[0]", "spec.devices[0]"

WRONG: dict[str, tuple[Data, list[str]]] = {
    "a request for nothing": (
        claim({"name": "r"}),
        [f"{REQUEST}: Required value: exactly one of `exactly` or `firstAvailable` is required"],
    ),
    "a request of both kinds": (
        claim({**wanting(), "firstAvailable": [{"name": "a", "deviceClassName": "c"}]}),
        [
            f"{REQUEST}: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple "
            "fields are set"
        ],
    ),
    "two requests of one name": (
        claim(wanting(), wanting()),
        ['spec.devices.requests[1].name: Duplicate value: "r"'],
    ),
    "a request without a class": (
        claim(wanting(deviceClassName="")),
        [f"{REQUEST}.exactly.deviceClassName: Required value"],
    ),
    "all devices, and how many": (
        claim(wanting(allocationMode="All", count=2)),
        [
            f"{REQUEST}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
        ],
    ),
    "fewer than no devices": (
        claim(wanting(count=-1)),
        [f"{REQUEST}.exactly.count: Invalid value: -1: must be greater than zero"],
    ),
    "an unknown mode": (
        claim(wanting(allocationMode="Some")),
        [
            f'{REQUEST}.exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
        ],
    ),
    "a selector without an expression": (
        claim(wanting(selectors=[{}])),
        [f"{REQUEST}.exactly.selectors[0].cel: Required value"],
    ),
    "an expression with a mistake": (
        claim(selecting("device.nosuch")),
        [
            f'{REQUEST}.exactly.selectors[0].cel.expression: Invalid value: "device.nosuch": compilation failed: '
            "ERROR: <input>:1:7: undefined field 'nosuch'\n | device.nosuch\n | ......^"
        ],
    ),
    "an expression with a constant that has no value": (
        claim(selecting('int("x") == 1')),
        [
            f"{REQUEST}.exactly.selectors[0].cel.expression: Internal error: program instantiation failed: "
            "type conversion error from 'string' to 'int'"
        ],
    ),
    "an expression that may cost too much": (
        claim(selecting(EXPENSIVE)),
        [f"{REQUEST}.exactly.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit"],
    ),
    "a very long expression": (
        device_class("true" + " " * 10240),
        ["spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"],
    ),
    "a class whose expression is a number": (
        device_class("1"),
        [
            'spec.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the unknown type, not int',
        ],
    ),
    "a constraint on requests that do not exist, over an attribute without a domain": (
        claim(wanting(), constraints=[{"requests": ["other"], "matchAttribute": "numa"}]),
        [
            f'spec.devices.constraints[0].requests[0]: Invalid value: "other": {NAMED}',
            'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": must include a domain',
        ],
    ),
    "a constraint over nothing": (
        claim(wanting(), constraints=[{}]),
        ["spec.devices.constraints[0].matchAttribute: Required value"],
    ),
    "a configuration that is no object": (
        claim(wanting(), config=[{"opaque": {"driver": "d", "parameters": [1]}}]),
        [
            'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
        ],
    ),
    "an empty configuration": (
        of_kind("DeviceClass", {"config": [{}]}),
        ["spec.config[0].opaque: Required value"],
    ),
    "a template with a mistake": (
        of_kind("ResourceClaimTemplate", {"spec": {"devices": {"requests": [{"name": "R", **wanting("R")}]}}}),
        [
            'spec.spec.devices.requests[0].name: Invalid value: "R": a lowercase RFC 1123 label must consist of lower '
            "case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. "
            "'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ],
    ),
    "a slice of no pool, for no node": (
        of_kind("ResourceSlice", {"driver": "d", "pool": {}, "devices": []}),
        [
            "spec.pool.name: Required value",
            "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
            f"spec: Required value: {ONE_PLACE}",
        ],
    ),
    "a slice for one node and for all": (
        offering(allNodes=True),
        [f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {ONE_PLACE}, but multiple fields are set'],
    ),
    "a slice that is not for all nodes": (
        offering(nodeName=None, allNodes=False),
        [
            "spec.allNodes: Invalid value: false: must be either unset or set to true",
            f"spec: Required value: {ONE_PLACE}",
        ],
    ),
    "a selector with two terms": (
        offering(nodeName=None, nodeSelector={"nodeSelectorTerms": [{}, {}]}),
        [
            "spec.nodeSelector.nodeSelectorTerms: Invalid value: [{},{}]: must have exactly one node selector term",
        ],
    ),
    "two devices of one name": (
        offering(device(), device()),
        ['spec.devices[1].name: Duplicate value: "gpu-0"'],
    ),
    "an attribute without a value, and one with two": (
        offering(device(attributes={"a": {}, "b": {"int": 1, "bool": True}})),
        [
            f"{DEVICE}.attributes[a]: Required value: exactly one value must be specified",
            f'{DEVICE}.attributes[b]: Invalid value: {{"IntValue":1,"BoolValue":true,"StringValue":null,'
            '"VersionValue":null}: exactly one value must be specified',
        ],
    ),
    "a version that is none": (
        offering(device(attributes={"v": {"version": "1.2"}})),
        [
            f'{DEVICE}.attributes[v].version: Invalid value: "1.2": must be a string compatible with semver.org spec '
            "2.0.0"
        ],
    ),
    "names of attributes": (
        offering(device(attributes={"a-b": {"int": 1}, "/a": {"int": 1}, "d/": {"int": 1}})),
        [
            f"{DEVICE}.attributes[/a]: Required value: the domain must not be empty",
            f'{DEVICE}.attributes[a-b]: Invalid value: "a-b": {IDENTIFIER}',
            f"{DEVICE}.attributes[d/]: Required value: the name must not be empty",
        ],
    ),
    "too many attributes": (
        offering(device(attributes={f"a{n}": {"int": n} for n in range(33)})),
        [f"{DEVICE}: Invalid value: 33: the total number of attributes and capacities must not exceed 32"],
    ),
    "too many devices": (
        offering(*(device(f"d{n}") for n in range(129))),
        ["spec.devices: Too many: 129: must have at most 128 items"],
    ),
}


@pytest.mark.parametrize(("manifest", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(manifest: Data, expected: list[str]) -> None:
    assert [str(error) for error in validate(manifest)] == expected


SUB = {"name": "s", "deviceClassName": "gpus"}
LISTS = '"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null'
BOTH = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
NEWER: dict[str, tuple[Data, list[str], list[str]]] = {
    "a name twice": (
        offering(device(), device()),
        [f'{DEVICE[:-2]}1].name: Duplicate value: "gpu-0"'],
        [f'{DEVICE[:-2]}1]: Duplicate value: "gpu-0"'],
    ),
    "too many, and each is wrong": (
        device_class(*["1"] * 33),
        [
            *(f'spec.selectors[{n}].cel.expression: Invalid value: "1": must evaluate to bool' for n in range(33)),
            "spec.selectors: Too many: 33: must have at most 32 items",
        ],
        ["spec.selectors: Too many: 33: must have at most 32 items"],
    ),
    "two forms, one of them wrong": (
        claim({**wanting(), "firstAvailable": [{**SUB, "name": "S"}]}),
        [f"{REQUEST}.firstAvailable[0].name: Invalid value", f"{REQUEST}: Invalid value: null: {BOTH}"],
        [f"{REQUEST}: Invalid value: null: {BOTH}"],
    ),
    "an attribute without a domain": (
        claim(wanting(), constraints=[{"matchAttribute": "model"}]),
        ['spec.devices.constraints[0].matchAttribute: Invalid value: "model": must include a domain'],
        [
            'spec.devices.constraints[0].matchAttribute: Invalid value: "model": '
            "a fully qualified name must be a domain and a name separated by a slash"
        ],
    ),
    "a name without its parts": (
        offering(device(attributes={"/": {"int": 1}})),
        [
            f"{DEVICE}.attributes[/]: Required value: the domain must not be empty",
            f"{DEVICE}.attributes[/]: Required value: the name must not be empty",
        ],
        [
            f'{DEVICE}.attributes[/]: Invalid value: "": the domain must not be empty',
            f'{DEVICE}.attributes[/]: Invalid value: "": the name must not be empty',
        ],
    ),
    "no name": (
        offering(device(attributes={"": {"int": 1}})),
        [f"{DEVICE}.attributes[]: Required value: name required"],
        [f'{DEVICE}.attributes[]: Invalid value: "": {IDENTIFIER}'],
    ),
    "no value": (
        offering(device(attributes={"a": {}})),
        [f"{DEVICE}.attributes[a]: Required value: exactly one value must be specified"],
        [f'{DEVICE}.attributes[a]: Invalid value: "": exactly one value must be specified'],
    ),
}
NEWEST: dict[str, tuple[Data, list[str]]] = {
    "two values": (
        offering(device(attributes={"a": {"int": 1, "bool": True}})),
        [
            f'{DEVICE}.attributes[a]: Invalid value: {{"IntValue":1,"BoolValue":true,"StringValue":null,'
            f'"VersionValue":null,{LISTS}}}: exactly one value must be specified'
        ],
    ),
    "a wrong name": (
        offering(device(attributes={"1": {"int": 1}})),
        [f'{DEVICE}.attributes: Invalid value: "1": {IDENTIFIER}'],
    ),
    "no attribute": (
        claim(wanting(), constraints=[{}]),
        [f"spec.devices.constraints[0]: Required value: {ONE_ATTRIBUTE}"],
    ),
}


def said(manifest: Data, version: str) -> list[str]:
    return [str(error) for error in validate(manifest, rules=rules_for(version))]


@pytest.mark.parametrize(("manifest", "older", "newer"), NEWER.values(), ids=NEWER)
def test_v1_35_says_it_in_other_words(manifest: Data, older: list[str], newer: list[str]) -> None:
    for version, texts in zip(VERSIONS[:2], (older, newer), strict=True):
        found = said(manifest, version)
        assert len(found) == len(texts)
        assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found


@pytest.mark.parametrize(("manifest", "texts"), NEWEST.values(), ids=NEWEST)
def test_v1_36_says_it_in_other_words(manifest: Data, texts: list[str]) -> None:
    assert said(manifest, VERSIONS[2]) == texts
    assert said(manifest, VERSIONS[1]) != texts


def test_defaults() -> None:
    stored = set_defaults(
        claim(wanting(), {"name": "s", "firstAvailable": [{"name": "a", "deviceClassName": "c", "count": 3}]})
    )
    exactly, first = (
        item.get("exactly") or item["firstAvailable"][0] for item in stored["spec"]["devices"]["requests"]
    )
    assert (exactly["allocationMode"], exactly["count"]) == ("ExactCount", 1)
    assert (first["allocationMode"], first["count"]) == ("ExactCount", 3)


ALLOCATION = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "gpu-0"}]}}
CONSUMER = {"resource": "pods", "name": "p", "uid": "u"}
HELD = set_defaults(claim(wanting()))
ALLOCATED = merge(HELD, {"status": {"allocation": ALLOCATION, "reservedFor": [CONSUMER]}})
OTHER_DEVICE = {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "gpu-1"}]}}

CHANGES: dict[str, tuple[Data, Data, list[str]]] = {
    "a claim gets its devices and a pod": (HELD, ALLOCATED, []),
    "a claim loses both": (ALLOCATED, HELD, []),
    "a claim gets other devices": (
        ALLOCATED,
        merge(ALLOCATED, {"status": {"allocation": OTHER_DEVICE}}),
        ["status.allocation: Invalid value"],
    ),
    "a pod, but no devices": (
        HELD,
        merge(HELD, {"status": {"reservedFor": [CONSUMER]}}),
        ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
    ),
    "devices for a request that does not exist": (
        HELD,
        merge(
            HELD,
            {
                "status": {
                    "allocation": {"devices": {"results": [{**ALLOCATION["devices"]["results"][0], "request": "x"}]}}
                }
            },
        ),
        [f'status.allocation.devices.results[0].request: Invalid value: "x": {NAMED}'],
    ),
    "another request": (HELD, set_defaults(claim(wanting("other"))), ["spec: Invalid value"]),
    "a slice moves to another node": (
        set_defaults(offering(device())),
        set_defaults(offering(device(), nodeName="m")),
        ['spec.nodeName: Invalid value: "m": field is immutable'],
    ),
    "a slice gets another device": (set_defaults(offering(device())), set_defaults(offering(device("b"))), []),
}


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES.values(), ids=CHANGES)
def test_changes(old: Data, new: Data, expected: list[str]) -> None:
    try:
        check_update(old, merge(new, {"metadata": {"resourceVersion": "1"}}))
        found = []
    except Rejected as problem:
        found = [str(error) for error in problem.errors]
    assert len(found) == len(expected), found
    assert all(text.startswith(wanted) for text, wanted in zip(found, expected, strict=True)), found


ADMIN = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "admin", "labels": {ADMIN_LABEL: "true"}}}
UNLABELLED = (
    "adminAccess: Forbidden: admin access to devices requires the "
    "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
)
FORBIDDEN = f"spec.devices.requests[1].{UNLABELLED}"


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_admin_access_needs_a_label_of_the_namespace(kind: str) -> None:
    spec = claim(wanting("a"), wanting("b", adminAccess=True))["spec"]
    wanted = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "c"},
        "spec": {"spec": spec} if kind == "ResourceClaimTemplate" else spec,
    }
    cluster = Cluster().apply(ADMIN)
    with pytest.raises(Rejected) as refused:
        cluster.apply(wanted)
    assert f'{kind}.resource.k8s.io "c" is invalid: {FORBIDDEN}' in str(refused.value)
    cluster.apply({**wanted, "metadata": {"name": "c", "namespace": "admin"}})
    assert cluster.simulation.api.get(kind, "admin/c") is not None


ALLOCATED = {
    "allocation": {
        "devices": {
            "results": [
                {"request": "a", "driver": "d", "pool": "p", "device": "x"},
                {"request": "b", "driver": "d", "pool": "p", "device": "y", "adminAccess": True},
            ]
        }
    }
}


def in_admin(status: Data) -> Data:
    spec = claim(wanting("a"), wanting("b", adminAccess=True))["spec"]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "admin"},
        "spec": spec,
        "status": status,
    }


def test_a_claim_gets_devices_with_admin_access_only_under_the_label() -> None:
    cluster = Cluster().apply(ADMIN, in_admin({}))
    cluster.apply({**ADMIN, "metadata": {"name": "admin", "labels": {ADMIN_LABEL: "false"}}})
    with pytest.raises(Rejected) as refused:
        cluster.apply(in_admin(ALLOCATED))
    place = "status.allocation.devices.results[1]."
    assert f'ResourceClaim.resource.k8s.io "c" is invalid: {place}{UNLABELLED}' in str(refused.value)
    with pytest.raises(ApiError, match=r"status\.allocation\.devices"):
        cluster.simulation.api.patch("ResourceClaim", "admin/c", {"status": ALLOCATED})
    cluster.apply(ADMIN, in_admin(ALLOCATED))
    cluster.apply({**ADMIN, "metadata": {"name": "admin", "labels": {ADMIN_LABEL: "false"}}})
    user = {"resource": "pods", "name": "p", "uid": "u"}
    cluster.simulation.api.patch("ResourceClaim", "admin/c", {"status": {"reservedFor": [user]}})


def test_what_drivers_told_about_devices_goes_with_them() -> None:
    told = [{"driver": "d", "pool": "p", "device": name} for name in ("x", "y")]
    cluster = Cluster().apply(ADMIN, in_admin({**ALLOCATED, "devices": told}))
    api = cluster.simulation.api
    old = api.existing("ResourceClaim", "admin/c")
    assert old.status["devices"] == told
    assert admit(in_admin({"devices": told}), api, old)["status"] == {}
    first = {"allocation": {"devices": {"results": ALLOCATED["allocation"]["devices"]["results"][:1]}}}
    assert admit(in_admin({**first, "devices": told}), api, old)["status"] == {**first, "devices": told[:1]}
