"""Which commands of kubectl work on a sandbox: the page and the document list them, and tests run each.

Source: upstream ``kubectl/pkg/cmd``.
"""

READ = (
    *("get", "describe", "explain", "events", "api-resources", "api-versions", "cluster-info", "version"),
    *("auth can-i", "rollout history"),
)
"""Commands that only read."""
CHANGE = (
    *("apply", "create", "run", "expose", "replace", "edit", "patch", "set", "label", "annotate", "diff"),
    *("scale", "rollout restart", "rollout undo", "rollout pause", "rollout resume", "cordon", "uncordon", "taint"),
)
"""Commands that change objects, and have done so when they end. ``diff`` asks for a dry run."""
WAIT = ("wait", "rollout status", "delete", "drain")
"""Commands that end when somebody has stepped or played far enough."""
NEVER = ("logs", "exec", "attach", "port-forward", "cp", "debug", "top", "autoscale")
"""Commands that fail: there are no containers, no measured usage, and no autoscaler."""
