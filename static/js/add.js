// The Add drawer: three tabs, presets, repeated rows, and the editor for pasted manifests.

import { annotate, goTo, yamlEditor } from './editor.js';

// Text of this length and more is checked only when Apply is pressed.
const LONG = 200_000;

export function drawer(app, htmx) {
  const box = document.getElementById('drawer');
  const area = document.getElementById('manifests');
  const problems = document.getElementById('apply-errors');
  let editor = null;
  let before = null;

  function show(kind) {
    box.dataset.kind = kind;
    for (const tab of box.querySelectorAll('[data-kind-tab]')) tab.setAttribute('aria-pressed', String(tab.dataset.kindTab === kind));
    if (kind === 'paste') return edit();
    const form = box.querySelector(`#form-${kind}`);
    if (!box.querySelector(`#yaml-${kind}`).textContent.trim()) changed(form);
  }

  function open(preset) {
    before ??= document.activeElement;
    document.getElementById('notice').replaceChildren();
    if (!box.open) box.show();
    const text = preset && ready(preset);
    if (text) { paste(text); show('paste'); return; }
    show(box.dataset.kind || 'pod');
    box.querySelector(box.dataset.kind === 'paste' ? '#manifests' : `#form-${box.dataset.kind} .inp`)?.focus();
  }

  /** A cluster or a manifest to start from, as text. */
  function ready(preset) {
    return box.querySelector(`template[data-manifest-of="${CSS.escape(preset)}"]`)?.content.textContent;
  }

  function close() {
    box.close();
    before?.focus?.();
    before = null;
  }

  function changed(form) {
    form.dispatchEvent(new Event('input', { bubbles: true }));
  }

  function fill(form, values) {
    form.reset();
    for (const field of form.querySelectorAll('.inp, input[type="checkbox"]')) {
      if (field.type === 'checkbox') field.checked = false;
      else if (field.name in values) field.value = values[field.name];
      else if (!field.dataset.keep) field.value = '';
    }
    for (const rows of form.querySelectorAll('[data-rows]')) {
      rows.replaceChildren();
      for (const row of values.rows?.[rows.dataset.rows] ?? []) addRow(rows, row);
    }
    for (const part of form.querySelectorAll('details')) {
      part.open = [...part.querySelectorAll('.inp')].some((field) => field.value && !field.dataset.keep) || part.querySelector('[data-rows] > *') !== null;
    }
    changed(form);
  }

  function addRow(rows, values = {}) {
    const row = box.querySelector(`template[data-row="${rows.dataset.rows}"]`).content.firstElementChild.cloneNode(true);
    for (const [part, value] of Object.entries(values)) row.querySelector(`[name$="_${part}"]`).value = value;
    rows.append(row);
    return row;
  }

  async function edit() {
    if (!editor) {
      editor = await yamlEditor(app, 'editor', area);
      editor.session.on('change', edited);
      area.addEventListener('input', edited);
    }
    editor.resize();
  }

  // While problems are shown, the list follows the text: what is mended goes away.
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

  // A field that is touched is no longer the field that was refused.
  function touched(field) {
    field.removeAttribute('aria-invalid');
    const owner = field.closest('.fld');
    for (const text of owner?.querySelectorAll('.err') ?? []) text.remove();
    for (const other of owner?.querySelectorAll('[aria-invalid]') ?? []) other.removeAttribute('aria-invalid');
    if (!field.form.querySelector('[aria-invalid]')) field.form.querySelector('[data-summary]')?.remove();
  }

  box.addEventListener('click', (event) => {
    const el = event.target.closest('button');
    if (!el) return;
    const { kindTab, values, manifest, addRow: more, line } = el.dataset;
    if (kindTab) show(kindTab);
    else if (values) fill(el.closest('form'), JSON.parse(values));
    else if (manifest) { paste(ready(manifest)); show('paste'); }
    else if (more) addRow(el.closest('form').querySelector(`[data-rows="${more}"]`)).querySelector('.inp').focus();
    else if ('removeRow' in el.dataset) { const form = el.closest('form'); el.closest('.row').remove(); changed(form); }
    else if (line !== undefined) goTo(editor, el.dataset);
    else if ('close' in el.dataset) close();
  });
  box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });

  document.getElementById('manifest-file').addEventListener('change', async (event) => {
    const file = event.target.files[0];
    if (file) { paste(await file.text()); event.target.value = ''; }
  });
  document.body.addEventListener('applied', () => { forget(); close(); });
  box.addEventListener('input', (event) => { if (event.target.form?.matches('.form')) touched(event.target); });
  // A form that comes back refused shows its YAML again.
  box.addEventListener('htmx:afterSettle', (event) => { if (event.target.matches('.form')) changed(event.target); });
  box.addEventListener('htmx:beforeRequest', (event) => {
    if (event.detail.elt.matches('form')) event.detail.elt.querySelector('[data-refusal]')?.replaceChildren();
  });
  box.addEventListener('htmx:afterSwap', (event) => {
    if (event.target === problems) annotate(editor, problems);
  });
  htmx.on(box, 'htmx:afterRequest', (event) => {
    if (event.detail.xhr?.status === 422) box.querySelector('[aria-invalid="true"]')?.focus();
  });
  return { open, close };
}
