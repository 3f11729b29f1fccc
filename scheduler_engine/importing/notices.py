"""An import's messages about changes and omissions: key → the sentence for one, and for several."""

from __future__ import annotations

NO_NODES = "This file has no node, so no pod can be on one. Add nodes to the command: kubectl get nodes,pods -A -o yaml"
TEXTS: dict[str, tuple[str, str]] = {
    "no-nodes": (NO_NODES, NO_NODES),
    "finished": (
        "1 pod is finished and was left out.",
        "{count} pods are finished and were left out.",
    ),
    "gone": (
        "1 pod without a node was being deleted and was left out.",
        "{count} pods without a node were being deleted and were left out.",
    ),
    "terminating": (
        "1 pod was being deleted. It is being deleted here too, and leaves when its grace period is over.",
        "{count} pods were being deleted. They are being deleted here too, and leave when their grace period is over.",
    ),
    "held": (
        "1 pod was being deleted and has a finalizer. It stays terminating here until you remove the finalizer.",
        "{count} pods were being deleted and have finalizers. They stay terminating here until you remove those.",
    ),
    "node-missing": (
        "1 pod is on a node that is missing here, so it was left out.",
        "{count} pods are on nodes that are missing here, so they were left out.",
    ),
    "not-ready": (
        "1 pod was not ready, and stays not ready (annotation sandbox/ready).",
        "{count} pods were not ready, and stay not ready (annotation sandbox/ready).",
    ),
    "not-started": (
        "1 pod has a node but had not started, and does not start here (annotation sandbox/start-delay).",
        "{count} pods have a node but had not started, and do not start here (annotation sandbox/start-delay).",
    ),
    "job-pods": (
        "1 pod runs to completion. Here it keeps running (annotation sandbox/duration).",
        "{count} pods run to completion. Here they keep running (annotation sandbox/duration).",
    ),
    "owner-missing": (
        "1 pod has an owner that is missing here. It stays, but nothing replaces it when it leaves.",
        "{count} pods have owners that are missing here. They stay, but nothing replaces them when they leave.",
    ),
    "other-scheduler": (
        "1 pod without a node waits for a scheduler that is not configured here.",
        "{count} pods without a node wait for a scheduler that is not configured here.",
    ),
    "deployment-alone": (
        "1 Deployment has no ReplicaSets here. It was left out, because it would create its pods a second time.",
        "{count} Deployments have no ReplicaSets here. They were left out, because they would create their pods a "
        "second time.",
    ),
    "old-sets": (
        "1 ReplicaSet of an earlier revision, without pods, was left out.",
        "{count} ReplicaSets of earlier revisions, without pods, were left out.",
    ),
    "jobs-done": ("1 Job is finished and was left out.", "{count} Jobs are finished and were left out."),
    "jobs-half": (
        "1 Job was left out, because it would create its finished pods again. Its other pods are here.",
        "{count} Jobs were left out, because they would create their finished pods again. Their other pods are here.",
    ),
    "revisions": (
        "1 pod got another controller-revision-hash, so it counts as up to date.",
        "{count} pods got another controller-revision-hash, so they count as up to date.",
    ),
    "ephemeral": (
        "1 ephemeral volume became a volume of its claim.",
        "{count} ephemeral volumes became volumes of their claims.",
    ),
    "ephemeral-containers": (
        "1 ephemeral container was left out.",
        "{count} ephemeral containers were left out.",
    ),
    "deleting": (
        "1 object that is not a pod was being deleted. Here it stays.",
        "{count} objects that are not pods were being deleted. Here they stay.",
    ),
    "twice": (
        "1 object appears more than once. The last one counts.",
        "{count} objects appear more than once. The last ones count.",
    ),
    "namespaces": ("1 missing namespace was created.", "{count} missing namespaces were created."),
    "priority-classes": (
        "1 missing PriorityClass was created from the priority of its pod.",
        "{count} missing PriorityClasses were created from the priorities of their pods.",
    ),
    "priority-numbers": (
        "1 pod has another priority than its PriorityClass has now. It keeps it, with a new class.",
        "{count} pods have other priorities than their PriorityClasses have now. They keep them, with new classes.",
    ),
    "runtime-classes": (
        "1 RuntimeClass was created from the overhead of its pod.",
        "{count} RuntimeClasses were created from the overhead of their pods.",
    ),
    "default-classes": (
        "1 PriorityClass is no longer the default, because another default has a lower value.",
        "{count} PriorityClasses are no longer the default, because another default has a lower value.",
    ),
    "volumes-released": (
        "1 volume was left out, because its claim is missing here and the volume is deleted with it.",
        "{count} volumes were left out, because their claims are missing here and the volumes are deleted with them.",
    ),
    "claims-lost": (
        "1 claim is bound to a volume that is missing here, so it is lost.",
        "{count} claims are bound to volumes that are missing here, so they are lost.",
    ),
    "unknown-fields": (
        "1 object has fields that v1.34 does not know. They were left out.",
        "{count} objects have fields that v1.34 does not know. They were left out.",
    ),
    "environment": (
        "1 environment variable was left out.",
        "{count} environment variables were left out.",
    ),
    "commands": (
        "1 container's command or arguments, probes and hooks were left out.",
        "Commands, arguments, probes and hooks of {count} containers were left out.",
    ),
    "annotations": (
        "1 annotation without an effect here was left out.",
        "{count} annotations without an effect here were left out.",
    ),
    "finalizers": (
        "1 finalizer that nothing here would remove was left out.",
        "{count} finalizers that nothing here would remove were left out.",
    ),
    "volumes": (
        "1 volume of a pod has no effect on scheduling, and was left out.",
        "{count} volumes of pods have no effect on scheduling, and were left out.",
    ),
    "volume-places": (
        "The place of 1 PersistentVolume has no effect. A meaningless path replaces it.",
        "The places of {count} PersistentVolumes have no effect. Meaningless paths replace them.",
    ),
    "stand-ins": (
        "1 identifier of a volume or node was replaced by a made-up one.",
        "{count} identifiers of volumes and nodes were replaced by made-up ones. Equal ones stay equal.",
    ),
    "fields": (
        "1 other field without an effect was left out.",
        "{count} other fields without an effect were left out.",
    ),
    "secret-data": (
        "1 Secret or ConfigMap was left out, with its data.",
        "{count} Secrets and ConfigMaps were left out, with their data.",
    ),
    "images": (
        "1 image of a node that no pod uses was left out.",
        "{count} images of nodes that no pod uses were left out.",
    ),
    "configuration": (
        "The file has a scheduler configuration, which is used.",
        "The file has several scheduler configurations. The last one is used.",
    ),
}
