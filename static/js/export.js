// The dialog that exports a sandbox as a file. The server writes the file.

import { copy } from './clipboard.js';
import { noAnswer, refusal, report } from './no-answer.js';
import { patchInside } from './patch.js';

const byId = (id) => document.getElementById(id);
const box = byId('dialog-export');
const form = byId('export-form');

/** Show, and send, only the choices of the chosen format. */
function settle() {
  const chosen = form.elements.form.value;
  for (const part of form.querySelectorAll('[data-of]')) {
    part.hidden = part.dataset.of !== chosen;
    for (const field of part.querySelectorAll('input, select')) field.disabled = part.hidden;
  }
}

async function copyFile(button) {
  const answer = await fetch(byId('export-download').href).catch(() => null);
  const text = await answer?.text();
  if (!answer?.ok) return report(null, answer ? refusal({ status: answer.status, responseText: text }) : noAnswer());
  return copy(text, button);
}

const process = (element) => window.htmx.process(element);

let shown = ''; // the choices of the preview; Copy and Download use it
const asked = new WeakMap(); // request → its choices
let wanted = ''; // the button that waits for the preview

const choices = () => new URLSearchParams(new FormData(form)).toString();

/** Return true if the preview shows the choices on the screen. If not, ask for it, and let the button wait. */
function isShown(button) {
  if (choices() === shown) return true;
  wanted = button.id;
  window.htmx.trigger(form, 'export-opened');
  return false;
}

/** `past()`: whether a past moment is in view. */
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
    else if (button.id === 'export-copy') copyFile(button);
  });
}
