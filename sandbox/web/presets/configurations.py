"""Configurations of the scheduler to start from."""

from __future__ import annotations

from sandbox.web.presets.extenders import POWER
from sandbox.web.presets.preset import Preset
from sandbox.words.say import say
from sandbox.words.yaml_text import written

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
REQUESTED_TO_CAPACITY_RATIO = """\
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
"""
NO_SCORING = """\
  plugins:
    preScore:
      disabled:
      - name: "*"
    score:
      disabled:
      - name: "*"
"""
COSCHEDULING = """\
  plugins:
    multiPoint:
      enabled:
      - name: Coscheduling
    queueSort:
      enabled:
      - name: Coscheduling
      disabled:
      - name: "*"
  pluginConfig:
  - name: Coscheduling
    args:
      permitWaitingTimeSeconds: 60
      podGroupBackoffSeconds: 0
      podGroupRejectPercentage: 10
"""
SECOND_PROFILE = "- schedulerName: packer\n"
EXTENDER = written({"extenders": [POWER.at(POWER.name)]})
ALL_NODES = "percentageOfNodesToScore: 100\n"


def _preset(slug: str, title: str, says: str, rest: str = "", start: str = "") -> Preset:
    return Preset(slug, title, says, HEAD + start + PROFILE + rest)


DEFAULT = _preset("default", say("presets.default"), say("presets.default-about"))
PRESETS: tuple[Preset, ...] = (
    DEFAULT,
    _preset("most-allocated", say("presets.most-allocated"), say("presets.most-allocated-about"), MOST_ALLOCATED),
    _preset(
        "requested-to-capacity-ratio",
        say("presets.requested-to-capacity-ratio"),
        say("presets.requested-to-capacity-ratio-about"),
        REQUESTED_TO_CAPACITY_RATIO,
    ),
    _preset("no-scoring", say("presets.no-scoring"), say("presets.no-scoring-about"), NO_SCORING),
    _preset(
        "second-profile",
        say("presets.second-profile"),
        say("presets.second-profile-about"),
        SECOND_PROFILE + MOST_ALLOCATED,
    ),
    _preset("coscheduling", say("presets.coscheduling"), say("presets.coscheduling-about"), COSCHEDULING),
    _preset("all-nodes", say("presets.all-nodes"), say("presets.all-nodes-about"), start=ALL_NODES),
    _preset("extender", say("presets.extender"), say("presets.extender-about"), start=EXTENDER),
)
