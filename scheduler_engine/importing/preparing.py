"""Turn what was read into what is applied: choose, trim, check, omit, complete, and report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.validation import judged
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.importing import claims, completing, pods, workloads
from scheduler_engine.importing.anonymous import make_anonymous
from scheduler_engine.importing.draft import ORDER, Draft
from scheduler_engine.importing.gathering import CONFIGURATION, Gathered
from scheduler_engine.importing.kubelets import proposed
from scheduler_engine.importing.result import Choices, Import, Skipped, Summary, Waiting, grouped, is_waiting, key_of
from scheduler_engine.importing.trimming import CONTAINERS, TIMES, Notes, pod_specs, without_later_fields
from scheduler_engine.versions import Rules, chosen_rules
from scheduler_engine.words import say

Manifest = dict[str, Any]

EVERYTHING = Choices()
DEFAULT_SCHEDULER = "default-scheduler"
LONGEST_REASON = 500
"""The most characters of a reason shown."""
FEW_IMAGES = 500
"""Up to this many images on all nodes together stay, used or not. A real node reports up to 50."""


def prepare(gathered: Gathered, choices: Choices = EVERYTHING) -> Import:
    """Return the objects to apply, and all reports about them. ``gathered`` does not change.

    Raises Rejected when nothing is left, or the chosen pod is not among the pods without a node.
    """
    try:
        return _prepare(gathered, choices)
    except RecursionError as error:
        raise Rejected(say("import-errors.object-too-deep")) from error


def _prepare(gathered: Gathered, choices: Choices) -> Import:
    rules = chosen_rules(choices.kubernetes or proposed(gathered.kubelets), choices.feature_gates)
    draft, offered, namespaces = Draft(skipped=list(gathered.skipped)), dict[str, int](), dict[str, int]()
    for item, place, notes in zip(gathered.objects, gathered.places, gathered.notes, strict=True):
        namespace = _namespace(item)
        offered[item["kind"]] = offered.get(item["kind"], 0) + 1
        if namespace:
            namespaces[namespace] = namespaces.get(namespace, 0) + 1
        if item["kind"] not in choices.kinds and not (namespace and namespace in choices.namespaces):
            _take(draft, without_later_fields(item, rules, notes), namespace, place, notes, rules)
    if "Node" not in offered:
        draft.notice_log.note("no-nodes")
    if gathered.secrets:
        draft.notice_log.note("secret-data", count=gathered.secrets)
    pods.leave_out(draft)
    workloads.leave_out(draft)
    pods.keep_as_they_are(draft)
    _keep_used_images(draft)
    completing.settle_volumes(draft)
    claims.settle(draft)
    completing.add_namespaces(draft)
    completing.keep_one_default_class(draft)
    completing.add_priority_classes(draft)
    completing.add_runtime_classes(draft)
    pods.tell_of_owners(draft)
    configuration = _configuration(draft, gathered, rules)
    if choices.pod and not _waits(draft, choices.pod):
        raise Rejected(say("import-errors.not-a-waiting-pod", pod=choices.pod))
    chosen = choices.pod
    if choices.anonymous:
        renamed = make_anonymous(draft)
        chosen = renamed.get(chosen, "")
    workloads.settle(draft)
    imported = _result(draft, configuration, chosen, offered, namespaces, rules)
    return replace(imported, kubelets=gathered.kubelets)


def _result(
    draft: Draft,
    configuration: Manifest | None,
    chosen: str,
    offered: dict[str, int],
    namespaces: dict[str, int],
    rules: Rules,
) -> Import:
    served = _served(configuration, rules)
    objects = [item for kind in ORDER if kind != "Pod" for item in draft.of(kind).values()]
    # In order of creation, with running pods before waiting ones.
    ordered = sorted(draft.of("Pod").items(), key=lambda pair: _turn(draft, pair, chosen))
    objects += [pod for _, pod in ordered]
    if not objects:
        no_nodes = "" if "Node" in offered else say("import-notices.no-nodes")
        raise Rejected(" ".join(filter(None, (say("import-errors.nothing-left"), no_nodes))))
    waits = [(key, pod) for key, pod in ordered if _waits(draft, key)]
    for key, pod in waits:
        if _scheduler(pod) not in served:
            draft.notice_log.note("other-scheduler", key)
    waiting = tuple(Waiting(key, draft.messages.get(key, ""), _schedules(pod, served)) for key, pod in waits)
    by_namespace: dict[str, tuple[int, int]] = {}
    for _, pod in ordered:
        bound, pending = by_namespace.get(pod["metadata"]["namespace"], (0, 0))
        wait = is_waiting(pod)
        by_namespace[pod["metadata"]["namespace"]] = (bound + (not wait), pending + wait)
    kinds = {kind: len(draft.of(kind)) for kind in ORDER if draft.of(kind)}
    summary = Summary(len(draft.of("Node")), dict(sorted(by_namespace.items())), kinds, offered, namespaces, waiting)
    return Import(
        tuple(objects),
        tuple(draft.terminating),
        configuration,
        draft.notice_log.notices(rules.kubernetes),
        grouped(draft.skipped),
        summary,
        chosen,
        rules.kubernetes,
        dict(rules.feature_gates) or None,
    )


def _turn(draft: Draft, pair: tuple[str, Manifest], chosen: str) -> tuple[bool, bool, str]:
    key, pod = pair
    return is_waiting(pod), key != chosen, draft.created.get(key, "")


# --- adopting objects -------------------------------------------------------------------------------------------------


def _namespace(item: Manifest) -> str:
    """Return an object's namespace; "" if it has none. Validation reports one of a wrong type."""
    if not KINDS[item["kind"]].namespaced:
        return str(item["metadata"]["name"]) if item["kind"] == "Namespace" else ""
    namespace = item["metadata"].get("namespace")
    return namespace if isinstance(namespace, str) and namespace else completing.DEFAULT


