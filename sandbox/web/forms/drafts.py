"""One object as a form and as YAML, side by side. The text is what counts; the form shows a part of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from django.http import QueryDict

from sandbox.limits.quotas import check_text
from sandbox.pool import engines
from sandbox.storage.models import Sandbox
from sandbox.web.forms import AddForm, BareForm, Object, form_of, has_room
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.merging import following, merge_patch, overlaid, unshown, without_selectors
from sandbox.words.yaml_text import rewritten, written
from sandbox.worker import jobs
from scheduler_engine.api.checking import Checked
from scheduler_engine.api.defaults import with_defaults
from scheduler_engine.api.fields import well_typed
from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.apiserver.store import KEPT_METADATA
from scheduler_engine.errors import FieldError, Rejected

TEXT_LEADS = "yaml"
MOST_UNSHOWN = 6
MOST_PLACED = 200
"""Errors that are told at the fields of a form."""
ADMITTED = ("spec.preemptionPolicy",)
"""What admission writes beside a field that the form does show."""


@dataclass(slots=True)
class Draft:
    """``made`` is what would be applied, [] when something is wrong; ``errors`` and ``warnings`` have their lines.

    ``follows``: the form shows what the text says; ``large``: it cannot, for the text has more rows than a form takes.
    ``others`` are fields of the text that it does not show.
    """

    form: AddForm
    text: str
    made: list[Manifest] = field(default_factory=list)
    checked: Checked = field(default_factory=lambda: Checked([], [], []))
    follows: bool = True
    large: bool = False
    others: list[str] = field(default_factory=list)

    @property
    def errors(self) -> list[FieldError]:
        return self.checked.errors

    @property
    def right(self) -> bool:
        return not self.errors and not (self.follows and self.form.errors)

    def tell(self, errors: Iterable[FieldError]) -> None:
        """Errors that came up later, with their lines: at the fields of the form too."""
        told = list(errors)
        self.checked.errors.extend(told)
        if self.follows:
            _place(self.form, told)


def drafted(form: type[AddForm], data: QueryDict, sandbox: Sandbox, edited: Object | None = None) -> Draft:
    """What was sent: the form's fields, the text, and which of them somebody has touched last. Raises ``OverQuota``.

    ``edited`` is the object that is there, None for a new one.
    """
    text, original = data.get("yaml", ""), data.get("original", "")
    check_text(text)
    check_text(original)
    leads = data.get("leads") == TEXT_LEADS
    below = None if leads else _one(text, form) or _one(original, form)
    if leads or (below is None and (edited or text.strip())):  # A text that the form cannot show counts alone.
        draft = _of_text(form, data, text, sandbox, edited)
    else:
        draft = _of_form(_bound(form(data), edited), text, below, sandbox)
    if not edited and draft.made and draft.right:
        _number(draft, data, sandbox)
    return draft


def _bound(form: AddForm, edited: Object | None) -> AddForm:
    return form.of_object(edited) if edited else form


def _place(form: AddForm, errors: Iterable[FieldError]) -> None:
    form.add_engine_errors(islice(errors, MOST_PLACED))


def _of_form(given: AddForm, text: str, now: Manifest | None, sandbox: Sandbox) -> Draft:
    """``now`` is what the form is laid over, None for nothing."""
    if not given.is_valid():
        return Draft(given, text)
    made = given.made() if now is None else _laid_over(now, given)
    text = written(made) if now is None else rewritten(text, now, made)
    manifests, checked = engines.read(sandbox, jobs.check, text)
    others = [] if checked.errors else _others(made, given)
    _place(given, checked.errors)
    return Draft(given, text, manifests, checked, others=others)


def _of_text(form: type[AddForm], data: QueryDict, text: str, sandbox: Sandbox, edited: Object | None) -> Draft:
    manifests, checked = engines.read(sandbox, jobs.check, text)
    shown = manifests[0] if len(manifests) == 1 and _fits(manifests[0], form) else None
    if shown is None or not has_room(shown):
        blind = BareForm if edited and "name" not in data else form
        return Draft(_bound(blind(data), edited), text, manifests, checked, follows=False, large=shown is not None)
    given = _bound(form.of(shown, data.get(form.copies_field, "1")), edited)
    others = _others(shown, given) if given.is_valid() and not checked.errors else []
    _place(given, checked.errors)
    return Draft(given, text, manifests, checked, others=others)


def _one(text: str, form: type[AddForm]) -> Manifest | None:
    """The only manifest of a text, if the form can show it with all of its rows."""
    try:
        found = [document.data for document in read_documents(text) if document.data is not None]
    except Rejected:
        return None
    return found[0] if len(found) == 1 and _fits(found[0], form) and has_room(found[0]) else None


def _fits(manifest: Any, form: type[AddForm]) -> bool:
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    return isinstance(kind, str) and form_of(kind) is form and form is not BareForm


def _laid_over(now: Manifest, given: AddForm) -> Manifest:
    """What the form changes in the manifest it was made of."""
    before = _bound(type(given).of(now), given.object)
    if not before.is_valid():
        return given.made()
    labels = [form.cleaned_data.get("labels") for form in (before, given)]
    if labels[0] != labels[1]:
        now = _relabelled(now, before, given)
        before = _bound(type(given).of(now), given.object)
        before.full_clean()
    sound = well_typed(now, now["kind"])
    made: Manifest = overlaid(now, before.made_for(sound), given.made_for(sound))
    return made


def _relabelled(now: Manifest, before: AddForm, given: AddForm) -> Manifest:
    """With the labels of ``given`` alone. What selects the pod's own labels goes along, no other selector does."""
    data = cast(QueryDict, before.data).copy()
    data["labels"] = given.data.get("labels", "")
    middle = _bound(type(given)(data), given.object)
    middle.full_clean()
    sound = well_typed(now, now["kind"])
    made = [without_selectors(form.made_for(sound)) for form in (before, middle)]
    relabelled: Manifest = following(overlaid(now, *made), before.cleaned_data["labels"], middle.cleaned_data["labels"])
    return relabelled


