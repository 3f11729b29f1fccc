"""An import's messages about changes and omissions: key → the sentence for one, and for several."""

from __future__ import annotations

NO_NODES = (
    "There is no node in this file, so no pod has one. Add nodes to the command: kubectl get nodes,pods -A -o yaml"
)
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
        "1 pod was being deleted. It is being deleted here, too, and goes when its grace period is over.",
        "{count} pods were being deleted. They are being deleted here, too, and go when their grace period is over.",
    ),
    "held": (
        "1 pod was being deleted and has a finalizer. It stays terminating here, too, until you remove the finalizer.",
        "{count} pods were being deleted and have finalizers. They stay terminating here, too, until you remove the "
        "finalizers.",
    ),
    "node-missing": (
        "1 pod is on a node that is not here, and was left out.",
        "{count} pods are on nodes that are not here, and were left out.",
    ),
    "not-ready": (
        "1 pod was not ready, and stays so (annotation sandbox/ready).",
        "{count} pods were not ready, and stay so (annotation sandbox/ready).",
    ),
    "not-started": (
        "1 pod has a node but had not started, and stays so (annotation sandbox/start-delay).",
        "{count} pods have a node but had not started, and stay so (annotation sandbox/start-delay).",
    ),
    "job-pods": (
        "1 pod runs to its end. Here it runs on (annotation sandbox/duration).",
        "{count} pods run to their end. Here they run on (annotation sandbox/duration).",
    ),
    "owner-missing": (
        "1 pod belongs to an owner that is not here. It stays, and nobody replaces it when it goes.",
        "{count} pods belong to owners that are not here. They stay, and nobody replaces them when they go.",
    ),
    "other-scheduler": (
        "1 pod without a node waits for a scheduler that is not configured here.",
        "{count} pods without a node wait for a scheduler that is not configured here.",
    ),
    "deployment-alone": (
        "1 Deployment came without its ReplicaSets and was left out, as it would make its pods a second time.",
        "{count} Deployments came without their ReplicaSets and were left out, as they would make their pods a second "
        "time.",
    ),
    "old-sets": (
        "1 ReplicaSet of an earlier revision, without pods, was left out.",
        "{count} ReplicaSets of earlier revisions, without pods, were left out.",
    ),
    "jobs-done": ("1 Job is finished and was left out.", "{count} Jobs are finished and were left out."),
    "jobs-half": (
        "1 Job was left out as some of its pods are finished, which it would make again. Its other pods are here.",
        "{count} Jobs were left out as some of their pods are finished, which they would make again. Their other pods "
        "are here.",
    ),
    "revisions": (
        "1 pod got another controller-revision-hash, so that it counts as up to date.",
        "{count} pods got another controller-revision-hash, so that they count as up to date.",
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
        "1 object other than a pod was being deleted. Here it stays.",
        "{count} objects other than pods were being deleted. Here they stay.",
    ),
    "twice": (
        "1 object was there more than once; the last one counts.",
        "{count} objects were there more than once; the last ones count.",
    ),
    "namespaces": ("1 missing namespace was made.", "{count} missing namespaces were made."),
    "priority-classes": (
        "1 PriorityClass that a pod names was made from the pod's priority.",
        "{count} PriorityClasses that pods name were made from the pods' priorities.",
    ),
    "priority-numbers": (
        "1 pod has another priority than its PriorityClass gives now, and keeps it under a class made for it.",
        "{count} pods have other priorities than their PriorityClasses give now, and keep them under classes made for "
        "them.",
    ),
    "runtime-classes": (
        "1 RuntimeClass that a pod names was made from the pod's overhead.",
        "{count} RuntimeClasses that pods name were made from the pods' overhead.",
    ),
    "default-classes": (
        "1 PriorityClass is no longer the default, as another one with a lower value is.",
        "{count} PriorityClasses are no longer the default, as another one with a lower value is.",
    ),
    "volumes-released": (
        "1 volume was left out, as it goes with its claim, which is not here.",
        "{count} volumes were left out, as they go with their claims, which are not here.",
    ),
    "claims-lost": (
        "1 claim is bound to a volume that is not here, and is lost.",
        "{count} claims are bound to volumes that are not here, and are lost.",
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
        "1 annotation that nobody reads here was left out.",
        "{count} annotations that nobody reads here were left out.",
    ),
    "finalizers": (
        "1 finalizer that nothing here would remove was left out.",
        "{count} finalizers that nothing here would remove were left out.",
    ),
    "volumes": (
        "1 volume of a pod decides nothing and was left out.",
        "{count} volumes of pods decide nothing and were left out.",
    ),
    "volume-places": (
        "1 PersistentVolume lies where it decides nothing. A path of no meaning stands there.",
        "{count} PersistentVolumes lie where it decides nothing. A path of no meaning stands there.",
    ),
    "stand-ins": (
        "1 identifier of a volume or node was replaced by a made-up one.",
        "{count} identifiers of volumes and nodes were replaced by made-up ones, equal where they were equal.",
    ),
    "fields": (
        "1 other field that decides nothing was left out.",
        "{count} other fields that decide nothing were left out.",
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
        "The scheduler's configuration came with it and is used.",
        "The scheduler's configurations came with it; the last one is used.",
    ),
}