def _take(draft: Draft, item: Manifest, namespace: str, place: str, notes: Notes, rules: Rules) -> None:
    """Add one object, if an API server would accept it."""
    kind, metadata = item["kind"], item["metadata"]
    manifest = {**item, "metadata": {name: held for name, held in metadata.items() if name not in TIMES}}
    if KINDS[kind].namespaced and metadata.get("namespace") in (None, ""):
        manifest["metadata"]["namespace"] = namespace
    message = _take_message(manifest) if kind == "Pod" else ""
    for notice, about in notes.items():
        for name in sorted(about):
            draft.notice_log.note(notice, name, about[name])
    errors, _ = judged(manifest, rules=rules)
    if errors:
        draft.skipped.append(Skipped(kind, str(metadata["name"])[:253], _reason(errors), place))
        return
    key = key_of(manifest)
    if key in draft.of(kind):
        draft.notice_log.note("twice", f"{kind} {key}")
        draft.terminating.pop(key if kind == "Pod" else "", None)
    draft.add(manifest)
    if kind == "Pod":
        draft.created[key] = metadata.get("creationTimestamp", "")
        draft.messages[key] = message
    if metadata.get("deletionTimestamp") and kind == "Pod":
        draft.terminating[key] = None
    elif metadata.get("deletionTimestamp"):
        draft.notice_log.note("deleting", f"{kind} {key}")


def _take_message(pod: Manifest) -> str:
    """Remove and return the message of condition PodScheduled."""
    status = pod.get("status")
    if not isinstance(status, dict) or not isinstance(conditions := status.get("conditions"), list):
        return ""
    messages = [str(item.get("message") or "") for item in conditions if isinstance(item, dict)]
    bare = [
        {name: held for name, held in item.items() if name != "message"} if isinstance(item, dict) else item
        for item in conditions
    ]
    pod["status"] = {**status, "conditions": bare}
    return next(filter(None, messages), "")


def _reason(errors: list[FieldError]) -> str:
    more = f" {say('import-errors.more-errors', more=len(errors) - 1)}" if len(errors) > 1 else ""
    return str(errors[0])[:LONGEST_REASON] + more


def _keep_used_images(draft: Draft) -> None:
    """Of many images on nodes keep those that a pod or template names: the others fill most of a node's manifest."""
    nodes = draft.of("Node").values()
    if sum(len((node.get("status") or {}).get("images") or ()) for node in nodes) <= FEW_IMAGES:
        return
    used: dict[str, None] = {}
    for manifest in draft.every():
        for spec in pod_specs(manifest):
            for listed in CONTAINERS:
                for container in spec.get(listed) or ():
                    used[normalized_image_name(container.get("image") or "")] = None
            for volume in spec.get("volumes") or ():
                used[normalized_image_name((volume.get("image") or {}).get("reference") or "")] = None
    for node in nodes:
        held = (node.get("status") or {}).get("images") or []
        kept = [{**item, "names": [name for name in item.get("names") or () if name in used]} for item in held]
        kept = [item for item in kept if item["names"]]
        if held:
            draft.notice_log.note("images", count=len(held) - len(kept))
            node["status"] = {**node["status"], "images": kept}


# --- the scheduler ----------------------------------------------------------------------------------------------------


def _configuration(draft: Draft, gathered: Gathered, rules: Rules) -> Manifest | None:
    """Return the last configuration that the scheduler accepts."""
    accepted: Manifest | None = None
    for configuration in gathered.configurations:
        try:
            load_configuration(configuration, rules)
        except Rejected as refusal:
            draft.skipped.append(Skipped(CONFIGURATION, "", _reason(refusal.errors)))
        else:
            accepted = configuration
            draft.notice_log.note("configuration")
    return accepted


def _served(configuration: Manifest | None, rules: Rules) -> list[str]:
    """Return the names of the available schedulers."""
    return [profile.scheduler_name for profile in load_configuration(configuration, rules).profiles]


def _scheduler(pod: Manifest) -> str:
    return pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER


def _schedules(pod: Manifest, served: list[str]) -> bool:
    return _scheduler(pod) in served and not pod["spec"].get("schedulingGates")


def _waits(draft: Draft, key: str) -> bool:
    """Return True if a pod is here, has no node, and should get one."""
    return key in draft.of("Pod") and key not in draft.terminating and is_waiting(draft.of("Pod")[key])
