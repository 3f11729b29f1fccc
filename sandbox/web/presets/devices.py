"""Manifests of devices: what nodes offer, and what pods claim."""

from __future__ import annotations

from collections.abc import Iterable

GPU_DRIVER, NIC_DRIVER = "gpu.example.com", "nic.example.com"


def device_class(name: str, driver: str) -> str:
    """Return a DeviceClass of all devices of a driver."""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: {name}
spec:
  selectors:
  - cel:
      expression: device.driver == "{driver}"
"""


def slice_of(node: str, driver: str, devices: Iterable[str]) -> str:
    """Return a ResourceSlice of the devices of a node. ``devices``: one line of YAML each."""
    listed = "".join(f"  - {device}\n" for device in devices)
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: {node}-devices
spec:
  driver: {driver}
  nodeName: {node}
  pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}
  devices:
{listed}"""


def gpus(model: str, memory: str, count: int) -> list[str]:
    """Return the lines for GPUs of a model."""
    return [
        f"{{name: gpu-{number}, attributes: {{model: {{string: {model}}}}}, capacity: {{memory: {{value: {memory}}}}}}}"
        for number in range(count)
    ]


def model_is(model: str) -> str:
    """Return the expression that is true for GPUs of a model."""
    return f'device.attributes["{GPU_DRIVER}"].model == "{model}"'


def claim_template(name: str, models: Iterable[str]) -> str:
    """Return a ResourceClaimTemplate for one GPU of the first of some models that a node has."""
    listed = "".join(
        f"""\
        - name: {model}
          deviceClassName: gpu
          selectors:
          - cel:
              expression: {model_is(model)}
"""
        for model in models
    )
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: {name}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        firstAvailable:
{listed}"""


def claim(name: str, class_name: str) -> str:
    """Return a ResourceClaim for one device of a class."""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: {name}
spec:
  devices:
    requests:
    - name: {class_name}
      exactly: {{deviceClassName: {class_name}}}
"""


def claiming_pod(name: str, cpu: str, entry: str, source: str) -> str:
    """Return a Pod with a claim. ``source``: a line of YAML that names the claim or its template."""
    return f"""\
apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  resourceClaims:
  - {{name: {entry}, {source}}}
  containers:
  - name: main
    image: registry.k8s.io/pause:3.10
    resources:
      requests: {{cpu: {cpu}, memory: 1Gi}}
      claims: [{{name: {entry}}}]
"""
