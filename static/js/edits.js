// What a person types or chooses in a panel stays until the server has it. An update does not replace a field
//   – that is edited: its value differs from the server's and was not sent,
//   – whose change was sent, until an update includes it,
//   – whose change was refused.
// The server counts the changes of a sandbox. Every answer and update has the count that it includes.

import { say } from './words.js';

const FIELDS = '.panel :is(input:not([type="hidden"], [data-find]), textarea, select)'; // a field to find something edits nothing
const COUNT = 'Sandbox-Revision';

// Key of a field → its edit. `value`: on the screen; `base`: of the server when the edit began; `other`: the value of
// somebody else since, `by`: who that was; `sent`: the sent value, with the count that includes it; `refusal`: its HTML.
const edits = new Map();
let shown = 0; // the count that the page shows
let head = 0; // number of commands in force

const ticked = (field) => field.matches('[type="checkbox"], [type="radio"]');
const valueOf = (field) => (ticked(field) ? field.checked : field.value);
const refusalOf = (field) => field.closest('form, li')?.querySelector('[data-refusal]');
const all = () => [...document.querySelectorAll(FIELDS)];

/** Return the value that the server sent. */
function usual(field) {
  if (ticked(field)) return field.defaultChecked;
  return field.defaultValue ?? (field.querySelector('[selected]') ?? field.options[0])?.value;
}

function keyOf(field) {
  const { whose } = field.closest('[data-whose]')?.dataset ?? {};
  return [whose, field.id || [field.form?.id, field.name, ticked(field) && field.value]].join();
}

function show(field, value) {
  if (value === undefined || valueOf(field) === value) return;
  if (ticked(field)) field.checked = value;
  else field.value = value;
}

/** Note that a person, or a button for them, has changed a field. */
export function edit(field) {
  const group = field.type === 'radio' && field.form ? [...field.form.elements].filter(({ name }) => name === field.name) : [field];
  for (const each of group) {
    const known = edits.get(keyOf(each));
    if (known) known.value = valueOf(each);
    else if (each === field || valueOf(each) !== usual(each)) edits.set(keyOf(each), { value: valueOf(each), base: usual(each), by: '', sent: null, refusal: '' });
  }
}

for (const name of ['input', 'change']) {
  document.addEventListener(name, ({ target }) => { if (target.matches(FIELDS)) edit(target); }, true);
}

const committed = new WeakMap(); // field → its value at its last change event; it may be edited again before it is sent
const sending = new Map(); // request of a field that sends itself → promise of its answer
const alone = (element) => /change/.test(element.getAttribute('hx-trigger') ?? '');

document.addEventListener('change', ({ target }) => committed.set(target, target.value), true);

/** Return the fields that a request of `element` sends, and those that show the same value. */
function fieldsOf(element) {
  const fields = [...(element.elements ?? element.form?.elements ?? [element])].filter((field) => field.matches(FIELDS));
  return fields.flatMap((field) => [field, document.getElementById(field.dataset.text ?? '')]).filter(Boolean);
}

document.addEventListener('htmx:configRequest', ({ detail: { elt, formData } }) => {
  if (!alone(elt)) return;
  for (const field of elt.elements ?? [elt]) if (formData.has(field.name) && !ticked(field) && committed.has(field)) formData.set(field.name, committed.get(field));
});
document.addEventListener('submit', (event) => { if (alone(event.target)) event.preventDefault(); }); // Enter sends the change itself.

// Send a click after the change that it ends: of two requests at once, the server may take the second first.
document.addEventListener('htmx:confirm', (event) => {
  const { elt, verb, issueRequest } = event.detail;
  if (verb === 'get' || alone(elt) || !sending.size) return;
  event.preventDefault();
  Promise.allSettled(sending.values()).then(() => issueRequest(true));
});

document.addEventListener('htmx:beforeSend', ({ detail: { elt, xhr, requestConfig } }) => {
  if (requestConfig.verb === 'get' || !elt.matches('.panel *')) return;
  if (alone(elt)) sending.set(xhr, new Promise((over) => { xhr.addEventListener('loadend', () => { sending.delete(xhr); over(); }); }));
  for (const field of fieldsOf(elt)) {
    const known = edits.get(keyOf(field));
    const value = alone(elt) && !ticked(field) ? requestConfig.formData.get(field.name) : null;
    if (known) known.sent = { xhr, value: value ?? valueOf(field), count: Infinity };
  }
});
document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => {
  const taken = xhr?.status >= 200 && xhr.status < 300;
  for (const known of edits.values()) {
    if (known.sent?.xhr !== xhr) continue;
    if (taken) known.sent.count = Number(xhr.getResponseHeader(COUNT));
    else known.sent = null;
  }
  if (taken) settleFields();
});

