// A participant's notes: they are saved as they are typed, and nothing replaces what somebody is typing.

import { pageName } from './rooms.js';
import { say } from './words.js';

const htmx = window.htmx;
let saved = ''; // the text that the server has
let wanted = false; // the file is wanted once the text is saved

const form = () => document.getElementById('notes-form');

/** Return what is typed; '' without the form. */
export const typedNotes = () => form()?.elements.text.value ?? '';
const unsaved = () => typedNotes() !== saved;

/** Take notes that another page has saved, unless somebody is writing here. */
export function takeNotes() {
  const noted = document.getElementById('noted');
  if (!noted || !form()) return;
  const { after, text } = form().elements;
  form().elements.page.value = pageName;
  if (unsaved() || document.activeElement === text && saved || Number(noted.dataset.turn) <= Number(after.value)) return;
  text.value = saved = noted.textContent;
  after.value = noted.dataset.turn;
}

function show() {
  document.getElementById('notes-state').textContent = say(unsaved() ? 'script.notes-unsaved' : 'script.notes-saved');
}

const save = () => unsaved() && htmx.trigger(form(), 'save');

export function keepNotes() {
  let sent = '';
  document.body.addEventListener('input', ({ target }) => {
    if (target.form === form()) show();
  });
  document.body.addEventListener('htmx:configRequest', ({ detail }) => {
    if (detail.path === 'notes/') sent = detail.formData.get('text');
  });
  document.body.addEventListener('htmx:afterRequest', ({ detail: { successful, requestConfig, xhr } }) => {
    if (requestConfig.path !== 'notes/' || !successful) return;
    saved = sent;
    form().elements.after.value = xhr.responseText;
    show();
    if (wanted && !unsaved()) document.getElementById('notes-file').click();
    wanted = wanted && unsaved();
  });
  document.addEventListener('line-back', save);
  document.body.addEventListener('click', (event) => {
    if (event.target.id !== 'notes-file' || !unsaved()) return;
    event.preventDefault();
    wanted = true;
    save();
  });
  addEventListener('pagehide', () => unsaved() && navigator.sendBeacon('notes/', new FormData(form())));
  addEventListener('beforeunload', (event) => {
    if (unsaved() && form()?.querySelector('[data-refusal]').hasChildNodes()) event.preventDefault();
  });
}
