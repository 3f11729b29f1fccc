// The drawer in which the scheduler's configuration is changed.

import { annotate, goTo, yamlEditor } from './editor.js';

const app = document.getElementById('app');
const box = document.getElementById('configuration-drawer');
const area = document.getElementById('configuration-text');
const errors = document.getElementById('configuration-errors');
const says = document.getElementById('configuration-says');
let editor = null;
let given = ''; // the text that the editor began with: what differs from it is somebody's work and stays
let before = '';

function put(text) {
  given = text;
  area.value = text;
  editor?.session.setValue(text);
  errors.replaceChildren();
}

async function inForce() {
  const answer = await fetch(`${app.dataset.base}configuration/`);
  if (!answer.ok) throw new Error('the configuration in force could not be read');
  return answer.text();
}

async function open() {
  before = document.activeElement?.id ?? '';
  document.getElementById('drawer')?.close();
  box.show();
  const untouched = area.value === given;
  editor ??= await yamlEditor(app, 'configuration-editor', area);
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
  put(preset ? preset.content.textContent : await inForce());
  says.textContent = preset ? preset.dataset.says : 'What somebody gave last, without the defaults.';
  editor?.focus();
}

function failed(error) {
  errors.textContent = `This did not work: ${error.message}.`;
}

document.addEventListener('click', (event) => {
  if (event.target.closest('[data-do="configure"]')) open().catch(failed);
  else if (event.target.closest('#add, [data-do="add"]')) box.close();
});
box.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  const { preset, line } = button.dataset;
  if (preset !== undefined) start(preset).catch(failed);
  else if (line !== undefined) goTo(editor, button.dataset);
  else if ('close' in button.dataset) close();
});
box.addEventListener('keydown', (event) => { if (event.key === 'Escape') { event.preventDefault(); close(); } });
document.body.addEventListener('configured', () => {
  if (!box.open) return; // It was not this text that was applied.
  editor?.session.clearAnnotations();
  put(area.value);
  close();
});
document.body.addEventListener('htmx:afterSettle', (event) => {
  if (event.target !== errors) return;
  annotate(editor, errors);
  errors.querySelector('button')?.focus();
});
