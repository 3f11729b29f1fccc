"""Strangers' inputs: odd texts, numbers, YAML and JSON, and real documents with one error in them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from scheduler_engine.apiserver.admission import SWITCHED
from scheduler_engine.commands import COMMANDS
from scheduler_engine.versions import VERSIONS
from tests.hostile.rooms import FILE

SHORT_FILES = 6
"""How many files of each kind to change, shortest first."""
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
MARK = "h0st1le"
"""Part of every tag and attribute that somebody tries to inject."""
SUM, ITS_RESULT = "1337*1337", "1787569"
"""The result if a template executed its input."""

TEXTS: tuple[str, ...] = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\r\nX-Injected: yes",
    "\ud800",
    "pod-\udfff\ud83d",
    "\U0001f4a9" * 30,
    "\u202egnp.exe\u202c",
    "\u0645\u0631\u062d\u0628\u0627",
    "Zoe\u0308",
    "Zo\u00eb",
    "\u200b\u200d\ufeff",
    "\x1b[31m\x07\x08\x7f",
    "\ufffe\uffff",
    "\u0130\u0131\u1e9e\u00df",
    "e" + "\u0301" * 500,
    f'<{MARK} onload="x">',
    f'"><{MARK}>',
    f"'><{MARK} x='",
    f'" {MARK}="1',
    f"<script>{MARK}</script><{MARK}>",
    f"]]><!--<{MARK}>--></textarea></title></script><{MARK}>",
    f"[x](javascript:{MARK}) **b** `<{MARK}>` ![](x)",
    f"{{{{{SUM}}}}}",
    f"${{{SUM}}}<%={SUM}%>#{{{SUM}}}",
    "%s%s%n%x%99999999d",
    "{0}{x.__class__}{}",
    "%(message)s",
    "../../../../etc/passwd",
    "..\\..\\x",
    "/",
    "//",
    "a/b/c",
    "default/",
    "/web-0",
    "default/web-0/x",
    "'; DROP TABLE sandbox_sandbox; --",
    "\\",
    "$(id)`id`|id",
    "=cmd|' /C calc'!A0",
    "null",
    "None",
    "true",
    "undefined",
    "[]",
    "{}",
    "*",
    "~",
    "-",
    "---",
    "&a *a",
    "sha256:" + "a" * 64,
    "00000000-0000-0000-0000-000000000000",
    "constructor",
    "__proto__",
    "a" * 64,
    "a" * 254,
    "a." * 130 + "a",
    "x" * 5000,
    "é" * 5000,
)
NUMBERS: tuple[str, ...] = (
    *("0", "-0", "-1", "1", "2", "0.5", "1e999", "-1e999", "1e308", "1e-400", "0.0000001", "9" * 400, "1" + "0" * 5000),
    *("NaN", "Infinity", "-inf", "nan", "1_000", "0x10", "0b1", "0o7", "007", "+5", " 7 ", "٣", "३.५", "½", "Ⅷ"),
    *map(str, (2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1)),
    *("1e5", "1,5", "1.5.2", "1Gi", "100m", "-5Ki", "1e3E", "12e6i", "0.1n", "37e99998", "1/0", "1/3", "86401"),
)
BOMB = "a: &a [x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdef", "bcdefg", strict=True)
)
"""Would expand to half a million items."""
YAML: tuple[str, ...] = (
    BOMB,
    "a: &a\n  b: *a\n",
    "&x [*x]",
    "<<: *missing",
    "a: &a {x: 1}\nb: {<<: *a, <<: *a}\n<<: [1, 2]\n",
    "!!python/object/apply:os.system ['id']",
    "!!python/name:os.system x",
    "!!binary aGVsbG8=",
    "kind: !!binary //79\napiVersion: v1",
    "!!timestamp 2001-12-14t21:59:43.10-05:00",
    "metadata: 2001-99-99",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "? [a, b]\n: c\n? {d: e}\n: f",
    "{[]: 1, {}: 2, null: 3, 1.5: 4, true: 5}",
    "kind: Pod\nkind: Node\nkind: Pod",
    "[" * 3000 + "]" * 3000,
    "[" * 90,
    "{a: " * 2000,
    "- " * 3000,
    "? " * 1000,
    "a: " + "'" * 999,
    "\t- x",
    "%YAML 9.9\n---\nx",
    "%TAG ! tag:x,2000:\n---\n!x y",
    "--- \n" * 3000,
    "...\n...\n",
    "apiVersion: v1\nkind: List\nitems: null",
    "apiVersion: v1\nkind: List\nitems: [null, 1, [], {kind: List, items: [{kind: List}]}]",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x, creationTimestamp: .nan, labels: {1: 2, null: ~, y: on}}",
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 0o17\n  annotations: {a: 1:30:00, b: .inf, c: 0x1F}",
    "kind: Pod\n\x00apiVersion: v1",
    "\ufeffkind: Pod",
    "kind: \x85Pod\u2028",
    "|\n" + " x\n" * 200,
    ">9\n x",
    '"\\ud800 \\U00110000 \\x"',
    "0: " + "9" * 6000,
    "1e99999999: .nan",
    "a" * 70000,
)


def text(drawn: random.Random) -> str:
    if drawn.random() < 0.3:
        return drawn.choice(NUMBERS)
    piece = drawn.choice(TEXTS)
    return piece + drawn.choice(TEXTS) if drawn.random() < 0.15 else piece


SCALARS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, -0.0, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, float("nan")),
    *(float("inf"), float("-inf"), 5e-324, "", [], {}, [[]], [None], {"": None}, {"a": {"b": {"c": []}}}),
)


def value(drawn: random.Random) -> Any:
    """Return any JSON value, or one that only Python's JSON allows."""
    kind = drawn.random()
    if kind < 0.45:
        return copy.deepcopy(drawn.choice(SCALARS))
    if kind < 0.85:
        return text(drawn)
    if kind < 0.9:
        return [text(drawn)] * drawn.choice((1, 2, 300))
    if kind < 0.95:
        return {text(drawn): copy.deepcopy(drawn.choice(SCALARS)) for _ in range(drawn.choice((1, 3, 200)))}
    return nested(drawn.choice((5, 60, 200)))


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def changed(drawn: random.Random, data: Any) -> Any:
    """Return a copy of ``data`` with one error."""
    copied = copy.deepcopy(data)
    places = list(_places(copied))
    if not places:
        return value(drawn)
    holder, key = drawn.choice(places)
    kind = drawn.random()
    if kind < 0.15:
        holder[key] = None
    elif kind < 0.25 and isinstance(holder, dict):
        del holder[key]
    elif kind < 0.35 and isinstance(holder, dict):
        holder[text(drawn)] = holder[key]
    elif kind < 0.4 and isinstance(holder, list):
        holder *= drawn.choice((2, 50))
    elif kind < 0.5:
        other, name = drawn.choice(places)
        holder[key] = copy.deepcopy(other[name])
    elif kind < 0.6:
        holder[key] = [copy.deepcopy(holder[key])]
    else:
        holder[key] = value(drawn)
    return copied


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key) below."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, below in items:
        yield data, key
        yield from _places(below)


