"""Rules for containers: names, ports, probes, resizing, and the fields allowed for each kind.

Source: upstream ``apis/core/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.environment import environment
from scheduler_engine.api.validation.mounts import volume_mounts
from scheduler_engine.api.validation.problems import (
    Errors,
    Named,
    between,
    by_version,
    duplicate,
    each,
    forbidden,
    invalid,
    nonnegative,
    not_found,
    one_of,
    required,
    supported,
    texts,
    until,
)
from scheduler_engine.api.validation.resources import ClaimNames, requirements
from scheduler_engine.api.validation.restarts import init_restart_policy, restart_policy
from scheduler_engine.api.validation.security import container_security

Data = Mapping[str, Any]

PROTOCOLS = ("SCTP", "TCP", "UDP")
RESTART_CONTAINER = "RestartContainer"

port_number = between(1, 65535)
dns_label = texts(names.dns_label)
_port_name = texts(names.port_name)


@dataclass(frozen=True, slots=True)
class PodFacts:
    """The facts about a pod that the rules for its containers need."""

    volumes: Mapping[str, Data]
    claim_names: ClaimNames
    grace_period: int | None
    restart_policy: str
    host_users: bool
    os: str


def port_number_or_name(port: int | str, path: str) -> Errors:
    yield from port_number(port, path) if isinstance(port, int) else _port_name(port, path)


def containers(items: Sequence[Data], path: str, pod: PodFacts) -> Errors:
    """Check the regular containers of a pod."""
    if not items:
        yield required(path)
        return
    earlier_names: set[str] = set()
    for index, container in enumerate(items):
        place, name = f"{path}[{index}]", container["name"]
        yield from _any_container(container, place, pod)
        if name in earlier_names:
            yield duplicate(f"{place}.name", name)
        earlier_names.add(name)
        yield from _lifecycle_and_probes(container, place, pod)
        yield from restart_policy(container, place)
    yield from _host_port_conflicts(items, path)


def init_containers(items: Sequence[Data], regular: Sequence[Data], path: str, pod: PodFacts) -> Errors:
    earlier_names = {container["name"] for container in regular}
    for index, container in enumerate(items):
        place, name, policy = f"{path}[{index}]", container["name"], container.get("restartPolicy")
        yield from _any_container(container, place, pod)
        yield from init_restart_policy(container, place)
        if name in earlier_names:
            yield duplicate(f"{place}.name", name)
        elif name:
            earlier_names.add(name)
        yield from _host_port_conflicts([container], path)
        if policy == "Always":
            yield from _lifecycle_and_probes(container, place, pod)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(field) is not None:
                text = "may not be set for init containers without restartPolicy=Always"
                yield forbidden(f"{place}.{field}", text)
        yield from until("restarts_init_containers_to_resize", _restarts_to_resize(container, place))


def _restarts_to_resize(container: Data, path: str) -> Errors:
    text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        if policy["restartPolicy"] == RESTART_CONTAINER:
            yield invalid(f"{path}.resizePolicy[{index}].restartPolicy", Named(RESTART_CONTAINER), text)


def resizes_by_restart(spec: Data) -> bool:
    """Return True if an init container of a pod's spec that is no sidecar is restarted to resize it."""
    init = (item for item in spec.get("initContainers") or () if item.get("restartPolicy") != "Always")
    policies = (policy for item in init for policy in item.get("resizePolicy") or ())
    return any(policy["restartPolicy"] == RESTART_CONTAINER for policy in policies)


def _any_container(container: Data, path: str, pod: PodFacts) -> Errors:
    if not container["name"]:
        yield required(f"{path}.name")
    else:
        yield from dns_label(container["name"], f"{path}.name")
    if not container.get("image"):
        yield required(f"{path}.image")
    yield from _message_policy(container.get("terminationMessagePolicy") or "", f"{path}.terminationMessagePolicy")
    yield from _ports(container.get("ports") or (), f"{path}.ports")
    yield from environment(container, path)
    yield from volume_mounts(container, path, pod.volumes)
    yield from _pull_policy(container.get("imagePullPolicy") or "", f"{path}.imagePullPolicy")
    yield from requirements(container.get("resources") or {}, f"{path}.resources", pod.claim_names)
    yield from _resize_policy(container.get("resizePolicy") or (), f"{path}.resizePolicy", pod)
    if container.get("securityContext") is not None:
        yield from container_security(container["securityContext"], f"{path}.securityContext", pod.host_users)


_message_policy = one_of(("File", "FallbackToLogsOnError"))
_pull_policy = one_of(("Always", "IfNotPresent", "Never"))
_protocol = one_of(PROTOCOLS)


def _ports(ports: Sequence[Data], path: str) -> Errors:
    earlier_names: set[str] = set()
    for index, port in enumerate(ports):
        place, name = f"{path}[{index}]", port.get("name") or ""
        problems = list(_port_name(name, f"{place}.name")) if name else []
        yield from problems
        if name and not problems:
            if name in earlier_names:
                yield duplicate(f"{place}.name", name)
            earlier_names.add(name)
        if not port["containerPort"]:
            yield required(f"{place}.containerPort")
        else:
            yield from port_number(port["containerPort"], f"{place}.containerPort")
        if port.get("hostPort"):
            yield from port_number(port["hostPort"], f"{place}.hostPort")
        yield from _protocol(port.get("protocol") or "", f"{place}.protocol")


