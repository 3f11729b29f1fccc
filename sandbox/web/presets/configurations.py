"""Configurations of the scheduler to start from."""

from __future__ import annotations

from sandbox.web.presets.preset import Preset

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
        "Your own curve from use to score: here it rises to 80 % and falls again.",
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
        "The scheduler takes the first node that fits, and stops searching.",
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
