"""The YAML editor: completions at the cursor, field help, keys, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, new_sandbox, open_editor, open_example, popup, text

HEAD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
NODE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n"
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"

OFFERS = """async ([text, cluster, kind]) => {
    const { placeAt } = await import('/static/js/yaml-place.js');
    const { offersAt } = await import('/static/js/schema.js');
    const schemas = JSON.parse(document.getElementById('app').dataset.schemas);
    const schema = await (await fetch(schemas['v1.34'])).json();
    const before = text.slice(0, text.indexOf('¦')).split('\\n');
    const place = placeAt(text.replace('¦', '').split('\\n'), before.length - 1, before.at(-1).length);
    return offersAt(schema, cluster, place, kind);
}"""
FIELD = OFFERS.replace("offersAt", "fieldAt").replace("schema, cluster, place", "schema, place")

CLUSTER = {
    "nodes": ["n1", "n2"],
    "namespaces": ["default", "dev"],
    "nodeLabels": {"disk": ["hdd", "ssd"], "kubernetes.io/hostname": ["n1", "n2"], "gpus": ["2"]},
    "podLabels": {"app": ["db", "web"]},
    "namespaceLabels": {"team": ["blue"]},
    "nodeFields": {"metadata.name": ["n1", "n2"]},
    "taints": {"dedicated": ["gpu"], "spot": []},
    "priorityClasses": ["high"],
    "deviceClasses": ["gpu"],
    "deviceClaims": ["team"],
    "deviceExpressions": ['device.driver == "gpu.example.com"'],
    "resources": {"cpu": [], "memory": []},
}

EXPRESSION = "  affinity:\n    nodeAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n        "
PODS = (
    "  affinity:\n    podAffinity:\n      requiredDuringSchedulingIgnoredDuringExecution:\n"
    "      - topologyKey: zone\n        "
)
DEVICES = "kind: ResourceClaim\nspec:\n  devices:\n    requests:\n    - name: gpu\n      "
ARGS = CONFIGURATION + "- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      ¦"

EXACT = {
    "the value of a field with few": (HEAD + "  restartPolicy: ¦", ["Always", "OnFailure", "Never"]),
    "a partly typed value": (HEAD + "  restartPolicy: Ne¦", ["Always", "OnFailure", "Never"]),
    "true and false": (HEAD + "  hostNetwork: ¦", ["true", "false"]),
    "the remaining fields of an item": (
        HEAD + "  tolerations:\n  - key: a\n    ¦\n    effect: NoExecute\n",
        ["operator", "value", "tolerationSeconds"],
    ),
    "the fields of a new item, whose list is not indented": (
        HEAD + "  tolerations:\n  - key: a\n  - ¦",
        ["key", "operator", "value", "effect", "tolerationSeconds"],
    ),
    "an item of a list that is indented": (HEAD + "  schedulingGates:\n    ¦", ["name"]),
    "fields in braces": (
        HEAD + "  tolerations:\n  - {key: a, operator: Exists, ¦",
        ["value", "effect", "tolerationSeconds"],
    ),
    "a value in braces": (HEAD + "  tolerations: [{key: a, operator: ¦", ["Equal", "Exists"]),
    "the second item in brackets": (
        HEAD + EXPRESSION + "nodeSelectorTerms:\n        - matchExpressions:\n          - {key: disk, values: [ssd, ¦",
        ["hdd", "ssd"],
    ),
    "nodes": (HEAD + "  nodeName: ¦", ["n1", "n2"]),
    "the remaining labels of nodes": (
        HEAD + "  nodeSelector:\n    disk: ssd\n    ¦",
        ["kubernetes.io/hostname", "gpus"],
    ),
    "the values of a label": (HEAD + "  nodeSelector:\n    disk: ¦", ["hdd", "ssd"]),
    "values of the key beside them": (
        HEAD
        + EXPRESSION
        + "nodeSelectorTerms:\n        - matchExpressions:\n          - operator: In\n            values:\n"
        "            - ¦\n            key: disk",
        ["hdd", "ssd"],
    ),
    "names of nodes in matchFields": (
        HEAD + EXPRESSION + "nodeSelectorTerms:\n        - matchFields:\n          - key: ¦",
        ["metadata.name"],
    ),
    "labels of pods": (HEAD + PODS + "labelSelector:\n          matchLabels:\n            ¦", ["app"]),
    "labels of namespaces": (HEAD + PODS + "namespaceSelector:\n          matchLabels:\n            ¦", ["team"]),
    "a taint, and its values": (HEAD + "  tolerations:\n  - key: dedicated\n    value: ¦", ["gpu"]),
    "claims for devices": (HEAD + "  resourceClaims:\n  - name: gpu\n    resourceClaimName: ¦", ["team"]),
    "the fields of a container's claim": (
        HEAD + "  containers:\n  - name: main\n    resources:\n      claims:\n      - ¦",
        ["name", "request"],
    ),
    "classes of devices": (DEVICES + "exactly:\n        deviceClassName: ¦", ["gpu"]),
    "how many devices": (DEVICES + "exactly:\n        allocationMode: ¦", ["ExactCount", "All"]),
    "expressions over devices": (
        DEVICES + "exactly:\n        selectors:\n        - cel:\n            expression: ¦",
        ['device.driver == "gpu.example.com"'],
    ),
    "namespaces": ("kind: Pod\nmetadata:\n  namespace: ¦", ["default", "dev"]),
    "resources": (HEAD + "  containers:\n  - resources:\n      requests:\n        cpu: 1\n        ¦", ["memory"]),
    "the second document has its own kind": (
        HEAD + "  nodeName: a\n---\n" + NODE + "spec:\n  taints:\n  - effect: ¦",
        ["NoSchedule", "PreferNoSchedule", "NoExecute"],
    ),
    "a kind that is set below": ("spec:\n  preemptionPolicy: ¦\nkind: Pod", ["PreemptLowerPriority", "Never"]),
    "the version of the kind": ("kind: Deployment\napiVersion: ¦", ["apps/v1"]),
    "nothing in a comment": (HEAD + "  # no¦", []),
    "nothing in a block of text": ("kind: ConfigMap\ndata:\n  a: |\n    spec:\n    ¦", []),
    "nothing below a text": (HEAD + "  nodeName: a\n    ¦", []),
    "nothing below an unknown field": (HEAD + "  nonsense:\n    ¦", []),
    "arguments of a plugin": (
        ARGS,
        ["apiVersion", "kind", "ignoredResources", "ignoredResourceGroups", "scoringStrategy"],
    ),
}


@pytest.fixture
def offered(page: Page) -> Any:
    """Return `offered(text)`, which lists the completions at the sign ¦ in the text."""
    page.goto(new_sandbox(page))
    return lambda written, kind="": page.evaluate(OFFERS, [written, CLUSTER, kind])


def test_completions_depend_on_the_position(offered: Any) -> None:
    wrong = {}
    for case, (written, expected) in EXACT.items():
        captions = [offer["caption"] for offer in offered(written)]
        if captions != expected:
            wrong[case] = captions
    assert not wrong
    plugins = [offer["caption"] for offer in offered(CONFIGURATION + "- pluginConfig:\n  - name: ¦")]
    assert "NodeResourcesFit" in plugins


def test_the_text_that_is_put_in_leads_on(offered: Any) -> None:
    texts = {offer["caption"]: offer["text"] for offer in offered(HEAD + "  ¦")}
    assert texts["nodeName"] == "nodeName: "
    assert texts["affinity"] == "affinity:\n    "
    assert texts["nodeSelector"] == "nodeSelector:\n    "
    assert texts["tolerations"] == "tolerations:\n  - "
    there = {offer["caption"]: offer["text"] for offer in offered(HEAD + "  no¦: a")}
    assert there["nodeName"] == "nodeName"
    begun = {offer["caption"]: offer["text"] for offer in offered(HEAD + "  tolerations:\n    ¦")}
    assert begun["key"] == "- key: "
    assert [offer["text"] for offer in offered(HEAD + "  nodeSelector:\n    gpus: ¦")] == ['"2"']
    assert [offer["text"] for offer in offered(HEAD + "  priorityClassName:¦")] == [" high"]


def test_a_key_shows_its_type_and_purpose(offered: Any) -> None:
    by_caption = {offer["caption"]: offer for offer in offered(HEAD + "  ¦")}
    assert by_caption["tolerations"]["shown"] == "list of Toleration"
    assert by_caption["tolerations"]["says"].startswith("Each lets the pod onto nodes with this taint.")
    assert by_caption["enableServiceLinks"].get("says") is None
    nested = {offer["caption"]: offer["rank"] for offer in offered(ARGS)}
    assert nested["scoringStrategy"] > nested["kind"]
    ranks = {name: offer["rank"] for name, offer in by_caption.items()}
    assert ranks["containers"] > ranks["nodeSelector"] > ranks["enableServiceLinks"]


def test_an_editor_of_one_kind_needs_no_kind(offered: Any) -> None:
    assert "profiles" in [offer["caption"] for offer in offered("¦", "KubeSchedulerConfiguration")]
    kinds = [offer["caption"] for offer in offered("kind: ¦", "KubeSchedulerConfiguration")]
    assert kinds == ["KubeSchedulerConfiguration"]
    others = [offer["caption"] for offer in offered("kind: ¦")]
    assert others[:2] == ["Pod", "Node"]
    assert "KubeSchedulerConfiguration" not in others


@pytest.mark.parametrize(
    ("written", "path", "shown"),
    [
        (HEAD + "  tolera¦tions:\n  - key: a", "spec.tolerations", "list of Toleration"),
        (HEAD + "  tolerations:\n  - effect: No¦Execute", "spec.tolerations[].effect", "string"),
        (HEAD + "  nodeSelector:\n    disk: s¦sd", "spec.nodeSelector.disk", "string"),
        (HEAD + "  containers:\n  - args: [a, ¦b]", "spec.containers[].args", "list of string"),
    ],
)
def test_a_field_shows_its_path_and_its_type(page: Page, offered: Any, written: str, path: str, shown: str) -> None:
    assert callable(offered)
    values = page.evaluate(FIELD, [written, {}, ""])
    assert (values["path"], values["shown"]) == (path, shown)


def editing(page: Page, written: str) -> None:
    open_example(page)
    open_editor(page)
    page.evaluate(
        "written => { const e = ace.edit('editor'); e.session.setValue(written); e.navigateFileEnd(); e.focus(); }",
        written,
    )


def value(page: Page) -> str:
    return str(page.evaluate("ace.edit('editor').getValue()"))


def test_keys_come_up_while_typing_and_lead_to_the_values_of_this_cluster(page: Page, eventually: Eventually) -> None:
    editing(page, HEAD + "  ")
    page.keyboard.type("nodeN")
    eventually(lambda: any(row.startswith("nodeName") for row in popup(page)))
    page.keyboard.press("Enter")
    eventually(lambda: any(row.startswith("node-a1") for row in popup(page)))
    assert value(page).endswith("  nodeName: ")
    page.keyboard.press("Enter")
    eventually(lambda: popup(page) == [])
    assert value(page).endswith("  nodeName: node-a1")
    assert page.locator("#manifests").input_value() == value(page)


def test_a_free_text_is_not_interrupted(page: Page, eventually: Eventually) -> None:
    editing(page, HEAD + "  nodeSelector:\n    topology.kubernetes.io/zone: ")
    page.keyboard.type("eu")
    page.keyboard.press("Control+Space")
    eventually(lambda: any(row.startswith("eu-a") for row in popup(page)))
    page.keyboard.press("Escape")
    eventually(lambda: popup(page) == [])
    page.keyboard.type("-")
    page.keyboard.press("Enter")
    assert value(page).rstrip(" ").endswith("zone: eu-\n")


def test_escape_leaves_the_list_then_the_drawer_and_tab_leaves_the_editor(page: Page, eventually: Eventually) -> None:
    editing(page, HEAD + "  ")
    page.keyboard.press("Control+Space")
    eventually(lambda: popup(page) != [])
    page.keyboard.press("Escape")
    eventually(lambda: popup(page) == [])
    assert page.locator("#drawer").is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#editor') === null")
    assert page.locator("#drawer").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#drawer").is_visible()


def test_completions_reload_when_the_drawer_is_opened_again(page: Page, eventually: Eventually) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/offers/") else None)
    editing(page, HEAD + "  nodeName: ")
    assert asked == []

    def complete() -> None:
        page.evaluate("ace.edit('editor').focus()")
        page.keyboard.press("Control+Space")
        eventually(lambda: popup(page) != [])
        page.keyboard.press("Escape")
        eventually(lambda: popup(page) == [])

    complete()
    complete()
    assert len(asked) == 1
    page.keyboard.press("Escape")
    page.locator("#add").click()
    complete()
    assert len(asked) == 2


def test_the_field_at_the_cursor_is_explained_below_and_in_a_note(page: Page, eventually: Eventually) -> None:
    editing(page, HEAD + "  schedulingGates:\n  - name: x")
    eventually(lambda: "spec.schedulingGates[].name string" in text(page, "#editor-line"))
    assert page.locator("#editor .ace_text-input").get_attribute("aria-describedby") == "editor-line"
    page.keyboard.press("ArrowUp")
    eventually(lambda: "spec.schedulingGates list of PodSchedulingGate" in text(page, "#editor-line"))
    page.keyboard.press("F1")
    eventually(lambda: page.locator(".ed-note:visible").count() == 1)
    assert "The pod stays out of the queue until its gates are removed." in text(page, ".ed-note:visible")
    page.keyboard.press("ArrowUp")
    eventually(lambda: page.locator(".ed-note:visible").count() == 0)
    box = page.locator("#editor .ace_line", has_text="metadata").bounding_box()
    assert box
    page.mouse.move(box["x"] + 18, box["y"] + 5)
    page.mouse.move(box["x"] + 20, box["y"] + 6)
    eventually(lambda: page.locator(".ed-note:visible").count() == 1)
    assert "metadata" in text(page, ".ed-note:visible")


DROP = """(files) => {
    const data = new DataTransfer();
    for (const [name, text] of files) data.items.add(new File([text], name));
    const on = document.querySelector('#drawer .form-s');
    for (const type of ['dragover', 'drop']) {
        on.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
}"""


def test_files_that_are_dropped_are_joined(page: Page, eventually: Eventually) -> None:
    open_example(page)
    page.locator("#add").click()
    page.evaluate(DROP, [["a.yaml", "kind: Node\n\n"], ["b.json", '{"kind": "Pod"}']])
    eventually(lambda: page.locator("#editor .ace_content").is_visible())
    eventually(lambda: value(page) == 'kind: Node\n---\n{"kind": "Pod"}\n')
    assert page.locator("#drawer").get_attribute("data-over") is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.png", "x", "a.png is not a manifest: its name must end in .yaml, .yml or .json."),
        ("a.yaml", "a\0b", "a.yaml is not valid UTF-8 text."),
        ("a.yaml", "x" * 1_048_577, "a.yaml is 1,048,577 bytes long; the limit is 1,048,576 bytes."),
    ],
    ids=["an invalid name", "not text", "too long"],
)
def test_an_unusable_file_gets_a_message_and_changes_nothing(
    page: Page, eventually: Eventually, name: str, content: str, words: str
) -> None:
    editing(page, HEAD)
    page.evaluate(DROP, [[name, content]])
    eventually(lambda: words in text(page, "#apply-errors"))
    assert value(page) == HEAD


def test_several_files_can_be_chosen(page: Page, eventually: Eventually, tmp_path: Path) -> None:
    editing(page, "")
    for name in ("a.yaml", "b.yml"):
        (tmp_path / name).write_text(f"# {name}\n")
    page.locator("#manifest-file").set_input_files([tmp_path / "a.yaml", tmp_path / "b.yml"])
    eventually(lambda: value(page) == "# a.yaml\n---\n# b.yml\n")


def test_completions_and_help_follow_the_version_even_if_it_changes_meanwhile(
    page: Page, eventually: Eventually
) -> None:
    editing(page, NODE + "status:\n  ")
    page.keyboard.type("decl")
    page.wait_for_timeout(300)
    assert popup(page) == []
    base = page.locator("#app").get_attribute("data-base")
    assert page.request.post(f"{base}do/kubernetes/", form={"version": "v1.36"}).status == 204
    page.locator("#panel-toolbar[data-kubernetes='v1.36']").wait_for(state="attached")
    page.evaluate("() => { const e = ace.edit('editor'); e.blur(); e.focus(); }")
    page.keyboard.type("a")
    eventually(lambda: any(row.startswith("declaredFeatures") for row in popup(page)))
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    eventually(lambda: "status.declaredFeatures" in text(page, "#editor-line"))


def test_the_editor_of_the_configuration_completes_too(page: Page, eventually: Eventually) -> None:
    open_example(page)
    page.locator(".tab[data-tab='configuration']").click()
    page.locator("[data-do='configure']").click()
    page.locator("#configuration-editor .ace_content").wait_for()
    eventually(lambda: page.evaluate("ace.edit('configuration-editor').getValue()") != "")
    page.evaluate("() => { const e = ace.edit('configuration-editor'); e.setValue('', 1); e.focus(); }")
    page.keyboard.type("paral")
    eventually(lambda: any("parallelism" in row for row in popup(page)))