def _host_port_conflicts(items: Sequence[Data], path: str) -> Errors:
    keys: set[str] = set()
    for index, container in enumerate(items):
        for number, port in enumerate(container.get("ports") or ()):
            if port.get("hostPort"):
                key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
                if key in keys:
                    yield duplicate(f"{path}[{index}].ports[{number}].hostPort", key)
                keys.add(key)


def _resize_policy(policies: Sequence[Data], path: str, pod: PodFacts) -> Errors:
    resources: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restart = policy["resourceName"], policy["restartPolicy"]
        if resource in resources:
            yield duplicate(f"{path}[{index}]", resource)
        resources.add(resource)
        yield from one_of(("cpu", "memory"))(resource, path)
        yield from one_of(("NotRequired", RESTART_CONTAINER))(restart, path)
        if pod.restart_policy == "Never" and restart != "NotRequired":
            older, newer = (f"must be 'NotRequired' when {pod_}`restartPolicy` is 'Never'" for pod_ in ("", "pod "))
            named = (invalid(path, restart, newer),)
            yield from by_version((invalid(path, restart, older),), ("newer_texts: resize-policies", named))


# --- lifecycle and probes ---------------------------------------------------------------------------------------------


def _lifecycle_and_probes(container: Data, path: str, pod: PodFacts) -> Errors:
    lifecycle = container.get("lifecycle") or {}
    for field in ("postStart", "preStop"):
        if lifecycle.get(field) is not None:
            yield from _handler(
                lifecycle[field], f"{path}.lifecycle.{field}", pod, ("exec", "httpGet", "tcpSocket", "sleep")
            )
    if lifecycle.get("stopSignal") is not None and not pod.os:
        text = "may not be set for containers with empty `spec.os.name`"
        yield forbidden(f"{path}.lifecycle.stopSignal", text)
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe, place = container.get(field), f"{path}.{field}"
        if probe is None:
            continue
        yield from _probe(probe, place, pod)
        if field != "readinessProbe":
            if probe.get("successThreshold", 0) != 1:
                yield invalid(f"{place}.successThreshold", probe.get("successThreshold", 0), "must be 1")
        elif probe.get("terminationGracePeriodSeconds") is not None:
            seconds = probe["terminationGracePeriodSeconds"]
            yield invalid(f"{place}.terminationGracePeriodSeconds", seconds, "must not be set for readinessProbes")


def _probe(probe: Data, path: str, pod: PodFacts) -> Errors:
    yield from _handler(probe, path, pod, ("exec", "httpGet", "tcpSocket", "grpc"))
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        yield from nonnegative(probe.get(field, 0), f"{path}.{field}")
    seconds = probe.get("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", seconds, "must be greater than 0")


def _handler(handler: Data, path: str, pod: PodFacts, kinds: Sequence[str]) -> Errors:
    """Require exactly one of ``kinds``, well formed."""
    handlers = [kind for kind in kinds if handler.get(kind) is not None]
    for number, kind in enumerate(handlers):
        if number > 0:
            yield forbidden(f"{path}.{kind}", "may not specify more than 1 handler type")
        else:
            yield from _action(kind, handler[kind], f"{path}.{kind}", pod)
    if not handlers:
        yield required(path, "must specify a handler type")


def _action(kind: str, action: Data, path: str, pod: PodFacts) -> Errors:
    if kind == "exec":
        if not action.get("command"):
            yield required(f"{path}.command")
    elif kind == "sleep":
        if pod.grace_period is not None and not 0 <= action["seconds"] <= pod.grace_period:
            text = f"must be non-negative and less than terminationGracePeriodSeconds ({pod.grace_period})"
            yield invalid(path, action["seconds"], text)
    else:
        if kind == "httpGet" and not action.get("path"):
            yield required(f"{path}.path")
        yield from port_number_or_name(action["port"], f"{path}.port")
        if kind == "httpGet":
            yield from supported(("HTTP", "HTTPS"))(action.get("scheme") or "", f"{path}.scheme")
            for header in action.get("httpHeaders") or ():
                yield from texts(names.http_header)(header["name"], f"{path}.httpHeaders")


# --- ephemeral containers ---------------------------------------------------------------------------------------------

_NOT_EPHEMERAL = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)


def ephemeral_containers(spec: Data, path: str, pod: PodFacts) -> Errors:
    text = "cannot be set for an Ephemeral Container"
    others = {item["name"] for field in ("containers", "initContainers") for item in spec.get(field) or ()}
    earlier_names = set(others)
    for index, container in enumerate(spec.get("ephemeralContainers") or ()):
        place, target = f"{path}[{index}]", container.get("targetContainerName") or ""
        yield from _any_container(container, place, pod)
        yield from _image_without_blanks(container, place)
        if container["name"] in earlier_names:
            yield duplicate(f"{place}.name", container["name"])
        earlier_names.add(container["name"])
        if target and target not in others:
            yield not_found(f"{place}.targetContainerName", target)
        for field in _NOT_EPHEMERAL:
            if container.get(field) is not None and (field, container[field]) != ("resources", {}):
                yield forbidden(f"{place}.{field}", text)
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    yield forbidden(f"{place}.volumeMounts[{number}].{field}", text)


def image_without_blanks(items: Sequence[Data], path: str) -> Errors:
    """Check that a pod's (not a template's) images have no blanks at their ends."""
    yield from each(_image_without_blanks)(items, path)


def _image_without_blanks(container: Data, path: str) -> Errors:
    image = container.get("image") or ""
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")
