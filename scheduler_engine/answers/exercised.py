"""Which rules that differ between two versions a run came across, so that "nothing changes" says what was tried.

``TRIGGERS`` has a row for each rule of ``versions/table.py``: the event of the trace in which it shows, and when. A run
before the change comes across the same situations as one after it. So either run's trace is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.device_pools import gather_pools, in_order
from scheduler_engine.api.gated_fields import uses
from scheduler_engine.api.scheme import view
from scheduler_engine.api.taints import GREATER, LESS
from scheduler_engine.api.validation.addresses import has_loose_address
from scheduler_engine.api.validation.containers import resizes_by_restart
from scheduler_engine.api.validation.pod import uses_host_network_in_user_namespace
from scheduler_engine.api.validation.restarts import restarts_all
from scheduler_engine.api.validation.service import has_relaxed_name
from scheduler_engine.apiserver.eviction import explained_by_numbers
from scheduler_engine.apiserver.store import TOPOLOGY_LABELS
from scheduler_engine.config.defaults import BINDING_TIMEOUT
from scheduler_engine.framework.events import ASSIGNED_POD_DELETE, FORCE_ACTIVATE, UNSCHEDULABLE_TIMEOUT
from scheduler_engine.queue.lanes import BACKOFF_Q, ERROR_BACKOFF_Q
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import GATED_FIELDS, NOT_SIMULATED, ROWS

Manifest = Mapping[str, Any]
NONE: Manifest = {}
BINDING = ("WaitOnPermit", "PreBind", "Bind")
FAILED = ("unschedulable", "error")
LISTS = ("containers", "initContainers")
TOO_MANY_REQUESTS = 429
TIMED_OUT, FOREIGN = "timed out trying to allocate devices", " was not created for pod "
"""Kubernetes' words by which a run shows that it came across a rule."""


@dataclass(frozen=True, slots=True)
class RuleUse:
    """A rule that differs between two runs. ``exercised``: one of them came across it; ``possible``: that can happen
    here at all.
    """

    rule: str
    exercised: bool
    possible: bool


@dataclass(slots=True)
class Seen:
    """What earlier events of a trace said. ``objects``: (kind, key) → last manifest, also of deleted objects;
    ``popped``: pod → how its last attempt began, with its manifest then; ``stages``: pod → the stage that comes next;
    ``judged``: pods about whose nomination a PostFilter plugin has decided in their last attempt;
    ``with_post_filter``: the profiles with such a plugin; ``gates``: feature gates that differ from the defaults.
    """

    objects: dict[tuple[str, str], Manifest] = field(default_factory=dict)
    popped: dict[str, tuple[ev.CycleStarted, Manifest]] = field(default_factory=dict)
    stages: dict[str, str] = field(default_factory=dict)
    cycles: dict[int, str] = field(default_factory=dict)
    judged: dict[str, None] = field(default_factory=dict)
    with_post_filter: tuple[str, ...] = ()
    gates: dict[str, bool] = field(default_factory=dict)

    def pod(self, key: str) -> Manifest:
        return self.objects.get(("Pod", key), NONE)

    def take(self, event: ev.Event) -> None:
        """Add what an event says."""
        if isinstance(event, ev.ObjectAdded | ev.ObjectModified):
            self.objects[event.kind, event.key] = event.manifest
        elif isinstance(event, ev.CycleStarted):
            self.popped[event.pod] = event, self.pod(event.pod)
            self.cycles[event.cycle] = event.pod
            self.judged.pop(event.pod, None)
        elif isinstance(event, ev.StageFinished):
            self.stages[event.pod] = event.next_stage
        elif isinstance(event, ev.PostFilterRan):
            self.judged[self.cycles[event.cycle]] = None
        elif isinstance(event, ev.Configured):
            self.gates = dict(event.feature_gates)
            points = {name: dict(points) for name, points in event.profiles}
            self.with_post_filter = tuple(name for name, plugins in points.items() if plugins.get("postFilter"))


Predicate = Callable[[Any, Seen], bool]


# --- plugins ---


def _refused_by(plugin: str) -> Predicate:
    return lambda event, seen: any(row[1] == plugin for row in event.looked_at)


def _scored_by(plugin: str) -> Predicate:
    return lambda event, seen: plugin in dict(event.raw)


