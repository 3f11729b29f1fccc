// What became of a request is said where it was made: in the form that asked, which keeps what was typed. What is not to be
// seen any more – a drawer that was closed meanwhile, a line of a list that has gone – says nothing: then a notice does.

import './heard.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);

/** Whether an element can be seen. In a room nothing closes while it waits for an answer. */
const inSight = (element) => Boolean(element?.isConnected && (element.checkVisibility() || !byId('bench')));

/** Where a form says what is wrong with what it sent. */
export const placeOf = (form) => (inSight(form) && form.querySelector('[data-refusal]')) || byId('notice');

/** The sentence, which goes as soon as the server answers anything. */
export const noAnswer = () => byId('no-answer').content.cloneNode(true);

/** The same in a frame that stays until it is dismissed. */
export function toast(words) {
  const made = noAnswer();
  delete made.firstElementChild.dataset.noAnswer;
  if (words) made.querySelector('p').textContent = words;
  return made;
}

export function fragment(html) {
  const made = document.createElement('template');
  made.innerHTML = html;
  return made.content;
}

/** The refusal in an answer. A proxy, or a server that is too busy, answers in words of its own: these are for nobody. */
export function refusal({ status, responseText }) {
  if (responseText.includes('data-notice')) return fragment(responseText);
  return toast(say('script.refused', { status }));
}

/** A way back to a form that is not in sight, on what is said of it. */
export function withWayBack(said, element) {
  const box = element?.closest?.('dialog');
  if (!box || inSight(element)) return said;
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'btn btn-line way-back', textContent: say('script.return-to-form') });
  Object.assign(button.dataset, { do: 'back-to', box: box.id, form: element.closest('form')?.id ?? '' });
  const frame = said.querySelector('.toast');
  delete frame?.dataset.noAnswer; // It stays as long as nobody has gone back.
  frame?.querySelector('div').append(button);
  return said;
}

/** In the form of an element, or as a notice. */
export function report(element, said) {
  const form = element?.closest?.('form');
  placeOf(form).replaceChildren(withWayBack(said, element));
}

export const reportNoAnswer = (element) => report(element, noAnswer());

for (const kind of ['htmx:sendError', 'htmx:timeout']) document.addEventListener(kind, ({ detail }) => reportNoAnswer(detail.elt));
document.addEventListener('htmx:afterRequest', ({ detail: { xhr } }) => {
  if (!xhr?.status) return;
  for (const said of document.querySelectorAll('[data-no-answer]')) said.remove();
});
