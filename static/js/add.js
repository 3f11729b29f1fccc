// The drawer: its tabs, presets, repeated rows, forms with their YAML beside them, and the editor for pasted manifests.

import { besides } from './beside.js';
import { annotate, goTo, yamlEditor } from './editor.js';
import { filesInto } from './files.js';

// Text of this length and more is checked only when Apply is pressed.
const LONG = 200_000;

export function drawer(app, htmx) {
  const box = document.getElementById('drawer');
  const area = document.getElementById('manifests');
  const problems = document.getElementById('apply-errors');
  const fresh = new Map([...box.querySelectorAll('.form')].map((form) => [form.id, form.cloneNode(true)]));
  const more = [...box.querySelectorAll('.drawer-more [data-kind-tab]')].map((button) => button.dataset.kindTab);
  const title = document.getElementById('drawer-h');
  const titleOfAdding = title.textContent;
  let lastOfMore = more[0];
  let lastAdded = 'pod'; // the form that was open before an edit
  let editor = null;
  let before = null;
  const editing = document.getElementById('drawer-edit');
  const yaml = besides(app, box, htmx);

  function show(tab) {
    const kind = tab === 'more' ? lastOfMore : tab;
    if (more.includes(kind)) lastOfMore = kind;
    const shown = new Set([kind, more.includes(kind) ? 'more' : kind]);
    box.dataset.kind = kind;
    if (kind !== 'edit') title.textContent = titleOfAdding;
    for (const button of box.querySelectorAll('[data-kind-tab]')) button.setAttribute('aria-pressed', String(shown.has(button.dataset.kindTab)));
    for (const pane of box.querySelectorAll('[data-pane-of]')) pane.hidden = !shown.has(pane.dataset.paneOf);
    if (kind === 'paste') return edit();
    yaml.show(kind);
    if (!yaml.text(kind)) changed(box.querySelector(`#form-${kind}`));
  }

  /** Open the drawer with a manifest to start from, with a form, or as it was left. */
  function open({ preset, form } = {}) {
    start();
    const text = preset && ready(preset);
    if (text) { paste(text); show('paste'); return; }
    show(form || (box.dataset.kind === 'edit' ? lastAdded : box.dataset.kind) || 'pod');
    box.querySelector(box.dataset.kind === 'paste' ? '#manifests' : `#form-${box.dataset.kind} .inp`)?.focus();
  }

  function start() {
    before ??= document.activeElement;
    document.getElementById('notice').replaceChildren();
    if (!box.open) box.show();
  }

  async function openObject(kind, key) {
    if (box.dataset.kind !== 'edit') lastAdded = box.dataset.kind;
    const last = putAway();
    const earlier = panes.get(`${kind} ${key}`);
    if (earlier) return takeUp(earlier);
    if (panes.has(last?.dataset.object)) last.remove(); // htmx would end what it replaces
    // Settle at once: else htmx would remove the editor's class, because it restores the old one of the same id.
    await htmx.ajax('GET', `edit/${kind}/form/?${new URLSearchParams({ key })}`, { target: '#drawer-edit', swap: 'innerHTML settle:0ms' });
    const pane = box.querySelector('#drawer-edit > [data-title]');
    if (!pane || pane === last) return undefined; // It is gone, as a notice says.
    yaml.forget('edit');
    return present(pane);
  }

  const panes = new Map(); // object → its pane with edits that are not applied

  /** Keep the pane on the page if it is edited, and return it. */
  function putAway() {
    const pane = editing.firstElementChild;
    if (!pane || !yaml.edited.has('edit')) return pane;
    panes.set(pane.dataset.object, pane);
    return pane;
  }

  function takeUp(pane) {
    if (pane !== editing.firstElementChild) {
      yaml.forget('edit');
      editing.replaceChildren(pane);
      yaml.edited.add('edit');
    }
    return present(pane);
  }

  function present(pane) {
    title.textContent = pane.dataset.title;
    start();
    show('edit');
    pane.querySelector('.inp:not([readonly]), textarea')?.focus();
    return undefined;
  }

  const ready = (preset) => box.querySelector(`template[data-manifest-of="${CSS.escape(preset)}"]`)?.content.textContent;

  /** Open the drawer as it was left. */
  function again(kind) {
    start();
    if (box.dataset.kind !== kind) show(kind);
  }

  function close() {
    box.close();
    before?.focus?.();
    before = null;
  }

  function changed(form) {
    form.dispatchEvent(new Event('input', { bubbles: true }));
  }

  /** Reset a form to its state on the new page, and return it. */
  function renew(form) {
    const reset = fresh.get(form.id).cloneNode(true);
    form.replaceWith(reset);
    htmx.process(reset);
    return reset;
  }

  /** Empty the applied form. What is half written in others stays. */
  function startAfresh(applied) {
    const form = applied.closest('.drawer-b')?.querySelector('.form');
    if (!form) return paste('');
    const kind = form.id.replace('form-', '');
    if (kind === 'edit') {
      panes.delete(editing.firstElementChild.dataset.object);
      yaml.forget('edit');
      editing.replaceChildren();
      if (box.dataset.kind === 'edit') show(lastAdded);
      return undefined;
    }
    renew(form);
    yaml.forget(kind);
  }

  function fill(button) {
    const { values } = button.dataset;
    const form = renew(button.form);
    yaml.forget(form.id.replace('form-', ''));
    const { rows = {}, ...fields } = JSON.parse(values);
    for (const [name, value] of Object.entries(fields)) {
      const field = form.elements[name];
      if (field.type === 'checkbox') field.checked = Boolean(value);
      else field.value = value;
    }
    for (const [one, contents] of Object.entries(rows)) for (const row of contents) addRow(form.querySelector(`[data-rows="${one}"]`), row);
    for (const part of form.querySelectorAll('details')) part.open ||= part.querySelector('.row') !== null;
    form.querySelector(`[data-values="${CSS.escape(values)}"]`).focus();
    changed(form);
  }

  /** Add a row with values to a group; without `content` an empty row, with an empty row in it if it is a group. */
  function addRow(rows, content) {
    const one = rows.dataset.rows;
    const row = box.querySelector(`template[data-row="${one}"]`).content.firstElementChild.cloneNode(true);
    const id = row.querySelector(':scope > [name$="_id"]');
    if (id) id.value = String(1 + Math.max(-1, ...[...rows.querySelectorAll(':scope > .row > [name$="_id"]')].map((other) => Number(other.value))));
    const of = row.querySelector(':scope > [name$="_of"]');
    if (of) of.value = rows.closest('.row').querySelector(':scope > [name$="_id"]').value;
    rows.append(row);
    const { rows: inner = content ? [] : [undefined], ...values } = content ?? {};
    for (const [part, value] of Object.entries(values)) row.querySelector(`:scope > .cells [name="${one}_${part}"]`).value = value;
    const within = row.querySelector('[data-rows]');
    if (within) for (const each of inner) addRow(within, each);
    return row;
  }

  function removeRow(row) {
    const form = row.closest('form');
    const next = row.nextElementSibling ?? row.previousElementSibling;
    const left = next?.querySelector('.inp') ?? row.closest('[data-rows]').parentElement.querySelector(':scope > * > [data-add-row]');
    row.remove();
    left.focus();
    changed(form);
  }

  async function edit() {
    if (!editor) {
      editor = await yamlEditor(app, 'editor', area);
      editor.session.on('change', edited);
      area.addEventListener('input', edited);
    }
    editor.resize();
  }

  // While errors are listed, check the text again after each edit.
  function edited() {
    if (!problems.childElementCount) return;
    if (area.value.length < LONG && area.value.trim()) htmx.trigger('#recheck', 'recheck');
    else forget();
  }

  function forget() {
    problems.replaceChildren();
    editor?.session.clearAnnotations();
  }

  function paste(text) {
    forget();
    area.value = text;
    editor?.session.setValue(text);
  }

  function touched(field) {
    field.removeAttribute('aria-invalid');
    for (const owner of [field.closest('.cell'), field.closest('.fld')]) {
      for (const text of owner?.querySelectorAll(':scope > .err, :scope > .fld-e, :scope > .cell-e') ?? []) text.remove();
    }
    if (!field.form.querySelector('[aria-invalid]')) field.form.querySelector('[data-summary]')?.remove();
  }

  box.addEventListener('click', (event) => {
    const el = event.target.closest('button');
    if (!el) return;
    const { kindTab, values, manifest, addRow: one, line } = el.dataset;
    if (kindTab) show(kindTab);
    else if (values) fill(el);
    else if (manifest) { paste(ready(manifest)); show('paste'); }
    else if (one) { addRow(el.closest('.row, .fld').querySelector(`[data-rows="${one}"]`)).querySelector('.inp').focus(); changed(el.form); }
    else if ('removeRow' in el.dataset) removeRow(el.closest('.row'));
    else if (line !== undefined) goTo(yaml.editorBeside(el) ?? editor, el.dataset);
    else if ('close' in el.dataset) close();
  });
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });

  filesInto(box, document.getElementById('manifest-file'), Number(app.dataset.mostBytes), (text) => { show('paste'); paste(text); }, (words) => {
    show('paste');
    const notice = document.getElementById('no-file').content.cloneNode(true);
    notice.querySelector('p').textContent = words;
    problems.replaceChildren(notice);
  });
  box.addEventListener('applied', ({ target }) => {
    const inSight = target.checkVisibility();
    startAfresh(target);
    if (inSight) close();
  });
  box.addEventListener('input', (event) => { if (event.target.form?.matches('.form')) touched(event.target); });
  box.addEventListener('htmx:beforeRequest', (event) => {
    if (event.detail.elt.matches('form')) event.detail.elt.querySelector('[data-refusal]')?.replaceChildren();
  });
  box.addEventListener('htmx:afterSwap', (event) => {
    if (event.target === problems) annotate(editor, problems);
  });
  htmx.on(box, 'htmx:afterRequest', (event) => {
    if (event.detail.xhr?.status === 422) box.querySelector('[aria-invalid="true"]')?.focus();
  });
  return { open, openObject, again };
}