def _needs_features(event: ev.PreFilterRan, seen: Seen) -> bool:
    return any(plugin == "NodeDeclaredFeatures" and code != "Skip" for plugin, code, _ in event.verdicts)


def _claiming(uses: Callable[[Seen], bool]) -> Predicate:
    return lambda event, seen: bool(_spec(seen.pod(event.pod), "resourceClaims")) and uses(seen)


def _has_unsafe_pools(seen: Seen) -> bool:
    slices = (view(dict(item)) for (kind, _), item in seen.objects.items() if kind == "ResourceSlice")
    return any(pool.incomplete or pool.duplicate for pool in gather_pools(in_order(slices)))


def _has_alternatives_for_all(seen: Seen) -> bool:
    claims = (_spec(item, "devices") or NONE for (kind, _), item in seen.objects.items() if kind == "ResourceClaim")
    wanted = (request.get("firstAvailable") or () for devices in claims for request in devices.get("requests") or ())
    return any(one.get("allocationMode") == "All" for alternatives in wanted for one in alternatives)


def _has_class_config(event: ev.ObjectModified, seen: Seen) -> bool:
    allocation = _status(event.manifest, "allocation") if event.kind == "ResourceClaim" else None
    configs = ((allocation or NONE).get("devices") or NONE).get("config") or ()
    return any(config["source"] == "FromClass" for config in configs)


def _searched_long(event: ev.FilterRan | ev.CycleFinished, seen: Seen) -> bool:
    said = (
        [event.message] if isinstance(event, ev.CycleFinished) else [text for row in event.looked_at for text in row[3]]
    )
    return any(TIMED_OUT in text for text in said)


def _finds_foreign_claim(event: ev.PreFilterRan, seen: Seen) -> bool:
    return any(FOREIGN in text for plugin, _, reasons in event.verdicts for text in reasons)


def _declares_features(event: ev.ObjectAdded | ev.ObjectModified, seen: Seen) -> bool:
    return event.kind == "Node" and bool(_status(event.manifest, "declaredFeatures"))


def _own_labels_changed(event: ev.HintAnswered, seen: Seen) -> bool:
    return event.plugin == "InterPodAffinity" and event.cluster_event == "UnschedulablePodUpdatePodLabel"


def _other_pod_left(event: ev.HintAnswered, seen: Seen) -> bool:
    return event.plugin == "InterPodAffinity" and event.cluster_event == str(ASSIGNED_POD_DELETE)


def _about_nominated_pod(event: ev.HintAnswered, seen: Seen) -> bool:
    other = seen.pod(event.about)
    asked = event.plugin in ("InterPodAffinity", "PodTopologySpread") and event.about != event.pod
    return asked and not _node(other) and bool(_status(other, "nominatedNodeName"))


def _scored_image_volume(event: ev.ScoreRan, seen: Seen) -> bool:
    volumes = (seen.pod(seen.cycles[event.cycle]).get("spec") or NONE).get("volumes") or ()
    return "ImageLocality" in dict(event.raw) and any("image" in volume for volume in volumes)


def _counts_volumes(event: ev.PreFilterRan, seen: Seen) -> bool:
    return any(plugin == "NodeVolumeLimits" and code != "Skip" for plugin, code, _ in event.verdicts)


def _counts_with_driver(event: ev.PreFilterRan, seen: Seen) -> bool:
    asked = seen.gates.get("VolumeLimitScaling", False) and any(kind == "CSIDriver" for kind, _ in seen.objects)
    return asked and _counts_volumes(event, seen)


def _counts_portworx(event: ev.PreFilterRan, seen: Seen) -> bool:
    volumes = _spec(seen.pod(seen.cycles[event.cycle]), "volumes") or ()
    return _counts_volumes(event, seen) and any("portworxVolume" in volume for volume in volumes)


def _lost_volume_while_bound(event: ev.CycleFinished, seen: Seen) -> bool:
    return "binding volumes: failed to check" in event.message


def _compares_taints(event: ev.CycleStarted, seen: Seen) -> bool:
    return any(item.get("operator") in (LESS, GREATER) for item in _spec(seen.pod(event.pod), "tolerations") or ())


# --- scheduling and binding ---


def _has_equals(event: ev.HostSelected, seen: Seen) -> bool:
    return len(event.ties) > 1


