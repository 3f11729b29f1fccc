"""What a request of the tables of authority sends so that it succeeds for those who may do it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from scheduler_engine.testing import make_node, make_pod
from tests.sandbox.authority.world import LESSON, ROOM, STEPS

FORM = "application/x-www-form-urlencoded"
NODE, WORKLOAD = {"kind": "Node", "key": "node-2"}, {"kind": "Deployment", "key": "default/app"}
MANIFEST = json.dumps(make_pod("more").cpu("1").obj())
PROFILE = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 50\n"
FIX = json.dumps([{"kind": "cordon", "node": "node-2", "on": False}])
SCENARIO = f"title: Mine\nsetup:\n- apply: [{json.dumps(make_node('n').obj())}]\n"
EDITED = "apiVersion: v1\nkind: Node\nmetadata:\n  name: node-2\n  labels: {zone: a}\n"


@dataclass(frozen=True, slots=True)
class Request:
    """``fields``: of the form, of the query or of the JSON body. Braces stand for keys of rows: ``World.ids``."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    desk: str = "cluster"
    query: str = ""
    body: str = ""
    """The whole body, for a route that takes no form. Keys in braces stand for ``World.ids`` here, too."""
    content_type: str = ""
    """The content type of the body; "" = that of the route."""


def of(desk: str = "cluster", query: str = "", body: str = "", content_type: str = "", **fields: Any) -> Request:
    return Request(fields, desk, query, body, content_type)


