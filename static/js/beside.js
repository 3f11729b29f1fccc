// The YAML beside each form. The server turns one into the other. Here the result replaces the old one while people type.

import { annotate, yamlEditor } from './editor.js';

const alike = (form, name) => [...form.elements].filter((field) => field.name === name);
const ticked = (field) => field.matches('[type="checkbox"], [type="radio"]');

export function besides(app, box, htmx) {
  const editors = new Map(); // name of the form → its editor
  // Name of a form whose YAML the server has not read yet → number of edits (`typed`), the edit that the last request sent
  // (`asked`), whether it is `answered`, the fields `touched` since with their values, and what to do `then`.
  const reading = new Map();
  const edited = new Set(); // names of the edited forms
  let putting = false;

  const area = (name) => box.querySelector(`#yaml-${name}`);
  const leads = (name) => box.querySelector(`[name="leads"][form="form-${name}"]`);
  const nameOf = (el) => el.closest('.drawer-b').querySelector('.form').id.replace('form-', '');

  async function show(name) {
    if (editors.has(name)) return editors.get(name)?.resize();
    editors.set(name, null);
    const editor = await yamlEditor(app, `editor-${name}`, area(name));
    if (editors.get(name) !== null) return editor.destroy();
    editors.set(name, editor);
    editor.session.on('change', () => { if (!putting) typed(name); });
  }

  function typed(name) {
    edited.add(name);
    leads(name).value = 'yaml';
    if (!reading.has(name)) reading.set(name, { typed: 0, asked: 0, answered: false, touched: new Map(), then: null });
    Object.assign(reading.get(name), { typed: reading.get(name).typed + 1, answered: false });
    htmx.trigger(area(name).closest('.drawer-b').querySelector('[data-reads]'), 'typed');
  }

  /** Show the YAML of the form. An unchanged text keeps the cursor and the scroll. */
  function put(name, text) {
    putting = true;
    area(name).value = text;
    const editor = editors.get(name);
    if (editor && editor.getValue() !== text) {
      const at = editor.getCursorPosition();
      editor.session.doc.setValue(text);
      editor.clearSelection();
      editor.moveCursorToPosition(at);
    }
    putting = false;
  }

  function forget(name) {
    reading.delete(name);
    edited.delete(name);
    if (name === 'edit') {
      editors.get(name)?.destroy();
      editors.delete(name);
      return;
    }
    put(name, '');
    leads(name).value = 'form';
    editors.get(name)?.session.clearAnnotations();
    box.querySelector(`#check-${name}`).replaceChildren();
  }

  box.addEventListener('input', ({ target }) => {
    const form = target.form ?? target;
    if (form.matches('.form')) edited.add(form.id.replace('form-', ''));
    if (target.name === 'yaml') typed(nameOf(target));
    else if (target.form?.matches('.form')) touched(target.form.id.replace('form-', ''), target);
  }, true);

  /** Let the form lead. While the server reads its YAML, the form is out of date: only note what is touched. */
  function touched(name, field) {
    if (!reading.has(name)) leads(name).value = 'form';
    else reading.get(name).touched.set(`${field.name} ${alike(field.form, field.name).indexOf(field)}`, ticked(field) ? field.checked : field.value);
  }

  /** The form now shows its YAML: add what was touched meanwhile. */
  function follow(name) {
    const { touched: notes, then } = reading.get(name);
    reading.delete(name);
    let last = null;
    for (const [key, value] of notes) {
      const [fieldName, place] = key.split(' ');
      const field = alike(box.querySelector(`#form-${name}`), fieldName)[place];
      if (!field) continue; // its row has gone
      if (ticked(field)) field.checked = value;
      else field.value = value;
      last = field;
    }
    last?.dispatchEvent(new Event('input', { bubbles: true }));
    then?.();
  }

  box.addEventListener('htmx:beforeSend', ({ detail: { elt } }) => {
    const known = elt.matches('[data-reads]') && reading.get(nameOf(elt));
    if (known) Object.assign(known, { asked: known.typed, answered: false });
  });
  box.addEventListener('htmx:afterRequest', ({ detail: { elt, successful } }) => {
    const known = elt.matches('[data-reads]') && elt.isConnected && reading.get(nameOf(elt));
    if (!known || known.asked !== known.typed) return;
    known.answered = true;
    if (!successful) follow(nameOf(elt));
  });
  // Only now does htmx know the new form.
  box.addEventListener('htmx:afterSettle', ({ target }) => {
    const name = target.id?.replace('check-', '');
    if (reading.get(name)?.answered) follow(name);
  });
  // The form is sent once it shows its YAML.
  box.addEventListener('htmx:confirm', (event) => {
    const { elt } = event.detail;
    const known = elt.matches('.form') && reading.get(elt.id.replace('form-', ''));
    if (!known) return;
    event.preventDefault();
    known.then = () => box.querySelector(`#${elt.id}`)?.requestSubmit();
  });
  // A new form, created from its YAML, stays scrolled and unfolded as the old one.
  box.addEventListener('htmx:oobBeforeSwap', ({ detail }) => {
    const { target, fragment } = detail;
    const next = fragment.querySelector('.form');
    if (!next || !target.matches('.form')) return;
    const open = [...target.querySelectorAll('details[open] > summary')].map((summary) => summary.textContent);
    for (const summary of next.querySelectorAll('details > summary')) summary.parentElement.open ||= open.includes(summary.textContent);
    const { scrollTop } = target.querySelector('.form-s');
    const at = [...target.elements].indexOf(document.activeElement);
    queueMicrotask(() => {
      const form = box.querySelector(`#${target.id}`);
      form.querySelector('.form-s').scrollTop = scrollTop;
      form.elements[at]?.focus();
    });
  });
  // An answer is out of date once the other side leads, or once the form was applied.
  box.addEventListener('htmx:beforeSwap', ({ target, detail }) => {
    if (!target.id?.startsWith('check-')) return;
    const { elt } = detail.requestConfig;
    const side = elt.matches('[data-reads]') ? 'yaml' : elt.matches('[data-previews]') ? 'form' : '';
    if (side && (!elt.isConnected || leads(target.id.replace('check-', '')).value !== side)) detail.shouldSwap = false;
    // A text that is invalid for a moment says less: the buttons below stay where they are.
    target.style.minHeight = `${Math.min(target.offsetHeight, 160)}px`;
  });
  box.addEventListener('htmx:afterSwap', ({ target }) => {
    if (!target.id?.startsWith('check-')) return;
    const name = target.id.replace('check-', '');
    const yaml = target.querySelector('[data-yaml]');
    if (yaml && leads(name).value === 'form') put(name, yaml.content.textContent);
    yaml?.remove();
    annotate(editors.get(name), target);
  });
  return {
    show,
    forget,
    edited,
    text: (name) => area(name).value,
    editorBeside: (el) => { const pane = el.closest('.drawer-b'); return pane && editors.get(nameOf(el)); },
  };
}
