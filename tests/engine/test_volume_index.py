"""The index of volumes and claims holds what a scan of all objects finds, in the same order."""

from __future__ import annotations

import copy

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.apiserver.volume_index import CLAIM, VOLUME
from scheduler_engine.errors import Rejected
from scheduler_engine.plugins.volume_binding.matching import bound_to
from scheduler_engine.simulation import Simulation
from tests.engine.random_clusters import DRIVER, claim_of, storage_class, volume_of
from tests.engine.volume_histories import volumes


def _check(simulation: Simulation) -> None:
    index, api = simulation.api.volume_index, simulation.api
    everything, claims = [*api.list(VOLUME)], [*api.list(CLAIM)]
    for claim in claims:
        bound = [volume for volume in everything if bound_to(volume, claim)]
        assert [volume for volume in index.reserved_for(claim) if bound_to(volume, claim)] == bound
    assert sorted(index.free) == sorted(item.name for item in everything if not item.spec.get("claimRef"))
    for volume in everything:
        assert index.claims_of(volume.name, volume) == [claim for claim in claims if _concerns(volume, claim)]
        assert index.claims_of(volume.name, None) == [
            claim for claim in claims if claim.spec.get("volumeName") == volume.name
        ]


def _concerns(volume: KubeObject, claim: KubeObject) -> bool:
    if claim.spec.get("volumeName"):
        return bool(claim.spec["volumeName"] == volume.name)
    reference = volume.spec.get("claimRef")
    return not reference or (reference["namespace"], reference["name"]) == (claim.namespace, claim.name)


@pytest.mark.parametrize("seed", range(10))
def test_the_index_is_right_after_each_change_and_in_copies(seed: int) -> None:
    simulation = Simulation(seed=seed, full=False)
    for step in volumes(seed):
        try:
            simulation.execute(step)
        except Rejected:
            continue
        finally:
            _check(simulation)
    copied = copy.deepcopy(simulation)
    for item in [*copied.api.list(VOLUME)]:
        copied.execute(commands.Delete(VOLUME, item.name))
    _check(copied)
    _check(simulation)


def test_claims_come_in_the_order_of_their_creation() -> None:
    """One that is bound and released again, or created again, does not overtake the others."""
    simulation = Simulation(full=False)
    names = ("c", "a", "b")
    claims = tuple(claim_of(name, {"storageClassName": "wait"}) for name in names)
    simulation.execute(commands.Apply((storage_class("wait", DRIVER), volume_of("v"), *claims)))
    index = simulation.api.volume_index
    volume = simulation.api.get(VOLUME, "v")
    assert [claim.name for claim in index.claims_of("v", volume)] == ["c", "a", "b"]
    simulation.api.patch(CLAIM, "default/a", {"metadata": {"labels": {"x": "y"}}})
    simulation.execute(commands.Delete(CLAIM, "default/c"))
    simulation.execute(commands.Apply(claims))
    assert [claim.name for claim in index.claims_of("v", volume)] == ["a", "b", "c"]


def test_a_refused_apply_leaves_the_index_as_it_was() -> None:
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply((volume_of("v"),)))
    refused = claim_of("c", {}) | {"metadata": {"name": "c", "namespace": "nowhere"}}
    with pytest.raises(Rejected):
        simulation.execute(commands.Apply((volume_of("w"), refused)))
    assert [*simulation.api.volume_index.free] == ["v"]
    _check(simulation)