def _may_serve_extended_resources(event: ev.CycleStarted, seen: Seen) -> bool:
    return seen.gates.get("DRAExtendedResource", False)


def _nominated_before_binding(event: ev.ObjectModified, seen: Seen) -> bool:
    """The scheduler nominated a pod that it had found a node for."""
    new = event.kind == "Pod" and _status(event.manifest, "nominatedNodeName")
    return bool(new) and new != _status(seen.pod(event.key), "nominatedNodeName") and event.key not in seen.judged


def _failed_nominated(event: ev.CycleFinished, seen: Seen) -> bool:
    return event.outcome in FAILED and bool(seen.popped[event.pod][0].nominated_node)


def _failed_without_post_filter(event: ev.CycleFinished, seen: Seen) -> bool:
    return _failed_nominated(event, seen) and seen.popped[event.pod][0].profile not in seen.with_post_filter


def _failed_before_post_filter(event: ev.CycleFinished, seen: Seen) -> bool:
    return _failed_nominated(event, seen) and event.pod not in seen.judged


def _failed_recreated(event: ev.CycleFinished, seen: Seen) -> bool:
    return event.outcome in FAILED and _metadata(seen.pod(event.pod), "uid") != _metadata(
        seen.popped[event.pod][1], "uid"
    )


def _failed_changed(event: ev.EventRecorded, seen: Seen) -> bool:
    """A pod changed during its attempt, which failed."""
    if event.reason != "FailedScheduling" or event.regarding not in seen.popped:
        return False
    before, now = seen.popped[event.regarding][1], seen.pod(event.regarding)
    return bool(_metadata(before, "resourceVersion") != _metadata(now, "resourceVersion"))


# --- API server ---


def _bound(event: ev.ObjectAdded | ev.ObjectModified, seen: Seen) -> bool:
    return event.kind == "Pod" and bool(_node(event.manifest)) and not _node(seen.pod(event.key))


def _bound_nominated(event: ev.ObjectModified, seen: Seen) -> bool:
    return _bound(event, seen) and bool(_status(seen.pod(event.key), "nominatedNodeName"))


def _bound_in_zone(event: ev.ObjectAdded | ev.ObjectModified, seen: Seen) -> bool:
    node = seen.objects.get(("Node", _node(event.manifest)), NONE)
    return _bound(event, seen) and any(key in (_metadata(node, "labels") or NONE) for key in TOPOLOGY_LABELS)


def _has_pod_level_status(event: ev.ObjectAdded | ev.ObjectModified, seen: Seen) -> bool:
    return event.kind == "Pod" and bool(_status(event.manifest, "resources"))


def _resized(event: ev.ObjectModified, seen: Seen, *fields: str) -> bool:
    """Return True if a pod changed in the ``resources`` of one of these parts of its spec, or of their items."""
    before, now = seen.pod(event.key), event.manifest
    return event.kind == "Pod" and any(_amounts(before, name) != _amounts(now, name) for name in fields)


def _amounts(pod: Manifest, name: str) -> Any:
    part = _spec(pod, name)
    return [item.get("resources") for item in part] if isinstance(part, list | tuple) else part


def _resized_whole(event: ev.ObjectModified, seen: Seen) -> bool:
    return _has_pod_level_status(event, seen) or _resized(event, seen, "resources")


def _resized_init_container(event: ev.ObjectModified, seen: Seen) -> bool:
    return _resized(event, seen, "initContainers")


def _resized_container(event: ev.ObjectModified, seen: Seen) -> bool:
    return _resized(event, seen, "containers")


def _resized_on_node(event: ev.ObjectModified, seen: Seen) -> bool:
    return bool(_node(seen.pod(event.key))) and _resized(event, seen, "resources", "containers", "initContainers")


def _refused_by_odd_budget(event: ev.EvictionAnswered, seen: Seen) -> bool:
    budgets = (seen.objects.get(("PodDisruptionBudget", key), NONE).get("status") or NONE for key in event.budgets)
    return event.code == TOO_MANY_REQUESTS and not all(map(explained_by_numbers, budgets))


# --- validation ---


def _sets_newer_field(event: ev.ObjectApplied, seen: Seen) -> bool:
    pod = event.manifest if event.kind == "Pod" else _spec(event.manifest, "template") or NONE
    spec = pod.get("spec") or NONE
    groups = spec.get("schedulingGroup") or spec.get("workloadRef")
    return bool(groups) or _spec(event.manifest, "serviceAccountTokenInSecrets") is not None


