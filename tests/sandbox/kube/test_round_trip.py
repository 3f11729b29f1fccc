"""``get -o yaml | kubectl replace -f -`` of every object of every scenario and lesson changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.kube.bodies import Write
from sandbox.kube.reading import Request, answer
from sandbox.kube.resources import ONLY_READ, RESOURCES, Resource
from sandbox.kube.versions import Versions
from sandbox.kube.writing import plan
from sandbox.panels.model.world import World
from scheduler_engine.lesson.loading import load_lesson
from scheduler_engine.scenario import FOLDER, load_scenario, play
from scheduler_engine.scenario.yaml_text import documents
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from tests.sandbox.kube.conftest import Fresh, run
from tests.sandbox.witnessing import witnessed

FILES = [
    path
    for folder in ("scenarios", "lessons", "misconceptions", "challenges")
    for path in sorted((FOLDER.parent / folder).glob("*.yaml"))
]
STORED = [resource for resource in RESOURCES.values() if resource.kind not in ONLY_READ]


def states(file: Path) -> Iterator[Simulation]:
    """Yield a scenario as it opens and at its end, or a lesson at the end of each part."""
    if file.parent == FOLDER:
        scenario = load_scenario(file)
        ways = [scenario.then]
    else:
        lesson = load_lesson(file)
        scenario, ways = lesson.scenario, [part.way for part in lesson.parts]
    simulation = scenario.open()
    yield simulation
    for way in filter(None, ways):
        play(simulation, way)
        yield simulation


def base(resource: Resource, namespace: str = "") -> str:
    start = f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"
    return f"{start}/{f'namespaces/{namespace}/' if namespace else ''}{resource.plural}"


def shown(world: World) -> Iterator[tuple[str, Data]]:
    """Yield path and manifest of all that lists show."""
    for resource in STORED:
        for item in answer(world, Request(base(resource), {}, ""))["items"]:
            metadata = item["metadata"]
            yield f"{base(resource, metadata.get('namespace', ''))}/{metadata['name']}", item


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_replaced_by_itself_stays_as_it_is(file: Path) -> None:
    replaced = 0
    for simulation in states(file):
        world = witnessed(simulation)
        versions = Versions.of_objects(world, "")
        for path, item in shown(world):
            request = Write("PUT", path, {}, "application/yaml", documents([item]).encode(), versions)
            assert plan(simulation, request).commands == (), path
            replaced += 1
    assert replaced


@pytest.mark.parametrize("slug", ["volumes-ephemeral", "victims-come-back"])
def test_kubectl_replaces_everything_by_itself(fresh: Fresh, tmp_path: Path, slug: str) -> None:
    site, _, _ = fresh
    base = site.ask("POST", "/new/", f"scenario={slug}")[2]
    assert site.ask("POST", f"{base}do/run/")[0] == 204
    kinds = ",".join(".".join(filter(None, (kept.plural, kept.group and kept.version, kept.group))) for kept in STORED)
    everything = ("get", kinds, "--all-namespaces", "--output", "yaml")
    before = run(site, base, tmp_path, *everything)
    said = run(site, base, tmp_path, "replace", "-f", "-", stdin=before).splitlines()
    assert len(said) > 10
    assert {line.split()[-1] for line in said} == {"replaced"}
    assert run(site, base, tmp_path, *everything) == before
