"""Every manifest of the scheduling documentation (seed 002) in a current cluster: accepted, or refused and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.checking import check_text
from scheduler_engine.api.loading import load_manifests
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "manifests"

NO_KIND = 'no matches for kind "{}" in version "{}"'
SCHEDULER = "it is a file for the scheduler"
OLD_CONFIGURATION = ("kind", NO_KIND.format("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/v1beta3"))

ACCEPTED: dict[str, tuple[str, ...]] = {
    "01-node-affinity": (),
    "02-node-affinity-weights": (),
    "04-pod-affinity": (),
    "05-redis-cache": (),
    "06-web-server": (),
    "07-node-name": (),
    "08-runtime-class": (),
    "09-pod-overhead": ("08-runtime-class",),
    "11-spread-one": (),
    "12-spread-two": (),
    "13-spread-without-a-zone": (),
    "16-toleration": (),
    "20-high-priority": (),
    "21-high-priority-nonpreempting": (),
    "22-pod-with-priority": ("20-high-priority",),
}
"""File → the files that must be applied before it."""

REFUSED: dict[str, list[tuple[str, str]]] = {
    "03-added-affinity": [OLD_CONFIGURATION],
    "10-spread-form": [
        ("spec.containers", "Required value"),
        ("spec.topologySpreadConstraints[0].maxSkew", "must be a whole number"),
        ("spec.topologySpreadConstraints[0].minDomains", "must be a whole number"),
        ("spec.topologySpreadConstraints[0].whenUnsatisfiable", r'Unsupported value: "\u003cstring\u003e"'),
        ("spec.topologySpreadConstraints[0].labelSelector", "must be a mapping"),
        ("spec.topologySpreadConstraints[0].matchLabelKeys", "must be a list"),
        ("spec.topologySpreadConstraints[0].nodeAffinityPolicy", "must be a text"),
        ("spec.topologySpreadConstraints[0].nodeTaintsPolicy", "must be a text"),
    ],
    "14-spread-default": [OLD_CONFIGURATION],
    "15-spread-default-off": [OLD_CONFIGURATION],
    "17-half-of-the-nodes": [
        ("kind", NO_KIND.format("KubeSchedulerConfiguration", "kubescheduler.config.k8s.io/v1alpha1"))
    ],
    "18-most-allocated": [OLD_CONFIGURATION],
    "19-requested-to-capacity": [OLD_CONFIGURATION],
    "23-kubelet": [("kind", NO_KIND.format("KubeletConfiguration", "kubelet.config.k8s.io/v1beta1"))],
    "24-eviction": [("kind", NO_KIND.format("Eviction", "policy/v1"))],
    "25-eviction-beta": [("kind", NO_KIND.format("Eviction", "policy/v1beta1"))],
}
"""File → path and start of the message of each error in it."""

CONFIGURATIONS = {name: errors for name, errors in REFUSED.items() if "KubeSchedulerConfiguration" in errors[0][1]}


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.yaml").read_text()


def command(name: str) -> commands.Apply:
    return commands.Apply(tuple(manifest.data for manifest in load_manifests(text_of(name))))


def test_every_manifest_has_one_outcome() -> None:
    assert sorted([*ACCEPTED, *REFUSED]) == sorted(file.stem for file in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_is_accepted(name: str) -> None:
    simulation = Simulation()
    for needed in ACCEPTED[name]:
        simulation.execute(command(needed))
    simulation.execute(command(name))
    [manifest] = command(name).manifests
    key = manifest["metadata"]["name"]
    held = {item.name for item in simulation.api.list(manifest["kind"])}
    assert key in held
    checked = check_text(text_of(name))
    assert (checked.errors, checked.warnings) == ([], [])


@pytest.mark.parametrize("name", [name for name, needed in ACCEPTED.items() if needed])
def test_it_is_refused_without_what_it_refers_to(name: str) -> None:
    with pytest.raises(Rejected, match=r"not found|was found"):
        Simulation().execute(command(name))


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_for_todays_reasons(name: str) -> None:
    errors = check_text(text_of(name)).errors
    assert [error.path for error in errors] == [path for path, _ in REFUSED[name]]
    for error, (_, text) in zip(errors, REFUSED[name], strict=True):
        assert error.message.startswith(text)
        assert error.line > 1


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_an_old_scheduler_configuration_names_the_version_to_use(name: str) -> None:
    assert SCHEDULER in check_text(text_of(name)).errors[0].message
    with pytest.raises(Rejected, match=r"the scheduler reads .* of kubescheduler\.config\.k8s\.io/v1"):
        load_configuration(text_of(name))


TODAY: dict[str, Any] = dict.fromkeys(CONFIGURATIONS) | {"17-half-of-the-nodes": "algorithmSource"}


@pytest.mark.parametrize("name", TODAY)
def test_the_same_configuration_in_the_current_version_is_read_except_removed_fields(name: str) -> None:
    text = text_of(name).replace("/v1beta3", "/v1").replace("/v1alpha1", "/v1")
    if TODAY[name] is None:
        load_configuration(text)
    else:
        with pytest.raises(Rejected, match=f'unknown field "{TODAY[name]}"'):
            load_configuration(text)


@pytest.mark.parametrize("name", [*ACCEPTED, *REFUSED])
def test_the_page_about_manifests_lists_it(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs" / "manifests.md").read_text()
