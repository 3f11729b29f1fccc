// The drawer in which the scheduler's configuration is changed: YAML, and controls that the server makes of it.

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
const plain = says.textContent;
let editor = null;
let given = ''; // the text that the editor began with: what differs from it is somebody's work and stays
let before = '';
let known = null; // the text that the controls show
let pause = 0;
let asked = Promise.resolve();
const told = new Map(); // control → what it was given, until the answer has come; without one it is asked again
let since = ''; // which configuration was in force when the drawer opened

function write(text) {
  area.value = text;
  editor?.setValue(text, -1);
}

function put(text) {
  given = text;
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
  const untouched = area.value === given;
  if (!editor) {
    editor = await yamlEditor(app, 'configuration-editor', area, { kind: 'KubeSchedulerConfiguration' });
    editor.session.on('change', typed);
    area.addEventListener('input', typed);
  }
  if (untouched) put(await inForce());
  editor.resize();
  editor.focus();
}

function close() {
  box.close();
  document.getElementById(before)?.focus();
}

async function start(slug) {
  const preset = slug && box.querySelector(`template[data-text-of="${CSS.escape(slug)}"]`);
  told.clear();
  put(preset ? preset.content.textContent : await inForce());
  says.textContent = preset ? preset.dataset.says : say('script.configuration-in-force');
}

function failed(error) {
  errors.replaceChildren(error.said ?? noAnswer());
}

/** What the server answers within its time. Throws an error with what is to be `said` when it answers something else. */
async function answerOf(path, options = {}) {
  const answer = await fetch(`${app.dataset.base}${path}`, { ...options, signal: AbortSignal.timeout(window.htmx.config.timeout) });
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(path), { said: refusal({ status: answer.status, responseText: text }) });
  return text;
}

function typed() {
  clearTimeout(pause);
  pause = setTimeout(() => { if (area.value !== known) ask(); }, PAUSE_MS);
}

/** One question after the other, since each begins with the text that the one before has made. */
function ask(change = {}) {
  const profile = side.firstElementChild?.dataset.profile ?? 0;
  asked = asked.then(() => exchange({ profile, ...change })).catch(failed);
  return asked;
}

/** A button adds or removes what others are counted by: the controls wait for its answer. */
async function press(change) {
  box.setAttribute('aria-busy', 'true');
  await ask(change);
  box.removeAttribute('aria-busy');
}

async function exchange(change) {
  const text = area.value;
  const body = new URLSearchParams({ configuration: text, ...change });
  const answer = fragment(await answerOf('controls/', { method: 'POST', body }));
  if (area.value !== text) return change.control ? exchange(change) : undefined; // Somebody typed on, and asks again after the pause.
  if (told.get(change.control) === change.value) told.delete(change.control);
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
  says.textContent = plain; // It is no longer what the preset says.
  write(rewritten);
  return undefined;
}

const controlOf = (name) => side.querySelector(`[data-control="${CSS.escape(name)}"]`);

/** The controls in place of the old ones; the hand stays where it is. What is typed there, or was sent and is not answered
 * yet, stays.
 */
function show(shown) {
  const { id, value, defaultValue } = side.contains(document.activeElement) ? document.activeElement : {};
  const { scrollTop } = side;
  side.replaceChildren(shown);
  side.scrollTop = scrollTop;
  for (const [control, given] of told) {
    const field = controlOf(control);
    if (field?.type === 'checkbox') field.checked = given === '1';
    else if (field) field.value = field.defaultValue = given;
  }
  const now = id && document.getElementById(id);
  if (!now) return;
  now.focus({ preventScroll: true });
  if (now.type !== 'checkbox' && defaultValue !== undefined && value !== defaultValue && !now.hasAttribute('aria-invalid')) now.value = value;
}

/** What is typed in a control and was not announced. */
function announce() {
  for (const field of side.querySelectorAll('input:not([type="checkbox"])')) {
    if (field.value !== field.defaultValue) field.dispatchEvent(new Event('change', { bubbles: true }));
  }
}

/** Wait until the text holds what the controls show; whether it does. What got no answer is asked again. */
async function settled() {
  clearTimeout(pause);
  announce();
  await answered();
  if (area.value !== known) ask(); // Asked later, its answer would wipe away what is said of the text that is applied.
  for (const [control, value] of told) ask({ control, value });
  await answered();
  const wrong = side.querySelector('[aria-invalid]');
  wrong?.focus();
  return !wrong && !told.size && area.value === known;
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
  if ('defaultValue' in target && target.type !== 'checkbox') target.defaultValue = target.value; // It is told.
  told.set(target.dataset.control, value);
  ask({ control: target.dataset.control, value });
});
// What is applied is what is on the screen.
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
  else if (view !== undefined) press({ profile: view });
  else if (control !== undefined) press({ control, value: button.value });
  else if (line !== undefined) goTo(editor, button.dataset);
  else if ('close' in button.dataset) close();
});
box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });
document.body.addEventListener('configured', () => {
  if (!box.open) return; // It was not this text that was applied.
  given = area.value;
  forget();
  close();
});
document.body.addEventListener('htmx:afterSettle', (event) => {
  if (event.target !== errors) return;
  annotate(editor, errors);
  (errors.querySelector('button') ?? editor)?.focus();
});
