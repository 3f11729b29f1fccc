"""Scaling and restarting workloads over HTTP, and the manifests of the Add drawer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from markupsafe import escape

from sandbox.changes import store
from sandbox.panels.view import View
from sandbox.web.forms import FORMS
from sandbox.web.forms.rows import Shape, shapes_of
from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.manifests import MANIFESTS
from sandbox.web.presets.preset import FilledIn, Preset
from tests.sandbox.inside import fragments, present

pytestmark = pytest.mark.django_db

SHOP = {"kind": "Deployment", "key": "default/shop"}
DEPLOYMENT = next(preset for preset in MANIFESTS if preset.slug == "deployment")


@pytest.fixture
def shop(visitor: Any, node: Any) -> Any:
    """Return a visitor whose sandbox has a Deployment of six replicas."""
    store.execute(visitor.sandbox, node("n1"))
    assert visitor.post("apply/", manifests=DEPLOYMENT.text).status_code == 204
    return visitor


def deployment(visitor: Any) -> dict[str, Any]:
    return dict(present(visitor.sandbox).objects["Deployment"]["default/shop"])


@pytest.mark.parametrize("preset", [*CLUSTERS, *MANIFESTS], ids=lambda preset: preset.slug)
def test_every_manifest_to_start_from_is_accepted(visitor: Any, preset: Preset) -> None:
    answer = visitor.post("apply/", manifests=preset.text)
    assert (answer.status_code, answer.content) == (204, b"")
    page = visitor.get().content.decode()
    assert f'data-manifest="{preset.slug}"' in page
    assert f'<template data-manifest-of="{preset.slug}">' in page


def sent(shape: Shape, rows: list[dict[str, Any]], owner: str = "") -> dict[str, list[str]]:
    """Return the fields that a page sends for rows and their nested rows."""
    fields = {f"{shape.one}_{cell.part}": [row.get(cell.part, cell.initial) for row in rows] for cell in shape.cells}
    fields |= {f"{shape.one}_of": [owner for _ in rows]} if owner else {}
    for place, row in enumerate(rows):
        fields.setdefault(f"{shape.one}_id", []).append(str(place))
        for name, texts in (sent(shape.inner, row.get("rows", []), str(place)) if shape.inner else {}).items():
            fields.setdefault(name, []).extend(texts)
    return fields


@pytest.mark.parametrize(
    ("kind", "preset"),
    [pytest.param(kind, preset, id=preset.title) for kind, form in FORMS.items() for preset in form.filled_in],
)
def test_every_form_to_start_from_is_accepted(visitor: Any, kind: str, preset: FilledIn) -> None:
    fields = json.loads(preset.json)
    shapes = {shape.one: shape for field in FORMS[kind].base_fields.values() for shape in shapes_of(field)}
    for one, rows in fields.pop("rows", {}).items():
        fields |= sent(shapes[one], rows)
    answer = visitor.post(f"add/{kind}/", **fields)
    assert answer.status_code == 204, answer.content.decode()
    objects = present(visitor.sandbox).objects[fields.get("workload") or fields.get("claim_kind") or FORMS[kind].kind]
    copies = fields.get(FORMS[kind].copies_field, 1)
    assert sum(key.rpartition("/")[2].startswith(fields["name"]) for key in objects) == int(copies)
    assert str(escape(preset.json)) in visitor.get().content.decode()


@pytest.mark.parametrize(
    ("fields", "replicas"),
    [
        pytest.param({"replicas": "4"}, 4, id="to a number"),
        pytest.param({"replicas": " 0 "}, 0, id="to 0"),
        pytest.param({"by": "1", "replicas": "99"}, 7, id="by one more, whatever the field says"),
        pytest.param({"by": "-1"}, 5, id="by one less"),
    ],
)
def test_a_workload_is_scaled(shop: Any, fields: dict[str, str], replicas: int) -> None:
    answer = shop.post("scale/", who="Ada", **SHOP, **fields)
    assert (answer.status_code, answer.content) == (200, b"")
    assert json.loads(shop.log()[-1]) == {
        "kind": "scale",
        "object_kind": "Deployment",
        "key": "default/shop",
        "replicas": replicas,
    }
    assert deployment(shop)["spec"]["replicas"] == replicas


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param(SHOP | {"replicas": "many"}, "replicas must be a whole number", id="not a number"),
        pytest.param(SHOP | {"replicas": ""}, "replicas must be a whole number", id="nothing"),
        pytest.param(SHOP | {"by": "x"}, "replicas must be a whole number", id="a step that is not a number"),
        pytest.param(
            SHOP | {"replicas": "-1"},
            "Invalid value: -1: must be greater than or equal to 0",
            id="a negative number",
        ),
        pytest.param(SHOP | {"replicas": "1001"}, "must be from 0 to 1000", id="too many"),
        pytest.param(SHOP | {"key": "default/gone", "by": "1"}, "There is no Deployment default/gone.", id="unknown"),
        pytest.param({"replicas": "1"}, "There is no workload", id="no name"),
        pytest.param(
            {"kind": "Node", "key": "n1", "replicas": "2"}, "a Node cannot be scaled", id="a kind without a scale"
        ),
    ],
)
def test_a_refused_scale_is_reported_at_the_field(shop: Any, fields: dict[str, str], words: str) -> None:
    before = shop.log()
    answer = shop.post("scale/", **fields)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert "data-notice" not in answer.content.decode()
    assert shop.log() == before


def test_a_restart_makes_a_new_revision_with_the_time_in_its_template(shop: Any) -> None:
    shop.post("do/advance/", seconds="30")
    before = deployment(shop)
    assert shop.post("rollout/", **SHOP).status_code == 204
    after = deployment(shop)
    annotations = after["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:30Z"}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2"
    html = fragments(shop.row(), View(), ["workloads"], True)["workloads"].html
    assert "revision 2, new" in html


def test_a_second_restart_needs_time_to_pass(shop: Any) -> None:
    assert shop.post("rollout/", **SHOP).status_code == 204
    answer = shop.post("rollout/", **SHOP)
    assert answer.status_code == 422
    assert "already restarted in this second" in answer.content.decode()
    shop.post("do/advance/", seconds="1")
    assert shop.post("rollout/", **SHOP).status_code == 204


def test_paused_unknown_and_rolloutless_workloads_are_not_restarted(shop: Any) -> None:
    paused = deployment(shop)
    paused["spec"] = {**paused["spec"], "paused": True}
    store.execute(shop.sandbox, {"kind": "apply", "manifests": [paused]})
    for fields, words in (
        (SHOP, "restart paused deployment"),
        (SHOP | {"key": "default/gone"}, "deployments.apps &#34;gone&#34; not found"),
        ({"kind": "Node", "key": "n1"}, "restarting is not supported for a Node"),
        ({}, "restarting is not supported"),
    ):
        answer = shop.post("rollout/", **fields)
        assert answer.status_code == 422
        assert words in answer.content.decode()


@pytest.mark.parametrize("path", ["scale/", "rollout/"])
def test_a_watcher_may_not_scale(shop: Any, path: str) -> None:
    before = shop.log()
    assert shop.watching().post(path, **SHOP, replicas="1").status_code == 403
    assert shop.log() == before
