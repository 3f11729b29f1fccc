"""The landing page, the creation of a sandbox, and the workbench."""

from __future__ import annotations

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sandbox.changes import store
from sandbox.changes.opening import open_named, open_played, open_scenario
from sandbox.content.figures import chosen
from sandbox.content.scenarios import LEVEL_WORDS, guide, scenarios, story
from sandbox.content.shelf import shelf
from sandbox.limits.quotas import quotas
from sandbox.panels import EMBEDS, GROUPS, PANELS, TABLES, TABS, frames
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.storage.models import Study
from sandbox.storage.records import QUEUE_RULES
from sandbox.web.access import Access, problem, public_form, reads
from sandbox.web.drawings import drawing
from sandbox.web.forms import FORMS, MORE, blank_rows
from sandbox.web.forms.shapes import TOPOLOGY_KEYS
from sandbox.web.glossary import TERMS
from sandbox.web.presets.clusters import CLUSTERS
from sandbox.web.presets.configurations import PRESETS
from sandbox.web.presets.manifests import MANIFESTS
from sandbox.web.schema.document import DIGESTS
from sandbox.web.shared import NOT_KEPT, same_for_all
from sandbox.web.styles import styled
from sandbox.web.views import learning
from sandbox.web.views.completing import schema_addresses
from sandbox.web.views.figures import drawn
from sandbox.web.views.importing import KUBECTL
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.errors import EngineError, Occupied
from sandbox.worker.jobs.exporting import EXPECT
from sandbox.worker.jobs.exporting import FORMS as EXPORTS
from scheduler_engine.versions import DEFAULT, RELEASES, VERSIONS, releases_text

HERO = "a-pod-that-grows"
"""The figure at the top of the landing page."""
LOOK_AGAIN_SECONDS = "5"
COMPARED = {
    "default": "configuration=default",
    "before": "configuration=before",
    "seeds": "seeds=20",
    "later": "later=1",
}
"""Comparisons that the share dialog offers to embed → the query of their address; ``later``: the moment in view."""


@require_safe
@same_for_all(lambda: settings.IMPORT_BYTES)
def landing(request: HttpRequest) -> HttpResponse:
    installed = list(scenarios().values())
    featured = installed[0].slug if installed else ""
    upload = {"kubectl": KUBECTL, "most_bytes": settings.IMPORT_BYTES}
    choices = {"versions": tuple(zip(VERSIONS, RELEASES, strict=True)), "releases": releases_text(VERSIONS)}
    installs_figures = chosen(HERO) is not None
    figure = _hero()
    response = render(
        request,
        "landing.html",
        {
            "scenarios": sorted(
                installed, key=lambda scenario: (scenario.group, [*LEVEL_WORDS, ""].index(scenario.level))
            ),
            "levels": {level: say(words) for level, words in LEVEL_WORDS.items()},
            "featured": featured,
            "drawing": drawing,
            "lessons": shelf("lessons"),
            "figure": figure,
            "figure_base": reverse("figure", args=[HERO]).removesuffix("/") if installs_figures else "",
            **upload,
            **choices,
        },
    )
    if installs_figures and not figure:
        response.headers["Cache-Control"] = NOT_KEPT
    return response


def _hero() -> str:
    """Return the figure at the top. "" while no worker answers: then the page fetches it; and if there is none."""
    try:
        return drawn(HERO) or ""
    except EngineError:
        return ""


@public_form
def create(request: HttpRequest) -> HttpResponse:
    if name := request.POST.get("lesson", "") or learning.chosen_round(request):
        opened = open_named(name)
        if opened is None:
            return problem(request, 404, say("lesson.no-such"))
        return redirect("workbench", opened[0].pk, opened[1])
    if name := request.POST.get("figure", ""):
        found = chosen(name)
        if found is None:
            return problem(request, 404, say("figure.none"))
        return redirect("workbench", *open_played(found[0].scenario(found[1])))
    slug, rules = request.POST.get("scenario", ""), request.POST.get("queue_rules", QUEUE_RULES[0])
    scenario = scenarios().get(slug)
    if slug and scenario is None:
        return problem(request, 404, say("errors.no-scenario"))
    if rules not in QUEUE_RULES:
        return problem(request, 400, say("errors.no-queue-rules"))
    kubernetes = request.POST.get("kubernetes", DEFAULT)
    if kubernetes not in VERSIONS:
        return problem(request, 400, say("errors.no-version", versions=", ".join(VERSIONS)))
    if scenario is None:
        sandbox, token = store.create(say("titles.empty"), queue_rules=rules, kubernetes=kubernetes)
    else:
        sandbox, token = open_scenario(scenario)
    return redirect("workbench", sandbox.pk, token)


def _busy_page(request: HttpRequest, access: Access, base: str, error: EngineError) -> HttpResponse:
    """Return a page that reloads itself, because a long job runs in the sandbox."""
    context = {"sandbox": access.sandbox, "can_edit": access.can_edit, "base": base, "message": str(error)}
    # To a browser 409 means that the page failed, but this page will come.
    status = 202 if isinstance(error, Occupied) else error.status
    response = render(request, "later.html", context, status=status)
    response.headers["Refresh"] = response.headers["Retry-After"] = LOOK_AGAIN_SECONDS
    return response


@reads
def workbench(request: HttpRequest, access: Access) -> HttpResponse:
    sandbox = access.sandbox
    scenario = story(sandbox.scenario, sandbox.story)
    view = View.from_mapping(request.GET.dict())
    tab = next((name for name in (request.GET.get("tab"), scenario and scenario.tab) if name in TABS), "")
    base = reverse("workbench", args=[sandbox.pk, access.token])
    try:
        fragments = engines.read(sandbox, jobs.fragments, view, list(PANELS), access.can_edit, False, {})
    except EngineError as error:
        return _busy_page(request, access, base, error)
    context = {
        "sandbox": {
            "title": sandbox.title,
            "id": str(sandbox.pk),
            "can_edit": access.can_edit,
            "kube_url": request.build_absolute_uri("kube"),
            "edit_url": request.build_absolute_uri(base) if access.can_edit else "",
            "view_url": request.build_absolute_uri(reverse("workbench", args=[sandbox.pk, access.watching])),
        },
        "fragments": {panel: fragment.html for panel, fragment in fragments.items()},
        "tabs": [{"panel": panel, "html": fragments[name].html} for name, panel in TABS.items()],
        "groups": GROUPS,
        "styles": styled(PANELS),
        "terms": TERMS,
        "tab": tab,
        "looked": json.dumps(view.as_json()),
        "scenario": scenario,
        "learns": Study.objects.filter(sandbox=sandbox).exists(),
        "steps": guide(sandbox.scenario, sandbox.story).steps,
        "forms": {kind: form() for kind, form in FORMS.items()},
        "more": MORE,
        "blanks": blank_rows(),
        "topology_keys": TOPOLOGY_KEYS,
        "presets": PRESETS,
        "manifests": MANIFESTS,
        "ready": (*CLUSTERS, *MANIFESTS),
        "most_bytes": quotas().manifest_bytes,
        "exports": {"forms": EXPORTS, "expect": EXPECT, "tables": [name for name in TABLES if name in TABS]},
        "embeds": {
            name: (", ".join(PANELS[panel].title for panel in panels), name in frames.USUAL)
            for name, panels in EMBEDS.items()
        },
        "compared": [(query, say(f"workbench.embed-{name}")) for name, query in COMPARED.items()],
        "urls": {
            "base": base,
            "ws": f"/ws{base}",
            "schemas": schema_addresses(DIGESTS),
        },
    }
    return render(request, "workbench.html", context)