ON_SANDBOXES: dict[str, Request] = {
    "GET yaml/Node/": of(key="node-1"),
    "GET find/": of(q="node"),
    "GET story/": of(n="1"),
    "GET admission/Node/": of(key="node-1"),
    "GET edit/Node/form/": of(key="node-2"),
    "GET differences/": of(seed="1"),
    "GET embed/differences/": of(seed="1"),
    "GET reroll/": of(cycle="1"),
    "GET fit/": of(pod="default/held"),
    "GET fixes/": of(pod="default/held"),
    "GET leave/": of(node="node-2"),
    "POST do/advance/": of(seconds="1"),
    "POST do/assumed-ttl/": of(seconds="5"),
    "POST do/admission/": of(plugin="LimitPodHardAntiAffinityTopology", enabled="1"),
    "POST do/kubernetes/": of(version="v1.36"),
    "POST do/goto/": of(n="0"),
    **{
        f"POST {prefix}{path}/": request
        for prefix in ("do/", "")
        for path, request in {
            "allow": of(pod="default/open-1"),
            "cordon": of(node="node-1", on="1"),
            "delete": of(kind="Pod", key="default/gated-1"),
            "drain": of(node="node-1", on="1", ignore_daemonsets="1", force="1"),
            "evict": of(pod="default/held"),
            "node-condition": of(node="node-1", type="Ready", status="False"),
            "rollout": of(**WORKLOAD),
        }.items()
    },
    "POST apply/": of(manifests=MANIFEST),
    "POST check/": of(manifests=MANIFEST),
    "POST configure/": of(configuration=PROFILE),
    "POST controls/": of(configuration=PROFILE, profile="0", control="add-profile", value="other"),
    "POST break/": of(point="bind", plugin="DefaultBinder", answer="error"),
    "POST label/": of(kind="Node", object="node-1", key="disk", value="ssd", on="1"),
    "POST ungate/": of(pod="default/gated-1", gate="example.com/quota"),
    "POST unfinalize/": of(kind="Pod", object="default/held", finalizer="example.com/hold"),
    "POST resize/": of(pod="default/open-1", container="main", cpu="200m", memory="512Mi"),
    "POST scale/": of(**WORKLOAD, replicas="2"),
    "POST taint/": of(node="node-1", key="a", effect="NoSchedule", on="1"),
    "POST usage/": of(node="node-1", memory="1Gi"),
    "POST kubelet/": of(node="node-1", configuration="evictionHard: {memory.available: 1Gi}"),
    "POST replicas/": of(count="3", leader_elect="1"),
    "POST replica/": of(desk="replicas", replica="kube-scheduler-1", action="kill"),
    "POST step/": of(n="1"),
    "POST go-back/": of(at="1.0"),
    "POST reopen/": of(branch="{branch}"),
    "POST expect/": of(fact="placement", pod="default/gated-1"),
    "POST take-back/": of(key="{expectation}"),
    "POST differences/in-step/": of(seed="1"),
    "POST mend/": of(commands=FIX, pod="default/held"),
    "POST mend/copy/": of(commands=FIX, pod="default/held"),
    "POST mend/scenario/": of(commands=FIX, pod="default/held"),
    "POST add/node/": of(name="node-3", cpu="4", memory="8Gi", pods="9"),
    "POST add/pod/": of(name="more", cpu="1"),
    "POST add/workload/": of(name="more", workload="Deployment", replicas="1", labels="app=more"),
    "POST add/priority-class/": of(name="more", value="5"),
    "POST add/budget/": of(name="more", min_available="1", selector="app=more"),
    "POST add/claim/": of(name="more", storage="1Gi", access_mode="ReadWriteOnce"),
    "POST add/devices/": of(name="more", node="node-1", driver="gpu.example.com", device_name="gpu-0"),
    "POST add/device-class/": of(name="more", device_expression_expression="true"),
    "POST add/device-claim/": of(
        name="more",
        claim_kind="ResourceClaim",
        device_request_name="gpu",
        device_request_deviceClassName="gpu",
    ),
    "POST edit/Node/": of(query="key=node-2", leads="yaml", yaml=EDITED, original=EDITED.replace("zone: a", "")),
    "POST edit/Node/preview/": of(query="key=node-2", leads="yaml", yaml=EDITED, original=EDITED),
    "GET figure/1/": of(desk="lesson"),
    "POST lesson/step/": of(desk="lesson", part="0"),
    "POST lesson/turn/": of(desk="lesson", part="1"),
    "POST lesson/hint/": of(desk="task"),
    "POST lesson/catch-up/": of(desk="lesson"),
    "POST lesson/answer/": of(desk="lesson", named="node-1"),
    "POST predict/": of(desk="task", look="1"),
    "POST kube/api/v1/namespaces": of(body='{"metadata": {"name": "more"}}'),
    "PUT kube/api/v1/nodes/node-2": of(body='{"metadata": {"labels": {"zone": "a"}}}'),
    "PATCH kube/api/v1/nodes/node-2": of(body='{"metadata": {"labels": {"zone": "a"}}}'),
}
"""Method and path below a sandbox's link → the request. One that is not here sends nothing."""
BY_API: dict[str, Request] = {
    "POST /commands": of(body='{"kind": "stage"}'),
    "POST /manifests": of(body=MANIFEST),
    "POST /head": of(body='{"to": 1}'),
    "POST /batch": of(body='{"commands": [{"kind": "stage"}, {"kind": "settle"}]}'),
    "POST /wait": of(body='{"until": [{"clock": 5}], "seconds": 5}'),
    "POST /check": of(body='{"expectations": [{"clock": 0}]}'),
    "POST /expectations": of(body='{"fact": "placement", "pod": "default/gated-1"}'),
    "POST /fork": of(body="{}"),
    "GET /lesson": of(desk="lesson"),
    "POST /lesson/step": of(desk="lesson", body='{"part": 0}'),
    "POST /lesson/turn": of(desk="lesson", body='{"part": 1}'),
    "POST /lesson/hint": of(desk="task"),
    "POST /lesson/catch-up": of(desk="lesson"),
    "POST /lesson/answer": of(desk="lesson", body='{"answers": ["node-1"]}'),
    "POST /prediction": of(desk="task", body='{"answers": null}'),
    "GET /explain": of(pod="default/held"),
    "GET /differences": of(seed="1"),
    "GET /reroll": of(cycle="1"),
    "GET /fixes": of(pod="default/held"),
    "GET /fit": of(pod="default/held"),
    "GET /find": of(q="held"),
    "GET /leave": of(node="node-2"),
}
NEWCOMER = "none"
"""In place of a desk: the participant has no sandbox yet."""
ON_ROOMS: dict[str, Request] = {
    "POST freeze/": of(on="1"),
    "POST eyes/": of(on="1"),
    "POST timer/": of(minutes="5"),
    "POST rename/": of(who="{person}", name="Anna"),
    "POST remove/": of(who="{person}"),
    "POST lower-hand/": of(who="{hand}"),
    "POST revoke/": of(number="1"),
    "POST send/": of(scenario=STEPS),
    "POST lessons/": of(text=LESSON),
    "POST step/": of(verb="second", to="{person}"),
    "POST take/": of(desk=NEWCOMER),
    "POST ask/": of(ask="Which?", choices="*a\nb"),
    "POST predict/": of(kind="lane"),
    "POST planned/": of(number="0"),
    "POST end/": of(number="2"),
    "POST reveal/": of(number="2"),
    "POST put-away/": of(number="2"),
    "POST hand/": of(on="1"),
    "POST help/": of(on="0"),
    "POST answer/": of(number="2", chosen="activeQ"),
    "POST notes/": of(text="Backoff doubles.", after="0"),
    "POST show-answer/": of(number="1", text="because", on="1"),
    "POST inquire/": of(text="Why there?"),
    "POST vote/": of(key="{inquiry}", on="1"),
    "POST answered/": of(key="{inquiry}", on="1"),
    "POST hide/": of(key="{inquiry}", on="1"),
    "POST inquiries/": of(on="1"),
}
ROOMS_BY_API: dict[str, Request] = {
    "POST /freeze": of(body='{"on": true}'),
    "POST /eyes": of(body='{"on": true}'),
    "POST /timer": of(body='{"minutes": 5}'),
    "POST /rename": of(body='{"who": {person}, "name": "Anna"}'),
    "POST /remove": of(body='{"who": {person}}'),
    "POST /send": of(body=json.dumps({"scenario": STEPS})),
    "POST /lessons": of(body=json.dumps({"file": LESSON})),
    "POST /step": of(body='{"step": "second", "to": [{person}]}'),
    "POST /take": of(desk=NEWCOMER),
    "POST /ask": of(body='{"ask": "Which?", "choices": ["a", "b"], "right": ["a"]}'),
    "POST /predict": of(body='{"kind": "lane"}'),
    "POST /planned": of(body='{"number": 0}'),
    "POST /end": of(body='{"number": 2}'),
    "POST /reveal": of(body='{"number": 2}'),
    "POST /put-away": of(body='{"number": 2}'),
    "POST /hand": of(body='{"on": true}'),
    "POST /help": of(body='{"on": false}'),
    "POST /answer": of(body='{"number": 2, "chosen": ["activeQ"]}'),
}
ON_OTHERS: dict[str, Request] = {
    "GET /compare/": of(left="{workbench}", right="{workbench}"),
    "GET /embed/scenario/<slug>/differences/": of(seed="1"),
    "GET /embed/lesson/<slug>/differences/": of(seed="1"),
    "POST /new/": of(scenario=STEPS),
    "POST /compare/": of(left=STEPS, right=STEPS),
    "POST /import/": of(text=SCENARIO),
    "POST /lessons/open/": of(text=LESSON),
    "POST /write/run/": of(text=LESSON, part="1"),
    "POST /before/convert/": of(text="apiVersion: v1\nkind: Policy\n"),
    "POST /versions/open/": of(rule="names_untolerated_taint"),
    "POST /before/open/": of(text="apiVersion: v1\nkind: Policy\n"),
    "POST /workshop/open/": of(text=ROOM),
    "POST /join/": of(code="{code}", name="Zoe"),
    "POST /join/<code>/": of(name="Zoe"),
    "POST /api/v1/sandboxes": of(body="{}"),
    "POST /api/v1/import": of(body=urlencode({"text": SCENARIO}), content_type=FORM),
    "POST /api/v1/rooms": of(body="{}"),
    "POST /api/v1/rooms/join": of(body='{"code": "{code}", "name": "Zoe"}'),
}
