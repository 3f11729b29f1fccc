"""The page of the rules that differ between versions of Kubernetes, each with a scenario to play under two of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sandbox.changes import store
from sandbox.changes.opening import open_sides
from sandbox.content.scenarios import story_of, story_text
from sandbox.content.version_cases import Case, cases, changed_in
from sandbox.storage.models import Sandbox
from sandbox.web.access import problem, public_form
from sandbox.web.shared import same_for_all
from sandbox.words.say import say
from sandbox.worker.jobs.importing import beginning_of
from scheduler_engine.scenario import Scenario, command_of
from scheduler_engine.versions import VERSIONS, address_of, explanation, release_of, releases_text, value_text


@require_safe
@same_for_all()
def versions(request: HttpRequest) -> HttpResponse:
    groups = [(_heading(version), [*_rows(version)]) for version in (*VERSIONS[1:], "")]
    return render(request, "versions.html", {"groups": groups, "releases": releases_text(VERSIONS)})


def _heading(version: str) -> str:
    if not version:
        return say("version-page.by-gates")
    before = VERSIONS[VERSIONS.index(version) - 1]
    return say("version-page.upgrade", before=release_of(before), after=release_of(version))


def _rows(version: str) -> Iterable[dict[str, Any]]:
    for case in cases().values():
        if changed_in(case.row) == version:
            yield {
                "name": case.row.name,
                "says": explanation(case.row),
                "values": [(release_of(name), value_text(case.value(name))) for name in VERSIONS],
                "gate": case.row.gate,
                "source": case.row.source,
                "address": address_of(case.row.source),
                "scenario": case.scenario,
                "played": tuple(map(release_of, case.versions)),
            }


@public_form
def open_case(request: HttpRequest) -> HttpResponse:
    """Create the sandboxes of a rule's scenario under two versions, and show them ``beside`` each other.

    Otherwise create one sandbox in which everything has happened, and show what differs under the other version.
    """
    case = cases().get(request.POST.get("rule", ""))
    if case is None or case.scenario is None:
        return problem(request, 404, say("errors.no-rule"))
    return _beside(case) if request.POST.get("show") == "beside" else _differences(case, case.scenario)


def _beside(case: Case) -> HttpResponse:
    opened = open_sides([(_title(side), side) for side in case.sides()])
    left, right = (_path(sandbox, token) for sandbox, token in opened)
    return redirect(f"{reverse('compare')}?{urlencode({'left': left, 'right': right})}")


def _differences(case: Case, scenario: Scenario) -> HttpResponse:
    beginning = beginning_of(scenario)
    beginning["setup"] += [dict(command_of(step)) for step in scenario.then]
    sandbox, token = store.create(_title(scenario), story=story_text(story_of(scenario)), **beginning)
    return redirect(f"{_path(sandbox, token)}differences/?{urlencode({'kubernetes': case.versions[1]})}")


def _path(sandbox: Sandbox, token: str) -> str:
    return reverse("workbench", args=[sandbox.pk, token])


def _title(scenario: Scenario) -> str:
    return say("version-page.title", title=scenario.title, version=release_of(scenario.kubernetes))