def _sets_gated_field(event: ev.ObjectApplied, seen: Seen) -> bool:
    return bool(uses(event.manifest, frozenset(GATED_FIELDS) - NOT_SIMULATED))


def _pod_with(uses: Callable[[Manifest], bool]) -> Predicate:
    return lambda event, seen: event.kind == "Pod" and uses(event.manifest.get("spec") or NONE)


def _object_with(uses: Callable[[Manifest], bool]) -> Predicate:
    return lambda event, seen: uses(event.manifest)


def _moved_volume(event: ev.ObjectModified, seen: Seen) -> bool:
    before = _spec(seen.objects.get((event.kind, event.key), NONE), "nodeAffinity")
    return event.kind == "PersistentVolume" and bool(before) and before != _spec(event.manifest, "nodeAffinity")


def _changed_limits(event: ev.ObjectModified, seen: Seen) -> bool:
    before, after = (
        {item["name"]: item.get("allocatable") for item in _spec(stored, "drivers") or ()}
        for stored in (seen.objects.get((event.kind, event.key), NONE), event.manifest)
    )
    return event.kind == "CSINode" and any(before[name] != after[name] for name in before.keys() & after.keys())


def _templates(event: ev.ObjectModified, seen: Seen) -> tuple[Manifest, Manifest]:
    """Return the template of a Job before and after a change; twice the same for other objects."""
    after = _spec(event.manifest, "template") or NONE
    return (_spec(seen.objects.get((event.kind, event.key), NONE), "template") or NONE, after)


def _changed_job_resources(event: ev.ObjectModified, seen: Seen) -> bool:
    before, after = _templates(event, seen)
    return event.kind == "Job" and any(_amounts(before, name) != _amounts(after, name) for name in LISTS)


def _suspended_after_its_start(event: ev.ObjectModified, seen: Seen) -> bool:
    """Only such a Job shows the rule: its start is forgotten, and its directives may change."""
    before = seen.objects.get((event.kind, event.key), NONE).get("status") or NONE
    has_run = event.kind == "Job" and bool(before.get("startTime"))
    return has_run and _is_suspended(event.manifest.get("status") or NONE) and not _is_suspended(before)


def _is_suspended(status: Manifest) -> bool:
    return ("Suspended", "True") in {(item["type"], item["status"]) for item in status.get("conditions") or ()}


# --- queue, cache and preemption ---


def _flushed(event: ev.PodMoved, seen: Seen) -> bool:
    return event.cause == str(UNSCHEDULABLE_TIMEOUT)


def _activated_while_backing_off(event: ev.PodMoved, seen: Seen) -> bool:
    return event.cause == str(FORCE_ACTIVATE) and event.source in (BACKOFF_Q, ERROR_BACKOFF_Q)


def _deleted_while_bound(event: ev.ObjectModified | ev.ObjectDeleted, seen: Seen) -> bool:
    terminating = isinstance(event, ev.ObjectDeleted) or bool(_metadata(event.manifest, "deletionTimestamp"))
    return event.kind == "Pod" and terminating and seen.stages.get(event.key, "") in BINDING


def _preempted_on_permit(event: ev.PermitWait, seen: Seen) -> bool:
    return event.rejected == "preempted"


def _preempted_in_pre_bind(event: ev.PostFilterRan, seen: Seen) -> bool:
    return any(seen.stages.get(victim) == "PreBind" for victim in event.victims)


def _expires(event: ev.AssumedPodsExpire, seen: Seen) -> bool:
    return event.ttl_us > 0


# --- configuration ---


def _args(event: ev.Configured, plugin: str) -> Iterator[Manifest]:
    """Yield the arguments of a plugin in all profiles."""
    for profile in event.configuration.get("profiles") or ():
        yield from (item["args"] for item in profile.get("pluginConfig") or () if item["name"] == plugin)


def _sets_timeout(event: ev.Configured, seen: Seen) -> bool:
    set_ = (args.get("bindingTimeout") for args in _args(event, "DynamicResources"))
    return any(timeout not in (None, BINDING_TIMEOUT) for timeout in set_)


