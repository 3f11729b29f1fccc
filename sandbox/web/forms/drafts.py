"""An object as a form and as YAML, side by side. The text is what is applied; the form shows a part of it."""

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
from sandbox.web.forms import AddForm, BareForm, Object, fits_form, form_of
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.merging import follow_labels, hidden_paths, merge_patch, overlay, without_selectors
from sandbox.words.say import say
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
MOST_HIDDEN = 6
MOST_PLACED = 200
"""Errors that a form shows at its fields."""
ADMITTED = ("spec.preemptionPolicy",)
"""Fields that admission writes because of a field that the form shows."""


@dataclass(slots=True)
class Draft:
    """The state of a form and its text. ``manifests`` is what would be applied, [] if something is wrong.

    ``follows``: the form shows the content of the text. ``large``: it cannot, because the text has too many rows.
    ``others``: fields of the text that the form does not show. ``checked`` has errors and warnings with their lines.
    """

    form: AddForm
    text: str
    manifests: list[Manifest] = field(default_factory=list)
    checked: Checked = field(default_factory=lambda: Checked([], [], []))
    follows: bool = True
    large: bool = False
    others: list[str] = field(default_factory=list)

    @property
    def errors(self) -> list[FieldError]:
        return self.checked.errors

    @property
    def valid(self) -> bool:
        """True if neither the text nor the form has errors."""
        return not self.errors and not (self.follows and self.form.errors)

    def add_errors(self, errors: Iterable[FieldError]) -> None:
        """Add later errors, which have lines, also to the fields of the form."""
        new = list(errors)
        self.checked.errors.extend(new)
        if self.follows:
            _show_errors(self.form, new)


def read_draft(form: type[AddForm], data: QueryDict, sandbox: Sandbox, edited: Object | None = None) -> Draft:
    """Return the draft that a browser sent: the form's fields, the text, and which of the two was changed last.

    ``edited`` is the object that is edited, None for a new one. Raise ``OverQuota`` for a text that is too long.
    """
    text, original = data.get("yaml", ""), data.get("original", "")
    check_text(text)
    check_text(original)
    leads = data.get("leads") == TEXT_LEADS
    below = None if leads else _one(text, form) or _one(original, form)
    if leads or (below is None and (edited or text.strip())):  # If the form cannot show the text, only the text counts.
        draft = _of_text(form, data, text, sandbox, edited)
    else:
        draft = _of_form(_bound(form(data), edited), text, below, sandbox)
    if not edited and draft.manifests and draft.valid:
        _number(draft, sandbox)
    return draft


def _bound(form: AddForm, edited: Object | None) -> AddForm:
    """Return the form, for an existing object if there is one."""
    return form.of_object(edited) if edited else form


def _show_errors(form: AddForm, errors: Iterable[FieldError]) -> None:
    form.add_engine_errors(islice(errors, MOST_PLACED))


def _of_form(form: AddForm, text: str, now: Manifest | None, sandbox: Sandbox) -> Draft:
    """Return the draft of a form that was changed. ``now`` is the manifest that it changes, None for a new one."""
    if not form.is_valid():
        return Draft(form, text)
    manifest = form.manifest() if now is None else _with_changes(now, form)
    text = written(manifest) if now is None else rewritten(text, now, manifest)
    manifests, checked = engines.read(sandbox, jobs.check, text)
    others = [] if checked.errors else _others(manifest, form)
    _show_errors(form, checked.errors)
    return Draft(form, text, manifests, checked, others=others)


def _of_text(form_class: type[AddForm], data: QueryDict, text: str, sandbox: Sandbox, edited: Object | None) -> Draft:
    manifests, checked = engines.read(sandbox, jobs.check, text)
    shown = manifests[0] if len(manifests) == 1 and _fits(manifests[0], form_class) else None
    if shown is None or not fits_form(shown):
        blind = BareForm if edited and "name" not in data else form_class
        return Draft(_bound(blind(data), edited), text, manifests, checked, follows=False, large=shown is not None)
    bound = _bound(form_class.of(shown, data.get(form_class.copies_field, "1")), edited)
    others = _others(shown, bound) if bound.is_valid() and not checked.errors else []
    _show_errors(bound, checked.errors)
    return Draft(bound, text, manifests, checked, others=others)


def _one(text: str, form: type[AddForm]) -> Manifest | None:
    """Return the only manifest of a text, if the form can show all of its rows; else None."""
    try:
        manifests = [document.data for document in read_documents(text) if document.data is not None]
    except Rejected:
        return None
    return manifests[0] if len(manifests) == 1 and _fits(manifests[0], form) and fits_form(manifests[0]) else None


def _fits(manifest: Any, form: type[AddForm]) -> bool:
    """Return True if the form is the one for the kind of the manifest."""
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    return isinstance(kind, str) and form_of(kind) is form and form is not BareForm


def _with_changes(now: Manifest, form: AddForm) -> Manifest:
    """Return the manifest ``now`` with the changes of a form that shows it."""
    before = _bound(type(form).of(now), form.object)
    if not before.is_valid():
        return form.manifest()
    labels = [each.cleaned_data.get("labels") for each in (before, form)]
    if labels[0] != labels[1]:
        now = _relabelled(now, before, form)
        before = _bound(type(form).of(now), form.object)
        before.full_clean()
    sound = well_typed(now, now["kind"])
    return overlay(now, before.manifest_for(sound), form.manifest_for(sound))