/** Before an update: note the refusals on the page, and return the cursor. */
export function rememberFields() {
  for (const field of all()) {
    const known = edits.get(keyOf(field));
    if (known) known.refusal = refusalOf(field)?.innerHTML ?? '';
  }
  const { id, selectionStart } = document.activeElement ?? {};
  return { id, caret: selectionStart };
}

/** After an update that includes the changes up to `count`. */
export function restoreFields(cursor, count) {
  shown = Math.max(shown, count);
  const { head: now, who } = document.getElementById('panel-status').dataset;
  settleFields(Number(now) === head + 1 ? who : ''); // With several changes at once it is unknown who made which.
  head = Number(now);
  const field = cursor.id && document.getElementById(cursor.id);
  if (Number.isInteger(cursor.caret) && field === document.activeElement && field.selectionStart !== cursor.caret) field.setSelectionRange?.(cursor.caret, cursor.caret);
}

/** Show in every field what a person typed, else the value of the server. */
function settleFields(who = '') {
  const refused = new Set();
  for (const field of all()) {
    const key = keyOf(field);
    let known = edits.get(key);
    if (known && over(known, field)) { edits.delete(key); known = undefined; }
    show(field, known ? known.value : usual(field));
    meanwhile(field, known, who);
    const box = known?.refusal && refusalOf(field);
    if (!box) continue;
    refused.add(box);
    if (box.innerHTML !== known.refusal) box.innerHTML = known.refusal;
    tie(box);
  }
  for (const [key, { sent, value }] of edits) if (sent?.value === value && sent.count <= shown) edits.delete(key); // Its form is gone.
  for (const box of document.querySelectorAll('.panel [data-refusal]:not(:empty)')) {
    if (!refused.has(box) && ![...box.closest('form, li').querySelectorAll(FIELDS)].some((field) => edits.has(keyOf(field)))) {
      box.replaceChildren();
      tie(box);
    }
  }
}

/** Tie a refusal under a form to its fields, for screen readers. */
function tie(box) {
  if (!box.id || !box.matches('[data-refusal]')) return;
  for (const field of document.querySelectorAll(`[aria-describedby="${CSS.escape(box.id)}"]`)) {
    field.setAttribute('aria-invalid', String(box.childElementCount > 0));
  }
}
document.addEventListener('htmx:afterSwap', ({ target }) => tie(target));

/** Return true if an edit is over: the page shows it, or it was undone. */
function over(known, field) {
  if (known.sent && known.sent.count <= shown) {
    if (known.sent.value === known.value) return true;
    known.base = usual(field); // It was edited since.
    known.sent = null;
  }
  return !known.sent && known.value === usual(field) && field !== document.activeElement;
}

export const edited = (field) => edits.has(keyOf(field));

const named = (value) => (value === true ? say('script.field-on') : value === false ? say('script.field-off') : value === '' ? say('script.field-empty') : value);

const hush = (event) => event.stopImmediatePropagation();

/** Drop what was typed. Leaving the field would send it as a change, so leave it here, without events. */
function take(field, note) {
  window.addEventListener('change', hush, true);
  edits.delete(keyOf(field));
  show(field, usual(field));
  note.remove();
  field.blur();
  field.focus();
  window.removeEventListener('change', hush, true);
}

/** Show a note beside a field that somebody else changed during an edit. A click uses the other value. */
function meanwhile(field, known, who) {
  const anchor = field.closest('label, [data-beside]') ?? field;
  const note = anchor.parentElement.querySelector(`:scope > .meanwhile[data-of="${CSS.escape(keyOf(field))}"]`);
  const value = usual(field);
  if (!known || known.sent || field.type === 'range' || value === known.base || value === known.value) { note?.remove(); return; }
  if (known.other !== value) Object.assign(known, { other: value, by: who });
  const places = { value: named(value), who: known.by };
  const words = value.length > 40 || /\n/.test(value)
    ? say(known.by ? 'script.field-changed-by' : 'script.field-changed', places)
    : say(known.by ? 'script.field-now-by' : 'script.field-now', places);
  const button = note ?? Object.assign(document.createElement('button'), { type: 'button', className: 'meanwhile', title: say('script.field-take') });
  button.dataset.of = keyOf(field);
  button.dataset.own = '';
  if (button.textContent !== words) button.textContent = words;
  if (!note) {
    button.setAttribute('role', 'status');
    button.addEventListener('mousedown', (event) => event.preventDefault()); // Leaving the field would send what was typed.
    button.addEventListener('click', () => take(field, button));
    anchor.after(button);
  }
  button.style.left = `${anchor.offsetLeft}px`;
  button.style.top = `${anchor.offsetTop + anchor.offsetHeight}px`;
}

for (const field of all()) if (field.type !== 'range' && valueOf(field) !== usual(field)) edit(field); // edited before this script ran