def _has_shape(event: ev.Configured, seen: Seen) -> bool:
    strategies = (args.get("scoringStrategy") or NONE for args in _args(event, "NodeResourcesFit"))
    kind = "RequestedToCapacityRatio"
    return any(item.get("type") == kind or item.get("requestedToCapacityRatio") for item in strategies)


def _always(event: ev.Event, seen: Seen) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Trigger:
    """A run came across ``rule`` if an event of one of ``types`` makes ``shows`` true."""

    rule: str
    types: tuple[type[ev.Event], ...]
    shows: Predicate


STORED = (ev.ObjectAdded, ev.ObjectModified)
TRIGGERS: tuple[Trigger, ...] = (
    Trigger("names_untolerated_taint", (ev.FilterRan,), _refused_by("TaintToleration")),
    Trigger("dynamic_resources_weight", (ev.ScoreRan,), _always),
    Trigger("scores_change_of_balance", (ev.ScoreRan,), _scored_by("NodeResourcesBalancedAllocation")),
    Trigger("uses_incomplete_pools", (ev.CycleStarted,), _claiming(_has_unsafe_pools)),
    Trigger("lists_class_once", (ev.ObjectModified,), _has_class_config),
    Trigger("confuses_alternatives", (ev.CycleStarted,), _claiming(_has_alternatives_for_all)),
    Trigger("tries_combinations", (ev.FilterRan,), _refused_by("DynamicResources")),
    Trigger("ends_long_searches", (ev.FilterRan, ev.CycleFinished), _searched_long),
    Trigger("long_searches_are_errors", (ev.FilterRan, ev.CycleFinished), _searched_long),
    Trigger("names_kind_of_claim_owner", (ev.PreFilterRan,), _finds_foreign_claim),
    Trigger("knows_declared_features", STORED, _declares_features),
    Trigger("checks_declared_features", (ev.PreFilterRan,), _needs_features),
    Trigger("declared_features", (ev.PreFilterRan,), _needs_features),
    Trigger("names_missing_features", (ev.FilterRan,), _refused_by("NodeDeclaredFeatures")),
    Trigger("own_labels_help", (ev.HintAnswered,), _own_labels_changed),
    Trigger("leaving_anti_affinity_helps", (ev.HintAnswered,), _other_pod_left),
    Trigger("nominated_pods_help", (ev.HintAnswered,), _about_nominated_pod),
    Trigger("scores_image_volumes", (ev.ScoreRan,), _scored_image_volume),
    Trigger("needs_volume_drivers", (ev.PreFilterRan,), _counts_with_driver),
    Trigger("volume_drivers_opt_in", (ev.PreFilterRan,), _counts_with_driver),
    Trigger("always_migrated", (ev.PreFilterRan,), _counts_portworx),
    Trigger("names_missing_volumes_by_resource", (ev.CycleFinished,), _lost_volume_while_bound),
    Trigger("tolerations_compare", (ev.CycleStarted,), _compares_taints),
    Trigger("draws_among_equals", (ev.HostSelected,), _has_equals),
    Trigger("reuses_rankings", (ev.RankingAsked,), lambda event, seen: bool(event.hint)),
    Trigger("extended_resources_forbid_signatures", (ev.CycleStarted,), _may_serve_extended_resources),
    Trigger("signs_in_queue", (ev.RankingAsked,), lambda event, seen: event.outdated),
    Trigger("nominates_before_binding", (ev.ObjectModified,), _nominated_before_binding),
    Trigger("clears_nomination_without_post_filter", (ev.CycleFinished,), _failed_without_post_filter),
    Trigger("failures_keep_nomination", (ev.CycleFinished,), _failed_before_post_filter),
    Trigger("requeues_recreated_pods", (ev.CycleFinished,), _failed_recreated),
    Trigger("judges_status_of_latest_pod", (ev.EventRecorded,), _failed_changed),
    Trigger("newer_fields", (ev.ObjectApplied,), _sets_newer_field),
    Trigger("kept_fields", (ev.ObjectApplied,), _sets_gated_field),
    Trigger("restarts_all_containers", STORED, _pod_with(restarts_all)),
    Trigger("restarts_init_containers_to_resize", STORED, _pod_with(resizes_by_restart)),
    Trigger("host_network_user_namespaces", STORED, _pod_with(uses_host_network_in_user_namespace)),
    Trigger("relaxes_service_names", STORED, _object_with(has_relaxed_name)),
    Trigger("strict_addresses", STORED, _object_with(has_loose_address)),
    Trigger("moves_volumes", (ev.ObjectModified,), _moved_volume),
    Trigger("changes_volume_limits", (ev.ObjectModified,), _changed_limits),
    Trigger("changes_suspended_resources", (ev.ObjectModified,), _changed_job_resources),
    Trigger("changes_suspended_directives", (ev.ObjectModified,), _suspended_after_its_start),
    Trigger("knows_pod_level_resize", STORED, _has_pod_level_status),
    Trigger("resizes_pod_level", (ev.ObjectModified,), _resized_whole),
    Trigger("resizes_init_containers", (ev.ObjectModified,), _resized_init_container),
    Trigger("resize_checks_first_amounts", (ev.ObjectModified,), _resized_container),
    Trigger("resize_checks_node", (ev.ObjectModified,), _resized_on_node),
    Trigger("update_features", (ev.ObjectModified,), _resized_on_node),
    Trigger("names_reason_of_budget", (ev.EvictionAnswered,), _refused_by_odd_budget),
    Trigger("clears_nomination_at_binding", (ev.ObjectModified,), _bound_nominated),
    Trigger("labels_pods_at_binding", STORED, _bound_in_zone),
    Trigger("counts_terminating_replicas", STORED, lambda event, seen: event.kind == "ReplicaSet"),
    Trigger("binding_frees_nomination", (ev.ObjectModified,), _bound_nominated),
    Trigger("forgets_deleted_assumed_pods", (ev.ObjectModified, ev.ObjectDeleted), _deleted_while_bound),
    Trigger("preempted_waiting_pods_back_off", (ev.PermitWait,), _preempted_on_permit),
    Trigger("preempts_in_pre_bind", (ev.PostFilterRan,), _preempted_in_pre_bind),
    Trigger("assumed_pods_may_expire", (ev.AssumedPodsExpire,), _expires),
    Trigger("activation_asks_gates_again", (ev.PodMoved,), _activated_while_backing_off),
    Trigger("counts_flushed_pods", (ev.PodMoved,), _flushed),
    Trigger("binding_timeout", (ev.Configured,), _sets_timeout),
    Trigger("strict_scoring_strategy", (ev.Configured,), _has_shape),
)
IMPOSSIBLE = (
    *("fit_watches_device_classes", "binding_conditions", "placement_points"),
    *("knows_comparing_tolerations", "names_resized_init_container", "beta_metrics", "knows_list_functions"),
    *("validates_declared_features", "newer_texts", "newer_warnings", "reads_trailing_commas"),
)
"""Rules that no run here comes across: nothing simulates newer devices or the pod groups of Kubernetes, and texts of
refusals, warnings and metrics are in no trace.
"""


