"""The controls of simulated extenders."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.web.configuring.controls import controls
from sandbox.web.configuring.edits import edit
from sandbox.web.configuring.extenders import FIELDS
from sandbox.web.presets.extenders import EXTENDERS
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.versions import DEFAULT_RULES

EMPTY: dict[str, Any] = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
PROFILES = [{"schedulerName": "default-scheduler"}]


def changed(manifest: dict[str, Any], *changes: tuple[str, str]) -> dict[str, Any]:
    """Return a manifest after some changes, each of which the engine accepts."""
    for control, value in changes:
        manifest = edit(manifest, 0, control, value, DEFAULT_RULES)
        load_configuration(manifest)
    return manifest


def extender(manifest: dict[str, Any], *changes: tuple[str, str]) -> dict[str, Any]:
    [only] = changed(manifest, *changes)["extenders"]
    return dict(only)


def test_each_example_is_added_before_the_profiles_under_a_free_name() -> None:
    manifest = EMPTY | {"profiles": PROFILES}
    for example in EXTENDERS:
        manifest = changed(manifest, *[(f"add-extender:{example.name}", "1")] * 2)
    assert [*manifest] == ["apiVersion", "kind", "extenders", "profiles"]
    assert [item["urlPrefix"] for item in manifest["extenders"]] == [
        *("simulated://power", "simulated://power-2", "simulated://down", "simulated://down-2"),
    ]
    assert changed(manifest, *[("remove-extender:0", "1")] * 4) == EMPTY | {"profiles": PROFILES}


def test_an_expression_brings_its_verb_and_takes_it_along() -> None:
    down = changed(EMPTY, ("add-extender:down", "1"))
    added = changed(down, ("extender:0.filter", "true"), ("extender:0.failure", ""), ("extender:0.prioritize", "5"))
    assert added["extenders"] == [
        {
            "urlPrefix": "simulated://down",
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 1,
            "nodeCacheCapable": True,
            "simulated": {"filter": "true", "prioritize": "5"},
        }
    ]
    left = extender(added, ("extender-weight:0", "7"), ("extender:0.filter", ""))
    assert (left["weight"], "filterVerb" in left) == (7, False)
    assert "weight" not in extender(added, ("extender:0.prioritize", ""))


def test_the_verb_of_a_call_that_fails_stays() -> None:
    down = changed(EMPTY, ("add-extender:down", "1"))
    assert extender(down, ("extender:0.filter", "true"), ("extender:0.filter", ""))["filterVerb"] == "filter"


def test_an_extender_that_is_down_stops_nothing_once_it_is_ignorable() -> None:
    manifest = changed(EMPTY, ("add-extender:down", "1"), ("extender-name:0", "gpus"))
    for value, node in (("1", "n"), ("", "")):
        cluster = Cluster(changed(manifest, ("extender-ignorable:0", "1"), ("extender-ignorable:0", value)))
        cluster.apply(make_node("n"), make_pod("web")).run(1)
        assert cluster.node_of("web") == node


@pytest.mark.parametrize(
    "control",
    ["add-extender:none", "remove-extender:1", "extender:0.urlPrefix", "extender:0.unresolvable", "extender:9.filter"],
)
def test_a_control_that_does_not_exist_is_refused(control: str) -> None:
    with pytest.raises(Rejected):
        edit(changed(EMPTY, ("add-extender:power", "1")), 0, control, "x", DEFAULT_RULES)


def test_controls_show_simulated_extenders() -> None:
    manifest = changed(EMPTY, ("add-extender:power", "1"), ("extender-ignorable:0", "1"))
    [shown] = controls(load_configuration(manifest), 0, {}, DEFAULT_RULES)["extenders"]
    assert (shown["at"], shown["name"], shown["weight"], shown["ignorable"]) == ("0", "power", 2, True)
    assert [field["name"] for field in shown["fields"]] == [*FIELDS]
    assert {field["name"]: field["value"] for field in shown["fields"]}["message"] == "too little power"