def _relabelled(now: Manifest, before: AddForm, after: AddForm) -> Manifest:
    """Return ``now`` with the labels of ``after``. Selectors of the pod's own labels change too, others do not."""
    data = cast(QueryDict, before.data).copy()
    data["labels"] = after.data.get("labels", "")
    middle = _bound(type(after)(data), after.object)
    middle.full_clean()
    sound = well_typed(now, now["kind"])
    versions = [without_selectors(each.manifest_for(sound)) for each in (before, middle)]
    old, new = before.cleaned_data["labels"], middle.cleaned_data["labels"]
    return follow_labels(overlay(now, *versions), old, new)


def _others(manifest: Manifest, form: AddForm) -> list[str]:
    """Return the paths of fields that a form does not show: ``MOST_HIDDEN``, and how many more there are."""
    sound = well_typed(manifest, manifest["kind"])
    paths = hidden_paths(sound, with_defaults(form.manifest_for(sound)))
    hidden = [path for path in paths if path not in ADMITTED]
    more = len(hidden) - MOST_HIDDEN
    return [*hidden[:MOST_HIDDEN], *([say("form-page.more-fields", count=more)] if more > 0 else [])]


def _number(draft: Draft, sandbox: Sandbox) -> None:
    """Give copies numbered names, after the numbers in use. Add an error if a single object already exists."""
    if len(draft.manifests) > 1:
        return
    form, first = draft.form, draft.manifests[0]
    metadata = first.get("metadata") or {}
    name, kind = str(metadata.get("name", "")), KINDS[first["kind"]]
    copies = form.copies() if draft.follows or form.is_valid() else 1
    scope = (metadata.get("namespace") or "default") if kind.namespaced else ""
    names = engines.read(sandbox, jobs.names, kind.name, scope)
    if copies > 1:
        draft.manifests = [_copy(first, f"{name}-{number}") for number in _numbers(names, name, copies)]
    elif name in names:
        group = kind.api_versions[0].rpartition("/")[0]
        resource = f"{kind.plural}.{group}" if group else kind.plural
        taken = FieldError("metadata.name", "AlreadyExists", f'{resource} "{name}" already exists')
        draft.add_errors(engines.read(sandbox, jobs.locate, draft.text, [taken]))


def _numbers(names: Iterable[str], base: str, copies: int) -> range:
    """Return the numbers for copies, after the highest number in use."""
    numbered = re.compile(re.escape(base) + r"-([0-9]{1,9})")
    highest = max((int(match[1]) for match in map(numbered.fullmatch, names) if match), default=0)
    return range(highest + 1, highest + 1 + copies)


def _copy(manifest: Manifest, name: str) -> Manifest:
    """Return a manifest with another name, and the matching host name if it is a node."""
    metadata = manifest.get("metadata") or {}
    labels = metadata.get("labels") or {}
    named = {**metadata, "name": name}
    if manifest["kind"] == "Node" and labels.get(HOSTNAME) == metadata.get("name"):
        named["labels"] = {**labels, HOSTNAME: name}
    return {**manifest, "metadata": named}


# --- existing objects ---


def editable(manifest: Manifest) -> Manifest:
    """Return an object without the fields that only the API server and controllers write.

    A node keeps its status, because that has the size of the node.
    """
    hidden = (*KEPT_METADATA, "managedFields")
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in hidden}
    result = {**manifest, "metadata": metadata}
    if manifest["kind"] != "Node":
        result.pop("status", None)
    return result


def blank(edited: Object, shown: Manifest) -> AddForm:
    """Return the form that shows an object to edit; one without fields if no form can show it."""
    form = form_of(edited.kind)
    has_form = form is not BareForm and fits_form(shown)
    return (form.of(shown) if has_form else BareForm({})).of_object(edited)


def patch_of(edited: Object, original: str, text: str) -> dict[str, Any]:
    """Return the command that changes an object from the text ``original`` to ``text``; {} if they are equal.

    A change of a pod's requests is a resize. Raise ``Rejected`` if a text cannot be read.
    """
    before, after = _first(original), _first(text)
    changed = merge_patch(before, after)
    if not changed:
        return {}
    command = {"kind": "patch", "object_kind": edited.kind, "key": edited.key, "changes": changed}
    resizes = edited.kind == "Pod" and not merge_patch(_without_resources(before), _without_resources(after))
    return command | {"subresource": "resize"} if resizes else command


def _first(text: str) -> Manifest:
    """Return the first manifest of a text, {} for an empty one. Raise ``Rejected`` if it is not a mapping."""
    manifest: Any = next((document.data for document in read_documents(text) if document.data is not None), {})
    if not isinstance(manifest, dict):
        raise Rejected(say("errors.manifest"))
    return manifest


def _without_resources(pod: Manifest) -> Manifest:
    original = pod.get("spec")
    spec = dict(original) if isinstance(original, Mapping) else {}
    for field_name in ("containers", "initContainers"):
        containers = spec.get(field_name)
        if isinstance(containers, list):
            spec[field_name] = [_without(container, "resources") for container in containers]
    return {**pod, "spec": spec}


def _without(container: Any, name: str) -> Any:
    return {key: value for key, value in container.items() if key != name} if isinstance(container, dict) else container
