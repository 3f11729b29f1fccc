"""Configurations of the scheduler to start from."""

from __future__ import annotations

from sandbox.web.presets.preset import Preset
from sandbox.words.say import say

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


DEFAULT = Preset("default", say("presets.default"), say("presets.default-about"), HEAD + PROFILE)
PRESETS: tuple[Preset, ...] = (
    DEFAULT,
    Preset(
        "most-allocated",
        say("presets.most-allocated"),
        say("presets.most-allocated-about"),
        HEAD + PROFILE + MOST_ALLOCATED,
    ),
    Preset(
        "requested-to-capacity-ratio",
        say("presets.requested-to-capacity-ratio"),
        say("presets.requested-to-capacity-ratio-about"),
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
        say("presets.no-scoring"),
        say("presets.no-scoring-about"),
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
        say("presets.second-profile"),
        say("presets.second-profile-about"),
        HEAD + PROFILE + "- schedulerName: packer\n" + MOST_ALLOCATED,
    ),
    Preset(
        "all-nodes",
        say("presets.all-nodes"),
        say("presets.all-nodes-about"),
        HEAD + "percentageOfNodesToScore: 100\n" + PROFILE,
    ),
)
