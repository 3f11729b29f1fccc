// The drawer for the scheduler's configuration: YAML, and controls that the server derives from it.

import { annotate, goTo, yamlEditor } from './editor.js';
import { fragment, noAnswer, refusal } from './no-answer.js';
import { say } from './words.js';

const PAUSE_MS = 400;
const app = document.getElementById('app');
const box = document.getElementById('configuration-drawer');
const area = document.getElementById('configuration-text');
const side = document.getElementById('configuration-controls');
const errors = document.getElementById('configuration-errors');
const differs = document.getElementById('configuration-differs');
const says = document.getElementById('configuration-says');
const usual = says.textContent;
let editor = null;
let original = ''; // the first text of the editor: a text that differs is somebody's work and stays
let before = '';
let known = null; // the text that the controls show
let pause = 0;
let asked = Promise.resolve();
const pending = new Map(); // control → its new value until the answer; without an answer it is sent again
let since = ''; // the configuration in force when the drawer opened

function write(text) {
  area.value = text;
  editor?.setValue(text, -1);
}

function put(text) {
  original = text;
  write(text);
  forget();
  ask();
}

function forget() {
  errors.replaceChildren();
  editor?.session.clearAnnotations();
}

const inForceNow = () => document.getElementById('panel-status').dataset;

const inForce = () => answerOf('configuration/');

async function open() {
  before = document.activeElement?.id ?? '';
  since = inForceNow().configured;
  document.getElementById('drawer')?.close();
  box.show();
  const untouched = area.value === original;
  if (!editor) {
    editor = await yamlEditor(app, 'configuration-editor', area, { kind: 'KubeSchedulerConfiguration' });
    editor.session.on('change', typed);
    area.addEventListener('input', typed);
  }
  if (untouched && !refused().length) put(await inForce());
  editor.resize();
  editor.focus();
}

function close() {
  box.close();
  document.getElementById(before)?.focus();
}

async function start(slug) {
  const preset = slug && box.querySelector(`template[data-text-of="${CSS.escape(slug)}"]`);
  pending.clear();
  for (const field of refused()) field.removeAttribute('aria-invalid'); // Another text was chosen.
  put(preset ? preset.content.textContent : await inForce());
  says.textContent = preset ? preset.dataset.says : say('script.configuration-in-force');
}

const failed = (error) => { errors.replaceChildren(error.notice ?? noAnswer()); };

/** Return the answer of the server. Throw an error with a `notice` if it refuses. */
async function answerOf(path, options = {}) {
  const answer = await fetch(`${app.dataset.base}${path}`, { ...options, signal: AbortSignal.timeout(window.htmx.config.timeout) });
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(path), { notice: refusal({ status: answer.status, responseText: text }) });
  return text;
}

function typed() {
  clearTimeout(pause);
  pause = setTimeout(() => { if (area.value !== known) ask(); }, PAUSE_MS);
}

/** Send requests one by one: each starts from the text of the last one. */
function ask(change = {}) {
  const profile = side.firstElementChild?.dataset.profile ?? 0;
  asked = asked.then(() => exchange({ profile, ...change })).catch(failed);
  return asked;
}

/** Add or remove a row by a button. The controls wait, because this renumbers the other rows. */
async function press(change) {
  box.setAttribute('aria-busy', 'true');
  await ask(change);
  box.removeAttribute('aria-busy');
}

/** Show another profile, unless the one in view has a refused value, which would get lost. */
function look(profile) {
  const wrong = refused()[0];
  if (wrong) wrong.focus();
  else press({ profile });
}

async function exchange(change) {
  const text = area.value;
  const body = new URLSearchParams({ configuration: text, ...change });
  for (const field of refused()) {
    if (field.dataset.control === change.control) continue;
    body.append('refused', field.dataset.control);
    body.append('refused_value', pending.get(field.dataset.control) ?? field.value);
  }
  const answer = fragment(await answerOf('controls/', { method: 'POST', body }));
  if (area.value !== text) return change.control ? exchange(change) : undefined; // Somebody has typed on; that text is sent after the pause.
  if (pending.get(change.control) === change.value) pending.delete(change.control);
  known = text;
  const shown = answer.querySelector('fieldset');
  if (shown) {
    show(shown);
    differs.replaceChildren(answer.querySelector('.cf-differs'));
    forget();
  } else {
    for (const old of side.children) old.disabled = true;
    differs.replaceChildren();
    errors.replaceChildren(answer);
    annotate(editor, errors);
  }
  const rewritten = answer.querySelector('template[data-rewritten]')?.content.textContent;
  if (rewritten === undefined) return undefined;
  known = rewritten;
  says.textContent = usual; // It is no longer the preset.
  write(rewritten);
  return undefined;
}