def rules_met(entries: Iterable[ev.Entry]) -> frozenset[str]:
    """Return the names of the rules that a run came across, from its trace."""
    seen, met = Seen(), dict[str, None]()
    by_type: dict[type[ev.Event], list[Trigger]] = {}
    for trigger in TRIGGERS:
        for kind in trigger.types:
            by_type.setdefault(kind, []).append(trigger)
    for entry in entries:
        event = entry.event
        for trigger in by_type.get(type(event), ()):
            if trigger.rule not in met and trigger.shows(event, seen):
                met[trigger.rule] = None
        seen.take(event)
    return frozenset(met)


def rule_uses(first: Simulation, second: Simulation) -> tuple[RuleUse, ...]:
    """Return the rules that differ between two runs, in the order of the table."""
    different = [row.name for row in ROWS if getattr(first.rules, row.name) != getattr(second.rules, row.name)]
    if not different:
        return ()
    met = rules_met(first.recorder.entries) | rules_met(second.recorder.entries)
    return tuple(RuleUse(name, name in met, name not in IMPOSSIBLE) for name in different)


def _metadata(manifest: Manifest, name: str) -> Any:
    return (manifest.get("metadata") or NONE).get(name)


def _spec(manifest: Manifest, name: str) -> Any:
    return (manifest.get("spec") or NONE).get(name)


def _status(manifest: Manifest, name: str) -> Any:
    return (manifest.get("status") or NONE).get(name)


def _node(manifest: Manifest) -> str:
    return str((manifest.get("spec") or NONE).get("nodeName") or "")
