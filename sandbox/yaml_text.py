"""Manifests as YAML text, for people: in the order in which they stand, without anchors."""

from __future__ import annotations

from typing import Any

import yaml

BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""Ten times as fast where libyaml is there."""


class _Dumper(BASE):
    """What stands in two places is written in both."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(*documents: object) -> str:
    """One document after the other; "" for none."""
    return str(yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True)) if documents else ""
