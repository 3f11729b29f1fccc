"""The filters that decide if a drain evicts a pod, leaves it or fails, with kubectl's texts.

Source: upstream ``staging/src/k8s.io/kubectl/pkg/drain/filters.go`` and ``drain.go`` (GetPodsForDeletion, filterPods).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler_engine.api.critical_pods import is_mirror
from scheduler_engine.api.objects import Pod
from scheduler_engine.apiserver.errors import not_found
from scheduler_engine.apiserver.store import ApiServer, resource_of

DAEMON_SET_FATAL = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
DAEMON_SET_WARNING = "ignoring DaemonSet-managed Pods"
LOCAL_STORAGE_FATAL = "Pods with local storage (use --delete-emptydir-data to override)"
LOCAL_STORAGE_WARNING = "deleting Pods with local storage"
UNMANAGED_FATAL = "cannot delete Pods that declare no controller (use --force to override)"
UNMANAGED_WARNING = "deleting Pods that declare no controller"


@dataclass(frozen=True, slots=True)
class Flags:
    """kubectl's flags ``--force``, ``--ignore-daemonsets`` and ``--delete-emptydir-data``."""

    force: bool = False
    ignore_daemonsets: bool = False
    delete_emptydir_data: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """A filter's verdict on a pod. ``error`` stops the drain; ``flag`` is the field of Flags that would prevent it."""

    leaves: bool = True
    warning: str = ""
    error: str = ""
    flag: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The pods of a node. ``warning`` and ``errors`` are kubectl's texts, ``blocking`` the pods of the errors.

    ``flags``: fields of Flags that would prevent the errors. If there are errors, kubectl prints no warning.
    """

    leaving: tuple[Pod, ...]
    kept: tuple[Pod, ...]
    blocking: tuple[Pod, ...]
    warning: str
    errors: tuple[str, ...]
    flags: tuple[str, ...]


def list_pods(api: ApiServer, node: str, flags: Flags) -> Listing:
    """Judge every pod on ``node``. kubectl's order of several texts is random; here it is that of their first pods."""
    judged = [(pod, _judge(api, pod, flags)) for pod in sorted(api.pods_on(node), key=lambda pod: pod.key)]
    warnings = [(verdict.warning, pod) for pod, verdict in judged if verdict.warning]
    errors = [(verdict.error, pod) for pod, verdict in judged if verdict.error]
    return Listing(
        leaving=tuple(pod for pod, verdict in judged if verdict.leaves),
        kept=tuple(pod for pod, verdict in judged if not verdict.leaves and not verdict.error),
        blocking=tuple(pod for _, pod in errors),
        warning=f"Warning: {'; '.join(_by_text(warnings))}" if warnings and not errors else "",
        errors=tuple(f"cannot delete {text}" for text in _by_text(errors)),
        flags=tuple(dict.fromkeys(verdict.flag for _, verdict in judged if verdict.flag)),
    )


def aggregate(errors: Sequence[str]) -> str:
    """Join errors like ``apimachinery/pkg/util/errors``: equal ones once, several in brackets."""
    different = [*dict.fromkeys(errors)]
    return different[0] if len(different) == 1 else f"[{', '.join(different)}]"


def _judge(api: ApiServer, pod: Pod, flags: Flags) -> Verdict:
    """Return the verdict of the last filter, or of the first that keeps the pod. Warnings before it are lost."""
    verdict = Verdict()
    for judge in FILTERS:
        verdict = judge(api, pod, flags)
        if not verdict.leaves:
            break
    return verdict


def _daemon_set(api: ApiServer, pod: Pod, flags: Flags) -> Verdict:
    owner = pod.controller_ref
    if owner is None or (owner.get("kind"), owner.get("apiVersion")) != ("DaemonSet", "apps/v1") or pod.finished:
        return Verdict()
    if api.get("DaemonSet", f"{pod.namespace}/{owner['name']}") is None:
        text = not_found(resource_of("DaemonSet"), owner["name"]).message
        return Verdict(warning=text) if flags.force else Verdict(leaves=False, error=text, flag="force")
    if flags.ignore_daemonsets:
        return Verdict(leaves=False, warning=DAEMON_SET_WARNING)
    return Verdict(leaves=False, error=DAEMON_SET_FATAL, flag="ignore_daemonsets")


def _mirror(api: ApiServer, pod: Pod, flags: Flags) -> Verdict:
    return Verdict(leaves=not is_mirror(pod))


def _local_storage(api: ApiServer, pod: Pod, flags: Flags) -> Verdict:
    volumes = pod.spec.get("volumes") or ()
    if pod.finished or not any(volume.get("emptyDir") is not None for volume in volumes):
        return Verdict()
    if flags.delete_emptydir_data:
        return Verdict(warning=LOCAL_STORAGE_WARNING)
    return Verdict(leaves=False, error=LOCAL_STORAGE_FATAL, flag="delete_emptydir_data")


def _unmanaged(api: ApiServer, pod: Pod, flags: Flags) -> Verdict:
    if pod.finished or pod.controller_ref is not None:
        return Verdict()
    if flags.force:
        return Verdict(warning=UNMANAGED_WARNING)
    return Verdict(leaves=False, error=UNMANAGED_FATAL, flag="force")


FILTERS: tuple[Callable[[ApiServer, Pod, Flags], Verdict], ...] = (_daemon_set, _mirror, _local_storage, _unmanaged)


def _by_text(pairs: Sequence[tuple[str, Pod]]) -> tuple[str, ...]:
    """Return each text once, with its pods: ``ignoring DaemonSet-managed Pods: default/a, default/b``."""
    pods: dict[str, list[str]] = {}
    for text, pod in pairs:
        pods.setdefault(text, []).append(pod.key)
    return tuple(f"{text}: {', '.join(keys)}" for text, keys in pods.items())
