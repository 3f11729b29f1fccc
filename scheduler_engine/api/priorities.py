"""The priorities that Kubernetes keeps for itself, and the classes that give them.

Source: upstream ``pkg/apis/scheduling/types.go``.
"""

from __future__ import annotations

HIGHEST_USER_PRIORITY = 1_000_000_000
"""What a class of one's own may give at most; only two classes stand above it."""
CRITICAL_PRIORITY = 2 * HIGHEST_USER_PRIORITY
"""From here on a pod is critical."""
NODE_CRITICAL_PRIORITY = CRITICAL_PRIORITY + 1000
SYSTEM_PRIORITY_CLASSES = {
    "system-node-critical": NODE_CRITICAL_PRIORITY,
    "system-cluster-critical": CRITICAL_PRIORITY,
}
"""Name → priority. Every cluster has them."""
