"""Made-up names for those of a real cluster: consistent everywhere, in the order of the real ones.

Some choices go by name (of two volumes that suit, the first), so numbers follow the order of names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_engine.api.pod_groups import LABEL, POD_GROUP

KEPT_DOMAINS = ("kubernetes.io", "k8s.io")
"""Kubernetes owns the label keys of these domains and their subdomains."""
KEPT_KEYS = (
    *("controller-revision-hash", "pod-template-hash", "pod-template-generation", "controller-uid", "job-name"),
    LABEL,
)
KEPT_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
VALUE_CATEGORIES = {
    "kubernetes.io/hostname": "node",
    "beta.kubernetes.io/hostname": "node",
    "kubernetes.io/metadata.name": "namespace",
    "statefulset.kubernetes.io/pod-name": "pod",
    "job-name": "Job",
    "batch.kubernetes.io/job-name": "Job",
    "controller-uid": "uid",
    "batch.kubernetes.io/controller-uid": "uid",
    LABEL: POD_GROUP,
}
"""Label keys whose values are names."""
KEPT_VALUES = ("kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os")
SHAPES = {
    "image": "example/image-{}:1",
    "uid": "10000000-0000-4000-8000-{:0>12}",
    "key": "label-{}",
    "finalizer": "example.com/finalizer-{}",
}
"""Category → the made-up form, if it is not the category and a number."""


@dataclass(slots=True)
class MadeUp:
    """A table of names. At first it only notes each name requested; after ``number`` it returns the made-up one.

    ``exact``: (category, real name) → the made-up one, for names built from others.
    """

    noted: dict[str, dict[str, None]] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    exact: dict[tuple[str, str], str] = field(default_factory=dict)
    numbered: bool = False

    def of(self, category: str, real: str) -> str:
        """Return the made-up name; before ``number`` the real one. "" stays."""
        if not real:
            return real
        if not self.numbered:
            self.noted.setdefault(category, {})[real] = None
            return real
        return self.exact.get((category, real)) or self.names[category][real]

    def number(self) -> None:
        for category, names in self.noted.items():
            shape, width = SHAPES.get(category, f"{category.lower()}-{{}}"), len(str(len(names)))
            numbers = enumerate(sorted(names), 1)
            self.names[category] = {real: shape.format(f"{number:0{width}}") for number, real in numbers}
        self.numbered = True

    # --- labels ---

    def key(self, real: str) -> str:
        """Rename the key of a label or taint."""
        return real if _is_kubernetes(real) or real in KEPT_KEYS else self.of("key", real)

    def finalizer(self, real: str) -> str:
        return real if _is_kubernetes(real) else self.of("finalizer", real)

    def value(self, key: str, real: str) -> str:
        """Rename the value of a label or taint with this (real) key. Numbers stay, as Gt and Lt compare them."""
        if key in VALUE_CATEGORIES:
            return self.of(VALUE_CATEGORIES[key], real)
        if key in KEPT_VALUES or real in ("true", "false") or real.lstrip("-").isdecimal():
            return real
        # A volume's label can name several zones in one value.
        return "__".join(self.of("value", part) for part in real.split("__"))

    def namespace(self, real: str) -> str:
        return real if real in KEPT_NAMESPACES else self.of("namespace", real)


def _is_kubernetes(name: str) -> bool:
    """Return True if a name with a domain belongs to Kubernetes."""
    domain, slash, _ = name.rpartition("/")
    return bool(slash) and any(domain == kept or domain.endswith(f".{kept}") for kept in KEPT_DOMAINS)
