"""The OpenAPI documents have the fields that the version knows."""

from __future__ import annotations

import pytest

from sandbox.kube import openapi
from scheduler_engine.versions import RELEASES


@pytest.mark.parametrize(("release", "field"), [*zip(RELEASES, ("", "workloadRef", "schedulingGroup"), strict=True)])
def test_a_document_has_the_fields_of_its_version(release: str, field: str) -> None:
    schemas = openapi.document(["api", "v1"], release)["components"]["schemas"]
    groups = {"workloadRef": "WorkloadReference", "schedulingGroup": "PodSchedulingGroup"}
    for name, of_type in groups.items():
        assert (name in schemas["PodSpec"]["properties"]) == (name == field)
        assert (of_type in schemas) == (name == field)
    assert ("userAnnotations" in schemas["PodCertificateProjection"]["properties"]) == bool(field)
