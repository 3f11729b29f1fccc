"""Manifests to start from: workloads, a budget and a pod group."""

from __future__ import annotations

from sandbox.web.presets.preset import Preset
from sandbox.words.say import say

DEPLOYMENT = """\
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
"""
STATEFULSET = """\
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
"""
DAEMONSET = """\
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
"""
JOB = """\
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
"""
BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: shop
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {app: shop}
"""
GANG = """\
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata:
  name: train
spec:
  minMember: 3
  scheduleTimeoutSeconds: 30
---
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: train
spec:
  replicas: 3
  selector:
    matchLabels: {app: train}
  template:
    metadata:
      labels: {app: train, scheduling.x-k8s.io/pod-group: train}
    spec:
      containers:
      - name: main
        image: registry.example/train:1
        resources:
          requests: {cpu: "1", memory: 512Mi}
"""
MANIFESTS: tuple[Preset, ...] = (
    Preset("deployment", say("presets.deployment"), say("presets.deployment-about"), DEPLOYMENT),
    Preset("statefulset", say("presets.statefulset"), say("presets.statefulset-about"), STATEFULSET),
    Preset("daemonset", say("presets.daemonset"), say("presets.daemonset-about"), DAEMONSET),
    Preset("job", say("presets.job"), say("presets.job-about"), JOB),
    Preset("budget", say("presets.budget"), say("presets.budget-about"), BUDGET),
    Preset("gang", say("presets.gang"), say("presets.gang-about"), GANG),
)
