"""The text of a configuration and its manifest."""

from __future__ import annotations

from typing import Any

import yaml

from scheduler_engine.api.loading import read_documents


class _Dumper(yaml.SafeDumper):
    """What stands in two places is written in both."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def manifest_of(text: str) -> dict[str, Any]:
    """The manifest in a text that the engine accepts."""
    return next(document.data for document in read_documents(text) if document.data is not None)


def written(manifest: Any) -> str:
    return yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
