"""Reading and changing the scheduler's configuration over HTTP."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest
import yaml

from sandbox.changes import store
from sandbox.web.presets.configurations import DEFAULT, PRESETS
from sandbox.web.presets.preset import Preset
from scheduler_engine.config import load_configuration
from scheduler_engine.config.schema import EXPRESSION_API, EXPRESSION_ARGS

pytestmark = pytest.mark.django_db

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PROFILE = HEAD + "profiles:\n- schedulerName: default-scheduler\n"
PACKING = next(preset for preset in PRESETS if preset.slug == "most-allocated")


def text_of(answer: Any) -> str:
    return unescape(answer.content.decode())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_every_preset_is_accepted(visitor: Any, preset: Preset) -> None:
    answer = visitor.post("configure/", configuration=preset.text, who="Ada")
    assert (answer.status_code, answer["HX-Trigger"]) == (204, "configured")
    assert visitor.sandbox.records.get().who == "Ada"
    assert yaml.safe_load(visitor.get("configuration/").content) == yaml.safe_load(preset.text)
    assert load_configuration(preset.text).defaulted["profiles"]


def test_the_configuration_in_force_is_the_latest_and_a_step_back_restores_the_one_before(visitor: Any) -> None:
    assert visitor.get("configuration/").content.decode() == DEFAULT.text
    visitor.post("configure/", configuration=PACKING.text)
    visitor.post("do/stage/")
    assert "MostAllocated" in visitor.get("configuration/").content.decode()
    visitor.post("do/back/")
    visitor.post("do/back/")
    assert visitor.get("configuration/").content.decode() == DEFAULT.text


def test_a_scenarios_own_configuration_is_the_starting_point(visitor: Any) -> None:
    visitor.sandbox.configuration = '{"kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 50}'
    visitor.sandbox.save()
    assert "percentageOfNodesToScore: 50" in visitor.get("configuration/").content.decode()


@pytest.mark.parametrize(
    ("text", "line", "path", "message"),
    [
        pytest.param(
            HEAD + "percentageOfNodesToScore: 120\n",
            3,
            "percentageOfNodesToScore",
            "Invalid value: 120: not in valid range [0-100]",
            id="a number out of range",
        ),
        pytest.param(
            PROFILE + "  plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n        weigth: 2\n",
            9,
            "profiles[0].plugins.score.enabled[0].weigth",
            'unknown field "profiles[0].plugins.score.enabled[0].weigth"',
            id="a field that does not exist",
        ),
        pytest.param(
            PROFILE + "  plugins:\n    filter:\n      enabled:\n      - name: Nobody\n",
            1,
            "",
            'FilterPlugin "Nobody" does not exist',
            id="an unknown plugin",
        ),
        pytest.param(
            PROFILE + "  pluginConfig:\n  - name: InterPodAffinity\n    args:\n      hardPodAffinityWeight: -1\n",
            8,
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
            "Invalid value: -1: not in valid range [0, 100]",
            id="a negative weight",
        ),
        pytest.param(
            HEAD + "extenders:\n- urlPrefix: http://127.0.0.1:8888/\n  filterVerb: filter\n",
            3,
            "extenders",
            "Leave them out to see what the scheduler decides alone",
            id="an extender, which is not supported",
        ),
        pytest.param(
            PROFILE + "  plugins:\n    bind:\n      disabled:\n      - name: '*'\n",
            1,
            "",
            'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
            id="no bind plugin",
        ),
        pytest.param(
            PROFILE + "  plugins:\n    queueSort:\n      enabled:\n      - name: PrioritySort\n      - name: Other\n",
            0,
            "",
            "only one queue sort plugin",
            id="two queue sorts",
        ),
        pytest.param(HEAD + "profiles: [\n", 4, "", "", id="broken YAML"),
        pytest.param("", 0, "", "the text is empty", id="empty"),
        pytest.param("just words", 0, "", "a mapping of fields", id="not a mapping"),
        pytest.param("---\n" + HEAD + "---\n" + HEAD, 0, "", "2 documents", id="two documents"),
    ],
)
def test_an_invalid_configuration_is_reported_with_path_and_line_and_changes_nothing(
    visitor: Any, text: str, line: int, path: str, message: str
) -> None:
    answer = visitor.post("configure/", configuration=text)
    shown_text = text_of(answer)
    assert answer.status_code == 422
    assert message in shown_text
    assert path in shown_text
    assert not line or f'data-line="{line}"' in shown_text, shown_text
    assert visitor.log() == []


def test_a_watcher_may_read_and_not_change(visitor: Any) -> None:
    watcher = visitor.watching()
    assert watcher.get("configuration/").status_code == 200
    assert watcher.post("configure/", configuration=PACKING.text).status_code == 403
    assert 'id="configure"' in visitor.get("panel/configuration/").content.decode()
    assert 'id="configure"' not in watcher.get("panel/configuration/").content.decode()


def test_a_text_that_is_too_long_is_refused(visitor: Any) -> None:
    answer = visitor.post("configure/", configuration="# " + "x" * 1024 * 1024)
    assert answer.status_code == 413
    assert visitor.log() == []


def test_most_allocated_packs_where_the_default_spreads(visitor: Any, node: Any, pod: Any) -> None:
    store.execute(visitor.sandbox, node("n1", "n2", "n3"))

    def used() -> int:
        store.execute(visitor.sandbox, {"kind": "run"})
        world = visitor.get("panel/cluster/").content.decode()
        return sum('class="pod ' in card for card in world.split("<article")[1:])

    visitor.post("configure/", configuration=PACKING.text)
    store.execute(visitor.sandbox, pod("a", "b", "c"))
    assert used() == 1
    for name in ("a", "b", "c"):
        store.execute(visitor.sandbox, {"kind": "delete", "object_kind": "Pod", "key": f"default/{name}"})
    store.execute(visitor.sandbox, {"kind": "advance", "seconds": 60})
    visitor.post("configure/", configuration=DEFAULT.text)
    store.execute(visitor.sandbox, pod("d", "e", "f"))
    assert used() == 3


def test_the_controls_show_a_text_and_what_differs_in_it(visitor: Any) -> None:
    text = text_of(visitor.post("controls/", configuration=PACKING.text))
    assert "<option selected>MostAllocated</option>" in text
    assert "NodeResourcesFit.scoringStrategy.type is MostAllocated; by default it is LeastAllocated." in text
    assert "data-rewritten" not in text
    assert visitor.log() == []


def rewritten(answer: Any) -> str:
    return text_of(answer).partition("<template data-rewritten>")[2].partition("</template>")[0]


def test_a_control_gives_back_the_text_that_it_makes_and_applies_nothing(visitor: Any) -> None:
    answer = visitor.post(
        "controls/", configuration=PACKING.text, profile="0", control="percentageOfNodesToScore", value=" 30 "
    )
    assert yaml.safe_load(rewritten(answer)) == yaml.safe_load(PACKING.text) | {"percentageOfNodesToScore": 30}
    assert visitor.log() == []


def test_a_profile_that_is_added_comes_into_view(visitor: Any) -> None:
    answer = visitor.post("controls/", configuration=DEFAULT.text, profile="0", control="add-profile", value="<packer>")
    assert 'data-profile="1"' in text_of(answer)
    assert "&lt;packer&gt;" in answer.content.decode()
    assert "<packer>" not in answer.content.decode()


@pytest.mark.parametrize(
    ("control", "value", "message"),
    [
        pytest.param(
            "percentageOfNodesToScore",
            "120",
            "percentageOfNodesToScore: Invalid value: 120: not in valid range [0-100]",
            id="a number out of range",
        ),
        pytest.param(
            "podInitialBackoffSeconds",
            "60",
            "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
            id="a backoff with an initial value above its maximum",
        ),
        pytest.param(
            "weight:ImageLocality",
            "1.5",
            "cannot unmarshal number 1.5 into Go struct field",
            id="a fractional weight",
        ),
        pytest.param(
            "plugin:PrioritySort",
            "",
            "only one queue sort plugin required for profile",
            id="the only queue sort plugin",
        ),
        pytest.param("plugin:DefaultBinder", "", "at least one bind plugin is needed", id="the only binder"),
        pytest.param("strategy", "Fullest", 'Unsupported value: "Fullest"', id="an unknown strategy"),
        pytest.param("resource-weight:0", "101", "not in valid range (0, 100]", id="the weight of a resource"),
        pytest.param("schedulerName", "", "profiles[0].schedulerName: Required value", id="no name"),
        pytest.param("add-profile", "default-scheduler", "Duplicate value", id="a name that is taken"),
    ],
)
def test_a_wrong_value_stays_in_its_control_with_kubernetes_words(
    visitor: Any, control: str, value: str, message: str
) -> None:
    text = text_of(visitor.post("controls/", configuration=DEFAULT.text, profile="0", control=control, value=value))
    _, _, after = text.partition(f'data-control="{control}"')
    assert 'aria-invalid="true"' in after.partition(">")[0]
    assert message in text
    assert "data-rewritten" not in text


ARGS = {"apiVersion": EXPRESSION_API, "kind": EXPRESSION_ARGS.name, "filter": "true"}
TWO_PLUGINS = HEAD + yaml.safe_dump(
    {
        "profiles": [
            {
                "plugins": {"multiPoint": {"enabled": [{"name": "A"}, {"name": "B"}]}},
                "pluginConfig": [{"name": name, "args": ARGS} for name in "AB"],
            }
        ]
    }
)
BROKEN = 'node.metadata.name != "n'


def controls_after(visitor: Any, control: str, value: str, *refused: tuple[str, str]) -> str:
    """Send a change beside values that were refused before."""
    sent = {"configuration": TWO_PLUGINS, "profile": "0", "control": control, "value": value}
    names, values = ([pair[place] for pair in refused] for place in (0, 1))
    return text_of(visitor.post("controls/", **sent, refused=names, refused_value=values))


def field_of(text: str, control: str) -> tuple[bool, str]:
    """Return whether a field is marked as wrong, and its text."""
    tag, _, after = text.partition(f'data-control="{control}"')[2].partition(">")
    return 'aria-invalid="true"' in tag, after.partition("</textarea>")[0].strip()


def test_a_refused_value_stays_while_another_control_changes(visitor: Any) -> None:
    text = controls_after(visitor, "expression:1.message", "too small", ("expression:0.filter", BROKEN))
    assert field_of(text, "expression:0.filter") == (True, BROKEN)
    assert field_of(text, "expression:1.message") == (False, "too small")
    assert "message: too small" in text.partition("data-rewritten")[2]
    assert "Syntax error" in text


def test_a_second_refused_value_hides_no_first_one(visitor: Any) -> None:
    text = controls_after(visitor, "expression:1.filter", "nodes", ("expression:0.filter", BROKEN))
    assert field_of(text, "expression:0.filter") == (True, BROKEN)
    assert field_of(text, "expression:1.filter") == (True, "nodes")
    assert "data-rewritten" not in text


def test_a_refused_value_is_taken_once_the_rest_makes_it_right(visitor: Any) -> None:
    text = controls_after(visitor, "expression-name:0", "C", ("expression-name:1", "A"))
    assert "name: A" in text.partition("data-rewritten")[2]
    assert "aria-invalid" not in text


def test_a_refused_value_moves_with_its_row_and_goes_with_it(visitor: Any) -> None:
    text = controls_after(visitor, "remove-expression:0", "1", ("expression:1.filter", BROKEN))
    assert field_of(text, "expression:0.filter") == (True, BROKEN)
    text = controls_after(visitor, "remove-expression:1", "1", ("expression:1.filter", BROKEN))
    assert "aria-invalid" not in text


def test_another_profile_waits_until_the_errors_of_this_one_are_mended(visitor: Any) -> None:
    text = controls_after(visitor, "add-profile", "packer", ("expression:0.filter", BROKEN))
    assert field_of(text, "expression:0.filter") == (True, BROKEN)
    assert "First correct the values with errors in this profile." in text
    assert "data-rewritten" not in text


def test_a_wrong_text_gets_no_controls_but_its_errors_with_their_lines(visitor: Any) -> None:
    text = text_of(visitor.post("controls/", configuration=HEAD + "percentageOfNodesToScore: 120\n"))
    assert 'data-line="3"' in text
    assert "fieldset" not in text


def test_a_text_that_is_too_long_gets_no_controls(visitor: Any) -> None:
    assert visitor.post("controls/", configuration="# " + "x" * 1024 * 1024).status_code == 413


def test_one_button_goes_back_to_the_default(visitor: Any) -> None:
    assert 'id="configure-default"' not in visitor.get("panel/configuration/").content.decode()
    visitor.post("configure/", configuration=PACKING.text)
    assert 'id="configure-default"' in visitor.get("panel/configuration/").content.decode()
    assert 'id="configure-default"' not in visitor.watching().get("panel/configuration/").content.decode()


def test_a_control_leaves_the_comments_where_they_are(visitor: Any) -> None:
    commented = PROFILE.replace("profiles:", "profiles:  # one is enough")
    fields = {"profile": "0", "control": "percentageOfNodesToScore", "value": "30"}
    text = text_of(visitor.post("controls/", configuration=commented, **fields))
    assert "profiles:  # one is enough" in text
