"""Texts to start from: configurations for their editor, manifests for the Add drawer."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
PROFILE = """\
profiles:
- schedulerName: default-scheduler
"""
MOST_ALLOCATED = """\
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources:
        - {name: cpu, weight: 1}
        - {name: memory, weight: 1}
"""


@dataclass(frozen=True, slots=True)
class Preset:
    """``says`` is one sentence on what it changes."""

    slug: str
    title: str
    says: str
    text: str


DEFAULT = Preset("default", "Default", "One profile with all default plugins.", HEAD + PROFILE)
PRESETS: tuple[Preset, ...] = (
    DEFAULT,
    Preset(
        "most-allocated",
        "MostAllocated",
        "Fuller nodes score higher: pods are packed, and other nodes stay empty.",
        HEAD + PROFILE + MOST_ALLOCATED,
    ),
    Preset(
        "requested-to-capacity-ratio",
        "RequestedToCapacityRatio",
        "A line of your own from use to score: here it rises to 80 % and falls again.",
        HEAD
        + PROFILE
        + """\
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources:
        - {name: cpu, weight: 3}
        - {name: memory, weight: 1}
        requestedToCapacityRatio:
          shape:
          - {utilization: 0, score: 0}
          - {utilization: 80, score: 10}
          - {utilization: 100, score: 5}
""",
    ),
    Preset(
        "no-scoring",
        "No scoring",
        "The first node that fits is taken: the search ends with it.",
        HEAD
        + PROFILE
        + """\
  plugins:
    preScore:
      disabled:
      - name: "*"
    score:
      disabled:
      - name: "*"
""",
    ),
    Preset(
        "second-profile",
        "Second profile",
        "Pods with schedulerName: packer are packed, all others spread.",
        HEAD + PROFILE + "- schedulerName: packer\n" + MOST_ALLOCATED,
    ),
    Preset(
        "all-nodes",
        "Look at all nodes",
        "percentageOfNodesToScore 100: no search ends early, however large the cluster.",
        HEAD + "percentageOfNodesToScore: 100\n" + PROFILE,
    ),
)

MANIFESTS: tuple[Preset, ...] = (
    Preset(
        "deployment",
        "Deployment over three zones",
        "Six replicas, evenly over the zones with maxSkew 1.",
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  replicas: 6
  selector:
    matchLabels: {app: shop}
  template:
    metadata:
      labels: {app: shop}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: shop}
      containers:
      - name: main
        image: registry.example/shop:1
        resources:
          requests: {cpu: 250m, memory: 256Mi}
""",
    ),
    Preset(
        "statefulset",
        "StatefulSet",
        "Three pods with names of their own, made one after the other, no two on one node.",
        """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
spec:
  replicas: 3
  serviceName: db
  selector:
    matchLabels: {app: db}
  template:
    metadata:
      labels: {app: db}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - labelSelector:
              matchLabels: {app: db}
            topologyKey: kubernetes.io/hostname
      containers:
      - name: main
        image: registry.example/db:1
        resources:
          requests: {cpu: 500m, memory: 1Gi}
""",
    ),
    Preset(
        "daemonset",
        "DaemonSet",
        "One pod on every node that its tolerations let it on.",
        """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  selector:
    matchLabels: {app: agent}
  template:
    metadata:
      labels: {app: agent}
    spec:
      priorityClassName: system-node-critical
      containers:
      - name: main
        image: registry.example/agent:1
        resources:
          requests: {cpu: 100m, memory: 128Mi}
""",
    ),
    Preset(
        "job",
        "Job",
        "Six pods that run to their end, two at a time.",
        """\
apiVersion: batch/v1
kind: Job
metadata:
  name: report
spec:
  completions: 6
  parallelism: 2
  template:
    metadata:
      labels: {app: report}
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example/report:1
        resources:
          requests: {cpu: 500m, memory: 512Mi}
""",
    ),
    Preset(
        "budget",
        "PodDisruptionBudget",
        "Of the pods with app=shop, only one may be evicted at a time.",
        """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: shop
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {app: shop}
""",
    ),
)