def as_json(data: Any) -> str:
    """Write values that JSON lacks too, such as ``NaN``. Surrogates are escaped."""
    return json.dumps(data)


@cache
def manifests() -> tuple[dict[str, Any], ...]:
    """Return the manifests of the fixtures."""
    texts = (path.read_text() for path in sorted((FIXTURES / "manifests").glob("*.yaml")))
    documents = (document for one in texts for document in yaml.load_all(one, yaml.CSafeLoader))
    return tuple(document for document in documents if isinstance(document, dict) and "kind" in document)


@cache
def files() -> tuple[str, ...]:
    """Return texts of short scenarios and lessons, and of a room."""
    texts = [FILE, as_json(POLICY), as_json(KUBELET), as_json(SNAPSHOT)]
    for name in ("scenarios", "lessons", "challenges"):
        short = sorted((FIXTURES / name).glob("*.yaml"), key=lambda path: (path.stat().st_size, path.name))
        texts += [path.read_text() for path in short[:SHORT_FILES]]
    return tuple(texts)


def document(drawn: random.Random) -> str:
    """Return a text as forms for manifests, configurations and files receive it."""
    kind = drawn.random()
    if kind < 0.3:
        return drawn.choice(YAML)
    if kind < 0.45:
        return _cut(drawn, drawn.choice(files()))
    if kind < 0.55:
        return as_json(changed(drawn, yaml.load(drawn.choice(files()), yaml.CSafeLoader)))
    if kind < 0.6:
        return as_json({"apiVersion": "v1", "kind": "List", "items": [manifest(drawn) for _ in range(4)]})
    if kind < 0.65:
        return as_json(changed(drawn, CONFIGURATION))
    return "\n---\n".join(as_json(manifest(drawn)) for _ in range(drawn.choice((1, 1, 2))))


