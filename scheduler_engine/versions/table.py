"""The rules: one row per behaviour that differs between versions, and the value that each version chooses.

Read and recorded differences are in the upstream pull requests and enhancement proposals that ``source`` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.records import record
from scheduler_engine.versions.gates import GATED_FIELDS, check_needs, checked, gates_text, is_on, keeps
from scheduler_engine.versions.names import DEFAULT, column, release_of
from scheduler_engine.words import say


@record(frozen=True, slots=True)
class Row:
    """``name`` is a field of ``Rules``, and ``versions.<name>`` its sentence. ``values``: one per version, or () if the
    value is whether the ``gate`` is on. With both, the value of the version holds while the gate is on. ``gates``: the
    value is a list of what these gates switch on.
    """

    name: str
    values: tuple[Any, ...]
    source: str
    gate: str = ""
    gates: tuple[str, ...] = ()


NO, YES = False, True
MIGRATED = ("aws-ebs", "azure-disk", "cinder", "gce-pd")
FIELDS = ("PodCertificateProjection.userAnnotations", "CSIDriverSpec.serviceAccountTokenInSecrets")
FIELDS_36 = (
    *("PodSpec.schedulingGroup", "PodStatus.nodeAllocatableResourceClaimStatuses"),
    *("VolumeMountStatus.volumeStatus", "ResourceHealth.message", *FIELDS),
    *("Device.nodeAllocatableResourceMappings", "DeviceAttribute.ints", "DeviceAttribute.bools"),
    *("DeviceAttribute.strings", "DeviceAttribute.versions"),
)
TEXTS = (
    *("label-keys", "label-values", "driver-names", "variable-sources"),
    *("claim-updates", "claim-specs", "class-tolerations", "controller-names", "devices"),
)
TEXTS_36 = (*TEXTS, "restart-rules", "resize-policies", "handlers", "storage-classes", "device-keys")
WARNINGS = ("PreferClose", "token-requests", "label-values")

ROWS: tuple[Row, ...] = (
    # --- plugins ---
    Row("names_untolerated_taint", (YES, NO, NO), "#134740"),
    Row("dynamic_resources_weight", (0, 2, 2), "KEP-4816"),
    Row("scores_change_of_balance", (NO, NO, YES), "#135573"),
    Row("uses_incomplete_pools", (YES, NO, NO), "structured/allocator_stable.go"),
    Row("lists_class_once", (NO, YES, YES), "structured/allocator_stable.go"),
    Row("confuses_alternatives", (YES, YES, NO), "structured/allocator_incubating.go"),
    Row("tries_combinations", (NO, NO, YES), "structured/allocator_incubating.go"),
    Row("ends_long_searches", (), "KEP-4381", gate="DRASchedulerFilterTimeout"),
    Row("long_searches_are_errors", (NO, NO, YES), "dynamicresources.go"),
    Row("names_kind_of_claim_owner", (NO, NO, YES), "resourceclaim/resourceclaim.go"),
    Row("knows_declared_features", (NO, YES, YES), "KEP-5328"),
    Row("checks_declared_features", (), "KEP-5328", gate="NodeDeclaredFeatures"),
    Row("declared_features", ((), ("restart",), ("restart", "user-namespaces")), "KEP-5328"),
    Row("names_missing_features", (NO, YES, NO), "KEP-5328"),
    Row("own_labels_help", (NO, NO, YES), "#135394"),
    Row("leaving_anti_affinity_helps", (NO, NO, YES), "#135325"),
    Row("nominated_pods_help", (NO, NO, YES), "#135392"),
    Row("scores_image_volumes", (NO, NO, YES), "#130231"),
    Row("fit_watches_device_classes", (), "KEP-5004", gate="DRAExtendedResource"),
    Row("needs_volume_drivers", (), "KEP-5030", gate="VolumeLimitScaling"),
    Row("volume_drivers_opt_in", (NO, NO, YES), "KEP-5030"),
    Row("always_migrated", (MIGRATED, MIGRATED, (*MIGRATED, "portworx-volume")), "nodevolumelimits/utils.go"),
    Row("names_missing_volumes_by_resource", (NO, YES, YES), "volumebinding/passive_assume_cache.go"),
    Row("tolerations_compare", (), "KEP-5471", gate="TaintTolerationComparisonOperators"),
    # --- scheduling and binding ---
    Row("draws_among_equals", (YES, NO, NO), "#135231"),
    Row("reuses_rankings", (), "KEP-5598", gate="OpportunisticBatching"),
    Row("extended_resources_forbid_signatures", (NO, YES, NO), "noderesources/fit.go", gate="DRAExtendedResource"),
    Row("signs_in_queue", (NO, NO, YES), "scheduling_queue.go"),
    Row("nominates_before_binding", (), "KEP-5278", gate="NominatedNodeNameForExpectation"),
    Row("clears_nomination_without_post_filter", (NO, YES, YES), "#135007"),
    Row("failures_keep_nomination", (YES, NO, NO), "#135007", gate="NominatedNodeNameForExpectation"),
    Row("requeues_recreated_pods", (YES, NO, NO), "schedule_one.go"),
    Row("judges_status_of_latest_pod", (NO, NO, YES), "schedule_one.go"),
    # --- API server ---
    Row("newer_fields", ((), ("PodSpec.workloadRef", *FIELDS), FIELDS_36), "types.go"),
    Row("kept_fields", (), "pkg/api/pod/util.go", gates=tuple(dict.fromkeys(GATED_FIELDS.values()))),
    Row("restarts_all_containers", (), "KEP-5532", gate="RestartAllContainersOnContainerExits"),
    Row("restarts_init_containers_to_resize", (YES, YES, NO), "#137458"),
    Row("host_network_user_namespaces", (), "KEP-5607", gate="UserNamespacesHostNetworkSupport"),
    Row("relaxes_service_names", (), "KEP-5311", gate="RelaxedServiceNameValidation"),
    Row("strict_addresses", (), "KEP-4858", gate="StrictIPCIDRValidation"),
    Row("moves_volumes", (), "KEP-5381", gate="MutablePVNodeAffinity"),
    Row("changes_volume_limits", (), "KEP-4876", gate="MutableCSINodeAllocatableCount"),
    Row("changes_suspended_resources", (), "KEP-5440", gate="MutablePodResourcesForSuspendedJobs"),
    Row("changes_suspended_directives", (), "KEP-5440", gate="MutableSchedulingDirectivesForSuspendedJobs"),
    Row("validates_declared_features", (), "KEP-5328", gate="NodeDeclaredFeatures"),
    Row("newer_texts", ((), TEXTS, TEXTS_36), "validation.go"),
    Row("knows_list_functions", (NO, YES, YES), "apiserver/pkg/cel/environment/base.go"),
    Row("reads_trailing_commas", (NO, YES, YES), "labels/selector.go"),
    Row("newer_warnings", ((), WARNINGS, (*WARNINGS, "externalIPs", "addresses")), "warnings.go"),
    Row("knows_comparing_tolerations", (NO, YES, YES), "KEP-5471"),
    Row("knows_pod_level_resize", (NO, YES, YES), "KEP-5419"),
    Row("resizes_pod_level", (), "KEP-5419", gate="InPlacePodLevelResourcesVerticalScaling"),
    Row("resizes_init_containers", (), "KEP-1287", gate="InPlacePodVerticalScalingInitContainers"),
    Row("names_resized_init_container", (NO, NO, YES), "KEP-1287"),
    Row("resize_checks_first_amounts", (NO, YES, YES), "validation.go"),
    Row("resize_checks_node", (NO, NO, YES), "podresize/admission.go"),
    Row("update_features", ((), ("guaranteed-cpu", "pod-level"), ("pod-level", "init-containers")), "KEP-5328"),
    Row("names_reason_of_budget", (NO, YES, YES), "eviction.go"),
    Row("clears_nomination_at_binding", (), "#135103", gate="ClearingNominatedNodeNameAfterBinding"),
    Row("labels_pods_at_binding", (), "#135158", gate="PodTopologyLabelsAdmission"),
    # --- controllers ---
    Row("counts_terminating_replicas", (), "KEP-3973", gate="DeploymentReplicaSetTerminatingReplicas"),
    # --- queue, cache and preemption ---
    Row("binding_frees_nomination", (YES, NO, NO), "eventhandlers.go"),
    Row("forgets_deleted_assumed_pods", (NO, YES, YES), "#134157"),
    Row("activation_asks_gates_again", (YES, NO, NO), "scheduling_queue.go"),
    Row("preempted_waiting_pods_back_off", (NO, NO, YES), "#135719"),
    Row("preempts_in_pre_bind", (NO, NO, YES), "#135502"),
    Row("assumed_pods_may_expire", (YES, YES, NO), "cache.go"),
    # --- metrics ---
    Row("counts_flushed_pods", (NO, NO, YES), "#135126"),
    Row("beta_metrics", (NO, NO, YES), "metrics.go"),
    # --- configuration ---
    Row("binding_timeout", (NO, YES, YES), "KEP-5007"),
    Row("binding_conditions", (), "KEP-5007", gate="DRADeviceBindingConditions"),
    Row("strict_scoring_strategy", (NO, NO, YES), "validation_pluginargs.go"),
    Row("placement_points", (NO, NO, YES), "KEP-5732"),
)


@record(frozen=True, slots=True)
class Rules:
    """The rules of one version with its feature gates: for each row of the table the value that holds.

    ``kubernetes`` is the version, ``feature_gates`` are those that differ from its defaults, by name.
    """

    kubernetes: str
    feature_gates: tuple[tuple[str, bool], ...]
    names_untolerated_taint: bool
    dynamic_resources_weight: int
    scores_change_of_balance: bool
    uses_incomplete_pools: bool
    lists_class_once: bool
    confuses_alternatives: bool
    tries_combinations: bool
    ends_long_searches: bool
    long_searches_are_errors: bool
    names_kind_of_claim_owner: bool
    knows_declared_features: bool
    checks_declared_features: bool
    declared_features: tuple[str, ...]
    names_missing_features: bool
    own_labels_help: bool
    leaving_anti_affinity_helps: bool
    nominated_pods_help: bool
    scores_image_volumes: bool
    fit_watches_device_classes: bool
    needs_volume_drivers: bool
    volume_drivers_opt_in: bool
    always_migrated: tuple[str, ...]
    names_missing_volumes_by_resource: bool
    tolerations_compare: bool
    draws_among_equals: bool
    reuses_rankings: bool
    extended_resources_forbid_signatures: bool
    signs_in_queue: bool
    nominates_before_binding: bool
    clears_nomination_without_post_filter: bool
    failures_keep_nomination: bool
    requeues_recreated_pods: bool
    judges_status_of_latest_pod: bool
    newer_fields: tuple[str, ...]
    kept_fields: tuple[str, ...]
    restarts_all_containers: bool
    restarts_init_containers_to_resize: bool
    host_network_user_namespaces: bool
    relaxes_service_names: bool
    strict_addresses: bool
    moves_volumes: bool
    changes_volume_limits: bool
    changes_suspended_resources: bool
    changes_suspended_directives: bool
    validates_declared_features: bool
    newer_texts: tuple[str, ...]
    knows_list_functions: bool
    reads_trailing_commas: bool
    newer_warnings: tuple[str, ...]
    knows_comparing_tolerations: bool
    knows_pod_level_resize: bool
    resizes_pod_level: bool
    resizes_init_containers: bool
    names_resized_init_container: bool
    resize_checks_first_amounts: bool
    resize_checks_node: bool
    update_features: tuple[str, ...]
    names_reason_of_budget: bool
    clears_nomination_at_binding: bool
    labels_pods_at_binding: bool
    counts_terminating_replicas: bool
    binding_frees_nomination: bool
    forgets_deleted_assumed_pods: bool
    activation_asks_gates_again: bool
    preempted_waiting_pods_back_off: bool
    preempts_in_pre_bind: bool
    assumed_pods_may_expire: bool
    counts_flushed_pods: bool
    beta_metrics: bool
    binding_timeout: bool
    binding_conditions: bool
    strict_scoring_strategy: bool
    placement_points: bool

    def __deepcopy__(self, memo: dict[int, object]) -> Rules:
        return self


def rules_for(kubernetes: str = DEFAULT, feature_gates: Mapping[str, bool] | None = None) -> Rules:
    """Return the rules of a version (``v1.34``). ``feature_gates``: name → on, where they differ from the defaults.

    Raises Rejected for an unknown version, and for a gate that is unknown or locked.
    """
    index, gates = column(kubernetes), checked(kubernetes, feature_gates or {})
    values: dict[str, Any] = {
        row.name: (not row.gate or is_on(row.gate, kubernetes, gates)) and (row.values[index] if row.values else YES)
        for row in ROWS
    }
    values["kept_fields"] = tuple(place for place in GATED_FIELDS if keeps(place, kubernetes, gates))
    return Rules(kubernetes, tuple(gates.items()), **values)


def chosen_rules(kubernetes: str = DEFAULT, feature_gates: Mapping[str, bool] | None = None) -> Rules:
    """Like ``rules_for``, for a version and gates that somebody chooses now. Raises Rejected also for a gate that needs
    another one which is off.
    """
    rules = rules_for(kubernetes, feature_gates)
    check_needs(kubernetes, dict(rules.feature_gates))
    return rules


def named(rules: Rules) -> str:
    """Return the version in words: its release, and the gates that differ from its defaults."""
    release, gates = release_of(rules.kubernetes), gates_text(dict(rules.feature_gates))
    return say("versions.named-with-gates", release=release, gates=gates) if gates else release


def explanation(row: Row) -> str:
    """Return what the row is about, in a sentence: what the newer versions do, or what its gate switches on."""
    return say(f"versions.{row.name}")


DEFAULT_RULES = rules_for()
"""The rules of everything that names no version."""
