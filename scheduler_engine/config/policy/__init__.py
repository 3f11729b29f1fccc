"""Scheduling Policies, the configuration of kube-scheduler before v1.23, and their present equivalents."""

from scheduler_engine.config.policy.converting import Converted, Notice, convert_policy, read_policy
from scheduler_engine.config.policy.tables import PREDICATES, PRIORITIES, Predicate, Priority

__all__ = ["PREDICATES", "PRIORITIES", "Converted", "Notice", "Predicate", "Priority", "convert_policy", "read_policy"]
