"""The priorities that Kubernetes reserves for itself, and their classes.

Source: upstream ``pkg/apis/scheduling/types.go``.
"""

from __future__ import annotations

HIGHEST_USER_PRIORITY = 1_000_000_000
"""The highest priority of a user-defined class; only two classes are above it."""
CRITICAL_PRIORITY = 2 * HIGHEST_USER_PRIORITY
"""The lowest priority of a critical pod."""
NODE_CRITICAL_PRIORITY = CRITICAL_PRIORITY + 1000
SYSTEM_PRIORITY_CLASSES = {
    "system-node-critical": NODE_CRITICAL_PRIORITY,
    "system-cluster-critical": CRITICAL_PRIORITY,
}
"""Name → priority. Every cluster has these classes."""
