"""YAML for people: comments stay when a control or a form changes something else."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.words.yaml_text import LONGEST_COMMENTED, rewritten, written
from scheduler_engine.api.loading import read_documents

TEXT = """\
# My pod.
apiVersion: v1   # the core group
kind: Pod
metadata: {name: web, labels: {app: "yes"}}
spec:
  # It needs a GPU.
  tolerations:
  - {key: gpu, operator: Exists}   # tainted
  - {key: spot, operator: Exists}
  containers:
  - name: main
    args: ["on", 0777, 1:30, y]
    resources: {requests: {cpu: 500m}}   # half a core
"""
ODD = ("a", "yes", "on", "12", "1:30", "", "~", "0x1", "2026-01-01", "a: b", "- x", "#")
SCALARS = st.sampled_from([*ODD, 3, 4.5, True, None])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abn"), inner, max_size=3)
)
MAPPINGS = st.dictionaries(st.sampled_from(["a", "b", "n", "yes"]), VALUES, min_size=1, max_size=4)


def read(text: str) -> Any:
    """Return what a cluster reads in a text of one document."""
    return read_documents(text)[0].data


def changed(*changes: tuple[str, Any]) -> str:
    """Return ``TEXT`` after ``path: value``. A value of None removes it."""
    before = read(TEXT)
    after = copy.deepcopy(before)
    for path, value in changes:
        *parts, last = [int(part) if part.isdigit() else part for part in path.split(".")]
        place = after
        for part in parts:
            place = place[part]
        if value is None:
            del place[last]
        else:
            place[last] = value
    text = rewritten(TEXT, before, after)
    assert read(text) == after
    return text


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (("spec.containers.0.resources.requests.cpu", "2"), "{cpu: 500m}", "{cpu: '2'}"),
        (("metadata.labels.app", "no"), '{app: "yes"}', "{app: 'no'}"),
        (("spec.tolerations.1.key", "batch"), "key: spot", "key: batch"),
        (("metadata.namespace", "prod"), '"yes"}}', '"yes"}, namespace: prod}'),
    ],
)
def test_one_change_leaves_everything_else_unchanged(change: tuple[str, Any], old: str, new: str) -> None:
    text = changed(change)
    assert re.sub(" +#", " #", text) == re.sub(" +#", " #", TEXT.replace(old, new))


def test_a_removed_field_takes_only_its_own_comments() -> None:
    text = changed(("spec.tolerations", None))
    assert "# tainted" not in text
    assert "# half a core" in text
    assert "# My pod." in text


def test_an_added_row_and_a_removed_row() -> None:
    assert "# It needs a GPU." in changed(("spec.tolerations.1", None))
    added = [{"key": "gpu", "operator": "Exists"}, {"key": "spot", "operator": "Exists"}, {"key": "on"}]
    assert "# tainted" in changed(("spec.tolerations", added))


@given(MAPPINGS, MAPPINGS)
@settings(deadline=None)
def test_any_change_gives_the_right_data(before: dict[str, Any], after: dict[str, Any]) -> None:
    text = f"# Begins.\n{written(before)}# Ends.\n"
    assert read(rewritten(text, before, after)) == after


@pytest.mark.parametrize(
    "text", ["a: 1", f"a: 1 # {'x' * LONGEST_COMMENTED}", "a: 1 # one\n---\na: 1\n", "# {\na: &x 1\nb: *y\n"]
)
def test_where_comments_cannot_be_kept_the_text_is_rewritten(text: str) -> None:
    assert rewritten(text, {"a": 1}, {"a": 2}) == "a: 2\n"


@example(".inf")
@example("-.INF")
@settings(deadline=None)
@given(st.text(st.sampled_from("yYnN01oxe.+-~_:#'\"\\ abTtrueFflsON\n\u00e9\u2028"), max_size=8))
def test_a_text_stays_a_text(text: str) -> None:
    assert read(written({"a": text, "b": [text]})) == {"a": text, "b": [text]}
    assert read(written({text or "a": "b"})) == {text or "a": "b"}
