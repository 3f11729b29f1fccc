"""The API: what a program creates, changes and reads, and its refusals."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from sandbox.content.scenarios import scenarios
from sandbox.panels import PANELS
from sandbox.storage.models import LONGEST_TITLE, Sandbox
from sandbox.web.api import states
from sandbox.words.say import say
from sandbox.worker.errors import Occupied
from sandbox.worker.room import KINDS
from scheduler_engine.replay import replay, trace_lines
from scheduler_engine.testing import make_node, make_pod
from tests.engine.expression_plugin import declaring

pytestmark = pytest.mark.django_db
API = "/api/v1"


def post(path: str, body: Any, **more: Any) -> Any:
    return Client(enforce_csrf_checks=True).post(path, json.dumps(body), content_type="application/json", **more)


def get(path: str, **query: Any) -> Any:
    return Client().get(path, query)


def create_sandbox(**body: Any) -> str:
    """Create a sandbox. Return its path."""
    answer = post(f"{API}/sandboxes", body)
    assert answer.status_code == 201, answer.content
    return urlsplit(answer.json()["api"]).path


def cluster() -> str:
    return create_sandbox(
        commands=[{"kind": "apply", "manifests": [make_node("n1").obj(), make_pod("web").cpu("1").obj()]}]
    )


ABOUT: dict[str, dict[str, Any]] = {
    "fixes": {"pod": "default/web"},
    "fit": {"pod": "default/web"},
    "leave": {"node": "n1"},
    "differences": {"seed": 1},
    "reroll": {"cycle": 1},
}
"""Question of the API → what it needs in a ``cluster``."""


def test_a_sandbox_is_created_stepped_and_read() -> None:
    base = cluster()
    before = get(base).json()
    assert (before["nodes"], before["pods"], before["bound"], before["head"]) == (1, 1, 0, 1)
    assert before["queue"] == {"activeQ": ["default/web"]}
    after = post(f"{base}/commands", {"kind": "run"}).json()
    assert (after["bound"], after["head"], after["queue"]) == (1, 2, {})
    back = post(f"{base}/head", {"to": 1}).json()
    assert (back["bound"], back["head"], back["length"]) == (0, 1, 2)


def test_the_addresses_in_the_answer_lead_to_the_pages() -> None:
    data = post(f"{API}/sandboxes", {}).json()
    for name, edits in (("edit", True), ("watch", False)):
        page = get(urlsplit(data[name]).path)
        assert page.status_code == 200
        assert ("do-stage" in page.content.decode()) is edits


@pytest.mark.parametrize("slug", list(scenarios())[:5])
def test_a_sandbox_is_created_from_a_scenario(slug: str) -> None:
    assert slug in [row["name"] for row in get(f"{API}/scenarios").json()]
    assert get(create_sandbox(scenario=slug)).json()["title"] == scenarios()[slug].title


@pytest.mark.parametrize("how", ["title", "file"])
def test_a_long_title_is_stored_whole(how: str) -> None:
    title = "A title that says at some length what is to be seen in the sandbox ".ljust(LONGEST_TITLE, "x")
    body = {"title": title, "file": f"title: {title}\n"}
    assert get(create_sandbox(**{how: body[how]})).json()["title"] == title


def test_manifests_are_applied_as_yaml_with_warnings_or_refused_with_lines() -> None:
    base = create_sandbox()
    text = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  nodeSelector: {beta.kubernetes.io/os: linux}\n"
    text += "  containers: [{name: main, image: x}]\n"
    done = Client().post(f"{base}/manifests", text, content_type="application/yaml").json()
    assert (done["state"]["pods"], done["warnings"][0]["line"]) == (1, 5)
    wrong = text.replace("containers:", "containerz:")
    answer = Client().post(f"{base}/manifests", wrong, content_type="application/yaml")
    assert answer.status_code == 422
    assert next((error["path"], error["line"]) for error in answer.json()["errors"]) == ("spec.containerz", 6)
    assert get(base).json()["head"] == 1


@pytest.mark.parametrize("panel", list(PANELS))
def test_every_panel_gives_its_facts(panel: str) -> None:
    base = create_sandbox(scenario="three-zones-one-gpu-pool")
    for kind in ("pod", "stage", "stage", "stage", "stage"):
        post(f"{base}/commands", {"kind": kind})
    data = get(f"{base}/panels/{panel}", pod="default/web-1", node="node-a1").json()
    assert data["facts"]
    assert json.loads(json.dumps(data)) == data


def test_the_panels_are_listed() -> None:
    assert [row["id"] for row in get(f"{API}/panels").json()] == list(PANELS)


def test_objects_come_page_by_page() -> None:
    base = create_sandbox(
        commands=[{"kind": "apply", "manifests": [make_node(f"n{number}").obj() for number in range(5)]}]
    )
    first = get(f"{base}/objects/Node", limit=2).json()
    assert ([node["metadata"]["name"] for node in first["items"]], first["next"]) == (["n0", "n1"], "n1")
    rest = get(f"{base}/objects/Node", limit=3, after="n1").json()
    assert ([node["metadata"]["name"] for node in rest["items"]], rest["next"]) == (["n2", "n3", "n4"], "")
    assert get(f"{base}/objects/Nothing").json() == {"items": [], "next": ""}


def test_a_program_learns_what_would_let_a_pod_run_and_does_it() -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "apply", "manifests": [make_pod("huge").cpu("64").obj()]})
    post(f"{base}/commands", {"kind": "run"})
    found = get(f"{base}/fixes", pod="default/huge").json()
    assert found["problem"] == ""
    fix = found["answer"]["fixes"][0]
    assert fix["sentence"].startswith("Ask for cpu ≤ ")
    for command in fix["commands"]:
        assert post(f"{base}/commands", command).status_code == 200
    post(f"{base}/commands", {"kind": "run"})
    pods = get(f"{base}/objects/Pod").json()["items"]
    assert [pod["spec"].get("nodeName") for pod in pods if pod["metadata"]["name"] == "huge"] == [fix["node"]]


MOMENTS = ["fixes", "fit", "leave", "headroom", "differences", "seeds", "panels/scores", "export/scenario"]


@pytest.mark.parametrize("route", MOMENTS)
def test_a_moment_that_is_none_is_refused(route: str) -> None:
    answer = get(f"{cluster()}/{route}", at="abc", **ABOUT.get(route, {}))
    assert answer.status_code == 422
    assert say("errors.moment-of-log") in answer.json()["message"]


def test_a_program_counts_copies_and_asks_what_leaves() -> None:
    base = cluster()
    pod, node = (get(f"{base}/objects/{kind}").json()["items"][0]["metadata"] for kind in ("Pod", "Node"))
    key = f"{pod['namespace']}/{pod['name']}"
    counted = get(f"{base}/fit", pod=key, copies=3, shape=node["name"]).json()
    assert (counted["problem"], counted["answer"]["key"]) == ("", key)
    assert counted["answer"]["needed"]["text"]
    assert get(f"{base}/fit", pod=key, copies=501).status_code == 422
    assert get(f"{base}/leave", node=node["name"]).json()["answer"]["verdicts"]


def test_a_program_compares_with_another_run() -> None:
    nodes = [make_node(name).capacity(cpu=cpu, pods="9").obj() for name, cpu in (("n1", "8"), ("n2", "4"))]
    base = create_sandbox(commands=[{"kind": "apply", "manifests": [*nodes, make_pod("web").cpu("1").obj()]}])
    post(f"{base}/commands", {"kind": "run"})
    same = get(f"{base}/differences", configuration="default").json()
    assert (same["head"], same["problem"], same["answer"]["differs"]) == (2, "", False)
    moved = get(f"{base}/differences", cycle=1, node="n2").json()
    assert moved["answer"]["differs"]
    assert moved["answer"]["placements"]["rows"] == [{"pod": "default/web", "sides": ["n1", "n2"]}]
    assert get(f"{base}/differences", seed=1, at="1.9999").json()["answer"]["differs"] is False
    moments = get(f"{base}/differences", at="1.9999").json()["answer"]
    assert moments["placements"]["rows"] == [{"pod": "default/web", "sides": ["without a node", "n1"]}]
    assert get(f"{base}/differences", configuration="before").json()["problem"]
    for query in ({}, {"cycle": 1}, {"node": "n2"}):
        nothing = get(f"{base}/differences", **query)
        assert (nothing.status_code, nothing.json()["message"].partition(" ")[0]) == (422, "Compare")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"configuration": "newest"}, 422),
        ({"seed": -1}, 422),
        ({"seed": 2**31}, 422),
        ({"node": "n" * 254, "cycle": 1}, 422),
        ({"branch": "77"}, 404),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused(query: dict[str, Any], status: int) -> None:
    answer = get(f"{cluster()}/differences", **query)
    assert (answer.status_code, bool(answer.json()["message"])) == (status, True)


def test_a_program_plays_many_seeds() -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "run"})
    found = get(f"{base}/seeds", seeds=3, configuration="default").json()
    assert (found["problem"], found["answer"]["seeds"]) == ("", 3)
    assert found["answer"]["verdict"]["head"] == "Nothing differs, whatever the seed."
    assert get(f"{base}/seeds", configuration="before").json()["problem"]
    assert get(f"{base}/seeds", configuration="newest").status_code == 422
    assert get(f"{base}/seeds", seeds=101).status_code == 422
    assert get(f"{base}/seeds", branch="77").status_code == 404


def test_a_program_draws_the_node_of_an_attempt_again() -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "run"})
    found = get(f"{base}/reroll", cycle=1, draws=30).json()
    assert found["problem"] == ""
    assert sum(row["wins"] for row in found["answer"]["nodes"]) == 30
    assert get(f"{base}/reroll", cycle=1, draws=10_001).status_code == 422


NO_NODE = "There was no node n9"
UNKNOWN: dict[str, tuple[str, dict[str, Any], int, str, str]] = {
    "a pod to mend": ("fixes", {"pod": "default/nobody"}, 404, "pod", "There is no Pod default/nobody."),
    "no pod to mend": ("fixes", {}, 422, "pod", "Name a pod, as namespace/name."),
    "a pod to copy": ("fit", {"pod": "default/nobody"}, 404, "pod", "There is no Pod default/nobody."),
    "no pod to copy": ("fit", {"copies": 2}, 422, "pod", "Name a pod, as namespace/name."),
    "a workload to copy": (
        *("fit", {"kind": "Deployment", "key": "default/none"}, 404),
        *("key", "There is no Deployment default/none."),
    ),
    "no workload to copy": ("fit", {"kind": "Deployment"}, 422, "key", say("errors.no-workload-named")),
    "a kind that cannot be copied": (
        *("fit", {"kind": "Node", "key": "n1"}, 422),
        *("kind", say("errors.kind-to-copy", kinds=", ".join(KINDS))),
    ),
    "a shape": ("fit", {"pod": "default/web", "copies": 2, "shape": "n9"}, 404, "shape", "There is no node n9."),
    "no shape": ("fit", {"pod": "default/web", "copies": 2}, 422, "shape", "Choose a node that new nodes are like."),
    "a node that leaves": ("leave", {"node": "n9"}, 404, "node", "There is no Node n9."),
    "a zone that is lost": ("leave", {"zone": "nowhere"}, 404, "zone", "No node has the zone nowhere."),
    "neither node nor zone": ("leave", {}, 422, "node", "Choose a node or a zone."),
    "both": ("leave", {"node": "n1", "zone": "z"}, 422, "zone", "Choose one: the node n1 or the zone z, not both."),
    "an attempt": ("differences", {"cycle": 999, "node": "n1"}, 404, "cycle", "This run has no cycle 999."),
    "another node": (
        "differences",
        {"cycle": 1, "node": "n9"},
        404,
        "node",
        "There was no node n9 before the attempt.",
    ),
    "an attempt to draw": ("reroll", {"cycle": 999}, 404, "cycle", "This run has no cycle 999."),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_name_that_does_not_exist_is_not_found(case: str) -> None:
    route, query, status, field, message = UNKNOWN[case]
    base = create_sandbox(
        commands=[{"kind": "apply", "manifests": [make_node("n1").capacity(cpu="2").obj(), make_pod("web").obj()]}]
    )
    post(f"{base}/commands", {"kind": "run"})
    answer = get(f"{base}/{route}", **query)
    assert answer.status_code == status
    assert answer.json()["message"] == message
    assert [(error["path"], error["message"]) for error in answer.json()["errors"]] == [(field, message)]


def test_a_program_asks_what_still_fits() -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "run"})
    found = get(f"{base}/headroom").json()
    assert found["problem"] == ""
    assert [row["node"] for row in found["answer"]["nodes"]]
    assert [row["name"] for row in found["answer"]["resources"]]


def test_the_log_replays_to_the_returned_trace() -> None:
    base = cluster()
    post(f"{base}/commands", {"kind": "run"})
    lines = get(f"{base}/trace").content.decode().splitlines()
    assert lines == list(trace_lines(replay(get(f"{base}/log").json())))
    assert get(f"{base}/trace", after=len(lines) - 1).content.decode() == f"{lines[-1]}\n"


@pytest.mark.parametrize("route", ["commands", "manifests", "head"])
def test_a_change_whose_state_cannot_be_read_is_acknowledged(route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    base = cluster()
    bodies = {"commands": {"kind": "run"}, "manifests": make_node("n2").obj(), "head": {"to": 0}}

    def busy(*arguments: Any) -> None:
        raise Occupied("busy")

    monkeypatch.setattr(states, "state_of", busy)
    answer = post(f"{base}/{route}", bodies[route])
    monkeypatch.undo()
    assert answer.status_code == 202
    assert answer.json() == {"message": say("api.changed-unread", reason="busy")}
    assert get(base).json()["head"] == {"commands": 2, "manifests": 2, "head": 0}[route]


REFUSED: dict[str, tuple[str, Any, int, str]] = {
    "an unknown kind": ("commands", {"kind": "explode"}, 422, "unknown command"),
    "no kind": ("commands", {}, 422, "unknown command"),
    "a field of the wrong type": ("commands", {"kind": "advance", "seconds": "long"}, 422, '"seconds" must be'),
    "nothing to do": ("commands", {"kind": "stage"}, 422, "No pod is ready to leave the queue"),
    "a move to nowhere": ("head", {"to": -1}, 422, "does not match the API document"),
    "a list": ("commands", [1], 422, "does not match the API document"),
    **{
        f"a manifest that is {kind}": ("commands", {"kind": "apply", "manifests": [manifest]}, 422, "")
        for kind, manifest in (("a list", [{}]), ("nothing", None), ("a text", "kind: Pod"), ("of no kind", {}))
    },
    **{
        f"a manifest whose {name} is {value}": (
            "commands",
            {"kind": "apply", "manifests": [make_pod("a").obj() | {name: value}]},
            422,
            "",
        )
        for name in ("kind", "metadata")
        for value in (["Pod"], {"name": ["a"]}, None, 5)
    },
    **{
        f"{value} for manifests": ("commands", {"kind": "apply", "manifests": value}, 422, "")
        for value in (None, 5, "x")
    },
}


@pytest.mark.parametrize(("path", "body", "status", "words"), REFUSED.values(), ids=REFUSED)
def test_an_error_is_reported_and_changes_nothing(path: str, body: Any, status: int, words: str) -> None:
    base = create_sandbox()
    answer = post(f"{base}/{path}", body)
    assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.json()
    assert get(base).json()["length"] == 0


@pytest.mark.parametrize(
    "body",
    ["{", "[" * 100_000, "\ud800", "NaN" * 3],
    ids=["cut off", "too deep", "half a character", "not a number"],
)
def test_a_body_that_is_not_json_is_refused(body: str) -> None:
    raw = body.encode(errors="surrogatepass")
    answer = Client().post(f"{API}/sandboxes", raw, content_type="application/json")
    assert (answer.status_code, answer.json()["message"]) == (400, "The request body is not valid JSON.")


def test_a_body_that_is_too_large_is_refused() -> None:
    answer = Client().post(f"{create_sandbox()}/manifests", b"#" * (3 << 20), content_type="application/yaml")
    assert (answer.status_code, "too large" in answer.json()["message"]) == (413, True)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("nowhere", {}, 404),
        ("sandboxes/1/token", {}, 404),
        ("sandboxes/00000000-0000-0000-0000-000000000000/a/b/c", {}, 404),
        ("panels", {"host": "elsewhere.example"}, 400),
    ],
)
def test_a_request_that_no_route_takes_is_answered_with_json(path: str, headers: dict[str, str], status: int) -> None:
    answer = Client(headers=headers).get(f"{API}/{path}")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert answer.json().keys() == {"message", "errors"}
    assert "Content-Security-Policy" in answer


def test_a_query_with_too_many_parameters_is_refused(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    answer = post(f"{API}/import?a=1&b=2&c=3&d=4", {})
    assert (answer.status_code, answer.json()["message"]) == (400, say("errors.unreadable-or-large"))


def test_an_address_that_asks_too_often_is_told_so_as_json(settings: Any) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "address": (0.01, 1)}
    answers = [Client().get(f"{API}/panels") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].json()["message"]


def test_the_document_has_the_type_of_each_export() -> None:
    base = cluster()
    for form, kind in (("scenario", "string"), ("manifests", "string"), ("snapshot", "object"), ("trace", "string")):
        answer = get(f"{base}/export/{form}")
        path = f"{API}/sandboxes/{{sandbox_id}}/{{token}}/export/{{form}}"
        known = get(f"{API}/openapi.json").json()["paths"][path]["get"]["responses"]["200"]["content"]
        assert known[answer["Content-Type"].partition(";")[0]]["schema"]["type"] == kind


def test_unknown_fields_of_a_new_sandbox_are_refused_by_name() -> None:
    answer = post(f"{API}/sandboxes", {"scenarioo": "x", "seed": -1})
    assert answer.status_code == 422
    assert {error["path"] for error in answer.json()["errors"]} == {"scenarioo", "seed"}
    assert post(f"{API}/sandboxes", {"scenario": "nobody-knows"}).status_code == 404
    assert post(f"{API}/sandboxes", {"scenario": next(iter(scenarios())), "seed": 1}).status_code == 422


@pytest.mark.parametrize("commands", [[], [{"kind": "stage"}]], ids=["alone", "with commands"])
def test_a_configuration_that_cannot_be_built_creates_nothing(commands: list[Any]) -> None:
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Quiet"}]}}}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    answer = post(f"{API}/sandboxes", {"configuration": kind | {"profiles": [profile]}, "commands": commands})
    assert (answer.status_code, "a plugin that is not here: Quiet" in answer.json()["message"]) == (422, True)
    assert not Sandbox.objects.exists()


def test_too_many_requests_are_asked_to_wait(settings: Any) -> None:
    base = cluster()
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "command": (0.01, 1)}
    assert post(f"{base}/commands", {"kind": "run"}).status_code == 200
    late = post(f"{base}/commands", {"kind": "settle"})
    assert (late.status_code, int(late.headers["Retry-After"]) > 1) == (429, True)


def test_the_document_describes_every_route() -> None:
    document = get(f"{API}/openapi.json").json()
    assert document["openapi"].startswith("3.")
    one = f"{API}/sandboxes/{{sandbox_id}}/{{token}}"
    assert {f"{one}/commands", f"{one}/manifests", f"{one}/panels/{{panel}}", one} <= document["paths"].keys()
    for path, methods in document["paths"].items():
        for method in methods.values():
            assert method["summary"], path
            assert "422" in method["responses"], path


def test_the_examples_of_a_parameter_are_in_its_schema() -> None:
    document = get(f"{API}/openapi.json").json()
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    parameters = [parameter for one in operations for parameter in one.get("parameters", ())]
    assert [parameter["name"] for parameter in parameters if "examples" in parameter["schema"]] == ["pod"]
    assert [parameter["name"] for parameter in parameters if "examples" in parameter] == []


def test_every_operation_has_its_own_name_a_tag_and_errors_in_json() -> None:
    document = get(f"{API}/openapi.json").json()
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    names = [one["operationId"] for one in operations]
    assert len(set(names)) == len(names)
    for one in operations:
        assert len(one["tags"]) == 1, one["operationId"]
        refused = [answer for status, answer in one["responses"].items() if status >= "4"]
        schema = {"$ref": "#/components/schemas/Problem"}
        assert [answer["content"] for answer in refused] == [{"application/json": {"schema": schema}}] * len(refused)


def test_the_bodies_take_no_unknown_fields_and_their_examples_are_valid() -> None:
    document = get(f"{API}/openapi.json").json()
    seen = 0
    for path, methods in document["paths"].items():
        for content in (one.get("requestBody", {}).get("content", {}) for one in methods.values()):
            name = content.get("application/json", {}).get("schema", {}).get("$ref", "").rpartition("/")[2]
            if not name or name == "Command":
                continue
            schema = document["components"]["schemas"][name]
            assert schema["additionalProperties"] is False, (path, name)
            for field, one in schema["properties"].items():
                for example in one.get("examples", ()):
                    whole = {**one, "components": document["components"]}
                    assert Draft202012Validator(whole).is_valid(example), (name, field)
                    seen += 1
    assert seen


def test_an_error_in_a_declared_plugin_stands_at_its_field() -> None:
    answer = post(f"{API}/sandboxes", {"configuration": declaring(filter="nod.x == 1")})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["path"] == "profiles[0].pluginConfig[0].args.filter"
    assert "undeclared reference to 'nod'" in error["message"]
