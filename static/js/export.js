// The dialog in which a sandbox becomes a file. The server writes it; here it is asked for, copied and saved.

import { noAnswer, refusal, report } from './no-answer.js';
import { patchInside } from './patch.js';

const byId = (id) => document.getElementById(id);
const box = byId('dialog-export');
const form = byId('export-form');

/** Only the choices of the form that is chosen are shown, and sent. */
function settle() {
  const chosen = form.elements.form.value;
  for (const part of form.querySelectorAll('[data-of]')) {
    part.hidden = part.dataset.of !== chosen;
    for (const field of part.querySelectorAll('input, select')) field.disabled = part.hidden;
  }
}

/** Write a text into the clipboard; without a secure connection there is none to write to. */
async function put(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    box.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
}

async function copy(button) {
  const answer = await fetch(byId('export-download').href).catch(() => null);
  const text = await answer?.text();
  if (!answer?.ok) return report(null, answer ? refusal({ status: answer.status, responseText: text }) : noAnswer());
  await put(text);
  const usual = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => { button.textContent = usual; }, 1500);
  return undefined;
}

const process = (element) => window.htmx.process(element);

let shown = ''; // the choices of which the preview, and what is saved and copied, is
const asked = new WeakMap(); // request of a preview → its choices
let wanted = ''; // what was clicked before the preview of the choices on the screen had come

const choices = () => new URLSearchParams(new FormData(form)).toString();

/** Whether the choices on the screen are those of the preview; else their preview is asked for, and the click waits. */
function isShown(button) {
  if (choices() === shown) return true;
  wanted = button.id;
  window.htmx.trigger(form, 'export-opened');
  return false;
}

/** `past`: whether the moment in view is not the present one. */
export function exports(past) {
  byId('export').addEventListener('click', () => {
    byId('export-when').hidden = !past();
    patchInside(byId('export-shown'), '', process);
    shown = wanted = '';
    settle();
    box.showModal();
    window.htmx.trigger(form, 'export-opened');
  });
  box.addEventListener('htmx:beforeSwap', ({ detail }) => {
    if (!detail.shouldSwap || detail.target.id !== 'export-shown') return;
    detail.shouldSwap = false;
    patchInside(detail.target, detail.serverResponse, process);
    shown = asked.get(detail.xhr);
    if (!wanted || choices() !== shown) return;
    byId(wanted).click();
    wanted = '';
  });
  box.addEventListener('htmx:beforeSend', ({ detail: { elt, xhr } }) => { if (elt === form) asked.set(xhr, choices()); });
  box.addEventListener('htmx:afterRequest', ({ detail: { elt, successful } }) => { if (elt === form && !successful) wanted = ''; });
  form.addEventListener('change', settle, { capture: true });
  form.addEventListener('submit', (event) => event.preventDefault());
  box.addEventListener('click', (event) => {
    const button = event.target.closest('#export-download, #export-copy');
    if (!button) return;
    if (!isShown(button)) event.preventDefault();
    else if (button.id === 'export-copy') copy(button);
  });
}