def manifest(drawn: random.Random) -> Any:
    return changed(drawn, drawn.choice(manifests()))


def _cut(drawn: random.Random, whole: str) -> str:
    place = drawn.randrange(len(whole))
    return whole[:place] + drawn.choice((*TEXTS, *YAML)) + whole[place + drawn.randrange(20) :]


CONFIGURATION: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 50,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 10,
    "leaderElection": {"leaderElect": True, "leaseDuration": "15s"},
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "score": {
                    "enabled": [{"name": "NodeResourcesFit", "weight": 5}],
                    "disabled": [{"name": "ImageLocality"}],
                },
                "multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]},
            },
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "resources": []}}},
                {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}},
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 100}},
            ],
        }
    ],
    "extenders": [
        {
            "urlPrefix": "simulated://power",
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 2,
            "httpTimeout": "2s",
            "simulated": {
                "filter": "requested.cpu < 3000",
                "messageExpression": "'too hot: ' + string(requested.cpu)",
                "unresolvable": True,
                "prioritize": "10 - pods.size()",
                "answersAfterSeconds": 1.5,
            },
        }
    ],
}
POLICY: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Policy",
    "predicates": [
        {"name": "GeneralPredicates"},
        {"name": "InARack", "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}}},
    ],
    "priorities": [
        {"name": "LeastRequestedPriority", "weight": 1},
        {"name": "Ssd", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
    ],
    "extenders": [{"urlPrefix": "http://x", "managedResources": [{"name": "a.b/c", "ignoredByScheduler": True}]}],
    "hardPodAffinitySymmetricWeight": 10,
}
KUBELET: dict[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m30s"},
    "evictionPressureTransitionPeriod": "5m0s",
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web-0", "namespace": "default", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}]},
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "a"}},
    "spec": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}], "unschedulable": False},
    "status": {
        "capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z"}],
        "images": [{"names": ["x"], "sizeBytes": 5}],
    },
}
SNAPSHOT: dict[str, Any] = {"pods": [POD], "nodes": [NODE], "schedulerConfig": CONFIGURATION, "namespaces": []}
SAMPLES: dict[str, Any] = {
    "manifests": [POD],
    "manifest": POD,
    "object_kind": "Pod",
    "key": "default/web-0",
    "changes": {"metadata": {"labels": {"app": "api"}}, "spec": {"priority": 5}},
    "node": "n1",
    "pod": "default/web-0",
    "effect": "NoSchedule",
    "configuration": CONFIGURATION,
    "plugin": "NodeResourcesFit",
    "point": "filter",
    "answer": "error",
    "type": "Ready",
    "status": "False",
    "replica": "scheduler-0",
    "action": "kill",
    "propagation_policy": "Background",
    "subresource": "",
    "cycles": 3,
    "cpu": "1",
    "memory": "1Gi",
    "lock": "leases",
}
"""Field of a command → its value; all others get a value of their type."""
OF_TYPE: dict[type, Any] = {str: "x", bool: True, int: 1, float: 1, dict: {}, list: []}
OTHERWISE: dict[str, dict[str, Any]] = {
    "scale": {"object_kind": "Deployment", "key": "default/app"},
    "rollout-restart": {"object_kind": "Deployment", "key": "default/app"},
    "kubelet": {"configuration": {"kind": "KubeletConfiguration", "evictionHard": {"memory.available": "100Mi"}}},
    "admission": {"plugin": SWITCHED[0]},
    "kubernetes": {"version": VERSIONS[-1], "feature_gates": {"OpportunisticBatching": False}},
}


@cache
def commands() -> tuple[dict[str, Any], ...]:
    """Return one command of each kind, as the API accepts them."""
    return tuple(
        {
            "kind": kind,
            **{name: SAMPLES.get(name, OF_TYPE[row.types[0]]) for name, row in command.rows.items()},
            **OTHERWISE.get(kind, {}),
        }
        for kind, command in COMMANDS.items()
    )


def command(drawn: random.Random) -> Any:
    whole = drawn.choice(commands())
    return whole if drawn.random() < 0.25 else changed(drawn, whole)
