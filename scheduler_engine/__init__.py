"""A Kubernetes v1.34.1 scheduler as plain data: deterministic, steppable, explainable. Needs no Django."""

KUBERNETES_VERSION = "v1.34.1"
ENGINE_VERSION = "0.1.0"
