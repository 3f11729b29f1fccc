"""A page about older versions of Kubernetes, with the converter of scheduling policies."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sandbox.changes import store
from sandbox.content.scenarios import scenarios
from sandbox.limits.quotas import OverQuota
from sandbox.web.access import public_form
from sandbox.words.say import say
from scheduler_engine.config.default_plugins import DEFAULT_PLUGINS
from scheduler_engine.config.policy import PREDICATES, PRIORITIES, Converted, read_policy
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.leaderelection.locks import REMOVED
from scheduler_engine.scenario.priority_numbers import gives_numbers
from scheduler_engine.scenario.yaml_text import documents

MOST_BYTES = 64 * 1024
"""The limit for a policy. Real ones have a few thousand bytes."""
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


@require_safe
def before(request: HttpRequest) -> HttpResponse:
    return _page(request, {"text": EXAMPLE})


@public_form
def convert(request: HttpRequest) -> HttpResponse:
    """Return the page with the converted policy, or with all errors of the policy."""
    converted = _converted(request)
    if isinstance(converted, HttpResponse):
        return converted
    text, policy = converted
    return _page(request, {"text": text, "written": documents([policy.configuration]), "notices": policy.notices})


@public_form
def open_policy(request: HttpRequest) -> HttpResponse:
    """Create a sandbox with the configuration, and with the setup of the first scenario to try it on."""
    converted = _converted(request)
    if isinstance(converted, HttpResponse):
        return converted
    example = next(iter(scenarios().values()), None)
    setup = [] if example is None else [dict(step) for step in example.setup]
    sandbox, token = store.create(
        say("titles.policy"),
        configuration=converted[1].configuration,
        setup=setup,
        priority_numbers=gives_numbers(setup),
    )
    return redirect(f"{reverse('workbench', args=[sandbox.pk, token])}?{urlencode({'tab': 'configuration'})}")


def _converted(request: HttpRequest) -> tuple[str, Converted] | HttpResponse:
    """Return the text of a policy and its conversion, or the page with its errors. Raise ``OverQuota``."""
    text = ""
    try:
        text = _text(request)
        return text, read_policy(text)
    except Rejected as refusal:
        errors, more = refusal.errors[:MOST_ERRORS], len(refusal.errors[MOST_ERRORS:])
        return _page(request, {"text": text, "errors": errors, "more_errors": more}, status=422)


def _text(request: HttpRequest) -> str:
    """Return the text of the file, else of the text field. Raise ``OverQuota`` or ``Rejected``."""
    file = request.FILES.get("file")
    size = file.size or 0 if file else len(request.POST.get("text", "").encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise OverQuota(say("errors.policy-too-long", size=size, most=MOST_BYTES), 413)
    if not file:
        return request.POST.get("text", "")
    try:
        return file.read().decode()
    except UnicodeDecodeError:
        raise Rejected([FieldError("", "DecodeError", say("errors.not-utf-8"))]) from None


def _page(request: HttpRequest, extra: dict[str, Any], status: int = 200) -> HttpResponse:
    context = {
        "predicates": PREDICATES,
        "priorities": PRIORITIES,
        "today": dict(DEFAULT_PLUGINS),
        "locks": REMOVED,
        "most": MOST_BYTES // 1024,
        "there": scenarios(),
        **extra,
    }
    return render(request, "before.html", context, status=status)
