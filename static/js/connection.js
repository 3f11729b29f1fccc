// The live line of the workbench, and its requests: what is sent, arrives, is refused or takes long.

import { whenFree } from './hold.js';
import { keepLine } from './line.js';
import { fragment, placeOf, refusal, report, toast, withWayBack } from './no-answer.js';

const byId = (id) => document.getElementById(id);
const { body } = document;
let line = null;
let sent = ''; // the view that the server knows

/** Send what is in view, if the server does not know it yet. */
export function send(message) {
  const text = JSON.stringify(message);
  if (text === sent) return;
  sent = text;
  line.send(text);
}

/** Keep the line open. `opened()` is called each time it opens, `arrived(detail)` with each message of panels. */
export function keepConnection(htmx, { opened, arrived }) {
  line = keepLine(htmx, () => { sent = ''; opened(); });
  body.addEventListener('htmx:wsBeforeMessage', (event) => {
    event.preventDefault();
    clearTimeout(stalled);
    const { message } = event.detail;
    if (message.startsWith('{')) return showProgress(JSON.parse(message).progress);
    if (!isWaiting()) hideProgress();
    whenFree(() => arrived(event.detail));
  });
}

// After a step the server always sends panels. If none come, the line has died silently.
const STALLED_MS = 4000;
let stalled = 0;
body.addEventListener('htmx:afterRequest', ({ detail: { xhr, requestConfig: { verb, path } } }) => {
  if (verb !== 'post' || !/^do\/(?!stop)/.test(path) || !(xhr.status >= 200 && xhr.status < 300)) return;
  clearTimeout(stalled);
  stalled = setTimeout(() => { byId('lost').hidden = false; line.reconnect(); }, STALLED_MS);
});

body.addEventListener('htmx:beforeRequest', (event) => {
  const { target } = event;
  if (target.getAttribute('aria-disabled') === 'true') event.preventDefault();
  else if (target.closest('.steps, .step') && target.id !== 'play') byId('notice').replaceChildren();
});

// A refusal is shown in the form that asked, or as a notice. Errors of fields stay in their form. If that was closed in the
// meantime, a notice shows the first error.
body.addEventListener('htmx:beforeSwap', ({ detail }) => {
  const { xhr, requestConfig: { elt } } = detail;
  if (xhr.status < 400) return;
  if (xhr.status !== 422 || xhr.responseText.includes('data-notice')) {
    const box = document.createElement('div');
    box.append(withWayBack(refusal(xhr), elt));
    const target = placeOf(elt.closest('form'));
    Object.assign(detail, { target, swapOverride: 'innerHTML', shouldSwap: true, isError: true, serverResponse: box.innerHTML });
  } else if (elt.matches('dialog :is(form, button)') && !elt.checkVisibility()) {
    report(elt, toast(firstError(fragment(xhr.responseText))));
  }
});

function firstError(form) {
  const errors = ['.cell-e, .fld-e .err', '.err-go, li', '.err'].map((selector) => form.querySelector(selector)).filter(Boolean);
  return errors[0]?.textContent.replace(/\s+/g, ' ').trim();
}

const LONG_MS = 1000;
const SILENT_MS = 5000; // without news, the command of somebody else has ended
const waiting = new Map(); // running request → timer until the page offers to stop it
let silence = 0;

export const isWaiting = () => waiting.size > 0;

body.addEventListener('htmx:beforeSend', ({ detail: { elt, xhr, requestConfig } }) => {
  if (requestConfig.verb !== 'post' || elt.id === 'stop') return;
  waiting.set(xhr, setTimeout(() => { byId('running').hidden = false; }, LONG_MS));
});
body.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => {
  clearTimeout(waiting.get(xhr));
  if (waiting.delete(xhr) && !isWaiting()) hideProgress();
});

function showProgress(text) {
  clearTimeout(silence);
  byId('running-now').textContent = text;
  byId('running').hidden = false;
  silence = setTimeout(() => { if (!isWaiting()) hideProgress(); }, SILENT_MS);
}

function hideProgress() {
  clearTimeout(silence);
  byId('running').hidden = true;
  byId('running-now').textContent = '';
}
