"""What Kubernetes used to say: a page about older versions, and the converter of scheduling policies."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from sandbox.changes import store
from sandbox.library.scenarios import scenarios
from sandbox.limits.quotas import OverQuota
from sandbox.web.access import limited, readable_body
from scheduler_engine.config.default_plugins import DEFAULT_PLUGINS
from scheduler_engine.config.policy import PREDICATES, PRIORITIES, Converted, read_policy
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.leaderelection.locks import REMOVED
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_text import documents

MOST_BYTES = 64 * 1024
"""Of a policy. Real ones have a few thousand."""
MOST_ERRORS = 20
EXAMPLE = """\
apiVersion: v1
kind: Policy
predicates:
- name: GeneralPredicates
- name: MatchInterPodAffinity
- name: MaxEBSVolumeCount
- name: InARack
  argument:
    labelsPresence: {labels: [rack], presence: true}
priorities:
- {name: LeastRequestedPriority, weight: 1}
- {name: SelectorSpreadPriority, weight: 1}
- {name: NodeAffinityPriority, weight: 5}
hardPodAffinitySymmetricWeight: 10
"""
TITLE = "A scheduling policy"


@require_safe
def before(request: HttpRequest) -> HttpResponse:
    return _page(request, {"text": EXAMPLE})


@csrf_exempt  # Nothing is changed and nothing is secret: a forged request learns what anybody may ask.
@require_POST
@limited
@readable_body
def convert(request: HttpRequest) -> HttpResponse:
    """The page with what became of a policy, or with everything that is wrong with it."""
    found = _converted(request)
    return found if isinstance(found, HttpResponse) else _page(request, _shown(*found))


@csrf_exempt  # As for every new sandbox: a forged request makes one that nobody knows.
@require_POST
@limited
@readable_body
def open_policy(request: HttpRequest) -> HttpResponse:
    """A sandbox with the configuration, and the nodes of the first scenario to try it on."""
    found = _converted(request)
    if isinstance(found, HttpResponse):
        return found
    example = next(iter(scenarios().values()), None)
    setup = [] if example is None else [dict(step) for step in example.setup]
    sandbox, token = store.create(
        TITLE, configuration=found[1].configuration, setup=setup, priority_numbers=gives_numbers(setup)
    )
    return redirect(f"{reverse('workbench', args=[sandbox.pk, token])}?{urlencode({'tab': 'configuration'})}")


def _converted(request: HttpRequest) -> tuple[str, Converted] | HttpResponse:
    """The text of a policy and what it becomes; else the page that says what is wrong. Raises ``OverQuota``."""
    text = ""
    try:
        text = _text(request)
        return text, read_policy(text)
    except Rejected as refusal:
        errors, more = refusal.errors[:MOST_ERRORS], len(refusal.errors[MOST_ERRORS:])
        return _page(request, {"text": text, "errors": errors, "more_errors": more}, status=422)


def _text(request: HttpRequest) -> str:
    """Of the file, else of the field. Raises ``OverQuota`` or ``Rejected``."""
    file = request.FILES.get("file")
    size = file.size or 0 if file else len(request.POST.get("text", "").encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise OverQuota(f"The policy is {size:,} bytes long; the limit is {MOST_BYTES:,} bytes.", 413)
    if not file:
        return request.POST.get("text", "")
    try:
        return file.read().decode()
    except UnicodeDecodeError:
        raise Rejected([FieldError("", "DecodeError", "The file is not valid UTF-8 text.")]) from None


def _shown(text: str, converted: Converted) -> dict[str, Any]:
    return {"text": text, "written": documents([converted.configuration]), "notices": converted.notices}


def _page(request: HttpRequest, found: dict[str, Any], status: int = 200) -> HttpResponse:
    context = {
        "predicates": PREDICATES,
        "priorities": PRIORITIES,
        "today": dict(DEFAULT_PLUGINS),
        "locks": REMOVED,
        "most": MOST_BYTES // 1024,
        "there": scenarios(),
        **found,
    }
    return render(request, "before.html", context, status=status)