def _others(manifest: Manifest, given: AddForm) -> list[str]:
    """What the form does not show; a few fields in full."""
    sound = well_typed(manifest, manifest["kind"])
    found = unshown(sound, with_defaults(given.made_for(sound)))
    return [path for path in found if path not in ADMITTED][:MOST_UNSHOWN]


def _number(draft: Draft, data: QueryDict, sandbox: Sandbox) -> None:
    """Copies get names of their own, going on after those that are there; a single object must be new."""
    if len(draft.made) > 1:
        return
    form, first = draft.form, draft.made[0]
    metadata = first.get("metadata") or {}
    name, kind = str(metadata.get("name", "")), KINDS[first["kind"]]
    copies = form.copies() if draft.follows or form.is_valid() else 1
    scope = (metadata.get("namespace") or "default") if kind.namespaced else ""
    names = engines.read(sandbox, jobs.names, kind.name, scope)
    if copies > 1:
        draft.made = [_copy(first, f"{name}-{number}") for number in _numbers(names, name, copies)]
    elif name in names:
        group = kind.api_versions[0].rpartition("/")[0]
        resource = f"{kind.plural}.{group}" if group else kind.plural
        taken = FieldError("metadata.name", "AlreadyExists", f'{resource} "{name}" already exists')
        draft.tell(engines.read(sandbox, jobs.locate, draft.text, [taken]))


def _numbers(names: Iterable[str], base: str, copies: int) -> range:
    numbered = re.compile(re.escape(base) + r"-([0-9]{1,9})")
    highest = max((int(match[1]) for match in map(numbered.fullmatch, names) if match), default=0)
    return range(highest + 1, highest + 1 + copies)


def _copy(manifest: Manifest, name: str) -> Manifest:
    """The same under another name; a node's host name goes with it."""
    metadata = manifest.get("metadata") or {}
    labels = metadata.get("labels") or {}
    named = {**metadata, "name": name}
    if manifest["kind"] == "Node" and labels.get(HOSTNAME) == metadata.get("name"):
        named["labels"] = {**labels, HOSTNAME: name}
    return {**manifest, "metadata": named}


# --- what is edited ---

MANAGED = (
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def editable(manifest: Manifest) -> Manifest:
    """An object without what only the API server and controllers write: a node's status is its size."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in KEPT_METADATA}
    made = {**manifest, "metadata": metadata}
    if manifest["kind"] != "Node":
        made.pop("status", None)
    return made


def blank(edited: Object, shown: Manifest) -> AddForm:
    """The form in which an object begins to be edited, one without fields where none can show it."""
    form = form_of(edited.kind)
    has_form = form is not BareForm and has_room(shown)
    return (form.of(shown) if has_form else BareForm({})).of_object(edited)


def patch_of(edited: Object, original: str, text: str) -> dict[str, Any]:
    """The command that makes one text of the other, {} when they say the same.

    What a pod asks for is changed by a resize. Raises ``Rejected`` when one of them cannot be read.
    """
    before, after = _first(original), _first(text)
    changed = merge_patch(before, after)
    if not changed:
        return {}
    command = {"kind": "patch", "object_kind": edited.kind, "key": edited.key, "changes": changed}
    resizes = edited.kind == "Pod" and not merge_patch(_without_resources(before), _without_resources(after))
    return command | {"subresource": "resize"} if resizes else command


def _first(text: str) -> Manifest:
    found: Any = next((document.data for document in read_documents(text) if document.data is not None), {})
    if not isinstance(found, dict):
        raise Rejected("a manifest must be a mapping with apiVersion, kind and metadata")
    return found


def _without_resources(pod: Manifest) -> Manifest:
    given = pod.get("spec")
    spec = dict(given) if isinstance(given, Mapping) else {}
    for field_name in ("containers", "initContainers"):
        containers = spec.get(field_name)
        if isinstance(containers, list):
            spec[field_name] = [_without(container, "resources") for container in containers]
    return {**pod, "spec": spec}


def _without(container: Any, name: str) -> Any:
    return {key: value for key, value in container.items() if key != name} if isinstance(container, dict) else container