/** Return the fields with a value that was refused. It stays until somebody changes it, or the rest of the text makes it right. */
const refused = () => side.querySelectorAll('[aria-invalid]:not([type="checkbox"], select)');

const controlOf = (name) => side.querySelector(`[data-control="${CSS.escape(name)}"]`);

/** Replace the controls, but keep the focus, what is typed, and what is sent but not answered. */
function show(shown) {
  const { id, value, defaultValue } = side.contains(document.activeElement) ? document.activeElement : {};
  const { scrollTop } = side;
  side.replaceChildren(shown);
  side.scrollTop = scrollTop;
  for (const [control, sent] of pending) {
    const field = controlOf(control);
    if (field?.type === 'checkbox') field.checked = sent === '1';
    else if (field) field.value = field.defaultValue = sent;
  }
  const now = id && document.getElementById(id);
  if (!now) return;
  now.focus({ preventScroll: true });
  if (now.type !== 'checkbox' && defaultValue !== undefined && value !== defaultValue) now.value = value;
}

function announce() {
  for (const field of side.querySelectorAll('input:not([type="checkbox"]), textarea')) {
    if (field.value !== field.defaultValue) field.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

/** Wait until the text contains what the controls show. Return true if it does. Unanswered changes are sent again. */
async function settled() {
  clearTimeout(pause);
  announce();
  await answered();
  if (area.value !== known) ask(); // A later answer would remove the errors of the applied text.
  for (const [control, value] of pending) ask({ control, value });
  await answered();
  const wrong = side.querySelector('[aria-invalid]');
  wrong?.focus();
  return !wrong && !pending.size && area.value === known;
}

async function answered() {
  for (let last = null; last !== asked; await last) last = asked;
}

document.addEventListener('configure', () => open().catch(failed));
document.addEventListener('click', (event) => {
  if (event.target.closest('[data-do="configure"]')) open().catch(failed);
  else if (event.target.closest('#add, [data-do="add"]')) box.close();
});
side.addEventListener('change', ({ target }) => {
  const value = target.type === 'checkbox' ? (target.checked ? '1' : '') : target.value;
  if ('defaultValue' in target && target.type !== 'checkbox') target.defaultValue = target.value; // It is sent.
  pending.set(target.dataset.control, value);
  ask({ control: target.dataset.control, value });
});
// Apply what is on the screen.
document.addEventListener('htmx:confirm', async (event) => {
  if (event.target.id !== 'form-configuration') return;
  event.preventDefault();
  box.setAttribute('aria-busy', 'true');
  const ready = await settled();
  box.removeAttribute('aria-busy');
  if (ready) event.detail.issueRequest(true);
});
document.getElementById('app').addEventListener('htmx:wsAfterMessage', () => {
  const { configured, who } = inForceNow();
  if (!box.open || configured === since || box.hasAttribute('aria-busy')) return;
  since = configured;
  says.textContent = say(who ? 'script.configuration-replaced-by' : 'script.configuration-replaced', { who });
});
box.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  const { preset, line, control, view } = button.dataset;
  if (preset !== undefined) start(preset).catch(failed);
  else if (view !== undefined) look(view);
  else if (control !== undefined) press({ control, value: button.value });
  else if (line !== undefined) goTo(editor, button.dataset);
  else if ('close' in button.dataset) close();
});
box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });
document.body.addEventListener('configured', () => {
  if (!box.open) return; // Another text was applied.
  original = area.value;
  forget();
  close();
});
document.body.addEventListener('htmx:afterSettle', (event) => {
  if (event.target !== errors) return;
  annotate(editor, errors);
  (errors.querySelector('button') ?? editor)?.focus();
});
