"""Validation of workloads, Jobs and leases, new and updated, in Kubernetes' words."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.validation import check_update
from scheduler_engine.errors import Rejected
from tests.engine.test_validation import (
    CLAIM,
    CONTAINER,
    OWNER,
    TEMPLATE,
    TO_ITS_END,
    VALID,
    Data,
    of_kind,
    stored,
    texts,
)

OPERATOR = "spec.selector.matchExpressions[0].operator"
BAD_SELECTOR = {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}
NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
MISMATCH = 'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'
TO_THE_END = 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'


def owner(kind: str, **spec: Any) -> Data:
    base = {name: OWNER[name] for name in ("selector", "template")}
    return of_kind(kind, spec={**base, **spec})


def job(**spec: Any) -> Data:
    return of_kind("Job", spec={"template": TO_ITS_END, **spec})


def with_pod(**spec: Any) -> Data:
    return {**TEMPLATE, "spec": {"containers": [CONTAINER], **spec}}


WRONG: dict[str, tuple[Data, list[str]]] = {
    "a deployment without selector and template": (
        of_kind("Deployment"),
        [
            "spec.selector: Required value",
            "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`",
            "spec.template.spec.containers: Required value",
        ],
    ),
    "a selector that selects everything": (
        owner("Deployment", selector={}),
        ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
    ),
    "a selector that cannot be used": (
        owner("ReplicaSet", selector=BAD_SELECTOR),
        [
            f'{OPERATOR}: Invalid value: "Is": not a valid selector operator',
            'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Is","values":["b"]}]}: '
            "invalid label selector",
        ],
    ),
    "a pod of a deployment that does not restart": (
        owner("Deployment", template=with_pod(restartPolicy="Never", activeDeadlineSeconds=5)),
        [
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
            "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
        ],
    ),
    "a wrong label of a template": (
        owner("ReplicaSet", template={**TEMPLATE, "metadata": {"labels": {"a": "b", "c d": "e"}}}),
        [
            "spec.template.labels: Invalid value: \"c d\": name part must consist of alphanumeric characters, '-', "
            "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
            "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        ],
    ),
    "negative numbers of a deployment": (
        owner("Deployment", replicas=-1, minReadySeconds=-1, revisionHistoryLimit=-1, progressDeadlineSeconds=-1),
        [
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
            "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds",
        ],
    ),
    "a rollout without any allowed change": (
        owner("Deployment", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
        [
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
        ],
    ),
    "invalid amounts": (
        owner("Deployment", strategy={"rollingUpdate": {"maxSurge": "some", "maxUnavailable": "101%"}}),
        [
            f'spec.strategy.rollingUpdate.maxSurge: Invalid value: "some": {NO_PERCENT}',
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ],
    ),
    "a rolling update while everything is recreated": (
        owner("Deployment", strategy={"type": "Recreate", "rollingUpdate": {}}),
        ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ),
    "an unknown strategy of a deployment": (
        owner("Deployment", strategy={"type": "Blue"}),
        [
            'spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: '
            'supported values: "Recreate", "RollingUpdate"'
        ],
    ),
    "a daemon set that does not select its own pods": (
        owner("DaemonSet", selector={"matchLabels": {"a": "c"}}),
        [MISMATCH],
    ),
    "a daemon set with both rollout limits": (
        owner("DaemonSet", updateStrategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}),
        [
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: "
            "may not be set when maxUnavailable is non-zero"
        ],
    ),
    "a daemon set without rollout limits": (
        owner("DaemonSet", updateStrategy={"rollingUpdate": {"maxUnavailable": 0}}),
        ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
    ),
    "an unknown strategy of a daemon set": (
        owner("DaemonSet", updateStrategy={"type": "Never"}),
        [
            'spec.updateStrategy: Unsupported value: {"Type":"Never","RollingUpdate":null}: '
            'supported values: "RollingUpdate", "OnDelete"'
        ],
    ),
    "a stateful set with everything wrong": (
        owner(
            "StatefulSet",
            podManagementPolicy="Any",
            updateStrategy={"type": "OnDelete", "rollingUpdate": {"partition": 1}},
            persistentVolumeClaimRetentionPolicy={"whenDeleted": "Keep"},
            ordinals={"start": -1},
            serviceName="a.b",
            selector={},
        ),
        [
            "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'",
            'spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: '
            "only allowed for updateStrategy 'RollingUpdate'",
            'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": '
            'supported values: "Retain", "Delete"',
            "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
            'spec.serviceName: Invalid value: "a.b": must not contain dots',
            "spec.selector: Invalid value: {}: empty selector is invalid for statefulset",
        ],
    ),
    "a stateful set's name with dots": (
        {**owner("StatefulSet"), "metadata": {"name": "a.b"}},
        ['metadata.name: Invalid value: "a.b": must not contain dots'],
    ),
    "a claim template without a size": (
        owner("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": {**CLAIM, "resources": {}}}]),
        ["spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"],
    ),
    "a job without a template": (
        of_kind("Job"),
        ["spec.template.spec.containers: Required value", TO_THE_END],
    ),
    "a job whose pods always restart": (job(template={"spec": {"containers": [CONTAINER]}}), [TO_THE_END]),
    "a job that brings its own selector": (
        job(selector={"matchLabels": {"a": "b"}}),
        [
            'spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":""}}: '
            "`selector` not auto-generated",
            'spec.template.metadata.labels: Invalid value: {"batch.kubernetes.io/controller-uid":"",'
            '"batch.kubernetes.io/job-name":"x","controller-uid":"","job-name":"x"}: '
            "`selector` does not match template `labels`",
        ],
    ),
    "a job with manual selection and no selector": (
        job(manualSelector=True),
        [
            "spec.selector: Required value",
            "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`",
        ],
    ),
    "negative numbers of a job": (
        job(parallelism=-1, completions=-1, backoffLimit=-1),
        [
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
            "spec.completions: Invalid value: -1: must be greater than or equal to 0",
            "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    "indexes without completions, and too many at once": (
        job(completionMode="Indexed", parallelism=100_001),
        [
            "spec.completions: Required value: when completion mode is Indexed",
            "spec.parallelism: Invalid value: 100001: "
            "must be less than or equal to 100000 when completion mode is Indexed",
        ],
    ),
    "fields of indexed jobs only": (
        job(maxFailedIndexes=1, successPolicy={"rules": [{"succeededCount": 1}]}),
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
            'spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: requires indexed completion mode',
        ],
    ),
    "an unknown completion mode": (
        job(completionMode="Numbered"),
        ['spec.completionMode: Unsupported value: "Numbered": supported values: "NonIndexed", "Indexed"'],
    ),
    "a pod failure policy with every mistake": (
        job(
            podFailurePolicy={
                "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {"operator": "In", "values": [3, 0, 3], "containerName": "d"},
                    },
                    {"action": "Stop"},
                ]
            },
            podReplacementPolicy="TerminatingOrFailed",
            template={"spec": {"restartPolicy": "OnFailure", "containers": [CONTAINER]}},
        ),
        [
            'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": '
            "requires the backoffLimitPerIndex to be set",
            'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "d": '
            "must be one of the container or initContainer names in the pod template",
            "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
            "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3",
            "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered",
            'spec.podFailurePolicy.rules[1].action: Unsupported value: "Stop": '
            'supported values: "Count", "FailIndex", "FailJob", "Ignore"',
            'spec.podFailurePolicy.rules[1]: Invalid value: "": '
            "specifying one of OnExitCodes and OnPodConditions is required",
            'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
            'spec.template.spec.restartPolicy: Invalid value: "OnFailure": '
            'only "Never" is supported when podFailurePolicy is specified',
        ],
    ),
    "a lease of 0 seconds": (
        of_kind("Lease", spec={"leaseDurationSeconds": 0, "leaseTransitions": -1}),
        [
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
            "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    "a config map with a key twice and a wrong one": (
        of_kind("ConfigMap", data={"a": "1", "b c": "2"}, binaryData={"a": "MQ=="}),
        [
            'data[a]: Invalid value: "a": duplicate of key present in binaryData',
            'data[b c]: Invalid value: "b c": '
            "a valid config key must consist of alphanumeric characters, '-', '_' or "
            "'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ],
    ),
    "endpoints with nothing behind them": (
        of_kind("Endpoints", subsets=[{"ports": [{"port": 0}, {"port": 80, "name": "web"}]}]),
        [
            "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`",
            "subsets[0].ports[0].name: Required value",
            "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ],
    ),
    "an endpoint that is this machine": (
        of_kind("Endpoints", subsets=[{"addresses": [{"ip": "127.0.0.1"}]}]),
        [
            'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": '
            "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        ],
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_errors_have_kubernetes_words(words: str) -> None:
    manifest, expected = WRONG[words]
    assert texts(manifest) == expected


def changed(*path: str, **fields: Any) -> Callable[[Data], None]:
    """Return a change that sets fields of the mapping at ``path``."""

    def change(manifest: Data) -> None:
        target = manifest
        for part in path:
            target = target[part]
        target.update(fields)

    return change


LABELLED = {"metadata": {"labels": {"a": "c"}}, "spec": {"containers": [CONTAINER]}}
OTHER_SELECTOR = {"selector": {"matchLabels": {"a": "c"}}, "template": LABELLED}
IMMUTABLE_SELECTOR = 'spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable'
STATEFUL = VALID["a stateful set"]
JOB = VALID["a job"]
UPDATES: dict[str, tuple[Data, Callable[[Data], None], list[str]]] = {
    "more replicas of a deployment": (VALID["a deployment"], changed("spec", replicas=5), []),
    "another selector of a deployment": (
        VALID["a deployment"],
        changed("spec", **OTHER_SELECTOR),
        [IMMUTABLE_SELECTOR],
    ),
    "another selector of a replica set": (
        VALID["a replica set"],
        changed("spec", **OTHER_SELECTOR),
        [IMMUTABLE_SELECTOR],
    ),
    "another selector of a daemon set": (
        VALID["a daemon set"],
        changed("spec", **OTHER_SELECTOR),
        [IMMUTABLE_SELECTOR],
    ),
    "another selector of a replication controller": (
        VALID["a replication controller"],
        changed("spec", template=LABELLED),
        [],
    ),
    "another template and fewer revisions of a stateful set": (
        STATEFUL,
        changed("spec", replicas=0, revisionHistoryLimit=1, template={**LABELLED, "metadata": TEMPLATE["metadata"]}),
        [],
    ),
    "another service of a stateful set": (
        STATEFUL,
        changed("spec", serviceName="other"),
        [
            "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
            "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' "
            "are forbidden"
        ],
    ),
    "more pods at once of a job": (JOB, changed("spec", parallelism=3, completions=1), []),
    "more completions of a job": (
        JOB,
        changed("spec", parallelism=1, completions=2),
        ["spec.completions: Invalid value: 2: field is immutable"],
    ),
    "more completions and as many pods of an indexed job": (
        job(completionMode="Indexed", completions=2, parallelism=2),
        changed("spec", completions=3, parallelism=3),
        [],
    ),
    "another image of a job": (
        JOB,
        changed("spec", template={"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "j"}]}}),
        ["spec.template: field is immutable"],
    ),
    "another holder of a lease": (VALID["a lease"], changed("spec", holderIdentity="b"), []),
    "other data of a config map that cannot change": (
        VALID["a config map"],
        changed("data", more="b"),
        ["data: Forbidden: field is immutable when `immutable` is set"],
    ),
    "a wrong endpoint": (
        VALID["endpoints"],
        changed(subsets=[{"addresses": [{"ip": "10.0.0.2"}], "ports": [{"port": 0}]}]),
        ["subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ),
    "a wrong budget": (
        VALID["a budget"],
        changed("spec", maxUnavailable=-1),
        ["spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"],
    ),
}


@pytest.mark.parametrize("words", UPDATES)
def test_updates(words: str) -> None:
    manifest, change, expected = UPDATES[words]
    later = deepcopy(manifest)
    change(later)
    try:
        check_update(stored(manifest), set_defaults(later))
        results = []
    except Rejected as problem:
        results = [str(error) for error in problem.errors]
    assert len(results) == len(expected)
    for text, wanted in zip(results, expected, strict=True):
        start, _, end = wanted.rpartition(": ")
        assert text.startswith(start)
        assert text.endswith(end)
